"""The structure that several values have in common: what flows through a join of control flow.

``shape_of`` abstracts a value, ``join`` finds the least shape of two, ``flatten`` takes a value apart into the atoms
that a shape wants, and ``build`` puts such atoms together again. Where paths meet, the atoms become phis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter.type_joins import TypeJoins
from adjoint.frontend.interpreter.values import (
    FORGOTTEN,
    FORGOTTEN_CONSTANT,
    NONE,
    Forgotten,
    Method,
    Partial,
    Record,
    Ref,
    Site,
    SliceValue,
    TupleValue,
    Union,
    Value,
)
from adjoint.ir.builder import Builder
from adjoint.records import dataclass
from adjoint.rules.types_of_values import abstract
from adjoint.types.structure import CONTAINERS, DICTS

Store = Mapping[Any, Value]


class NeedsRuntime(Exception):
    """Objects made at these sites must exist at run time: the function is lowered again with that known."""

    def __init__(self, sites: tuple[Site, ...]) -> None:
        super().__init__(sites)
        self.sites = sites


@dataclass(frozen=True, slots=True)
class Leaf:
    type: ir.Type


@dataclass(frozen=True, slots=True)
class Same:
    """Exactly this compile-time value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Nothing:
    """Not bound."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Forgotten on some path: nobody knows what it is; whether it may carry a derivative."""

    may_vary: bool


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple, or a slice: of three numbers, or None."""

    cls: type
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class RecordShape:
    cls: type
    keys: tuple[Any, ...]
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class RefShape:
    """An object: ``ref`` where it is always the same one (what it holds is joined on its own), else a new one."""

    ref: Ref | None
    record: RecordShape
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class ComposedShape:
    """A method or partial: its parts vary."""

    template: Method | Partial
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class UnionShape:
    options: tuple[Shape, ...]


Shape = Leaf | Same | Nothing | Lost | TupleShape | RecordShape | RefShape | ComposedShape | UnionShape

MAX_OPTIONS = 8
MAX_CONSTANTS = 16
"""Up to how many structures a value may have where each is one constant, such as a function of a table."""


def original_sites(sites: tuple[Site, ...]) -> Iterator[Site]:
    """The places where objects are made, behind those where they were joined."""
    for site in sites:
        if site.place and site.place[0] == "joined":
            yield from original_sites(site.place[1:])
        else:
            yield site


class TooManyOptions(Exception):
    """A value has too many different structures."""

    span: Span | None = None
    """The statement that gives it one too many."""


def type_of(value: Value) -> ir.Type:
    """The type of an atom."""
    if isinstance(value, ir.Var):
        return value.type
    if isinstance(value, ir.Const):
        return abstract(value.value)
    return ir.OPAQUE


def shape_of(value: Value, store: Store, around: tuple[Ref, ...] = ()) -> Shape:
    """The structure of a value that may be part of the objects ``around``: one whose method it holds is itself."""
    match value:
        case ir.Var(type=type_):
            return Leaf(type_)
        case Forgotten(may_vary=may_vary):
            return Lost(may_vary)
        case ir.Undefined():
            return Nothing()
        case TupleValue(items=items, cls=cls):
            return TupleShape(cls, tuple(shape_of(item, store, around) for item in items))
        case SliceValue():
            return TupleShape(slice, tuple(shape_of(item, store, around) for item in _items(value)))
        case Ref() if value in around:
            return Same(value)
        case Ref():
            record = store.get(value)
            if record is None:
                raise TooManyOptions  # an object of an iteration that is over: they nest without end
            assert isinstance(record, Record)
            shape = shape_of(record, store, (*around, value))
            assert isinstance(shape, RecordShape)
            return RefShape(value, shape, tuple(dict.fromkeys(original_sites((value.site,)))))
        case Record():
            return RecordShape(value.cls, value.keys, tuple(shape_of(item, store, around) for item in value.items))
        case Method() | Partial():
            return ComposedShape(value, tuple(shape_of(item, store, around) for item in _parts(value)))
        case Union(options=options):
            return UnionShape(tuple(shape_of(option, store, around) for option in options))
        case _:
            return Same(value)


def has_options(shape: Shape) -> bool:
    """Whether there is something in a structure that one path has and another lacks."""
    match shape:
        case UnionShape() | Nothing():
            return True
        case TupleShape(items=items) | RecordShape(items=items) | ComposedShape(items=items):
            return any(map(has_options, items))
        case RefShape(record=record):
            return has_options(record)
        case _:
            return False


def join(one: Shape, other: Shape, types: TypeJoins) -> Shape:
    """The least shape of two."""
    if one is other:
        return one  # shapes that are only equal may speak of different memory, which is united on the way
    joined = _join_alike(one, other, types)
    return joined if joined is not None else _join_options(one, other, types)


def may_vary(shape: Shape) -> bool:
    """Whether a value of a structure may carry a derivative."""
    if isinstance(shape, Lost):
        return shape.may_vary
    known = shape.type if isinstance(shape, Leaf) else type_of(shape.value) if isinstance(shape, Same) else None
    return known is None or ir.carries_derivative(known)


def _join_alike(one: Shape, other: Shape, types: TypeJoins) -> Shape | None:
    """The join of two shapes of one kind; None where they only have a union."""
    match one, other:
        case (Lost(), _) | (_, Lost()):
            return Lost(may_vary(one) or may_vary(other))
        case Nothing(), _:
            return _if_bound(other)
        case _, Nothing():
            return _if_bound(one)
        case (TupleShape() | Same(), TupleShape() | Same()) if _is_slice(one) and _is_slice(other):
            return _join_slices(one, other, types)
        case (Leaf() | Same(), Leaf() | Same()):
            return _join_leaves(one, other, types)
        case TupleShape(), TupleShape() if one.cls is other.cls and len(one.items) == len(other.items):
            return TupleShape(one.cls, _join_each(one.items, other.items, types))
        case RecordShape(), RecordShape() if one.cls is other.cls:
            return _join_records(one, other, types)
        case RefShape(), RefShape():
            return _join_refs(one, other, types)
        case RefShape(record=record), Leaf(type=type_) if _is_runtime_form(record.cls, type_):
            raise NeedsRuntime(one.sites)
        case Leaf(type=type_), RefShape(record=record) if _is_runtime_form(record.cls, type_):
            raise NeedsRuntime(other.sites)
        case ComposedShape(), ComposedShape() if _call_alike(one, other):
            return ComposedShape(one.template, _join_each(one.items, other.items, types))
        case _:
            return None


def _join_each(ones: Sequence[Shape], others: Sequence[Shape], types: TypeJoins) -> tuple[Shape, ...]:
    return tuple([join(one, other, types) for one, other in zip(ones, others, strict=True)])


def _is_slice(shape: TupleShape | Same) -> bool:
    return shape.cls is slice if isinstance(shape, TupleShape) else isinstance(_known(shape), slice)


def _known(shape: Same) -> Any:
    return shape.value.value if isinstance(shape.value, ir.Const) else None


def _join_slices(one: TupleShape | Same, other: TupleShape | Same, types: TypeJoins) -> Shape | None:
    """The join of two slices; None where one has a bound that the other lacks."""
    if one == other:
        return one
    items = _join_each(_bounds(one), _bounds(other), types)
    return None if any(isinstance(item, UnionShape) for item in items) else TupleShape(slice, items)


def _bounds(shape: TupleShape | Same) -> tuple[Shape, ...]:
    return shape.items if isinstance(shape, TupleShape) else tuple(map(Same, _items(shape.value)))


def _items(value: Value) -> tuple[Value, ...]:
    """The items of a tuple, or the bounds and the step of a slice."""
    match value:
        case TupleValue(items=items):
            return items
        case SliceValue(lower=lower, upper=upper, step=step):
            return (lower, upper, step)
        case ir.Const(value=slice() as known):
            return (ir.Const(known.start), ir.Const(known.stop), ir.Const(known.step))
        case _:
            raise AssertionError(value)


def _call_alike(one: Shape, other: Shape) -> bool:
    """Whether two methods or partials call one function in one way.

    Of two functions each goes with its own receiver and arguments: only a union of the wholes tells that.
    """
    match one, other:
        case ComposedShape(template=Method()), ComposedShape(template=Method()):
            return _call_alike(one.items[0], other.items[0])
        case ComposedShape(template=Partial() as mine), ComposedShape(template=Partial() as theirs):
            mine_named, theirs_named = ([name for name, _ in template.kwargs] for template in (mine, theirs))
            alike = len(mine.args) == len(theirs.args) and mine_named == theirs_named
            return alike and _call_alike(one.items[0], other.items[0])
        case Same(), Same():
            return bool(one.value == other.value)
        case _:
            return type(one) is type(other) and not isinstance(one, (UnionShape, ComposedShape))


def _if_bound(shape: Shape) -> Shape:
    """What has a value on one path only: numbers that are known there must not come out on the other."""
    match shape:
        case Same(value=ir.Const(value=bool() | int() | float() | complex() as number)):
            return Leaf(abstract(number))
        case TupleShape(cls=cls, items=items):
            return TupleShape(cls, tuple(map(_if_bound, items)))
        case _:
            return shape


def _is_runtime_form(cls: type, type_: ir.Type) -> bool:
    match type_:
        case ir.List():
            return cls is list
        case ir.Dict():
            return cls in DICTS
        case ir.Instance():
            return type_.cls is cls
        case _:
            return False


def _join_leaves(one: Leaf | Same, other: Leaf | Same, types: TypeJoins) -> Shape | None:
    if isinstance(one, Same) and isinstance(other, Same) and one.value == other.value:
        return one
    for mine, theirs in ((one, other), (other, one)):
        if isinstance(mine, Leaf) and isinstance(mine.type, ir.Reference) and theirs == Same(NONE):
            return mine
    found = []
    for shape in (one, other):
        if isinstance(shape, Leaf):
            found.append(shape.type)
        elif isinstance(shape.value, ir.Const) and isinstance(
            shape.value.value, (bool, int, float, complex, str, np.generic)
        ):
            found.append(abstract(shape.value.value))
        else:
            return None
    joined = types.join(found[0], found[1])
    return None if joined is None else Leaf(joined)


def _join_records(one: RecordShape, other: RecordShape, types: TypeJoins) -> RecordShape | None:
    """The join of two objects of one class; None where one has a part that the other lacks."""
    if one.keys == other.keys:
        return RecordShape(one.cls, one.keys, _join_each(one.items, other.items, types))
    if one.cls in CONTAINERS or set(one.keys) != set(other.keys):
        return None
    theirs = dict(zip(other.keys, other.items, strict=True))
    return RecordShape(one.cls, one.keys, _join_each(one.items, tuple([theirs[key] for key in one.keys]), types))


def _join_refs(one: RefShape, other: RefShape, types: TypeJoins) -> Shape | None:
    if one.ref is not None and one.ref is other.ref:
        return one
    sites = one.sites + tuple(site for site in other.sites if site not in one.sites)
    if one.record.cls is not other.record.cls:
        return None
    record = _join_records(one.record, other.record, types)
    if record is None:
        raise NeedsRuntime(sites)
    return RefShape(None, record, sites)


def _join_options(one: Shape, other: Shape, types: TypeJoins) -> Shape:
    if isinstance(other, UnionShape) and not isinstance(one, UnionShape):
        one, other = other, one  # those that are numbered already keep their numbers
    options: list[Shape] = list(one.options) if isinstance(one, UnionShape) else [one]
    additions: tuple[Shape, ...] = other.options if isinstance(other, UnionShape) else (other,)
    for addition in additions:
        for index, option in enumerate(options):
            joined = _join_alike(option, addition, types)
            if joined is not None:
                options[index] = joined
                break
        else:
            options.append(addition)
    if len(options) > (MAX_CONSTANTS if all(isinstance(option, Same) for option in options) else MAX_OPTIONS):
        raise TooManyOptions
    return UnionShape(tuple(options)) if len(options) > 1 else options[0]


def _parts(value: Method | Partial) -> tuple[Value, ...]:
    if isinstance(value, Method):
        return (value.function, value.receiver)
    return (value.function, *value.args, *(v for _, v in value.kwargs))


def _compose(template: Method | Partial, parts: list[Value]) -> Value:
    if isinstance(template, Method):
        return Method(parts[0], parts[1])
    count = len(template.args) + 1
    kwargs = tuple(zip((name for name, _ in template.kwargs), parts[count:], strict=True))
    return Partial(parts[0], tuple(parts[1:count]), kwargs)


def leaf_types(shape: Shape, hint: str) -> Iterator[tuple[ir.Type, str]]:
    """Types and hints of the atoms that :func:`build` takes."""
    match shape:
        case Leaf(type=type_):
            yield type_, hint
        case TupleShape(items=items, cls=cls):
            names = getattr(cls, "_fields", None)
            for index, item in enumerate(items):
                yield from leaf_types(item, names[index] if names else f"{hint}_{index}")
        case RecordShape(keys=keys, items=items):
            for key, item in zip(keys, items, strict=True):
                yield from leaf_types(item, _hint_of_key(hint, key))
        case RefShape(ref=None, record=record):
            yield from leaf_types(record, hint)
        case ComposedShape(items=items):
            for item in items:
                yield from leaf_types(item, hint)
        case UnionShape(options=options):
            yield ir.INT, f"{hint}_case"
            for option in options:
                yield from leaf_types(option, hint)


def _hint_of_key(hint: str, key: Any) -> str:
    name = f"{hint}_{key}"
    return name if name.isidentifier() else hint


def flatten(value: Value, shape: Shape, store: Store, block: Builder, types: TypeJoins) -> Iterator[ir.Atom]:
    """The atoms of ``value`` in the form of ``shape``; what has to be computed for it is computed in ``block``."""
    if isinstance(value, ir.Undefined) and not isinstance(shape, (Same, Nothing)):
        for _ in leaf_types(shape, ""):
            yield ir.UNDEFINED
        return
    match shape:
        case Leaf(type=ir.Reference()) if value == NONE:
            yield ir.Const(ir.NOWHERE)
        case Leaf():
            yield value  # type: ignore[misc]
        case TupleShape(items=items):
            for part, item in zip(_items(value), items, strict=True):
                yield from flatten(part, item, store, block, types)
        case RecordShape(keys=keys, items=items):
            assert isinstance(value, Record)
            for key, item in zip(keys, items, strict=True):
                yield from flatten(_or_undefined(value.get(key)), item, store, block, types)
        case RefShape(ref=None, record=record):
            assert isinstance(value, Ref)
            value.joins.append(True)
            yield from flatten(store[value], record, store, block, types)
        case ComposedShape(items=items):
            assert isinstance(value, (Method, Partial))
            for part, item in zip(_parts(value), items, strict=True):
                yield from flatten(part, item, store, block, types)
        case UnionShape():
            yield from _flatten_option(value, shape, store, block, types)


def _or_undefined(value: Value | None) -> Value:
    return ir.UNDEFINED if value is None else value


def _flatten_option(
    value: Value, shape: UnionShape, store: Store, block: Builder, types: TypeJoins
) -> Iterator[ir.Atom]:
    if isinstance(value, Union):
        places = tuple(_place(shape_of(option, store), shape, types) for option in value.options)
        in_order = places == tuple(range(len(places)))
        yield value.tag if in_order else block.item(ir.Const(places), value.tag, ir.INT, "case")
        options = dict(zip(places, value.options, strict=True))
        twice = [place for place in options if places.count(place) > 1]
        if any(True for place in twice for _ in leaf_types(shape.options[place], "")):
            raise TooManyOptions  # which of two values of one structure it is would have to be chosen first
        for place, option in enumerate(shape.options):
            yield from flatten(options.get(place, ir.UNDEFINED), option, store, block, types)
        return
    chosen = _place(shape_of(value, store), shape, types)
    yield ir.Const(chosen)
    for index, option in enumerate(shape.options):
        yield from flatten(value if index == chosen else ir.UNDEFINED, option, store, block, types)


def _place(shape: Shape, union: UnionShape, types: TypeJoins) -> int:
    for index, option in enumerate(union.options):
        if _join_alike(option, shape, types) == option:
            return index
    raise TooManyOptions


def build(shape: Shape, atoms: Iterator[ir.Atom], store: dict[Any, Value]) -> Value:
    """A value of ``shape`` from the atoms; new objects are entered in ``store``."""
    match shape:
        case Leaf():
            return next(atoms)
        case Same(value=value):
            return value
        case Nothing():
            return ir.UNDEFINED
        case Lost(may_vary=may_vary):
            return FORGOTTEN if may_vary else FORGOTTEN_CONSTANT
        case TupleShape(items=items, cls=cls):
            parts = [build(item, atoms, store) for item in items]
            return SliceValue(*parts) if cls is slice else TupleValue(tuple(parts), cls)  # type: ignore[arg-type]
        case RecordShape(cls=cls, keys=keys, items=items):
            return Record(cls, tuple((key, build(item, atoms, store)) for key, item in zip(keys, items, strict=True)))
        case RefShape(ref=same, record=record, sites=sites):
            if same is not None:
                return same
            ref = Ref(Site(("joined", *sites)))
            store[ref] = build(record, atoms, store)
            return ref
        case ComposedShape(template=template, items=items):
            return _compose(template, [build(item, atoms, store) for item in items])
        case UnionShape(options=options):
            tag = next(atoms)
            return Union(tag, tuple(build(option, atoms, store) for option in options))
