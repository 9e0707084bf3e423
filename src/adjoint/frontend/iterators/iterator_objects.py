"""Iterators that exist as objects: of users' classes with ``__next__``, and of Python where a program goes on with one.

An iterator is gone through once, in one place, wherever that will do. Where its variable is looked up again, lowering
starts again, and what `iter` gave there is an object that knows its place.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import (
    ENDLESS,
    GeneratorContext,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Method,
    RangeValue,
    Value,
)
from adjoint.frontend.iterators.coming_back import site_as_object
from adjoint.frontend.iterators.iterators import given_by_generator
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import iterator_definitions
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.special_methods import special_method
from adjoint.records import replace

_BY_FUNCTION: dict[Any, type] = {
    python_functions.mapped: iterator_definitions.Mapped,
    python_functions.filtered: iterator_definitions.Filtered,
}


def is_iterator_object(lo: Lowerer, value: Value) -> bool:
    """Whether a value is an object that is asked for one item after the other."""
    return special_method(lo, value, "__next__") is not None


def items_of_object(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """The generator that gives what such an object gives."""
    own = _own_method(lo, value, "left")
    if own is not None:
        return lo.call(own, [], {}, node)
    return python_functions.call(lo, iterator_definitions.each, [value], node)


def iterated(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """What an object of a user's class iterates over, as its ``__iter__`` tells; other values as they are."""
    found = iterator_of(lo, value, node)
    return items_of_object(lo, found, node) if is_iterator_object(lo, found) else found


def iterator_of(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """What ``__iter__`` of an object gives, which may be one with ``__next__``; other values as they are.

    An object that has a length and items by index gives a list of these.
    """
    method = special_method(lo, value, "__iter__")
    if method is not None:
        return lo.call(method, [], {}, node)
    if any(special_method(lo, value, name) is None for name in ("__getitem__", "__len__")):
        return value
    return python_functions.call(lo, iterator_definitions.items_by_index, [value], node)


def next_of_object(lo: Lowerer, args: list[Value], node: ast.AST | None) -> Value:
    """``next(value)`` or ``next(value, default)`` of such an object."""
    if len(args) == 1:
        method = special_method(lo, args[0], "__next__")
        assert method is not None
        return lo.call(method, [], {}, node)
    own = _own_method(lo, args[0], "next_or")
    if own is not None:
        return lo.call(own, args[1:], {}, node)
    return python_functions.call(lo, iterator_definitions.next_or, args, node)


def _own_method(lo: Lowerer, value: Value, name: str) -> Value | None:
    """A method of one of the classes that stand for Python's own iterators; None of users' classes."""
    cls = class_of(lo, value)
    is_ours = cls is not None and issubclass(cls, iterator_definitions.Drawn) and hasattr(cls, name)
    return Method(ir.Const(getattr(cls, name)), value) if is_ours else None


def lazily(lo: Lowerer, value: IteratorValue, node: ast.AST | None) -> Value:
    """An iterator as it was made at ``node``: an object, where the program comes back to it."""
    if node is None:
        return value
    site = lo.site(node)
    return as_object(lo, value, node) if site in lo.settings.stepped else replace(value, site=site)


def as_object(lo: Lowerer, value: Value, node: ast.AST, path: tuple[int, ...] = (0,)) -> Value:
    """The object that gives what an iterator gives, or what there is in a sequence.

    It may hold others, made at the same node: ``path`` tells them apart.
    """

    def made(cls: type, *args: Value) -> Value:
        return _made(lo, cls, list(args), node, path)

    def inside(part: Value, place: int = 0) -> Value:
        return as_object(lo, part, node, (*path, place))

    match value:
        case IteratorValue(kind="iter" | "keys", parts=(inner,)):
            return inside(inner)
        case IteratorValue(kind="items" | "values" as kind, parts=(table,)):
            return made(iterator_definitions.Entries, table, ir.Const(kind == "items"))
        case IteratorValue(kind="enumerate", parts=(inner, start)):
            return made(iterator_definitions.Numbered, inside(inner), start)
        case IteratorValue(kind="zip", parts=parts):
            return rows(lo, parts, node, path)
        case IteratorValue(kind="count", parts=(start, step)):
            return made(iterator_definitions.Counted, start, step, ENDLESS)
        case IteratorValue(kind="cycle", parts=(items,)):
            return made(iterator_definitions.Cycle, inside(items))
        case RangeValue(start=start, step=step):
            return made(iterator_definitions.Counted, start, step, lo.call(ir.Const(len), [value], {}, node))
        case IteratorValue(kind="reversed", parts=(inner,)):
            return made(iterator_definitions.Backwards, inner)
        case IteratorValue(kind="lazy", parts=(ir.Const(value=function), *args)) if function in _BY_FUNCTION:
            return made(_BY_FUNCTION[function], args[0], inside(args[1]))
        case IteratorValue(kind="lazy", parts=(ir.Const(value=python_functions.joined), first, second)):
            return made(iterator_definitions.Chained, inside(first), inside(second, 1))
        case GeneratorObject():
            from adjoint.frontend.iterators.generators.resumable import resumable  # lazy

            return resumable(lo, value, node)
        case GeneratorValue():
            from adjoint.frontend.iterators.generators.resumable import generator_of  # lazy

            return inside(generator_of(lo, value))
        case IteratorValue(kind="lazy" | "pairwise"):
            by_item = given_by_generator(lo, value, node)
            if by_item is not None:
                return inside(by_item)
    match value:
        case GeneratorContext() | IteratorValue(kind="used"):
            label = "this iterator was handed on before: it can be gone through once only"
            raise lo.problem("AD0305", node, label, helps=("make a list of its items: list(...)",))
        case IteratorValue():
            label = "this iterator gives its items to a loop: nothing asks it for one of them, and later for others"
            raise lo.problem("AD0305", node, label, helps=("make a list of its items: list(...)",))
    if is_iterator_object(lo, value):
        return value
    if class_of(lo, value) is dict:
        value = python_functions.call(lo, python_functions.copied, [value], node)
    return made(iterator_definitions.Remaining, value)


def rows(lo: Lowerer, columns: Sequence[Value], node: ast.AST, path: tuple[int, ...] = (0,)) -> Value:
    """``zip(*columns)`` as an object."""
    parts = [as_object(lo, column, node, (*path, place)) for place, column in enumerate(columns)]
    return _made(lo, iterator_definitions.Rows, parts, node, path)


def counted(lo: Lowerer, start: Value, step: Value, node: ast.AST) -> Value:
    """``itertools.count(start, step)`` as an object: what comes next is a sum, as there."""
    return _made(lo, iterator_definitions.Counted, [start, step, ENDLESS], node, (0,))


def cycle(lo: Lowerer, items: Value, node: ast.AST) -> Value:
    """``itertools.cycle(items)`` as an object."""
    return _made(lo, iterator_definitions.Cycle, [as_object(lo, items, node, (0, 0))], node, (0,))


def _made(lo: Lowerer, cls: type, args: list[Value], node: ast.AST, path: tuple[int, ...]) -> Value:
    from adjoint.frontend.objects.construction import construct  # lazy

    return construct(lo, cls, args, {}, node, site_as_object(lo, node, *path))
