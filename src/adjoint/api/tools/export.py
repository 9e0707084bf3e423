"""Derivatives as modules: the text of a derivative with the imports that it needs, in a file of its own."""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjoint.api.derivative import Derivative, no_derivative
from adjoint.api.tools.inspection import specialization_to_show
from adjoint.codegen.texts import Emitted
from adjoint.codegen.unparse import on_one_line
from adjoint.diagnostics import DifferentiationError, diagnostic, error
from adjoint.diagnostics.diagnostic import Diagnostic
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.specialize import Specialization
from adjoint.files import replacing
from adjoint.frontend.entry.captured import differentiated
from adjoint.types.structure import is_namedtuple
from adjoint.types.vectors import TangentVector, tangent_class

HEADER = '"""Derivatives written by Adjoint. They need NumPy and the runtime of Adjoint, not its compiler."""'
_LITERALS = (str, bytes, int, float, bool, type(None))


@entrance
def export(path: str | os.PathLike[str], derivative: Any, *args: Any, **kwargs: Any) -> Path:
    """Writes derivatives as a Python module.

    The module imports NumPy, ``adjoint.runtime`` and the modules of the classes and functions that the derivatives
    refer to; the compiler is not needed to run it. The same derivative gives the same file each time.

    Parameters
    ----------
    path
        The file, which is replaced as a whole. Its name ends in ``.py``.
    derivative
        What :func:`grad` or :func:`value_and_grad` returned. Or a list: each item a derivative, or a tuple of a
        derivative and the arguments for which to write it.
    *args, **kwargs
        Arguments for which to write it; not needed where annotations tell their types, or once it was called. What
        they are is written beside the function: it holds for arguments of the same kind, and for the very same
        strings, flags and functions. It takes all of them by position, in this order.

    Returns
    -------
    pathlib.Path
        The file.

    Notes
    -----
    Data that the function reads from outside, such as a captured array or a global number, become parameters of
    the derivative that must be given by keyword.

    Raises
    ------
    DifferentiationError
        AD0602 if the text refers to something that cannot be imported: a lambda, a class that is local to a
        function, something in ``__main__``.

    Examples
    --------
    >>> import adjoint as ad, tempfile
    >>> def square(x: float) -> float:
    ...     return x * x
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ad.export(f"{folder}/square.py", ad.grad(square))
    ...     print(file.read_text())
    \"""Derivatives written by Adjoint. They need NumPy and the runtime of Adjoint, not its compiler.\"""
    <BLANKLINE>
    <BLANKLINE>
    # grad(square) for x: float
    def square_grad(x):
        return 2.0 * x
    <BLANKLINE>
    """
    target = Path(path)
    if target.suffix != ".py":
        raise ValueError(f"{str(target)!r} is not the name of a Python module: it must end in .py")
    wanted = derivative if isinstance(derivative, list) else [(derivative, *args)]
    if kwargs and isinstance(derivative, list):
        raise TypeError("arguments of several derivatives are given with each of them: [(df, 1.0), (dg, 2.0)]")
    module = _Module()
    for item in wanted:
        one, *given = item if isinstance(item, tuple) else (item,)
        if not isinstance(one, Derivative):
            raise no_derivative("export", one)
        module.add(one, tuple(given), kwargs)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target, "w", encoding="utf-8", newline="\n") as file:
        file.write(module.text())
    return target


def module_text(compiled: Specialization, function: Any, *args: Any, title: str) -> str:
    """The text of a module as :func:`export` writes it; without its imports, where one of them is impossible.

    Numbers and texts that the function reads from outside have the values that they have now as defaults.
    """
    module = _Module()
    root = differentiated(function)
    try:
        module.add_compiled(title, compiled, args, [item.read(root) for item in compiled.exact.captured])
    except DifferentiationError as problem:
        reasons = [f"# {part.title}: {', '.join(part.notes)}" for part in problem.diagnostics]
        return "\n".join([*dict.fromkeys(reasons), compiled.exact.emitted.text])
    return module.text()


class _Module:
    """A module that is being put together."""

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self.bindings: dict[str, None] = {}
        self.functions: list[str] = []
        self.bound: dict[str, object] = {}
        self.problems: list[Diagnostic] = []

    def add(self, derivative: Derivative, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Adds a derivative for such arguments, with the functions that it calls."""
        compiled, given = specialization_to_show(derivative, args, kwargs, "ad.export(path, df, 1.0)")
        self.add_compiled(repr(derivative), compiled, given)

    def add_compiled(
        self, title: str, compiled: Specialization, given: Sequence[Any], captured: Sequence[Any] = ()
    ) -> None:
        """Adds what was compiled, under a title; captured data may be told, for defaults."""
        compiled.only_for_numpy("ad.export")
        compiled = compiled.exact
        emitted = compiled.emitted
        for name, value in sorted(emitted.namespace.items()):
            self.bind(name, value, compiled)
        if self.problems:
            raise DifferentiationError(*self.problems)
        for name in _defined(emitted):
            self.reserve(name, emitted)
        comment = _comment(title, compiled, given)
        self.functions.append("\n".join([*comment, _with_keywords(compiled, captured).rstrip("\n")]))

    def reserve(self, name: str, value: object) -> None:
        """Makes sure that one name is not used for two things."""
        if self.bound.setdefault(name, value) is not value:
            label = f"two things in the module are called {name!r}"
            raise error("AD0602", None, label, helps=("write the derivatives to two modules",), name=name)

    def bind(self, name: str, value: object, compiled: Specialization) -> None:
        """Adds what makes ``name`` the value."""
        self.reserve(name, value)
        if type(value) in _LITERALS:
            self.bindings[f"{name} = {value!r}"] = None
        elif isinstance(value, types.ModuleType):
            self.imports[_import_module(name, value)] = None
        elif isinstance(value, np.dtype):
            self.imports["import numpy as np"] = None
            self.bindings[f"{name} = np.dtype({value.str!r})"] = None
        elif isinstance(value, type) and issubclass(value, TangentVector):
            primal = value.primal_class()
            maker = "tangent_class" if tangent_class(primal) is value else "shadow_class"
            self.imports[f"from adjoint.types import {maker}"] = None
            known = self._importable(primal.__name__, primal, compiled)
            if known is not None:
                self.bindings[f"{name} = {maker}({known})"] = None
        else:
            known = self._importable(name, value, compiled)
            if known is not None and known != name:
                self.bindings[f"{name} = {known}"] = None

    def _importable(self, name: str, value: object, compiled: Specialization) -> str | None:
        """Imports an object under ``name`` or inside of what holds it; the expression for it."""
        found = _home(value) or _global_home(value, compiled)
        if found is None:
            self.problems.append(_not_importable(name, value))
            return None
        module, (first, *rest) = found
        alias = f" as {name}" if not rest and first != name else ""
        self.imports[f"from {module} import {first}{alias}"] = None
        return ".".join([first, *rest]) if rest else name

    def text(self) -> str:
        """The module."""
        standard = [line for line in self.imports if line.split()[1].split(".")[0] in sys.stdlib_module_names]
        others = [line for line in self.imports if line not in standard]
        blocks = [sorted(standard, key=_import_order), sorted(others, key=_import_order), list(self.bindings)]
        head = "\n\n".join([HEADER, *("\n".join(block) for block in blocks if block)])
        return "\n\n\n".join([head, *self.functions]) + "\n"


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _import_module(name: str, module: types.ModuleType) -> str:
    path = module.__name__
    package, _, last = path.rpartition(".")
    if not package:
        return f"import {path}" if path == name else f"import {path} as {name}"
    return f"from {package} import {last}" + ("" if last == name else f" as {name}")


def _home(value: object) -> tuple[str, list[str]] | None:
    """The module and the names under which an object says it can be found, if it is there."""
    if type(value).__module__ == "enum" or hasattr(type(value), "__members__"):
        cls = type(value)
        member = getattr(value, "name", None)
        return _found(cls.__module__, f"{cls.__qualname__}.{member}", value)
    path = getattr(value, "__qualname__", getattr(value, "__name__", None))
    module = getattr(value, "__module__", None)
    if isinstance(path, str) and isinstance(module, str):
        return _found(module, path, value)
    return None


def _found(module: str, path: str, value: object) -> tuple[str, list[str]] | None:
    names = path.split(".")
    found: object = sys.modules.get(module)
    if found is None or module == "__main__" or not all(map(str.isidentifier, [*module.split("."), *names])):
        return None
    for name in names:
        found = getattr(found, name, None)
    return (module, names) if found is value else None


def _global_home(value: object, compiled: Specialization) -> tuple[str, list[str]] | None:
    """The module in which the function found an object by a global name."""
    for guard in compiled.guards:
        if guard.value is value and guard.path[0] == "global":
            found = _found(str(guard.path[1].get("__name__")), guard.path[2], value)
            if found is not None:
                return found
    return None


def _not_importable(name: str, value: object) -> Diagnostic:
    module, path = getattr(value, "__module__", None), str(getattr(value, "__qualname__", name))
    if module == "__main__":
        reason, way = "it is defined in __main__", "move it to a module that can be imported"
    elif "<lambda>" in path:
        reason, way = "it is a lambda", "make it a function of a module, with a name"
    elif "<locals>" in path:
        reason, way = "it is defined inside a function", "define it at the top of a module"
    else:
        reason = f"an object of class {type(value).__name__!r} has no name"
        way = "hand it to the function as an argument"
    return diagnostic("AD0602", None, "", name=name, notes=(reason,), helps=(way,))


def _defined(emitted: Emitted) -> Iterable[str]:
    return [part.name for part in ast.parse(emitted.text).body if isinstance(part, ast.FunctionDef)]


def _with_keywords(compiled: Specialization, captured: Sequence[Any]) -> str:
    """The text; data that the function captures are parameters that are given by keyword, or have a default."""
    count = len(compiled.captured)
    text = compiled.emitted.text
    if not count:
        return text
    main = next(part for part in ast.parse(text).body if isinstance(part, ast.FunctionDef))
    signature = main.args
    signature.kwonlyargs = signature.args[-count:]
    signature.kw_defaults = [ast.Constant(value) if type(value) in _LITERALS else None for value in captured]
    signature.kw_defaults += [None] * (count - len(captured))
    del signature.args[-count:]
    lines = text.splitlines(keepends=True)
    lines[main.lineno - 1] = f"def {main.name}({ast.unparse(signature)}):\n"
    return "".join(lines)


def _comment(title: str, compiled: Specialization, given: Sequence[Any]) -> list[str]:
    """What the function is, and for which arguments."""
    names = [param.hint for param in compiled.function.params]
    kinds = ", ".join(f"{name}: {_kind(value)}" for name, value in zip(names, given, strict=False))
    lines = [f"# {on_one_line(title)}" + (f" for {on_one_line(kinds)}" if kinds else "")]
    if compiled.written:
        written = ", ".join(names[place] for place in compiled.written)
        lines.append(f"# It writes {written}, which must not share memory with other arguments.")
    return lines


def _kind(value: Any) -> str:
    """How the comment calls an argument."""
    if isinstance(value, np.ndarray):
        extents = ", ".join("1" if extent == 1 else "n" for extent in value.shape)
        return f"{value.dtype}[{extents}]"
    if value is None or isinstance(value, (bool, str, bytes)):
        return repr(value)
    if isinstance(value, tuple) and not is_namedtuple(value):
        return f"({', '.join(map(_kind, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"list[{' | '.join(dict.fromkeys(map(_kind, value)))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_kind(item)}" for key, item in value.items()) + "}"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return type(value).__name__


export.__adjoint_operator__ = "export"  # type: ignore[attr-defined]
