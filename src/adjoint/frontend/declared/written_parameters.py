"""Parameters that a function with a declared derivative writes, as far as its text says so.

What is declared tells how the value depends on the arguments, and nothing of what is in them afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

from adjoint.diagnostics import DifferentiationError
from adjoint.sources.definitions import find, underlying

_METHODS = frozenset(
    {"sort", "fill", "put", "itemset", "resize", "partition", "setfield", "__setitem__", "__iadd__", "__imul__"}
)
"""Methods that write the array that has them."""
_FUNCTIONS = frozenset({"copyto", "putmask", "fill_diagonal", "put_along_axis", "shuffle", "setitem"})
"""Functions that write their first argument."""
_known: WeakKeyDictionary[CodeType, frozenset[str]] = WeakKeyDictionary()


def written_parameters(fn: Any) -> frozenset[str]:
    """The parameters of a function that hold what they were given, and are written where they are arrays or lists."""
    function = underlying(fn)
    if function is None:
        return frozenset()
    code = function.__code__
    if code not in _known:
        try:
            _known[code] = frozenset(_written(find(function).node))
        except DifferentiationError:
            _known[code] = frozenset()
    return _known[code]


def _written(function: ast.FunctionDef | ast.Lambda) -> Iterator[str]:
    spec = function.args
    own = {parameter.arg for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    parts = [part for statement in body for part in ast.walk(statement)]
    in_place = {id(part.target) for part in parts if isinstance(part, ast.AugAssign)}
    for part in parts:
        own.difference_update(() if id(part) in in_place else _bound(part))
    for part in parts:
        for base in _bases(part):
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name) and base.id in own:
                yield base.id


def _bound(part: ast.AST) -> Iterator[str | None]:
    """The variables that a part of a function binds, those of functions inside of it too."""
    match part:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound):
            yield bound
        case ast.MatchMapping(rest=bound) | ast.alias(asname=bound):
            yield bound


def _bases(part: ast.AST) -> Iterator[ast.AST]:
    """What a part of a function writes into."""
    match part:
        case ast.AugAssign(target=target):
            yield target
        case ast.Subscript(value=base, ctx=ast.Store()):
            yield base
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _METHODS:
            yield base
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[base, *_]) if name in _FUNCTIONS:
            yield base
    if isinstance(part, ast.Call):
        yield from (keyword.value for keyword in part.keywords if keyword.arg == "out")
