"""Functions that go over a sequence: sums, extremes, maps, sorting."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call, refuse_linked
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.rule_calls import untagged
from adjoint.frontend.data import containers, making
from adjoint.frontend.data.element_types import joined_types
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import (
    NONE,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Method,
    Partial,
    RangeValue,
    TupleValue,
    Value,
    is_atom,
)
from adjoint.frontend.iterators.items import MAX_UNROLLED, kept, sequence, static_items
from adjoint.frontend.iterators.iterator_objects import lazily
from adjoint.frontend.iterators.iterators import lazy, refuse_kept_by_function, refuse_twice
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import functools_definitions
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import length_of
from adjoint.runtime.lists import order_of_items


@handles(sum)
def _sum(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    from adjoint.frontend.syntax.comprehensions import fold, fold_generator  # lazy

    start = kwargs.get("start", args[1] if len(args) > 1 else ir.Const(0))

    def add(total: Value, item: Value) -> Value:
        return apply_operator(lo, operator.add, [total, item], node)

    if isinstance(args[0], GeneratorValue):
        return fold_generator(lo, args[0], _anew(lo, start, node), add)
    given = kept(lo, args[0])
    if isinstance(given, GeneratorObject) and node is not None:
        return fold(lo, given, _anew(lo, start, node), add, node)
    given = sequence(lo, given)
    items = static_items(lo, given, node)
    if items is not None:
        if start == ir.Const(0) and len(items) > 1 and _is_zero_plus_itself(items[0]):
            return functools.reduce(add, items)  # 0 + x is another object than x: a sum of one is left as it is
        return functools.reduce(add, items, start) if items else _anew(lo, start, node)
    return python_functions.call(lo, python_functions.total, [given, _anew(lo, start, node)], node)


def _anew(lo: Lowerer, start: Value, node: ast.AST | None) -> Value:
    """A float as a sum starts with it: the sum of nothing is another object, which tells one NaN from another."""
    is_float = isinstance(start, ir.Var) and start.type == ir.FLOAT
    return apply_operator(lo, operator.mul, [start, ir.Const(1)], node) if is_float else start


def _is_zero_plus_itself(value: Value) -> bool:
    """Whether a value is equal to 0 plus it, which classes may say otherwise."""
    return isinstance(value, ir.Var) and isinstance(value.type, (ir.Scalar, ir.Array))


@handles(math.fsum)
def _fsum(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of what iterators give, that of their list."""
    given = sequence(lo, args[0])
    if isinstance(given, IteratorValue):
        given = lo.call(ir.Const(list), [given], {}, node)
    return NotImplemented if given is args[0] else lo.call(ir.Const(math.fsum), [given], {}, node)


@handles(math.hypot)
def _hypot(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [IteratorValue(kind="rest", parts=(items,))]:
            return call(lo, length_of, [materialize(lo, lo.call(ir.Const(np.array), [items], {}, node), node)], node)
        case _:
            return NotImplemented


def _extreme(builtin: Any, plain: Any, by_key: Any) -> Handler:
    def fold(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        key = _present(kwargs.get("key"), args)
        if len(args) > 1:
            if key is not None and key != NONE:
                return _extreme_by_key(lo, builtin, args, key, node)
            result = args[0]
            for item in args[1:]:
                result = _binary_extreme(lo, builtin, result, item, node)
            return result
        value = sequence(lo, args[0])
        items = static_items(lo, value, node)
        if items is None:
            value = _by_place(lo, value, node)
        default = kwargs.get("default")
        if default is not None and items is not None and not items:
            return default
        if default is not None and items is None:
            rest = {name: option for name, option in kwargs.items() if name != "default"}
            some = lo.open.call(len, materialize(lo, value, node))
            return lo.branch(some, lambda: fold(lo, [value], rest, node), lambda: default, node)
        if key is not None and key != NONE:
            if items and len(items) <= MAX_UNROLLED:
                return _extreme_by_key(lo, builtin, items, key, node)
            return python_functions.call(lo, by_key, [value, key], node)
        if items:
            result = items[0]
            for item in items[1:]:
                result = _binary_extreme(lo, builtin, result, item, node)
            return result
        if is_atom(value) and not isinstance(getattr(value, "type", None), (ir.List, ir.Array)):
            return NotImplemented
        if isinstance(value, RangeValue):
            return NotImplemented
        return python_functions.call(lo, plain, [value], node)

    return fold


def _present(key: Any, args: list[Value]) -> Any:
    """``table.get`` as a key of the keys of ``table``: there it finds all of them."""
    match key, args:
        case (
            Method(function=ir.Const(value=dict.get), receiver=table),
            [given] | [IteratorValue(kind="keys", parts=(given,))],
        ) if given is table:
            return Partial(ir.Const(operator.getitem), (table,), ())
        case _:
            return key


def _by_place(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """What is gone through, so that items can be asked for by their places."""
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Dict):
        return lo.open.call(display.keys_of, value)
    return (
        python_functions.call(lo, python_functions.copied, [value], node) if isinstance(value, IteratorValue) else value
    )


_COMPARED_BY_PYTHON = (ir.Array, ir.Instance, ir.List, ir.Dict, ir.Tuple)


def _binary_extreme(lo: Lowerer, builtin: Any, one: Value, other: Value, node: ast.AST | None) -> Value:
    if isinstance(one, ir.Const) and isinstance(other, ir.Const):
        try:
            return ir.Const(builtin(one.value, other.value))
        except TypeError:  # raises at run time too
            return lo.open.call(builtin, one, other)
    types = [type_of(value) for value in (one, other) if is_atom(value)]
    are_numbers = len(types) == 2 and not any(isinstance(each, _COMPARED_BY_PYTHON) for each in types)
    if are_numbers and not _is_told_apart(lo, *types):
        return call(lo, builtin, [one, other], node)  # type: ignore[list-item]
    return python_functions.call(
        lo, python_functions.larger if builtin is max else python_functions.smaller, [one, other], node
    )


def _is_told_apart(lo: Lowerer, one: ir.Type, other: ir.Type) -> bool:
    """Whether the program asks of which class numbers are, and the one that is chosen may be of either."""
    joined = lo.types.join(one, other)
    return isinstance(joined, ir.Number) and (lo.types.are_told_apart or lo.types.are_kinds_told_apart)


def _extreme_by_key(lo: Lowerer, builtin: Any, items: Sequence[Value], key: Value, node: ast.AST | None) -> Value:
    choose = python_functions.larger_by if builtin is max else python_functions.smaller_by
    best: Value = TupleValue((items[0], lo.call(key, [items[0]], {}, node)))
    for item in items[1:]:
        other = TupleValue((item, lo.call(key, [item], {}, node)))
        best = python_functions.call(lo, choose, [best, other], node)
    return containers.subscript(lo, best, ir.Const(0), node)


def _quantifier(plain: Any) -> Handler:
    def fold(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if isinstance(args[0], ir.Var) and not isinstance(args[0].type, (ir.List, ir.Array)):
            return NotImplemented
        return python_functions.call(lo, plain, [kept(lo, args[0])], node)

    return fold


@handles(map)
def _map(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    sequences = tuple([kept(lo, arg) for arg in args[1:]])
    refuse_twice(lo, sequences, node)
    if len(sequences) == 1:
        return lazily(lo, lazy(python_functions.mapped, args[0], *sequences), node)
    return lazy(python_functions.mapped_rows, args[0], IteratorValue("zip", sequences))


@handles(filter)
def _filter(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    predicate = ir.Const(bool) if args[0] == NONE else args[0]
    return lazily(lo, lazy(python_functions.filtered, predicate, kept(lo, args[1])), node)


@handles(functools.reduce)
def _reduce(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = sequence(lo, args[1])
    if len(args) > 2:
        return python_functions.call(lo, python_functions.reduce, [args[0], given, args[2]], node)
    return python_functions.call(lo, functools_definitions.reduce_from_first, [args[0], given], node)


@handles(functools.partial)
def _partial(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    refuse_kept_by_function(lo, (*args[1:], *kwargs.values()), node)
    return Partial(args[0], tuple(args[1:]), tuple(kwargs.items()))


@handles(sorted)
def sorted_list(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """The order is found without derivatives; then the items are taken in that order."""
    given = sequence(lo, args[0])
    if isinstance(given, ir.Var) and isinstance(given.type, ir.Opaque):
        return NotImplemented
    items = static_items(lo, given, node)
    if items is None:
        given = _by_place(lo, given, node)
    elif isinstance(given, IteratorValue) or making.is_dict(lo, given):
        given = TupleValue(tuple(items))
    key, reverse = _present(kwargs.get("key", NONE), args), kwargs.get("reverse", ir.Const(False))
    keys = given if key == NONE else python_functions.call(lo, python_functions.mapped, [key, given], node)
    if items is not None and all(isinstance(item, ir.Const) for item in (*items, reverse)) and key == NONE:
        constants: list[Any] = [item.value for item in items if isinstance(item, ir.Const)]
        try:
            ordered = sorted(constants, reverse=bool(reverse.value))  # type: ignore[union-attr]
        except TypeError as error:
            raise lo.mistake(TypeError, node, str(error)) from None
        return making.new_list(lo, [ir.Const(item) for item in ordered], node)
    (keys,) = untagged(lo, [keys], node)
    atoms = [materialize(lo, keys, node, observer=True), materialize(lo, reverse, node)]
    refuse_linked(lo, atoms, node)
    places = ir.Var("order", ir.List(ir.Scalar("int")))
    lo.emit(ir.Call((places,), order_of_items, tuple(atoms), (), lo.span(node)))
    if items is not None:
        if all(is_atom(item) for item in items):
            element = joined_types([type_of(item) for item in items], lo, node)
            given = materialize(lo, containers.alike(lo, TupleValue(tuple(items)), tuple(items), element), node)
            row = []
            for i in range(len(items)):
                place = containers.subscript(lo, places, ir.Const(i), node)
                row.append(containers.subscript(lo, given, place, node))
            return making.new_list(lo, row, node)
        given = making.new_list(lo, items, node)
    return python_functions.call(lo, python_functions.in_order, [given, places], node)


HANDLERS[max] = _extreme(max, python_functions.largest, python_functions.largest_by)
HANDLERS[min] = _extreme(min, python_functions.smallest, python_functions.smallest_by)
HANDLERS[any] = _quantifier(python_functions.any_of)
HANDLERS[all] = _quantifier(python_functions.all_of)
