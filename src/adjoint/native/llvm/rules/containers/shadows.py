"""Zero shadows and zero tangents of numbers, arrays, lists and objects."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.containers import heterogeneous_lists, lists, structs
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    Array,
    ArrayKind,
    Complex,
    Kind,
    Known,
    List,
    ListKind,
    NothingKind,
    Number,
    ObjectKind,
    Struct,
    StructKind,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    kind,
    kinds_in,
    part_of,
)
from adjoint.native.llvm.writer import constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import tangents
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.types.vectors import shadow_class


@rule(runtime_arrays.zeros_like, tangents.shadow_like)
def _shadow_like(e: Emission, x: Value) -> Value:
    if isinstance(x, Number):
        return constant(0.0)
    if arrays.is_none(x):  # a zero beside arrays in a container of Python
        zero: Value = e.program.written("object")(e, Known(0.0), None)
        return zero
    if isinstance(x, Struct):
        return _shadow_of_memory(e, x)
    given = arrays.array(x)
    return arrays.new(e, arrays.float_kind(given.kind.element), given.shape, zero=True, checked=False)


@rule(tangents.shadow_of_values)
def _shadow(e: Emission, x: Value) -> Value:
    """Of what nobody writes: arrays that are held twice have two."""
    if isinstance(x, Struct):
        return _of_object(e, x, shared=False)
    if isinstance(x, (Number, Complex)) and x.kind[0] in "fc":
        return RULES[operator.mul](e, x, constant(0.0, part_of(x.kind)))  # type: ignore[no-any-return]
    if isinstance(x, Array) and x.kind.element[0] in "fc":
        return arrays.like(e, x, zero=True)
    if isinstance(x, List):
        return lists.mapped(e, x, lambda item: _shadow(e, item))
    if isinstance(x, Tuple) and x.numbers is None:
        return heterogeneous_lists.made(e, [_of_field(e, item, shared=False) for item in x.items])
    raise Unsupported("the shadow of what is neither a float nor an array of floats")


@rule(tangents.shadow)
def _shadow_of_memory(e: Emission, x: Value) -> Value:
    """Of what is written: what is held twice has one."""
    return _of_object(e, x, shared=True) if isinstance(x, Struct) else _shadow(e, x)


def _of_object(e: Emission, x: Struct, *, shared: bool) -> Struct:
    """The shadow of an object; a list or an object that two fields hold has one shadow."""
    layout = e.program.layouts.of(x.kind.cls)
    varying = {name: each for name, each in layout.items() if not e.program.layouts.is_fixed(x.kind.cls, name)}
    _require_flat(e, [each for each in varying.values() if not isinstance(each, Known)], shared)
    if x.kind.optional:
        raise Unsupported("the shadow of an object that may be missing")
    seen: list[tuple[List | Struct, Value]] = []
    slots: dict[str, Value] = {}
    for name in layout:
        value = structs.load(e, x, name) if name in varying else Known(None)
        if isinstance(value, (List, Struct)):
            slots[name] = _unless_seen(e, value, seen, shared)
            seen.append((value, slots[name]))
        else:
            slots[name] = _of_field(e, value, shared)
    return structs.new(e, shadow_class(x.kind.cls), slots)


def _require_flat(e: Emission, fields: Sequence[Kind], shared: bool) -> None:
    """Refuses objects where what a field holds may be held further in, or twice there; ``shared`` arrays also here.

    Whether two arrays are one, machine code cannot tell: it knows where their elements lie.
    """
    held = [_family(each) for each in fields]
    inside = [_family(each) for field in fields for each in _inside(e, field)]
    told = [each for each in inside if shared or each[0] is not ArrayKind]
    told += [each for each in held if shared and each[0] is ArrayKind]
    others = {each for each in held if each[0] is not ArrayKind}
    if any(each[0] is ObjectKind for each in (*held, *inside)) or len(set(told)) < len(told) or set(told) & others:
        raise Unsupported("the shadow of an object that may hold another one twice")


def _inside(e: Emission, found: Kind) -> Iterator[Kind]:
    """The kinds of what lists and objects hold; of what a list holds, twice."""
    for each in kinds_in(found):
        if isinstance(each, StructKind):
            for field in e.program.layouts.of(each.cls).values():
                if not isinstance(field, Known):
                    yield from (field, *_inside(e, field))
        elif isinstance(each, ListKind) and each.element is not None:
            yield from (each.element, each.element)


def _family(found: Kind) -> tuple[object, ...]:
    """What two kinds have in common whose values may be one."""
    match found:
        case StructKind(cls=cls):
            return StructKind, cls
        case ArrayKind(element=element, rank=rank):
            return ArrayKind, element, rank
        case str():
            return (object(),)
    return (type(found),)


def _varies(value: Value) -> bool:
    return not isinstance(value, Array) or value.kind.element[0] in "fc"


def _of_field(e: Emission, value: Value, shared: bool) -> Value:
    if isinstance(value, Number) and value.kind[0] in "biu":
        return constant(0.0)
    if isinstance(value, Known) or not _varies(value):
        return Known(None)
    return _shadow_of_memory(e, value) if shared else _shadow(e, value)


def _unless_seen(e: Emission, x: List | Struct, seen: Sequence[tuple[List | Struct, Value]], shared: bool) -> Value:
    """The shadow of what a field holds: that of a field before where it holds the same."""
    writer = e.writer
    incoming: list[tuple[str, Value]] = []
    end = writer.new_label("shadow")
    for one, its_shadow in seen:
        if kind(one) != kind(x):
            if _family(kind(one)) == _family(kind(x)):
                raise Unsupported("the shadow of an object that may hold another one twice")
            continue
        hit, miss = writer.new_label("same"), writer.new_label("other")
        writer.branch(writer.op(f"icmp eq ptr {one.base}, {x.base}"), hit, miss)
        writer.start(hit)
        e.retain_all(its_shadow)
        incoming.append((writer.label, its_shadow))
        writer.jump(end)
        writer.start(miss)
    if not incoming:
        return _of_field(e, x, shared)
    made = _alone(e, x, shared)
    incoming.append((writer.label, made))
    writer.jump(end)
    writer.start(end)
    names = e.joined_parts(kind(made), incoming)
    return e.assembled(kind(made), names, e.owning)


def _alone(e: Emission, x: List | Struct, shared: bool) -> List | Struct:
    """A shadow that is made on one way: what that takes besides is given up there."""
    found: list[List | Struct] = []

    def make() -> None:
        made = _of_field(e, x, shared)
        assert isinstance(made, (List, Struct)) and made.owner is not None
        e.disown(made.owner)
        found.append(made)

    e.inside(make)
    return found[0]


@rule(tangents.shadow_or_zeros)
def _shadow_or_zeros(e: Emission, shadow: Value, x: Value) -> Value:
    if isinstance(shadow, (Number, Array)):
        return shadow
    raise Unsupported("a shadow that may be missing")


@rule(tangents.zero_number)
def _zero_number(e: Emission, x: Value) -> Number:
    numbers.number(x)
    return constant(0.0)


@rule(tangents.zero_tangent)
def _zero_tangent(e: Emission, x: Value, memo: Value | None = None) -> Value:
    if isinstance(x, (Number, Complex)) and x.kind[0] in "fc":
        return e.converted(constant(0.0, part_of(x.kind)), x.kind)
    if isinstance(x, List):
        return lists.mapped(e, x, lambda item: _zero_tangent(e, item))
    given = arrays.array(x)
    if given.kind.element[0] not in "fc":
        raise Unsupported("tangents of whole numbers")
    return arrays.new(e, given.kind.element, given.shape, zero=True, checked=False)


@rule(tangents.finish)
def _finish(e: Emission, shadow: Value, like_: Value) -> Value:
    return _finished(e, shadow, kind(like_))


def _finished_item(e: Emission, shadow: Value, wanted: Kind) -> Value:
    """The same in a tuple: of what does not vary there is none."""
    does_not_vary = wanted[0] not in "fc" if isinstance(wanted, str) else isinstance(wanted, NothingKind)
    return Known(None) if does_not_vary else _finished(e, shadow, wanted)


def _finished(e: Emission, shadow: Value, wanted: Kind | None) -> Value:
    """A shadow as the cotangent of a value of a kind."""
    match shadow, wanted:
        case ((Number() | Complex()), str()) if wanted[0] in "fc" and wanted[0] == shadow.kind[0]:
            return shadow
        case Array(), ArrayKind(element=element) if shadow.kind.element == element:
            return arrays.copied(e, shadow)
        case List(), ListKind(element=element):
            return lists.mapped(e, shadow, lambda item: _finished(e, item, element))
        case Tuple(items=items, numbers=places), TupleKind(items=kinds) if len(items) == len(kinds):
            held = [
                heterogeneous_lists.number(e, shadow, at) if at in (places or ()) else item
                for at, item in enumerate(items)
            ]
            return Tuple(tuple(_finished_item(e, item, each) for item, each in zip(held, kinds, strict=True)))
    raise Unsupported("the cotangent of a container")
