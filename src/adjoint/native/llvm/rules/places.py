"""Elements at places that arrays tell, and under masks: gathers, scatters, and what they check."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.native.costs import FEWEST_WITH_ZEROS
from adjoint.native.llvm.rules import arrays, checks, functions, lists, numbers
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, List, Number, Tuple, Unsupported, Value, common_kind, size_of
from adjoint.native.llvm.writer import as_kind, constant, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import tangents
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.runtime.array_functions import places, plain, sequences, sparse

# Places


def _index_of(x: Array, given: Sequence[Value]) -> list[Value]:
    """The parts of an index for each axis: whole numbers, and arrays of them."""
    (first,) = given if len(given) == 1 else (None,)
    items = list(first.items) if isinstance(first, Tuple) else list(given)
    for item in items:
        if isinstance(item, Array) and item.kind.element[0] in "iu" and item.kind.rank:
            continue
        if not isinstance(item, Number) or item.kind[0] not in "iu":
            raise Unsupported("an index of other parts")
    if len(items) != x.kind.rank:
        raise Unsupported("an index of some axes")
    return items


def _extents_of(e: Emission, items: Sequence[Value]) -> list[str]:
    """The shape of what an index selects."""
    return checks.common_shape(e, [item for item in items if isinstance(item, Array)], IndexError)


def _address(e: Emission, x: Array, items: Sequence[Value], index: Sequence[str]) -> str:
    found = []
    for item, extent in zip(items, x.shape, strict=True):
        place = e.extent(arrays.element(e, item, index, len(index)))
        found.append(numbers.from_start(e, place, extent))
    return arrays.address(e, x, found)


@rule(plain.taken_at)
def _taken_at(e: Emission, x: Value, *index: Value) -> Array:
    given = arrays.array(x)
    items = _index_of(given, index)
    out = arrays.new(e, given.kind.element, _extents_of(e, items), checked=False)

    def one(place: Sequence[str]) -> None:
        found = arrays.item(e, given.kind.element, _address(e, given, items, place))
        arrays.write(e, given.kind.element, arrays.address(e, out, place), found)

    arrays.nest(e, out.shape, one)
    return out


def _declare_scatter(callee: Any, mode: str) -> None:
    @rule(callee)
    def write(e: Emission, x: Value, values: Value, *index: Value) -> None:
        target = arrays.writable(x)
        items = _index_of(target, index)
        shape = _extents_of(e, items)
        if isinstance(values, Array):
            if values.kind.rank > len(shape):
                raise Unsupported("a store of more axes")
            for narrow, wide in zip(values.shape[::-1], shape[::-1], strict=False):
                checks.fits_extent(e, narrow, wide)
        kind = target.kind.element

        def one(place: Sequence[str]) -> None:
            at = _address(e, target, items, place)
            given = arrays.element(e, values, place, len(shape))
            if mode == "add":
                given = RULES[operator.add](e, arrays.item(e, kind, at), given)
            arrays.write(e, kind, at, given)

        arrays.nest(e, shape, one)


_declare_scatter(places.add_at, "add")
_declare_scatter(plain.put_at, "set")


def _check_inside_axis(e: Emission, place: Number, extent: str) -> None:
    name = as_kind(e.writer, place, "i8").name
    e.check(e.writer.compare("uge", numbers.from_start(e, name, extent), extent), IndexError, checks.OUTSIDE)


@rule(plain.check_places)
def _check_places(e: Emission, x: Value, *index: Value) -> None:
    given = arrays.array(x)
    for item, extent in zip(_index_of(given, index), given.shape, strict=True):
        if isinstance(item, Number):
            _check_inside_axis(e, item, extent)
        else:
            _check_inside(e, item, whole(extent))


@rule(plain.check_inside)
def _check_inside(e: Emission, index: Value, extent: Value) -> None:
    given, size = arrays.array(index), e.extent(extent)

    def one(place: Sequence[str]) -> None:
        found = arrays.read(e, given.kind.element, arrays.address(e, given, place))
        _check_inside_axis(e, found, size)

    arrays.nest(e, given.shape, one)


# Masks


def _masked(x: Value, mask: Value) -> tuple[Array, Array]:
    given, chosen = arrays.array(x), arrays.array(mask)
    if chosen.kind.element != "b1" or chosen.kind.rank != given.kind.rank or not given.kind.rank:
        raise Unsupported("a mask of some axes")
    return given, chosen


def _each_selected(e: Emission, x: Array, mask: Array, body: Callable[[Sequence[str], str], None]) -> str:
    """Does something with each place that a mask selects, and its number; how many there are."""
    for extent, axis in zip(mask.shape, x.shape, strict=True):
        if extent != axis:
            e.check(e.writer.compare("ne", extent, axis), IndexError, "boolean index did not match indexed array")
    slot, writer = e.slots(1), e.writer
    writer.line(f"store i64 0, ptr {slot}")

    def one(place: Sequence[str]) -> None:
        chosen, after = writer.new_label("chosen"), writer.new_label("after")
        writer.branch(arrays.read(e, "b1", arrays.address(e, mask, place)).name, chosen, after)
        writer.start(chosen)
        number = writer.op(f"load i64, ptr {slot}")
        body(place, number)
        writer.line(f"store i64 {writer.add(number, '1')}, ptr {slot}")
        writer.jump(after)
        writer.start(after)

    arrays.nest(e, mask.shape, one)
    return writer.op(f"load i64, ptr {slot}")


@rule(plain.selected)
def _selected(e: Emission, x: Value, mask: Value) -> Array:
    given, chosen = _masked(x, mask)
    count = _each_selected(e, given, chosen, lambda place, number: None)
    out = arrays.new(e, given.kind.element, (count,), checked=False)

    def one(place: Sequence[str], number: str) -> None:
        found = arrays.item(e, given.kind.element, arrays.address(e, given, place))
        arrays.write(e, given.kind.element, arrays.address(e, out, [number]), found)

    _each_selected(e, given, chosen, one)
    return out


def _declare_selected(callee: Any, combine: Any) -> None:
    @rule(callee)
    def write(e: Emission, x: Value, values: Value, mask: Value) -> None:
        target, chosen = _masked(arrays.writable(x), mask)
        kind, held = target.kind.element, values
        if isinstance(values, Array):
            if values.kind.rank != 1:
                raise Unsupported("a store of more axes")
            count = _each_selected(e, target, chosen, lambda place, number: None)
            checks.fits_extent(e, values.shape[0], count)
            held = arrays.copied(e, values)

        def one(place: Sequence[str], number: str) -> None:
            at = arrays.address(e, target, place)
            given = arrays.element(e, held, [number], 1)
            if combine is not None:
                given = RULES[combine](e, arrays.item(e, kind, at), given)
            arrays.write(e, kind, at, given)

        _each_selected(e, target, chosen, one)


_declare_selected(plain.put_selected, None)
_declare_selected(plain.add_selected, operator.add)
_declare_selected(plain.take_selected, operator.sub)


# Whole parts


def _declare_part(callee: Any, mode: str) -> None:
    @rule(callee)
    def write(e: Emission, part: Value, value: Value) -> None:
        arrays.assign(e, arrays.writable(part), value, mode)


_declare_part(plain.put, "set")
_declare_part(plain.add_to, "add")
_declare_part(plain.take_from, "sub")


@rule(plain.may_overlap)
def _may_overlap(e: Emission, a: Value, b: Value) -> Number:
    bounds = [_bounds(e, arrays.array(x)) for x in (a, b)]
    (first, end), (other, other_end) = bounds
    overlap = checks.both_words(
        e, e.writer.op(f"icmp ult ptr {first}, {other_end}"), e.writer.op(f"icmp ult ptr {other}, {end}")
    )
    filled = [e.writer.compare("sgt", arrays.size(e, arrays.array(x)), "0") for x in (a, b)]
    return Number("b1", checks.both_words(e, overlap, *filled))


@rule(tangents.follow_view)
def _follow_view(e: Emission, shadow: Value, base: Value, like: Value, like_base: Value) -> Array:
    """A shadow that lies in that of another array if, and only if, the arrays themselves do."""
    given = arrays.array(shadow)
    follows, wanted = _may_overlap(e, shadow, base), _may_overlap(e, like, like_base)
    lost = numbers.both(e, wanted, numbers.negation(e, follows))
    e.check(lost.name, ValueError, "a tangent is laid out differently from the array that it belongs to")
    keeps = numbers.either(e, wanted, numbers.negation(e, follows))
    return arrays.one_of(e, keeps.name, given, lambda: arrays.copied(e, given))


@rule(sparse.lets_zeros_be_skipped)
def _lets_zeros_be_skipped(e: Emission, factor: Value) -> Number:
    given, writer = arrays.array(factor), e.writer
    slot = e.slots(1)
    is_large = writer.compare("sge", arrays.size(e, given), str(FEWEST_WITH_ZEROS))
    writer.line(f"store i1 {is_large}, ptr {slot}")

    def one(place: Sequence[str]) -> None:
        found = arrays.read(e, given.kind.element, arrays.address(e, given, place))
        so_far = Number("b1", writer.op(f"load i1, ptr {slot}"))
        still = numbers.both(e, so_far, functions.is_finite(e, found))
        writer.line(f"store i1 {still.name}, ptr {slot}")

    rows = writer.select(is_large, "i64", given.shape[0], "0")
    arrays.nest(e, [rows, *given.shape[1:]], one)
    return Number("b1", writer.op(f"load i1, ptr {slot}"))


def _bounds(e: Emission, x: Array) -> tuple[str, str]:
    """The addresses between which the elements of an array lie."""
    first = last = "0"
    for extent, stride in zip(x.shape, x.strides, strict=True):
        reach = e.writer.mul(e.writer.sub(extent, "1"), stride)
        first = e.writer.add(first, e.writer.least(reach, "0"))
        last = e.writer.add(last, e.writer.most(reach, "0"))
    end = e.writer.add(last, str(size_of(x.kind.element)))
    return e.writer.place(x.data, first), e.writer.place(x.data, end)


# Arrays of numbers


@rule(np.asarray)
def _as_array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array) and arrays.element_kind(dtype, x.kind.element) == x.kind.element:
        return x
    return _array(e, x, dtype)


@rule(np.array)
def _array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array):
        return arrays.copied(e, x, arrays.element_kind(dtype, x.kind.element))
    if not isinstance(x, List) or not isinstance(x.kind.element, str):
        raise Unsupported("an array of what are no numbers")
    kind = arrays.element_kind(dtype, x.kind.element)
    out = arrays.new(e, kind, (lists.length(e, x).name,), checked=False)

    def one(place: str) -> None:
        arrays.write(e, kind, arrays.address(e, out, [place]), lists.item(e, x, place))

    e.each(out.shape[0], one)
    return out


def _template(value: Value) -> Any:
    """A tree of places, as the compiler knows it."""
    if isinstance(value, Number):
        return int(value.name)
    if not isinstance(value, Tuple):
        raise Unsupported("nested lists of an unknown shape")
    return tuple(map(_template, value.items))


def _paths(template: Any, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], int]]:
    if isinstance(template, int):
        return [(path, template)]
    return [found for place, part in enumerate(template) for found in _paths(part, (*path, place))]


@rule(sequences.array_of)
def _array_of(e: Emission, template: Value, *leaves: Value) -> Array:
    given = [numbers.scalar(leaf) for leaf in leaves]
    kind = common_kind([leaf.kind for leaf in given])
    paths = _paths(_template(template))
    shape = [str(1 + max(path[axis] for path, _ in paths)) for axis in range(len(paths[0][0]))]
    out = arrays.new(e, kind, shape, checked=False)
    for path, leaf in paths:
        arrays.write(e, kind, arrays.address(e, out, list(map(str, path))), given[leaf])
    return out


@rule(sequences.array_leaf)
def _array_leaf(e: Emission, cotangent: Value, template: Value, place: Value, leaf: Value) -> Value:
    given = arrays.array(cotangent)
    total: Value = constant(0.0)
    for path, found in _paths(_template(template)):
        if len(path) != given.kind.rank:
            raise Unsupported("rows of an array as arrays")
        if found == int(numbers.number(place).name):
            one = arrays.item(e, given.kind.element, arrays.address(e, given, list(map(str, path))))
            total = RULES[operator.add](e, total, one)
    return total


# Cotangents of reductions


@rule(runtime_arrays.spread)
def _spread(e: Emission, cotangent: Value, x: Value, axis: Value | None = None, keepdims: Value | None = None) -> Value:
    if isinstance(x, Array) and isinstance(cotangent, Array):
        raise Unsupported("sums along an axis")
    return RULES[runtime_arrays.unbroadcast](e, cotangent, x)  # type: ignore[no-any-return]
