"""Elements and parts of arrays, tuples and lists: loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.arithmetic import complexes
from adjoint.native.llvm.rules.array_functions import gathers
from adjoint.native.llvm.rules.containers import heterogeneous_lists, lists, structs
from adjoint.native.llvm.rules.slices import WHOLE, Cut, bound, cut, parts_of_index
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    Array,
    ArrayKind,
    Bounds,
    Complex,
    Known,
    List,
    Number,
    Struct,
    Tuple,
    Unsupported,
    Value,
    dtype_of,
    is_complex,
)
from adjoint.native.llvm.writer import as_kind, constant, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import objects


def part(e: Emission, x: Array, key: ir.Subscript) -> Array | str:
    """The part of an array that an index of numbers and slices tells; the address of an element."""
    writer = e.writer
    items = _items(e, x, key)
    if all(isinstance(item, str) for item in items) and not _has_ellipsis(e, key):
        return arrays.address(e, x, [item for item in items if isinstance(item, str)])
    offset, axis = "0", 0
    shape: list[str] = []
    strides: list[str] = []
    for item in items:
        if item is None:
            shape.append("1")
            strides.append("0")
            continue
        stride = x.strides[axis]
        axis += 1
        first = item if isinstance(item, str) else item.first
        offset = writer.add(offset, writer.mul(first, stride))
        if isinstance(item, Cut):
            shape.append(item.count)
            strides.append(writer.mul(stride, item.step))
    kind = ArrayKind(x.kind.element, len(shape), x.kind.by_rows and _has_no_gaps(items), x.kind.read_only)
    if kind.by_rows:
        strides = list(e.writer.strides_by_rows(kind.element, shape))
    return Array(kind, x.base, writer.place(x.data, offset), tuple(shape), tuple(strides), x.owner)


def _has_ellipsis(e: Emission, key: ir.Subscript) -> bool:
    """Whether an index tells of all axes that are left: then it selects an array, be it of no axes."""
    told = [e.value(item) for item in key.items if not isinstance(item, ir.Slice)]
    return any(isinstance(item, Known) and item.value is Ellipsis for item in told)


def _has_no_gaps(items: Sequence[Cut | str | None]) -> bool:
    """Whether a part of an array that lies by rows has no gaps: numbers, at most one slice, then whole axes."""
    seen = False
    for item in items:
        if item is None or (isinstance(item, str) and seen):
            return False
        if isinstance(item, Cut):
            if item.step != "1" or (seen and not item.is_whole):
                return False
            seen = True
    return True


def _items(e: Emission, x: Array, key: ir.Subscript) -> list[Cut | str | None]:
    """The items of an index, for all axes: places, parts, and None for new axes."""
    told = [one for item in parts_of_index(e, key) for one in (item.items if isinstance(item, Tuple) else (item,))]
    used = sum(not (isinstance(item, Known) and item.value in (None, Ellipsis)) for item in told)
    missing: list[Any] = [WHOLE] * (x.kind.rank - used)
    if x.kind.rank < used:
        raise Unsupported("too many indices")
    at = next((k for k, item in enumerate(told) if isinstance(item, Known) and item.value is Ellipsis), len(told))
    told[at : at + 1] = missing
    found: list[Cut | str | None] = []
    axis = 0
    for item in told:
        if isinstance(item, Known) and item.value is None:
            found.append(None)
            continue
        extent = x.shape[axis]
        axis += 1
        if isinstance(item, Bounds):
            found.append(cut(e, item, extent))
        elif isinstance(item, Number) and item.kind[0] in "iu":
            place = as_kind(e.writer, item, "i8").name
            place = place if item.natural else numbers.from_start(e, place, extent)
            checks.check_place(e, place, extent)
            found.append(place)
        else:
            raise Unsupported("an index that is no number")
    return found


@rule(objects.slice_bounds)
def _slice_bounds(e: Emission, sequence: Value, lower: Value, upper: Value, step: Value) -> Tuple:
    """Start, stop and step of a slice of a list."""
    if not isinstance(sequence, List) or not (arrays.is_none(step) or e.extent(step) == "1"):
        raise Unsupported("the bounds of a slice with a step")
    size = lists.length(e, sequence).name
    first = "0" if arrays.is_none(lower) else bound(e, lower, size)
    stop = size if arrays.is_none(upper) else bound(e, upper, size)
    return Tuple((whole(first), whole(stop), constant(1)))


@rule("load")
def load(e: Emission, base: Value, key: ir.Key) -> Value:
    """``base[key]`` or ``base.name``."""
    if isinstance(key, ir.Attribute):
        return structs.load(e, base, key.name) if isinstance(base, Struct) else _attribute(e, base, key.name)
    if isinstance(base, (Number, Complex)) and not key.items:
        return base  # an array of no axes, which is a number here
    if isinstance(base, Tuple):
        place = _literal_index(e, key, len(base.items))
        return heterogeneous_lists.number(e, base, place) if place in (base.numbers or ()) else base.items[place]
    if isinstance(base, List):
        if len(key.items) == 1 and isinstance(key.items[0], ir.Slice):
            (bounds,) = parts_of_index(e, key)
            assert isinstance(bounds, Bounds)
            taken = cut(e, bounds, lists.length(e, base).name)
            return lists.cut(e, base, taken.first, taken.count, taken.step)
        return lists.load(e, base, key)
    x = arrays.array(base)
    mask, places = gathers.mask_of(e, x, key), gathers.index_of(e, x, key)
    if mask is not None:
        return gathers.selected(e, x, mask)
    if places is not None:
        return gathers.gathered(e, x, places)
    found = part(e, x, key)
    return found if isinstance(found, Array) else arrays.item(e, x.kind.element, found)


def _literal_index(e: Emission, key: ir.Subscript, length: int) -> int:
    (item,) = key.items
    value = None if isinstance(item, ir.Slice) else e.value(item)
    if not isinstance(value, Number) or not value.name.lstrip("-").isdigit():
        raise Unsupported("an item of a tuple that is chosen at run time")
    place = int(value.name)
    if not -length <= place < length:
        raise Unsupported("an item that a tuple does not have")
    return place


def _attribute(e: Emission, base: Value, name: str) -> Value:
    if isinstance(base, (Number, Complex)) and name in ("real", "imag"):
        return complexes.real_and_imaginary(base)[name == "imag"]
    x = arrays.array(base)
    match name:
        case "T":
            return arrays.transposed(x)
        case "dtype":
            return Known(dtype_of(x.kind.element))
        case "real" | "imag" if is_complex(x.kind.element):
            return complexes.part(e, x, name == "imag")
        case "real":
            return x
    raise Unsupported(f"the attribute {name!r}")


@rule("store")
def store(e: Emission, base: Value, key: ir.Key | None, value: Value, mode: str) -> None:
    """``base[key] = value``, or what is added to it or taken from it."""
    if isinstance(base, Struct) and isinstance(key, ir.Attribute):
        structs.store(e, base, key.name, value, mode)
        return
    if mode not in ("set", "add", "sub") or isinstance(key, ir.Attribute):
        raise Unsupported("a store of this kind")
    if isinstance(base, List):
        lists.store(e, base, key, value, mode)
        return
    if isinstance(base, Tuple) and key is not None:
        heterogeneous_lists.store(e, base, _literal_index(e, key, len(base.items)), value, mode)
        return
    x = arrays.writable(base)
    mask, places = (None, None) if key is None else (gathers.mask_of(e, x, key), gathers.index_of(e, x, key))
    if mask is not None:
        gathers.store_selected(e, x, mask, value, mode)
        return
    if places is not None:
        gathers.scatter(e, x, places, value, mode)
        return
    found = x if key is None else part(e, x, key)
    if isinstance(found, str):
        value = numbers.scalar(value)
        if mode != "set":
            value = RULES[arrays.STORED[mode]](e, arrays.item(e, x.kind.element, found), value)
        arrays.write(e, x.kind.element, found, numbers.scalar(value))
        return
    arrays.assign(e, found, value, mode)
