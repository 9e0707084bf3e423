"""The containers of `collections`, `numpy.nditer`, heaps and sorted lists."""

from __future__ import annotations

import ast
import bisect
import collections
import heapq
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import making
from adjoint.frontend.external import nditer_definitions
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Record, Ref, Value
from adjoint.frontend.library import python_functions, sorted_lists
from adjoint.frontend.library.collections_definitions import DefaultDict, Deque, OrderedDict
from adjoint.frontend.objects import construction


def _stands_for(cls: type) -> Handler:
    def construct(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return NotImplemented if node is None else construction.construct(lo, cls, args, kwargs, node)

    return construct


HANDLERS[collections.deque] = _stands_for(Deque)
HANDLERS[collections.defaultdict] = _stands_for(DefaultDict)
HANDLERS[collections.OrderedDict] = _stands_for(OrderedDict)


def _means(function: Callable[..., Any], *keywords: str) -> Handler:
    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not kwargs.keys() <= set(keywords):
            return NotImplemented
        return python_functions.call(lo, function, [*args, *kwargs.values()], node)

    return call


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


@handles(types.SimpleNamespace)
def _namespace(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """An object whose attributes are the keywords of the call."""
    if args or node is None:
        return NotImplemented
    ref = Ref(lo.site(node))
    lo.store[ref] = Record(types.SimpleNamespace, tuple(kwargs.items()))
    return making.runtime_object(lo, ref, node) if ref.site in lo.settings.runtime_sites else ref
