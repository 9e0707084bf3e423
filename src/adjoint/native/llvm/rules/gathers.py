"""Gathers and scatters: elements at places that arrays of whole numbers tell, and under masks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, Complex, Number, Tuple, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import as_kind, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import places

# Places


def index_of(e: Emission, key: ir.Subscript) -> list[Value] | None:
    """The items of an index with arrays of places; None where it has none."""
    if any(isinstance(item, ir.Slice) for item in key.items):
        return None
    found = [e.value(item) for item in key.items if not isinstance(item, ir.Slice)]
    items = list(found[0].items) if len(found) == 1 and isinstance(found[0], Tuple) else found
    return items if any(isinstance(item, Array) and item.kind.element[0] in "iu" for item in items) else None


def _require_places(x: Array, items: Sequence[Value]) -> None:
    """Places are told for each axis: by whole numbers, and arrays of them."""
    for item in items:
        if isinstance(item, Array) and item.kind.element[0] in "iu" and item.kind.rank:
            continue
        if not isinstance(item, Number) or item.kind[0] not in "iu":
            raise Unsupported("an index of other parts")
    if len(items) != x.kind.rank:
        raise Unsupported("an index of some axes")


def _extents_of(e: Emission, items: Sequence[Value]) -> list[str]:
    """The shape of what an index selects."""
    return checks.common_shape(e, [item for item in items if isinstance(item, Array)], IndexError)


def _address(e: Emission, x: Array, items: Sequence[Value], index: Sequence[str]) -> str:
    found = []
    for item, extent in zip(items, x.shape, strict=True):
        place = e.extent(arrays.element(e, item, index, len(index)))
        found.append(numbers.from_start(e, place, extent))
    return arrays.address(e, x, found)


def gathered(e: Emission, x: Array, items: Sequence[Value]) -> Array:
    """``x[items]``, as a copy."""
    _require_places(x, items)
    _check_places(e, x, items)
    out = arrays.new(e, x.kind.element, _extents_of(e, items), checked=False)

    def one(place: Sequence[str]) -> None:
        found = arrays.item(e, x.kind.element, _address(e, x, items, place))
        arrays.write(e, x.kind.element, arrays.address(e, out, place), found)

    arrays.nest(e, out.shape, one)
    return out


def scatter(e: Emission, x: Array, items: Sequence[Value], value: Value, mode: str) -> None:
    """``x[items] = value``, or what is added to it or taken from it: of values for one place the last counts."""
    _require_kind(x, value)
    if mode == "set":
        _require_places(x, items)
        _check_places(e, x, items)
        _put(e, x, items, value, False)
        return
    found = gathered(e, x, items)
    arrays.assign(e, found, value, mode)
    _put(e, x, items, found, False)


@rule(places.add_at)
def _add_at(e: Emission, x: Value, values: Value, *index: Value) -> None:
    """Of values for one place all count."""
    target = arrays.writable(x)
    items = list(index[0].items) if len(index) == 1 and isinstance(index[0], Tuple) else list(index)
    _require_places(target, items)
    _require_kind(target, values)
    _check_places(e, target, items)
    _put(e, target, items, values, True)


def _put(e: Emission, x: Array, items: Sequence[Value], values: Value, adds: bool) -> None:
    shape = _extents_of(e, items)
    if isinstance(values, Array):
        if values.kind.rank > len(shape):
            raise Unsupported("a store of more axes")
        for narrow, wide in zip(values.shape[::-1], shape[::-1], strict=False):
            checks.fits_extent(e, narrow, wide)
        if values.base == x.base:
            values = arrays.copied(e, values)
    kind = x.kind.element

    def one(place: Sequence[str]) -> None:
        at = _address(e, x, items, place)
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


def _check_places(e: Emission, x: Array, items: Sequence[Value]) -> None:
    """Places outside of an array raise: to look at them takes little beside what is done at them."""
    for item, extent in zip(items, x.shape, strict=True):
        if isinstance(item, Number):
            _check_inside_axis(e, item, extent)
        else:
            _check_inside(e, item, whole(extent))


@rule(places.check_inside)
def _check_inside(e: Emission, index: Value, extent: Value) -> None:
    given, size = arrays.array(index), e.extent(extent)

    def one(place: Sequence[str]) -> None:
        found = arrays.read(e, given.kind.element, arrays.address(e, given, place))
        _check_inside_axis(e, found, size)

    arrays.nest(e, given.shape, one)


# Masks


def mask_of(e: Emission, key: ir.Subscript) -> Array | None:
    """The array of truth values that an index is; None if it is another."""
    found = e.value(key.items[0]) if len(key.items) == 1 and not isinstance(key.items[0], ir.Slice) else None
    return found if isinstance(found, Array) and found.kind.element == "b1" else None


def _require_mask(x: Array, mask: Array) -> None:
    if mask.kind.rank != x.kind.rank or not x.kind.rank:
        raise Unsupported("a mask of some axes")


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


def selected(e: Emission, x: Array, mask: Array) -> Array:
    """``x[mask]``."""
    _require_mask(x, mask)
    count = _each_selected(e, x, mask, lambda place, number: None)
    out = arrays.new(e, x.kind.element, (count,), checked=False)

    def one(place: Sequence[str], number: str) -> None:
        found = arrays.item(e, x.kind.element, arrays.address(e, x, place))
        arrays.write(e, x.kind.element, arrays.address(e, out, [number]), found)

    _each_selected(e, x, mask, one)
    return out


def store_selected(e: Emission, x: Array, mask: Array, value: Value, mode: str) -> None:
    """``x[mask] = value``, or what is added to it or taken from it."""
    _require_mask(x, mask)
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
