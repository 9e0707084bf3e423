"""Gathers and scatters: elements at places that arrays of whole numbers tell, and under masks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.slices import WHOLE, Cut, cut, parts_of_index
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, Bounds, Complex, Number, Tuple, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import as_kind, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import dataclass
from adjoint.runtime.array_functions import places

# Places

Item = Number | Array | Cut


@dataclass(frozen=True, slots=True)
class _Selection:
    """What an index of numbers, arrays of places and slices selects of an array.

    Attributes
    ----------
    items
        What tells the places along each axis of the array.
    shape
        The shape of what is selected.
    first
        The axis of it at which those of the arrays of places begin.
    rank
        How many these are.
    """

    items: Sequence[Item]
    shape: Sequence[str]
    first: int
    rank: int

    def places(self, index: Sequence[str]) -> tuple[Sequence[str], Iterator[str]]:
        """Of a place in what is selected: the place in the arrays, and those along slices."""
        after = self.first + self.rank
        return index[self.first : after], iter((*index[: self.first], *index[after:]))


def index_of(e: Emission, x: Array, key: ir.Subscript) -> _Selection | None:
    """What an index with arrays of places selects; None where it has none."""
    if mask_of(e, x, key) is not None:
        return None
    told = parts_of_index(e, key)
    items = list(told[0].items) if len(told) == 1 and isinstance(told[0], Tuple) else told
    if not any(isinstance(item, Array) and item.kind.element[0] in "iub" for item in items):
        return None
    return _selection(e, x, items)


def _selection(e: Emission, x: Array, items: Sequence[Value]) -> _Selection:
    """What the items of an index select; axes that they do not tell of are whole."""
    if len(items) > x.kind.rank:
        raise Unsupported("an index of more parts than there are axes")
    items = [_with_places(e, item, extent) for item, extent in zip(items, x.shape, strict=False)]
    for item in items:
        is_places = isinstance(item, Array) and item.kind.element[0] in "iu" and item.kind.rank
        if not is_places and not isinstance(item, Bounds) and not (isinstance(item, Number) and item.kind[0] in "iu"):
            raise Unsupported("an index of other parts")
    items = (*items, *[WHOLE] * (x.kind.rank - len(items)))
    found: list[Item] = [
        cut(e, item, extent) if isinstance(item, Bounds) else item  # type: ignore[misc]
        for item, extent in zip(items, x.shape, strict=True)
    ]
    _check_places(e, x, found)
    common = checks.common_shape(e, [item for item in found if isinstance(item, Array)], IndexError)
    counts = [item.count for item in found if isinstance(item, Cut)]
    at = [axis for axis, item in enumerate(found) if not isinstance(item, Cut)]
    together = at[-1] - at[0] + 1 == len(at)  # else what the arrays select comes first
    first = at[0] if together else 0
    return _Selection(found, (*counts[:first], *common, *counts[first:]), first, len(common))


def _with_places(e: Emission, item: Value, extent: str) -> Value:
    """A part of an index; of a mask along one axis the places that it selects."""
    if not isinstance(item, Array) or item.kind.element != "b1":
        return item
    if item.kind.rank != 1:
        raise Unsupported("a mask of several axes beside others")
    e.check(e.writer.compare("ne", item.shape[0], extent), IndexError, _OTHER_EXTENT)
    return _flat_nonzero(e, item)


def _address(e: Emission, x: Array, selection: _Selection, index: Sequence[str]) -> str:
    writer = e.writer
    in_arrays, along = selection.places(index)
    found = []
    for item, extent in zip(selection.items, x.shape, strict=True):
        if isinstance(item, Cut):
            found.append(writer.add(item.first, writer.mul(next(along), item.step)))
            continue
        place = e.extent(arrays.element(e, item, in_arrays, len(in_arrays)))
        found.append(numbers.from_start(e, place, extent))
    return arrays.address(e, x, found)


def gathered(e: Emission, x: Array, selection: _Selection) -> Array:
    """What is selected, as a copy."""
    out = arrays.new(e, x.kind.element, selection.shape, checked=False)

    def one(place: Sequence[str]) -> None:
        found = arrays.item(e, x.kind.element, _address(e, x, selection, place))
        arrays.write(e, x.kind.element, arrays.address(e, out, place), found)

    arrays.nest(e, out.shape, one)
    return out


def scatter(e: Emission, x: Array, selection: _Selection, value: Value, mode: str) -> None:
    """A store to what is selected, or what is added to it or taken from it: of values for one place the last counts."""
    _require_kind(x, value)
    if mode == "set":
        _put(e, x, selection, value, False)
        return
    found = gathered(e, x, selection)
    arrays.assign(e, found, value, mode)
    _put(e, x, selection, found, False)


@rule(places.add_at)
def _add_at(e: Emission, x: Value, values: Value, *index: Value) -> None:
    """Of values for one place all count."""
    target = arrays.writable(x)
    items = list(index[0].items) if len(index) == 1 and isinstance(index[0], Tuple) else list(index)
    _require_kind(target, values)
    _put(e, target, _selection(e, target, items), values, True)


def _put(e: Emission, x: Array, selection: _Selection, values: Value, adds: bool) -> None:
    shape = selection.shape
    if isinstance(values, Array):
        if values.kind.rank > len(shape):
            raise Unsupported("a store of more axes")
        for narrow, wide in zip(values.shape[::-1], shape[::-1], strict=False):
            checks.fits_extent(e, narrow, wide)
        if values.base == x.base:
            values = arrays.copied(e, values)
    kind = x.kind.element

    def one(place: Sequence[str]) -> None:
        at = _address(e, x, selection, place)
        given = arrays.element(e, values, place, len(shape))
        if adds:
            given = RULES[operator.add](e, arrays.item(e, kind, at), given)
        arrays.write(e, kind, at, given)

    arrays.nest(e, shape, one)


def _require_kind(x: Array, value: Value) -> None:
    """Nothing is lost of what is stored: floats among floats, whole numbers among those of their size."""
    held = x.kind.element
    given = value.kind.element if isinstance(value, Array) else numbers.scalar(value).kind
    if given != held and (held[0] not in "fc" or (is_complex(given) and not is_complex(held))):
        raise Unsupported("a store that narrows numbers")


def _check_inside_axis(e: Emission, place: Number, extent: str) -> None:
    name = as_kind(e.writer, place, "i8").name
    e.check(e.writer.compare("uge", numbers.from_start(e, name, extent), extent), IndexError, checks.OUTSIDE)


def _check_places(e: Emission, x: Array, items: Sequence[Item]) -> None:
    """Places outside of an array raise: to look at them takes little beside what is done at them."""
    for item, extent in zip(items, x.shape, strict=True):
        if isinstance(item, Number):
            _check_inside_axis(e, item, extent)
        elif isinstance(item, Array):
            _check_inside(e, item, whole(extent))


@rule(places.check_inside)
def _check_inside(e: Emission, index: Value, extent: Value) -> None:
    given, size = arrays.array(index), e.extent(extent)

    def one(place: Sequence[str]) -> None:
        found = arrays.read(e, given.kind.element, arrays.address(e, given, place))
        _check_inside_axis(e, found, size)

    arrays.nest(e, given.shape, one)


@rule(np.take)
def _take(e: Emission, a: Value, indices: Value, axis: Value | None = None, **others: Value) -> Array:
    x = arrays.array(a)
    if others or not isinstance(indices, Array) or not indices.kind.rank:
        raise Unsupported("such a choice of elements")
    if axis is None or arrays.is_none(axis):
        if x.kind.rank != 1:
            raise Unsupported("elements of what is not flat")
        return gathered(e, x, _selection(e, x, [indices]))
    number = e.extent(axis)
    if not number.lstrip("-").isdigit() or not -x.kind.rank <= int(number) < x.kind.rank:
        raise Unsupported("an axis that is chosen at run time")
    return gathered(e, x, _selection(e, x, [*[WHOLE] * (int(number) % x.kind.rank), indices]))


@rule(places.numbered)
def _numbered(e: Emission, selected: Value) -> Array:
    """The numbers from 0 on in the shape of an array."""
    x = arrays.array(selected)
    out = arrays.new(e, "i8", x.shape, checked=False)

    def one(index: Sequence[str]) -> None:
        number = "0"
        for place, extent in zip(index, x.shape, strict=True):
            number = e.writer.add(e.writer.mul(number, extent), place)
        arrays.write(e, "i8", arrays.address(e, out, index), whole(number))

    arrays.nest(e, x.shape, one)
    return out


# Masks

_OTHER_EXTENT = "boolean index did not match indexed array"


@rule(np.argwhere)
def _nonzero(e: Emission, a: Value) -> Array:
    """The places at which an array is not zero, one in each row."""
    x = arrays.array(a)
    count = _each_true(e, x, lambda place, number: None)
    out = arrays.new(e, "i8", (count, str(x.kind.rank)), checked=False)

    def one(place: Sequence[str], number: str) -> None:
        for axis, each in enumerate(place):
            arrays.write(e, "i8", arrays.address(e, out, [number, str(axis)]), whole(each))

    _each_true(e, x, one)
    return out


@rule(np.flatnonzero)
def _flat_nonzero(e: Emission, a: Value) -> Array:
    """The places at which an array of one axis is not zero."""
    x = arrays.array(a)
    if x.kind.rank != 1:
        raise Unsupported("places in what is not flat")
    count = _each_true(e, x, lambda place, number: None)
    out = arrays.new(e, "i8", (count,), checked=False)

    def one(place: Sequence[str], number: str) -> None:
        arrays.write(e, "i8", arrays.address(e, out, [number]), whole(place[0]))

    _each_true(e, x, one)
    return out


def mask_of(e: Emission, x: Array, key: ir.Subscript) -> Array | None:
    """The array of truth values that tells of each element of an array; None if an index is another."""
    found = e.value(key.items[0]) if len(key.items) == 1 and not isinstance(key.items[0], ir.Slice) else None
    is_mask = isinstance(found, Array) and found.kind.element == "b1" and 0 < found.kind.rank == x.kind.rank
    return found if isinstance(found, Array) and is_mask else None


def _require_shape(e: Emission, x: Array, mask: Array) -> None:
    for extent, axis in zip(mask.shape, x.shape, strict=True):
        if extent != axis:
            e.check(e.writer.compare("ne", extent, axis), IndexError, _OTHER_EXTENT)


def _each_selected(e: Emission, x: Array, mask: Array, body: Callable[[Sequence[str], str], None]) -> str:
    """Does something with each place that a mask selects, and its number; how many there are."""
    _require_shape(e, x, mask)
    return _each_true(e, mask, body)


def _each_true(e: Emission, mask: Array, body: Callable[[Sequence[str], str], None]) -> str:
    """The same for each element that is not zero."""
    slot, writer = e.slots(1), e.writer
    writer.line(f"store i64 0, ptr {slot}")

    def one(place: Sequence[str]) -> None:
        chosen, after = writer.new_label("chosen"), writer.new_label("after")
        found = arrays.item(e, mask.kind.element, arrays.address(e, mask, place))
        writer.branch(numbers.is_true(e, found).name, chosen, after)
        writer.start(chosen)
        number = writer.op(f"load i64, ptr {slot}")
        body(place, number)
        writer.line(f"store i64 {writer.add(number, '1')}, ptr {slot}")
        writer.jump(after)
        writer.start(after)

    arrays.nest(e, mask.shape, one)
    return writer.op(f"load i64, ptr {slot}")


def selected(e: Emission, x: Array, mask: Array) -> Array:
    """``x[mask]``."""
    count = _each_selected(e, x, mask, lambda place, number: None)
    out = arrays.new(e, x.kind.element, (count,), checked=False)

    def one(place: Sequence[str], number: str) -> None:
        found = arrays.item(e, x.kind.element, arrays.address(e, x, place))
        arrays.write(e, x.kind.element, arrays.address(e, out, [number]), found)

    _each_selected(e, x, mask, one)
    return out


def store_selected(e: Emission, x: Array, mask: Array, value: Value, mode: str) -> None:
    """``x[mask] = value``, or what is added to it or taken from it."""
    kind, held = x.kind.element, value
    if isinstance(value, Array):
        if value.kind.rank != 1:
            raise Unsupported("a store of more axes")
        count = _each_selected(e, x, mask, lambda place, number: None)
        checks.fits_extent(e, value.shape[0], count)
        held = arrays.copied(e, value)

    def one(place: Sequence[str], number: str) -> None:
        at = arrays.address(e, x, place)
        given: Number | Complex = arrays.element(e, held, [number], 1)
        if mode != "set":
            given = RULES[arrays.STORED[mode]](e, arrays.item(e, kind, at), given)
        arrays.write(e, kind, at, given)

    _each_selected(e, x, mask, one)
