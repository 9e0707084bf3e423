"""The code for one library of arrays on one device: what generated code runs with, and what it cannot run."""

from __future__ import annotations

import ast
import copy
import functools
import importlib.util
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint import runtime
from adjoint.runtime.array_libraries.helpers import Helpers
from adjoint.runtime.array_libraries.names import HOMES, Names
from adjoint.runtime.array_libraries.operations import Operations
from adjoint.runtime.array_libraries.portable import OPERATIONS, Refused, portable
from adjoint.types.array_libraries import Library, own_device

RUNTIME = runtime.__name__
_AS_THEY_ARE = (
    "adjoint.runtime.display",
    "adjoint.runtime.lists",
    "adjoint.runtime.objects",
    "adjoint.runtime.tangents",
    "adjoint.runtime.cotangents",
)
"""Modules of helpers that know arrays of other libraries themselves."""


class Unsupported(Exception):
    """A function that is not there for a library; the argument names it."""


class Adapter:
    """NumPy's names, and the helpers, for one library on one device.

    Attributes
    ----------
    names
        What ``np`` stands for.
    """

    def __init__(self, library: Library, device: Any) -> None:
        self.library = library
        self.names = Names(library, device)
        self.operations = Operations(self.names)
        self._written = _WrittenHelpers(self)
        self._made: dict[Any, Callable[..., Any]] = {}

    # Functions

    def helper(self, function: Any) -> Callable[..., Any]:
        """A helper of the runtime for the library.

        Raises
        ------
        Unsupported
            Where it, or one that it calls, cannot do for the library what it does.
        """
        name = function.__name__
        own = getattr(Helpers, name, None)
        if own is not None and not name.startswith("_"):
            return getattr(self._written, name)  # type: ignore[no-any-return]
        if function.__module__.startswith(_AS_THEY_ARE):
            return function  # type: ignore[no-any-return]
        made = self._made.get(function)
        return self._make(function) if made is None else made

    def _make(self, function: types.FunctionType) -> Callable[..., Any]:
        """The same function, as code for the library."""
        module = sys.modules[function.__module__]
        node = _definitions_in(module).get(function.__name__)
        if node is None:
            raise Unsupported(function.__name__)
        node = _without_annotations(node)
        used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        given = {name: vars(module)[name] for name in sorted(used) if name in vars(module)}
        self._check_names(node, {name for name, value in given.items() if value is np})
        modules = {name for name, value in given.items() if isinstance(value, types.ModuleType)}
        try:
            tree = portable(ast.Module([node], []), modules, self.library.writes)
        except Refused:
            raise Unsupported(function.__name__) from None
        space: dict[str, Any] = {"__name__": function.__module__, OPERATIONS: self.operations}
        space.update({name: self.names if value is np else value for name, value in given.items()})
        filename = f"<{function.__module__} for {self.library.name}>"
        exec(compile(tree, filename, "exec"), space)
        made: Callable[..., Any] = space[function.__name__]
        self._made[function] = made
        try:
            for name, value in given.items():
                if value is not function and _is_of_runtime(value):
                    space[name] = self.helper(value) if inspect.isfunction(value) else self._class(value)
        except Unsupported:
            del self._made[function]
            raise
        return made

    @staticmethod
    def _class(cls: Any) -> Any:
        raise Unsupported(cls.__name__)

    def _check_names(self, node: ast.AST, numpys: set[str]) -> None:
        for path in _paths(node, numpys):
            self.check(path)

    def check(self, path: tuple[str, ...]) -> Any:
        """What a name of NumPy stands for: ``("linalg", "solve")``; raises :class:`Unsupported` where it is missing."""
        found: Any = self.names
        if path == ("add", "at"):
            return None
        for name in path:
            found = getattr(found, name, None)
            if found is None and name not in ("newaxis",):
                raise Unsupported(f"np.{'.'.join(path)}")
        return found

    # Texts

    def load(
        self, text: str, filename: str, name: str, namespace: dict[str, Any], containers: frozenset[str]
    ) -> Callable[..., Any]:
        """Runs a text of generated code and gives the function of a name in it."""
        modules = {name for name, value in namespace.items() if isinstance(value, types.ModuleType)}
        tree = portable(ast.parse(text), modules, self.library.writes, containers)
        space: dict[str, Any] = {"__name__": "adjoint.generated", OPERATIONS: self.operations}
        space.update({key: self._meaning(value) for key, value in namespace.items()})
        exec(compile(tree, filename, "exec"), space)
        function: Callable[..., Any] = space[name]
        return function

    def _meaning(self, value: Any) -> Any:
        """What an object that a text refers to is for the library."""
        if value is np:
            return self.names
        if value is runtime:
            return self._written
        if value is math:
            return _Math(self.names)
        if isinstance(value, np.generic):
            return value.item()
        return self.helper(value) if inspect.isfunction(value) and _is_of_runtime(value) else value


class _WrittenHelpers(Helpers):
    """All helpers: those that are not written for other libraries are made when they are first asked for."""

    def __init__(self, adapter: Adapter) -> None:
        super().__init__(adapter.names, adapter.operations)
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(runtime, name)
        found = self._adapter.helper(found) if inspect.isfunction(found) else found
        setattr(self, name, found)
        return found


class _Math:
    """The module ``math``: its functions of an array of one element stay on the device."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        function = getattr(math, name)
        own = getattr(self._names, _NUMPYS_NAME.get(name, name), None)
        if not callable(function) or own is None or name in ("ceil", "floor", "trunc", "prod"):
            return function

        def either(*args: Any) -> Any:
            return own(*args) if any(map(self._names.is_array, args)) else function(*args)

        return either


_NUMPYS_NAME = {
    "fabs": "abs",
    "pow": "power",
    "atan2": "arctan2",
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def _is_of_runtime(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith(f"{RUNTIME}.") and callable(value)


@functools.cache
def _definitions_in(module: types.ModuleType) -> dict[str, ast.FunctionDef]:
    """The functions of a module, by their names; lines stay those of the module."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _without_annotations(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of a function without them: they name what is there for type checkers only."""
    found = copy.deepcopy(function)
    found.returns = None
    for argument in ast.walk(found.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    for node in ast.walk(found):
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return found


def _paths(node: ast.AST, roots: set[str]) -> Iterator[tuple[str, ...]]:
    """The paths behind names of modules in an expression: ``("linalg", "solve")`` for ``np.linalg.solve``."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            path: list[str] = []
            base: ast.expr = part
            while isinstance(base, ast.Attribute):
                path.insert(0, base.attr)
                base = base.value
            if isinstance(base, ast.Name) and base.id in roots:
                yield tuple(path)


# Adapters of arrays

_adapters: dict[Library, Adapter] = {}


def adapter_of(library: Library) -> Adapter:
    """The adapter of a library on a device.

    Raises
    ------
    Unsupported
        Where the package is missing that gives the library the names of the standard.
    """
    found = _adapters.get(library)
    if found is None:
        if importlib.util.find_spec(HOMES[library.name].partition(".")[0]) is None:
            raise Unsupported("array-api-compat")
        found = _adapters[library] = Adapter(library, own_device(library))
    return found
