"""The containers of `collections`, `numpy.nditer`, heaps and sorted lists."""

from __future__ import annotations

import ast
import bisect
import collections
import functools
import heapq
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import making
from adjoint.frontend.external import nditer_definitions
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import sorted_lists
from adjoint.frontend.library.in_python.collections_definitions import Counter, DefaultDict, Deque, OrderedDict
from adjoint.frontend.objects import construction


def _stands_for(cls: type) -> Handler:
    def construct(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return NotImplemented if node is None else construction.construct(lo, cls, args, kwargs, node)

    return construct


HANDLERS[collections.deque] = _stands_for(Deque)
HANDLERS[collections.defaultdict] = _stands_for(DefaultDict)
HANDLERS[collections.OrderedDict] = _stands_for(OrderedDict)
HANDLERS[collections.Counter] = _stands_for(Counter)


def _means(function: Callable[..., Any], *keywords: str) -> Handler:
    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not kwargs.keys() <= set(keywords):
            return NotImplemented
        return python_functions.call(lo, function, [*args, *kwargs.values()], node)

    return call


@handles(np.ndarray.__setitem__, list.__setitem__, dict.__setitem__)
def _own_setitem(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """That of the container itself: a class that inherits from it may have another one."""
    match args:
        case [Ref() as base, *_] if getattr(lo.store[base], "cls", None) in (list, dict):
            pass
        case [ir.Var(type=ir.Array() | ir.List() | ir.Dict()), *_]:
            pass
        case _:
            return NotImplemented
    return HANDLERS[operator.setitem](lo, args, kwargs, node)


HANDLERS[heapq.heappush] = _means(sorted_lists.push)
HANDLERS[heapq.heappop] = _means(sorted_lists.pop)
HANDLERS[heapq.heapreplace] = _means(sorted_lists.replace)
HANDLERS[heapq.heappushpop] = _means(sorted_lists.push_and_pop)
HANDLERS[heapq.heapify] = _means(sorted_lists.arrange)
HANDLERS[heapq.nsmallest] = _means(sorted_lists.least, "key")
HANDLERS[heapq.nlargest] = _means(sorted_lists.greatest, "key")
HANDLERS[bisect.insort_right] = _means(sorted_lists.insert_right)
HANDLERS[bisect.insort_left] = _means(sorted_lists.insert_left)


@handles(np.nditer)
def _nditer(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return lo.call(ir.Const(nditer_definitions.nditer), args, kwargs, node)


@handles(collections.namedtuple)
def _named_tuple_class(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A class that is made of names that are known: one for all calls."""
    known = [_constant_of(lo, value) for value in (*args, *kwargs.values())]
    if any(value is None for value in known):
        return NotImplemented
    assert lo.frame is not None
    place = ("module", lo.frame.closure.globals.get("__name__"))
    options = (place, *zip(kwargs, known[len(args) :], strict=True))
    try:
        return ir.Const(_named_tuple_of(tuple(known[: len(args)]), options))
    except (TypeError, ValueError) as problem:
        raise lo.mistake(type(problem), node, str(problem)) from problem


@functools.cache
def _named_tuple_of(args: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> type:
    return collections.namedtuple(*args, **dict(options))


def _constant_of(lo: Lowerer, value: Value) -> Any:
    """A constant that may be hashed, lists as tuples; None for anything else."""
    items = value.items if isinstance(value, TupleValue) else making.list_items(lo, value)
    if items is not None:
        parts = tuple(_constant_of(lo, item) for item in items)
        return None if None in parts else parts
    if not isinstance(value, ir.Const):
        return None
    held = tuple(value.value) if isinstance(value.value, list) else value.value
    return held if isinstance(held, (str, bool, int, float, tuple)) else None


@handles(types.SimpleNamespace)
def _namespace(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """An object whose attributes are the keywords of the call."""
    if args or node is None:
        return NotImplemented
    ref = Ref(lo.site(node))
    lo.store[ref] = Record(types.SimpleNamespace, tuple(kwargs.items()))
    return making.runtime_object(lo, ref, node) if ref.site in lo.settings.runtime_sites else ref
