"""Shapes made from shapes: with no number known, with every object new, with no object named."""

from __future__ import annotations

from collections.abc import Callable

from adjoint import ir
from adjoint.frontend.interpreter.joins import (
    ComposedShape,
    Leaf,
    RecordShape,
    RefShape,
    Same,
    Shape,
    TupleShape,
    UnionShape,
    type_of,
)
from adjoint.frontend.interpreter.values import NONE, Method, Partial
from adjoint.ir import types


def loose(shape: Shape) -> Shape:
    """The shape with no number that is known; what objects hold is known on its own."""
    return _unknown(shape, (bool, int, float, complex, str))


def known_structure(shape: Shape) -> Shape:
    """The shape with no number known but whole ones, which are structure, as truth values and strings are."""
    if isinstance(shape, ComposedShape):
        return _with_parts(shape, known_structure)
    return _unknown(shape, (float, complex))


def _unknown(shape: Shape, kinds: tuple[type, ...]) -> Shape:
    """The shape with no value of these kinds known."""
    match shape:
        case Same(value=ir.Const(value=value)) if isinstance(value, kinds):
            return Leaf(type_of(shape.value))
        case TupleShape() | RecordShape():
            return _with_parts(shape, lambda part: _unknown(part, kinds))
        case _:
            return shape


def loosened(shape: Shape) -> Shape:
    """The shape with no number that is known, in objects neither."""
    return _throughout(shape, lambda old, record: RefShape(old.ref, record, old.sites), loose)


def fresh(shape: Shape) -> Shape:
    """The shape with every object new."""
    return _throughout(shape, lambda old, record: RefShape(None, record, old.sites))


def received(shape: Shape) -> Shape:
    """What a function gets that stays one: every object new, and arrays with memory of their own."""

    def part(given: Shape) -> Shape:
        is_array = isinstance(given, Leaf) and isinstance(given.type, types.Array)
        return Leaf(types.fresh(given.type)) if is_array else given  # type: ignore[union-attr]

    return _throughout(shape, lambda old, record: RefShape(None, record, old.sites), part)


def anonymous(shape: Shape) -> Shape:
    """The structure alone: objects are neither named, nor is it known where they were made."""
    return _throughout(shape, lambda _, record: RefShape(None, record, ()))


def detached(shape: Shape) -> Shape:
    """The structure alone, with memory of its own."""
    return with_parts_replaced(shape, lambda part: Leaf(types.fresh(part.type)) if isinstance(part, Leaf) else part)


def with_parts_replaced(shape: Shape, of_part: Callable[[Shape], Shape]) -> Shape:
    """The structure alone, with every part in it that has no parts replaced."""
    return _throughout(shape, lambda _, record: RefShape(None, record, ()), of_part)


def _throughout(
    shape: Shape, of_object: Callable[[RefShape, RecordShape], Shape], of_part: Callable[[Shape], Shape] | None = None
) -> Shape:
    """The shape with every object in it, and every part without parts, replaced."""

    def change(part: Shape) -> Shape:
        return _throughout(part, of_object, of_part)

    match shape:
        case RefShape(record=record):
            return of_object(shape, _record(record, change))
        case TupleShape() | RecordShape() | ComposedShape() | UnionShape():
            return _with_parts(shape, change)
        case _:
            return shape if of_part is None else of_part(shape)


def _with_parts(
    shape: TupleShape | RecordShape | ComposedShape | UnionShape, change: Callable[[Shape], Shape]
) -> Shape:
    match shape:
        case TupleShape(cls=cls, items=items):
            return TupleShape(cls, tuple(map(change, items)))
        case RecordShape():
            return _record(shape, change)
        case ComposedShape(template=template, items=items):
            return ComposedShape(_emptied(template), tuple(map(change, items)))
        case UnionShape(options=options):
            return UnionShape(tuple(map(change, options)))


def _emptied(template: Method | Partial) -> Method | Partial:
    """A method or partial of the same kind, of which nothing is known."""
    if isinstance(template, Method):
        return Method(NONE, NONE)
    return Partial(NONE, (NONE,) * len(template.args), tuple((name, NONE) for name, _ in template.kwargs))


def _record(shape: RecordShape, change: Callable[[Shape], Shape]) -> RecordShape:
    return RecordShape(shape.cls, shape.keys, tuple(map(change, shape.items)))
