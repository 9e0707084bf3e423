"""One file for Numba: a derivative's text for arguments of certain types, with all that it refers to.

The file is named by everything that its machine code depends on: the text, the types, the sources of the runtime, the
versions and the processor. There is just one signature in a file, so that what processes write at once is the same.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.codegen.texts import Emitted
from adjoint.codegen.unparse import on_one_line
from adjoint.native.compile.messages.not_native import NotNative as NotNative
from adjoint.native.compile.messages.reasons import first_use, line_of, place_in_source, summary
from adjoint.native.compile.signatures import Untyped
from adjoint.native.compile.written_units import Written
from adjoint.native.kept.versions import circumstances
from adjoint.native.legalize.python_calls import ByPython
from adjoint.rules.declarations import number_of

_OUTSIDE = "no_cfunc_wrapper=True, "
"""The function that Python calls: nobody asks for its address in C."""
_INSIDE = f"no_cpython_wrapper=True, {_OUTSIDE}"
"""Functions that only others of the file call: what they take and give need not be objects of Python."""
_VERSIONED = ("builtins", "math", "cmath", "operator", "_operator", "numpy", "adjoint.runtime")
"""Modules for which versions and the digest of the runtime speak; what else the text refers to may change unseen."""


def _fails_from_cache(text: str) -> bool:
    """Whether Numba 0.68 is seen to crash on machine code that it kept: of recursive functions with lists of arrays."""
    return text.count("\ndef ") > 0 and ".any_layout(" in text


class Unit:
    """A text made ready for arguments of certain types.

    Parameters
    ----------
    emitted
        The text.
    signature
        What :func:`signature_of` says of the arguments. Those that the text does not use need no type.
    flags
        Options for the compiler, as text.

    Attributes
    ----------
    lines_of_python
        The lines of the user's that the machine code leaves to Python.
    """

    def __init__(self, emitted: Emitted, signature: Sequence[Any], flags: str) -> None:
        self.emitted = emitted
        self.flags = flags
        main = ast.parse(emitted.text).body[0]
        assert isinstance(main, ast.FunctionDef)
        params = [param.arg for param in main.args.args]
        used = {node.id for node in ast.walk(main) if isinstance(node, ast.Name)}
        self.places = tuple(place for place, param in enumerate(params) if param in used)
        self.takes_all = len(self.places) == len(params)
        self.signature = tuple(signature[place] for place in self.places)
        for place, found in zip(self.places, self.signature, strict=True):
            if isinstance(found, Untyped):
                name = params[place]
                reason = f"Numba has no type for the argument {name!r}: it is {found.kind}"
                raise NotNative(reason, (), first_use(emitted, name) or next(iter(emitted.lines.values()), None))
        helpers = {name: value for name, value in emitted.namespace.items() if isinstance(value, ByPython)}
        plain = {name: value for name, value in emitted.namespace.items() if name not in helpers}
        imports, is_closed = _imports(plain)
        self.is_closed = is_closed and not _fails_from_cache(emitted.text)
        if helpers:
            imports.append("from numba import objmode as _objmode")
        for name, helper in helpers.items():
            imports += _helper(name, helper)
        self.is_closed &= not any(BY_NUMBER in line for line in imports)
        spans = [span for helper in helpers.values() for span in helper.emitted.lines.values()]
        self.lines_of_python = frozenset(span.line for span in spans)
        self.dispatcher: Any = None
        self.origins: dict[int, int] = {}
        self.text = self._compose(imports, [params[place] for place in self.places])

    def _compose(self, imports: Sequence[str], params: Sequence[str]) -> str:
        """The text of the file; ``origins`` tells which of its lines are which of the emitted ones."""
        lines = ['"""A derivative, written by Adjoint for Numba; it is made anew where it is missing."""', ""]
        facts = (*circumstances(), f"arguments: {', '.join(map(str, self.signature))}")
        lines += [f"# {on_one_line(fact)}" for fact in facts]
        lines += ["", *imports, "", "_always = True"]
        for number, line in enumerate(self.emitted.text.splitlines(), 1):
            if line.startswith("def "):
                is_main = number == 1
                lines += ["", f"@_njit({_OUTSIDE if is_main else _INSIDE}{self.flags})"]
            lines.append(f"def {self.emitted.name}({', '.join(params)}):" if number == 1 else line)
            self.origins[len(lines)] = number
        # Numba 0.68 loses an assignment before the only way out of ``while True``; it finds no fault with a second way.
        endless = [re.sub(r"^( *)while True:$", r"\1while _always:", line) for line in lines]
        return "\n".join(endless) + "\n"

    def compile(self) -> Callable[..., Any]:
        """The machine code, as a function of all arguments: from the cache, or new."""
        written = self.written
        try:
            loaded = (written.kept(self.signature) if self.is_closed else None) or written.compiled(self.signature)
        except Exception as failure:
            raise self._reason(failure, written.stem) from failure
        self.dispatcher = loaded.dispatcher
        return loaded.call

    def compile_for_numba(self) -> Any:
        """The machine code, as a function of Numba of the arguments at ``places``."""
        self.compile()
        return self.dispatcher

    @property
    def written(self) -> Written:
        """The unit as it is written to a file."""
        return Written(self.text, self.emitted.name, None if self.takes_all else self.places)

    def _reason(self, failure: Exception, name: str) -> NotNative:
        """What Numba says, in a few words, at the user's line if that is known."""
        number = line_of(failure, name)
        notes = [] if number is None else [f"in the derivative: {self.text.splitlines()[number - 1].strip()}"]
        span = None if number is None else place_in_source(self.emitted, self.origins.get(number))
        return NotNative(summary(failure), notes, span)


def _helper(name: str, helper: ByPython) -> list[str]:
    """The text of a function that leaves the machine code to run as Python."""
    emitted = helper.emitted
    first, *rest = emitted.text.splitlines()
    params = first[first.index("(") :]
    imports, _ = _imports(emitted.namespace)
    inside = [f"    {line}" for line in imports[1:]]
    lines = ["", "", f"def {name}_outside{params}", *inside, *rest, "", "", f"@_njit({_INSIDE})", f"def {name}{params}"]
    call = f"{name}_outside{params.rstrip(':')}"
    if not helper.declared:
        return [*lines, "    with _objmode():", f"        {call}"]
    results = [f"y{place}" for place in range(len(helper.declared))]
    while set(results) & set(re.findall(r"\w+", params)):
        results = [f"{result}_" for result in results]
    declared = ", ".join(f"{result}={kind!r}" for result, kind in zip(results, helper.declared, strict=True))
    handed = ", ".join(results)
    return [*lines, f"    with _objmode({declared}):", f"        {handed} = {call}", f"    return {handed}"]


def _imports(namespace: dict[str, object]) -> tuple[list[str], bool]:
    """The import statements that bind what a text refers to, and whether all of it is versioned."""
    lines = ["from numba import njit as _njit"]
    is_closed = True
    for name, value in sorted(namespace.items()):
        if isinstance(value, (str, bytes, int)):
            lines.append(f"{name} = {value!r}")
            continue
        if isinstance(value, types.ModuleType):
            module, line = value.__name__, f"import {value.__name__} as {name}"
        else:
            module, line = _import_of(name, value)
        is_closed &= any(module == known or module.startswith(f"{known}.") for known in _VERSIONED)
        lines.append(line)
    return lines, is_closed


BY_NUMBER = "_known.numbered"
"""Gives what only this process knows: machine code that calls it is not kept."""


def _import_of(name: str, value: object) -> tuple[str, str]:
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", ""))
    known = sys.modules.get(module) if isinstance(module, str) else None
    if known is None or getattr(known, own, None) is not value:
        number = number_of(value)
        if number is not None:
            return "", f"import adjoint.rules.declarations as _known; {name} = {BY_NUMBER}({number})"
        raise NotNative(f"the derivative refers to {name!r}, which cannot be imported by name")
    return known.__name__, f"from {known.__name__} import {own}" + (f" as {name}" if own != name else "")
