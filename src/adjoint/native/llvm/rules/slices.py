"""Parts of axes, as slices tell them."""

from __future__ import annotations

from adjoint import ir
from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Bounds, Known, Number, Unsupported, Value
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import dataclass
from adjoint.runtime import display


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of an axis: where it begins, how many elements it has, and how far apart they are."""

    first: str
    count: str
    step: str
    is_whole: bool = False


WHOLE = Bounds(Known(None), Known(None), Known(None))
"""A whole axis."""


@rule(display.make_slice)
def _made(e: Emission, lower: Value, upper: Value, step: Value) -> Bounds:
    """A slice."""
    return Bounds(lower, upper, step)


def parts_of_index(e: Emission, key: ir.Subscript) -> list[Value]:
    """The parts of an index; slices are their bounds."""
    return [
        Bounds(*[e.value(atom) for atom in (item.lower, item.upper, item.step)])
        if isinstance(item, ir.Slice)
        else e.value(item)
        for item in key.items
    ]


def cut(e: Emission, bounds: Bounds, extent: str) -> Cut:
    """The part of an axis that a slice tells."""
    writer = e.writer
    lower, upper, step_value = bounds.lower, bounds.upper, bounds.step
    step = "1" if arrays.is_none(step_value) else e.extent(step_value)
    if not step.lstrip("-").isdigit() or step == "0":
        raise Unsupported("slices with steps at run time")
    if arrays.is_none(lower) and arrays.is_none(upper) and step == "1":
        return Cut("0", extent, "1", True)
    if int(step) < 0:
        last = writer.sub(extent, "1")
        first = last if arrays.is_none(lower) else _clamped(e, e.extent(lower), extent, "-1", last)
        stop = "-1" if arrays.is_none(upper) else _clamped(e, e.extent(upper), extent, "-1", last)
        size = str(-int(step))
        count = writer.op(f"sdiv i64 {writer.add(writer.sub(first, stop), str(int(size) - 1))}, {size}")
        return Cut(first, writer.most(count, "0"), step)
    first = "0" if arrays.is_none(lower) else bound(e, lower, extent)
    stop = extent if arrays.is_none(upper) else bound(e, upper, extent)
    count = writer.sub(stop, first)
    if step != "1":
        count = writer.op(f"sdiv i64 {writer.add(count, str(int(step) - 1))}, {step}")
    return Cut(first, count if first == "0" and step == "1" else writer.most(count, "0"), step)


def bound(e: Emission, value: Value, extent: str) -> str:
    """The place that a bound of a slice with a positive step tells."""
    place = e.extent(value)
    if isinstance(value, Number) and value.natural:
        return e.writer.least(place, extent)
    return _clamped(e, place, extent, "0", extent)


def _clamped(e: Emission, place: str, extent: str, least: str, most: str) -> str:
    """A bound of a slice within an axis."""
    counted = numbers.from_start(e, place, extent)
    if counted.isdigit() and least == "0":
        return e.writer.least(counted, most)
    return e.writer.most(e.writer.least(counted, most), least)
