"""How generated code refers to what is not one of its variables: modules, functions, classes, other constants.

A function of a well-known module is named by its public path (``np.linalg.solve``), found by identity; everything
else is bound in the namespace under its own name. Which name that is gets settled last, because a parameter keeps its
name even where a built-in function has the same.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import itertools
import keyword
import math
import operator
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.finish import finish
from adjoint.records import dataclass
from adjoint.types.classes.safe_lookups import asked

RUNTIME = "adjoint.runtime"

_MODULES = {
    "math": "math",
    "np": "numpy",
    "np.linalg": "numpy.linalg",
    "np.fft": "numpy.fft",
    "np.random": "numpy.random",
    "np.lib.stride_tricks": "numpy.lib.stride_tricks",
    "cmath": "cmath",
    "operator": "operator",
    "special": "scipy.special",
    "linalg": "scipy.linalg",
}
_ROOTS: dict[str, types.ModuleType] = {"math": math, "np": np, "operator": operator}
_BUILTINS: dict[int, str] = {
    id(value): name
    for name, value in sorted(vars(builtins).items(), reverse=True)
    if callable(value) and getattr(value, "__name__", name) == name and not name.startswith("_")
}


def dotted(root: ast.expr, path: Iterable[str]) -> ast.expr:
    """``root.a.b``"""
    for name in path:
        root = ast.Attribute(root, name, ast.Load())
    return root


def _public_path(value: Any) -> str | None:
    """The best path of a function, class or module of the well-known modules."""
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and vars(math).get(name) is value:
        return f"math.{name}"  # the first of them: no need to look through the others
    # Only what is imported can be referred to; NumPy imports some of its modules when they are first used.
    return _public_paths(tuple([name in sys.modules for name in _MODULES.values()])).get(id(value))


@functools.cache
def _public_paths(imported: tuple[bool, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    for prefix, name in itertools.compress(_MODULES.items(), imported):
        module = sys.modules[name]
        names = [name for name in vars(module) if not name.startswith("_")]
        for name in sorted(
            names, key=lambda name: (name != getattr(vars(module)[name], "__name__", ""), len(name), name)
        ):
            value = vars(module)[name]
            if callable(value) or isinstance(value, types.ModuleType):
                found.setdefault(id(value), f"{prefix}.{_short(name, value)}")
    return found


def _short(name: str, value: Any) -> str:
    """The name that people write: ``np.abs`` rather than ``np.absolute``."""
    return {"absolute": "abs"}.get(name, name) if isinstance(value, np.ufunc) else name


@dataclass(slots=True)
class _Entry:
    value: Any
    name: str
    is_builtin: bool
    uses: int = 0


class GlobalNames:
    """The objects that a text refers to, and, at the end, their names."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._numbers: dict[int, int] = {}
        self.definitions: list[ir.Definition | ir.Function] = []
        self._finished: dict[ir.Function, ir.Function] = {}

    def define(self, function: ir.Definition | ir.Function, name: str | None = None) -> str:
        """The token for the name of a function that the text defines."""
        node = self._definition(function, name)
        assert isinstance(node, ast.Name)
        self._entries[int(node.id.rpartition("$")[2])].uses -= 1
        return node.id

    def reference(self, value: Any) -> ast.expr:
        """An expression for an object."""
        if isinstance(value, (ir.Definition, ir.Function)):
            return self._definition(value)
        if id(value) in _BUILTINS:
            return self._bound(value, _BUILTINS[id(value)], is_builtin=True)
        helper = self._helper(value)
        if helper is not None:
            return helper
        path = _public_path(value)
        if path is not None:
            root, *rest = path.split(".")
            return dotted(self._bound(_ROOTS.get(root) or sys.modules[_MODULES[root]], root), rest)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        return self._method(value) or self._bound(value, _own_name(value))

    def handed_over(self, function: ir.Function) -> ast.expr:
        """A function that is a value: nobody has written out what it calls."""
        if function not in self._finished:
            self._finished[function] = finish(function)
        return self._definition(self._finished[function])

    def module(self, name: str) -> ast.expr:
        """One of the modules under its usual name: ``np``, ``math``."""
        return self._bound(_ROOTS[name], name)

    def builtin(self, name: str) -> ast.expr:
        return self._bound(getattr(builtins, name), name, is_builtin=True)

    def _module(self, module: types.ModuleType) -> ast.expr:
        name = {"numpy": "np", RUNTIME: "rt"}.get(module.__name__, module.__name__.rpartition(".")[2])
        return self._bound(module, name)

    def _method(self, value: Any) -> ast.expr | None:
        """A bound method, such as ``np.add.at`` or ``generator.normal``."""
        owner = asked(value, "__self__")
        name = getattr(value, "__name__", "")
        bound = isinstance(value, (types.MethodType, types.BuiltinMethodType)) and hasattr(owner, name)
        if owner is None or isinstance(owner, types.ModuleType) or not bound:
            return None
        return ast.Attribute(self.reference(owner), name, ast.Load())

    def _helper(self, value: Any) -> ast.expr | None:
        """A function of the runtime: ``rt.name``, where the package hands it out."""
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", "")
        if not isinstance(module, str) or not module.startswith(RUNTIME):
            return None
        runtime = importlib.import_module(RUNTIME)
        if getattr(runtime, name, None) is not value:
            return None
        return ast.Attribute(self._bound(runtime, "rt"), name, ast.Load())

    def _definition(self, value: ir.Definition | ir.Function, name: str | None = None) -> ast.expr:
        """A function of the text itself; a function and the definition that holds it are one."""
        function = value.function if isinstance(value, ir.Definition) else value
        key = value if function is None else function
        if id(key) not in self._numbers:
            self.definitions.append(value)
        return self._bound(key, name or value.name)

    def _bound(self, value: Any, name: str, is_builtin: bool = False) -> ast.expr:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._entries)
            self._entries.append(_Entry(value, _identifier(name), is_builtin))
        self._entries[number].uses += 1
        return ast.Name(f"{self._entries[number].name}${number}", ast.Load())

    def settle(self, taken: Iterable[str]) -> tuple[dict[str, str], dict[str, Any]]:
        """Chooses the names.

        Parameters
        ----------
        taken
            Names that are spoken for: those of parameters.

        Returns
        -------
        names
            For each token the name that replaces it.
        namespace
            The objects that must be bound before the text runs; functions of the text are not among them.
        """
        spoken_for = set(taken)
        used: set[str] = set()
        names: dict[str, str] = {}
        namespace: dict[str, Any] = {}
        for number, entry in enumerate(self._entries):
            name = _free(entry.name, used | spoken_for if entry.uses else used, entry.is_builtin)
            used.add(name)
            names[f"{entry.name}${number}"] = name
            if not isinstance(entry.value, (ir.Definition, ir.Function)) and not (
                entry.is_builtin and name == entry.name
            ):
                namespace[name] = entry.value
        return names, namespace

    def used(self) -> set[str]:
        """The tokens that the text refers to."""
        return {f"{entry.name}${number}" for number, entry in enumerate(self._entries) if entry.uses}


def _free(wanted: str, used: set[str], may_be_builtin: bool) -> str:
    name, count = wanted, 0
    while name in used or keyword.iskeyword(name) or (hasattr(builtins, name) and not may_be_builtin):
        count += 1
        name = f"{wanted}_{count}"
    return name


def _own_name(value: Any) -> str:
    if isinstance(value, type) and value.__name__ == "TangentVector" and "." in value.__qualname__:
        return f"{value.__qualname__.split('.')[-2]}Tangent"
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and callable(value):
        return "fn" if name == "<lambda>" else name
    return {"ndarray": "array"}.get(type(value).__name__, type(value).__name__.lower())


def _identifier(text: str) -> str:
    name = text if text.isidentifier() else re.sub(r"\W", "_", text)
    return f"_{name}" if not name or name[0].isdigit() else name
