"""Methods as functions of what they read of their object: an object of a framework is more than a compiler should see.

A component of a framework holds solvers, vectors and the problem that it is part of. What its method reads of it is
found in the method's text; a stand-in that has only that takes its place where the method is differentiated.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.records import dataclass
from adjoint.sources.definitions import FunctionSource, find

_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc, type)
_MISSING: Any = object()


@dataclass(frozen=True, eq=False, slots=True)
class StandIn:
    """What a method needs of its object.

    Attributes
    ----------
    method
        The method, as a function whose first argument is an object of ``cls``.
    cls
        A class with the attributes that are read, and the methods that are called.
    names
        Which attributes these are: data, that are read before each call.
    items
        For attributes that are tables: the keys that are read, None for all of them.
    functions
        The functions that the object holds as attributes.
    """

    method: Callable[..., Any]
    cls: Callable[..., Any]
    names: tuple[str, ...]
    items: dict[str, tuple[str, ...] | None]
    functions: dict[str, Any]

    def is_of(self, instance: Any) -> bool:
        """Whether the functions that an object holds are still those."""
        return all(getattr(instance, name, None) == function for name, function in self.functions.items())

    def read(self, instance: Any) -> tuple[Any, ...]:
        """What the attributes are now: the arguments of ``cls``."""
        return tuple([self._value(instance, name) for name in self.names])

    def _value(self, instance: Any, name: str) -> Any:
        value = getattr(instance, name)
        if name not in self.items:
            return value
        keys = self.items[name]
        return {key: value[key] for key in keys} if keys is not None else _all_of(value)


def stand_in(method: Any, base: type, tables: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> StandIn:
    """What a method of an object needs of that.

    Parameters
    ----------
    method
        A bound method, whose text is there.
    base
        The class of the framework from which that of the object is derived: of its methods none can be called.
    tables
        Attributes of which items are read by names, such as options: only these are taken.
    hidden
        Attributes that hold what varies: to read one is refused.

    Raises
    ------
    DifferentiationError
        AD0214 if the method uses the object other than by its attributes, AD0101 and AD0102 if there is no text.
    """
    search = _Search(method.__self__, base, tables, hidden)
    search.method(method.__func__)
    names = tuple(sorted(search.data))
    code = tuple(sorted(search.code.items(), key=lambda item: item[0]))
    cls = _class_of(type(method.__self__).__name__, names, code)
    items = {name: None if None in keys else tuple(sorted(map(str, keys))) for name, keys in search.items.items()}
    return StandIn(method.__func__, cls, names, items, search.functions)


@lru_cache(maxsize=256)
def _class_of(name: str, names: tuple[str, ...], code: tuple[tuple[str, Any], ...]) -> type:
    """The class of stand-ins: the same one for the same parts, as what is compiled is compiled for a class."""
    return dataclasses.make_dataclass(name, [(each, Any) for each in names], namespace=dict(code), eq=False)


class _Search:
    """The search for what is read, through all methods that are called."""

    def __init__(self, instance: Any, base: type, tables: tuple[str, ...], hidden: tuple[str, ...]) -> None:
        self.instance = instance
        self.base = base
        self.tables = tables
        self.hidden = hidden
        self.data: set[str] = set()
        self.items: dict[str, set[str | None]] = {}
        self.code: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}

    def method(self, function: Any) -> None:
        """Takes down what a method reads."""
        source = find(function)
        own = _first_parameter(source)
        for node, above in _with_parents(source.node):
            if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
                raise error("AD0214", source.span(node), f"{node.id!r} needs the object itself", name=own)
            if not (isinstance(node, ast.Name) and node.id == own):
                continue
            if not isinstance(above[-1], ast.Attribute):
                raise error("AD0214", source.span(node), f"{own!r} is used as a whole", name=own)
            self.attribute(above[-1], above[-2], source, own)

    def attribute(self, node: ast.Attribute, above: ast.AST, source: FunctionSource, own: str) -> None:
        """Takes down an attribute: as data, or as code."""
        name, cls = node.attr, type(self.instance)
        refuse: Callable[[str], Exception] = lambda label: error("AD0214", source.span(node), label, name=own)
        if name.startswith("__"):
            raise refuse(f"{name!r} is that of the object itself")
        if name in self.code:
            return
        static: Any = inspect.getattr_static(cls, name, _MISSING)
        is_framework = any(name in vars(owner) for owner in self.base.__mro__)
        if isinstance(static, classmethod):
            raise refuse(f"{name!r} is a class method")
        if name not in vars(self.instance) and isinstance(static, (types.FunctionType, property, staticmethod)):
            if not is_framework or isinstance(static, staticmethod):
                self.code[name] = static
                if not isinstance(static, staticmethod):
                    self.method(static.fget if isinstance(static, property) else static)
                return
            if isinstance(static, types.FunctionType):
                raise refuse(f"{name!r} is a method of {self.base.__name__}, which reads more of the object")
        if name in self.hidden:
            raise refuse(f"{name!r} holds what varies: take it as an argument")
        value: Any = getattr(self.instance, name, _MISSING)
        if value is _MISSING:
            return  # it is set first, or the compiler says that it is missing
        if isinstance(value, _CODE) or hasattr(value, "py_func"):
            self.code[name], self.functions[name] = staticmethod(value), value
            return
        self.data.add(name)
        if name in self.tables:
            self.items.setdefault(name, set()).add(_key_of(above))


def _first_parameter(source: FunctionSource) -> str:
    arguments = source.node.args
    return [*arguments.posonlyargs, *arguments.args][0].arg


def _with_parents(node: ast.AST, above: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """All parts of a tree, each with what it is part of: the nearest comes last."""
    for part in ast.iter_child_nodes(node):
        yield part, (*above, node)
        yield from _with_parents(part, (*above[-1:], node))


def _key_of(above: ast.AST) -> str | None:
    """The key with which a table is read; None for any."""
    if (
        isinstance(above, ast.Subscript)
        and isinstance(above.slice, ast.Constant)
        and isinstance(above.slice.value, str)
    ):
        return above.slice.value
    return None


def _all_of(table: Any) -> dict[str, Any]:
    """The items of a table that have a value."""
    found = {}
    for key in table:
        try:
            found[key] = table[key]
        except (KeyError, RuntimeError):  # it is declared, and was never set
            continue
    return found
