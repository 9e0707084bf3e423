"""For which structures of arguments a function is lowered that stays one: as few as its calls allow.

Calls that hand over arrays of other sizes, other numbers, or other functions of one text, are calls of one function,
which knows of its arguments what they have in common.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence

from adjoint import ir
from adjoint.frontend.data.outside.circular import known_as_themselves
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.forms import anonymous, detached, known_structure, with_parts_replaced
from adjoint.frontend.interpreter.joins import (
    ComposedShape,
    Leaf,
    RecordShape,
    RefShape,
    Same,
    Shape,
    TupleShape,
    UnionShape,
)
from adjoint.frontend.interpreter.state.attempts import Form, Repeated
from adjoint.frontend.interpreter.values import LOCAL, Closure, Local, Value
from adjoint.ir.join import join_arrays
from adjoint.target import Target

MOST_CLONES = 2
"""How many whole numbers a function may be specialised for before it is given them."""


def form_of_call(lo: Lowerer, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Form:
    """What is known of the arguments of a call."""
    named = {**{str(place): value for place, value in enumerate(args)}, **kwargs}
    known = known_as_themselves(lo, named.values())
    shapes = {name: known_structure(joins.shape_of(value, lo.store, known)) for name, value in named.items()}
    return {name: _numbers_given(_lasting(anonymous(shape))) for name, shape in shapes.items()}


def is_lasting(form: Form) -> bool:
    """Whether the next attempt at lowering can come to a form again: not with classes that each makes anew."""

    def is_made_anew(shape: Shape) -> bool:
        match shape:
            case RefShape(record=record):
                return is_made_anew(record)
            case RecordShape(cls=cls, items=items):
                marks = [base.__dict__.get(LOCAL) for base in cls.__mro__]
                return any(isinstance(mark, Local) and not mark.settled for mark in marks) or any(
                    map(is_made_anew, items)
                )
            case TupleShape(items=items) | ComposedShape(items=items) | UnionShape(options=items):
                return any(map(is_made_anew, items))
            case _:
                return False

    return not any(map(is_made_anew, form.values()))


def holds_objects(form: Form) -> bool:
    """Whether a form has more in it than numbers, arrays, what is known, and tuples of these."""

    def is_object(shape: Shape) -> bool:
        match shape:
            case TupleShape(items=items):
                return any(map(is_object, items))
            case Leaf(type=type_):
                return not isinstance(type_, (ir.Array, ir.Scalar))
            case _:
                return not isinstance(shape, Same)

    return any(map(is_object, form.values()))


def key_of(form: Form) -> Hashable:
    """A form as part of a key, with functions as their code: what they find outside is compared on its own."""
    return tuple((name, _lasting(anonymous(shape))) for name, shape in form.items())


def served(known: Sequence[Repeated], form: Form, target: Target) -> Repeated | None:
    """The calls that a function for their form serves together with a call of this form."""
    return next((each for each in known if _common(each.form, form, target) == each.form), None)


def alike(known: Sequence[Repeated], form: Form, target: Target) -> Repeated | None:
    """The same, with whole numbers that it is given where there are more than a few of them."""
    exact = served(known, form, target)
    others = [each for each in known if _common(each.form, form, target) is not None]
    if exact is not None or len(others) < MOST_CLONES:
        return exact
    widest = form
    for each in others:
        widest = _common(widest, each.form, target) or widest
    return Repeated(widest, sum(each.calls for each in others), sum(each.statements for each in others))


def common_form(lo: Lowerer, code: ast.AST, found: Form) -> Form:
    """The form for which a function is lowered that is called with these arguments.

    What is found out here of further calls holds for the earlier ones when lowering starts again.
    """
    found = {name: anonymous(shape) for name, shape in found.items()}
    lasting = {name: _lasting(shape) for name, shape in found.items()}
    forms = lo.settings.forms.setdefault(code, [])
    for place, known in enumerate(forms):
        both = _common(known, lasting, lo.settings.target)
        if both is None:
            continue
        if both == known:
            return {name: _of_this_attempt(detached(known[name]), shape) for name, shape in found.items()}
        forms[place] = both
        lo.run_data.has_grown = True
        return found
    forms.append({name: detached(shape) for name, shape in lasting.items()})
    return found


def _lasting(shape: Shape) -> Shape:
    """The shape with functions as their code: each attempt at lowering makes other values of them."""
    return with_parts_replaced(shape, lambda part: Same(_code_of(part.value)) if isinstance(part, Same) else part)


def _numbers_given(shape: Shape) -> Shape:
    """The shape with no number known, in objects neither, but whole ones."""

    def given(part: Shape) -> Shape:
        type_ = _type(part) if isinstance(part, Same) else None
        return part if type_ is None or type_ == ir.INT else Leaf(type_)

    return with_parts_replaced(shape, given)


def _code_of(value: Value) -> Value:
    return ir.Const(value.source.node) if isinstance(value, Closure) else value


def _of_this_attempt(known: Shape, found: Shape) -> Shape:
    """A form with the functions that were found."""
    match known, found:
        case _, Same(value=Closure()):
            return found
        case TupleShape(cls=cls), TupleShape():
            return TupleShape(cls, tuple(map(_of_this_attempt, known.items, found.items)))
        case RecordShape(cls=cls, keys=keys), RecordShape():
            return RecordShape(cls, keys, tuple(map(_of_this_attempt, known.items, found.items)))
        case ComposedShape(template=template), ComposedShape():
            return ComposedShape(template, tuple(map(_of_this_attempt, known.items, found.items)))
        case UnionShape(), UnionShape():
            return UnionShape(tuple(map(_of_this_attempt, known.options, found.options)))
        case RefShape(), RefShape():
            record = _of_this_attempt(known.record, found.record)
            assert isinstance(record, RecordShape)
            return RefShape(None, record, ())
        case _:
            return known


def _common(one: Form, other: Form, target: Target) -> Form | None:
    """What two forms have in common; None where they differ in more than sizes and whole numbers.

    In machine code they may not differ in dtypes and in which axes have one element either: loops are made for these.
    """
    if target.machine and _arrays(one) != _arrays(other):
        return None
    both: Form = {}
    for name, shape in one.items():
        joined = _of_both(shape, other[name]) if name in other else None
        if joined is None:
            return None
        both[name] = joined
    return both if len(both) == len(other) else None


def _arrays(form: Form) -> list[tuple[str, tuple[ir.Dim, ...] | None]]:
    """The dtypes and axes of the arrays in a form."""
    found: list[tuple[str, tuple[ir.Dim, ...] | None]] = []

    def note(part: Shape) -> Shape:
        type_ = _type(part) if isinstance(part, (Leaf, Same)) else None
        if isinstance(type_, ir.Array):
            found.append((str(type_.dtype), type_.dims))
        return part

    for shape in form.values():
        with_parts_replaced(shape, note)
    return found


def _of_both(one: Shape, other: Shape) -> Shape | None:
    if one == other:
        return one
    match one, other:
        case (Leaf() | Same(), Leaf() | Same()):
            mine, theirs = _type(one), _type(other)
            if isinstance(mine, ir.Scalar):
                return Leaf(mine) if mine == theirs and mine.kind in _GIVEN else None
            return None if mine is None or theirs is None else _of_types(mine, theirs)
        case TupleShape(), TupleShape() if one.cls is other.cls and len(one.items) == len(other.items):
            items = _of_all(one.items, other.items)
            return None if items is None else TupleShape(one.cls, items)
        case ComposedShape(), ComposedShape() if one.template == other.template:
            items = _of_all(one.items, other.items)
            return None if items is None else ComposedShape(one.template, items)
        case RefShape(), RefShape():
            record = _of_both(one.record, other.record)
            return RefShape(None, record, ()) if isinstance(record, RecordShape) else None
        case RecordShape(), RecordShape() if one.cls is other.cls and one.keys == other.keys:
            items = _of_all(one.items, other.items)
            return None if items is None else RecordShape(one.cls, one.keys, items)
        case _:
            return None


def _of_all(ones: tuple[Shape, ...], others: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
    found = [_of_both(one, other) for one, other in zip(ones, others, strict=True)]
    return None if None in found else tuple(shape for shape in found if shape is not None)


_GIVEN = ("int", "float", "complex")
"""Kinds of numbers that a function is given where they are not the same in all calls."""


def _type(shape: Leaf | Same) -> ir.Type | None:
    """The type of a value that need not be known; None where it is part of the structure."""
    if isinstance(shape, Leaf):
        return shape.type
    known = shape.value
    is_number = isinstance(known, ir.Const) and isinstance(known.value, (int, float, complex))
    return joins.type_of(known) if is_number and not isinstance(known.value, bool) else None  # type: ignore[union-attr]


def _of_types(one: ir.Type, other: ir.Type) -> Leaf | None:
    if not isinstance(one, ir.Array) or not isinstance(other, ir.Array):
        return None
    if one.dims is not None and other.dims is not None and len(one.dims) != len(other.dims):
        return None
    return Leaf(join_arrays(ir.Array(one.dtype, one.dims), ir.Array(other.dtype, other.dims)))
