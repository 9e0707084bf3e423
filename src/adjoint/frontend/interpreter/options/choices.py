"""Values that have one of several structures: code for each of them, behind a test of which it is.

What takes such a value as a whole asks :func:`on_each_option`. Where an expression or a statement needs one structure,
it ends with :class:`Several`, and :func:`for_each_structure` lowers it once for each that the value may have.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import (
    IteratorValue,
    Method,
    Partial,
    Record,
    SliceValue,
    TupleValue,
    Union,
    Value,
)
from adjoint.records import replace

MOST_TOGETHER = 1024
"""So many structures the values have together, at most, for each of which one piece of code runs: they multiply."""


class Several(Problem):
    """One structure is needed, and a value has several."""

    def __init__(self, problem: Problem, union: Union) -> None:
        super().__init__(problem.diagnostic)
        self.union = union


def on_each_option(lo: Lowerer, union: Union, apply: Callable[[Value], Value], node: ast.AST | None) -> Value:
    """One of several structures: the tag decides at run time which code runs."""

    def choose(index: int) -> Value:
        if index == len(union.options) - 1:
            return apply(union.options[index])
        cond = lo.open.call(operator.eq, union.tag, ir.Const(index))
        return lo.branch(cond, lambda: apply(union.options[index]), lambda: choose(index + 1), node)

    together = lo.run_data.together
    if together * len(union.options) > MOST_TOGETHER:
        label = f"this is done for each structure of values that have {together * len(union.options)} together"
        raise lo.problem("AD0402", node, label)
    lo.run_data.together *= len(union.options)
    lo.run_data.choices += len(union.options) > 1
    try:
        return choose(0)
    finally:
        lo.run_data.choices -= len(union.options) > 1
        lo.run_data.together = together


def item_at(lo: Lowerer, place: ir.Atom, items: tuple[Value, ...], node: ast.AST | None) -> Value:
    """One of several values by its place; what has several structures itself is one of all that there are."""
    if not any(isinstance(item, Union) for item in items):
        return Union(place, items)
    places = Union(place, tuple(map(ir.Const, range(len(items)))))

    def item(found: Value) -> Value:
        assert isinstance(found, ir.Const)
        chosen: Value = items[found.value]
        return chosen

    return on_each_option(lo, places, item, node)


def one_of(lo: Lowerer, union: Union, places: list[int]) -> Value:
    """The value where it is known to have one of some of its structures."""
    if len(places) == 1:
        return union.options[places[0]]
    numbers = tuple(places.index(place) if place in places else 0 for place in range(len(union.options)))
    tag = lo.open.item(ir.Const(numbers), union.tag, ir.INT, "case")
    return Union(tag, tuple(union.options[place] for place in places))


def for_each_structure(lo: Lowerer, body: Callable[[], Value], node: ast.AST | None) -> Value:
    """What ``body`` gives; where it needs one structure of a variable that has several, it runs for each of them."""
    kept = lo.checkpoint()
    try:
        return body()
    except Several as several:
        union = several.union
        held = [key for key, value in kept.store.items() if holds(value, union)]
        if not held:
            raise
        lo.roll_back(kept)

    def with_option(option: Value) -> Value:
        before = {key: lo.store[key] for key in held}
        narrow = {key: chosen(value, union, option) for key, value in before.items()}
        for key, value in narrow.items():
            set_unseen(lo.store, key, value)
        result = for_each_structure(lo, body, node)
        if lo.block is not None:
            for key, value in narrow.items():
                if lo.store.get(key) is value:  # what it was is told by the tag from here on, too
                    set_unseen(lo.store, key, before[key])
        return result

    return on_each_option(lo, union, with_option, node)


def with_each_structure(lo: Lowerer, value: Value, apply: Callable[[Value], Value], node: ast.AST | None) -> Value:
    """What ``apply`` gives for a value; where it needs one structure of it or of a part, it runs for each of them."""
    kept = lo.checkpoint()
    try:
        return apply(value)
    except Several as several:
        union = several.union
        if not holds(value, union):
            raise
        lo.roll_back(kept)

    def with_option(option: Value) -> Value:
        return with_each_structure(lo, chosen(value, union, option), apply, node)

    return on_each_option(lo, union, with_option, node)


def call_for_each_structure(
    lo: Lowerer,
    call: Callable[[list[Value], dict[str, Value]], Value],
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """What a call gives; where it needs one structure of an argument that has several, there is one call for each."""
    if not any(map(has_options, (*args, *kwargs.values()))):
        return call(args, kwargs)
    kept = lo.checkpoint()
    try:
        return call(args, kwargs)
    except Several as several:
        union = several.union
        if not any(holds(value, union) for value in (*args, *kwargs.values())):
            raise
        lo.roll_back(kept)

    def with_option(option: Value) -> Value:
        given = [chosen(arg, union, option) for arg in args]
        named = {name: chosen(value, union, option) for name, value in kwargs.items()}
        return call_for_each_structure(lo, call, given, named, node)

    return on_each_option(lo, union, with_option, node)


def parts_of(value: Value) -> Iterable[Value]:
    """What a value consists of that has no identity of its own."""
    match value:
        case TupleValue(items=items) | Record(items=items):
            return items
        case IteratorValue(parts=parts):
            return parts
        case SliceValue(lower=lower, upper=upper, step=step):
            return (lower, upper, step)
        case Method(function=function, receiver=receiver):
            return (function, receiver)
        case Partial(function=function, args=args, kwargs=kwargs):
            return (function, *args, *(part for _, part in kwargs))
        case _:
            return ()


def has_options(value: Value) -> bool:
    """Whether a value, or a part of it that has no identity of its own, has one of several structures."""
    return isinstance(value, Union) or any(map(has_options, parts_of(value)))


def holds(value: Value, union: Union) -> bool:
    """Whether a value is this very one of several structures, or has it as a part."""
    return value is union or any(holds(part, union) for part in parts_of(value))


def chosen(value: Value, union: Union, option: Value) -> Value:
    """The value, with one structure in place of the several."""

    def part(each: Any) -> Any:
        return chosen(each, union, option)

    if value is union:
        return option
    if not holds(value, union):
        return value
    match value:
        case TupleValue(items=items):
            return replace(value, items=tuple(map(part, items)))
        case Record(parts=parts):
            return replace(value, parts=tuple((key, part(each)) for key, each in parts))
        case IteratorValue(parts=parts):
            return replace(value, parts=tuple(map(part, parts)))
        case SliceValue(lower=lower, upper=upper, step=step):
            return SliceValue(part(lower), part(upper), part(step))
        case Method(function=function, receiver=receiver):
            return Method(part(function), part(receiver))
        case Partial(function=function, args=args, kwargs=kwargs):
            named = tuple((name, part(each)) for name, each in kwargs)
            return Partial(part(function), tuple(map(part, args)), named)
    return value
