"""Texts of generated code that are run with arrays of another library.

All names in the text are looked up before it runs. What the library lacks is refused at the user's line.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint import runtime
from adjoint.codegen.texts import Emitted, file_of, origins
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.runtime.array_libraries.adapters import Adapter, Unsupported, adapter_of
from adjoint.runtime.array_libraries.portable import DTYPES, Refused
from adjoint.types.array_libraries import Library

_NOT_FOR_LIBRARIES = ("numpy", "scipy", "numba")


def load_for_library(emitted: Emitted, library: Library) -> Callable[..., Any]:
    """The function of a text.

    Raises
    ------
    DifferentiationError
        AD0603 for names that the library lacks, AD0604 if its arrays would be written.
    """
    adapter = _adapter(library)
    problems = list(_Names(adapter, emitted).problems())
    if problems:
        raise DifferentiationError(*problems)
    filename = file_of(emitted)
    origins[filename] = emitted.lines, emitted.parts
    lines = emitted.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(emitted.text), None, lines, filename)
    try:
        return adapter.load(emitted.text, filename, emitted.name, emitted.namespace, emitted.containers)
    except Refused as refused:
        label = f"the derivative adds up in place, and {refused}"
        raise DifferentiationError(diagnostic("AD0604", None, label, name=library.name)) from None


def _adapter(library: Library) -> Adapter:
    try:
        return adapter_of(library)
    except Unsupported as missing:
        helps = (f"pip install {missing}",)
        problem = diagnostic("AD0603", None, f"{missing} is not installed", helps=helps, name=library.name)
        raise DifferentiationError(problem) from None


class _Names:
    """What a text refers to, held against what a library has."""

    def __init__(self, adapter: Adapter, emitted: Emitted) -> None:
        self.adapter = adapter
        self.emitted = emitted
        self.tree = ast.parse(emitted.text)
        self.modules = {name: value for name, value in emitted.namespace.items() if isinstance(value, types.ModuleType)}

    def problems(self) -> Iterator[Diagnostic]:
        seen: set[str] = set()
        for node in ast.walk(self.tree):
            said = self._missing(node)
            if said is not None and said not in seen:
                seen.add(said)
                where = f"{self.adapter.library.name} has no {said}, nor what it could be made of"
                yield diagnostic("AD0603", self._span(node), where, name=said)

    def _span(self, node: ast.AST) -> Span | None:
        return self.emitted.lines.get(node.lineno)  # type: ignore[attr-defined]

    def _missing(self, node: ast.AST) -> str | None:
        """What an expression needs and the library lacks."""
        if isinstance(node, ast.Name):
            return self._missing_object(node)
        if isinstance(node, ast.Attribute):
            return self._missing_path(node)
        return self._misfit(node) if isinstance(node, ast.Call) else None

    def _missing_object(self, node: ast.Name) -> str | None:
        value = self.emitted.namespace.get(node.id)
        if isinstance(value, np.ndarray):
            return "array of NumPy"
        module = str(getattr(value, "__module__", "")) if callable(value) else ""
        if module.startswith(f"{runtime.__name__}.") and inspect.isfunction(value):
            return self._missing_helper(value)
        if isinstance(value, type) and issubclass(value, tuple):
            return None
        if module.partition(".")[0] in _NOT_FOR_LIBRARIES or isinstance(value, np.ufunc):
            return str(getattr(value, "__name__", node.id))
        return None

    def _missing_helper(self, value: Any) -> str | None:
        try:
            self.adapter.helper(value)
        except Unsupported as missing:
            return str(missing)
        return None

    def _missing_path(self, node: ast.Attribute) -> str | None:
        root, path = _path(node)
        module = self.modules.get(root)
        if module is None:
            return None
        if module is np:
            return self._missing_name(path)
        if module is runtime:
            value = getattr(runtime, path[0])
            return self._missing_helper(value) if inspect.isfunction(value) else None
        name = module.__name__
        return f"{name}.{'.'.join(path)}" if name.partition(".")[0] in _NOT_FOR_LIBRARIES else None

    def _missing_name(self, path: tuple[str, ...]) -> str | None:
        try:
            self.adapter.check(path)
        except Unsupported as missing:
            return str(missing)
        return None

    def _misfit(self, node: ast.Call) -> str | None:
        """An argument that the function of the library does not take."""
        root, path = _path(node.func)
        is_starred = any(isinstance(part, ast.Starred) for part in node.args)
        if not path or path[0] in DTYPES or self.modules.get(root) is not np or is_starred:
            return None
        try:
            function = self.adapter.check(path)
            if function is None:
                return None
            names = {keyword.arg: None for keyword in node.keywords if keyword.arg is not None}
            inspect.signature(function).bind(*node.args, **names)
        except (Unsupported, ValueError):
            return None
        except TypeError:
            given = ", ".join([*(str(keyword.arg) for keyword in node.keywords)])
            return f"np.{'.'.join(path)} with {given or f'{len(node.args)} arguments'}"
        return None


def _path(node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """The name at the root of an attribute, and the path from there."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return (node.id, tuple(path)) if isinstance(node, ast.Name) else ("", ())
