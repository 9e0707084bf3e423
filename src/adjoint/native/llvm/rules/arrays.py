"""Arrays: memory, elements, and loops over them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from adjoint.native.llvm.rules import checks
from adjoint.native.llvm.rules.table import RULES
from adjoint.native.llvm.values import (
    IN_MEMORY,
    Array,
    ArrayKind,
    Complex,
    Known,
    Number,
    Tuple,
    Unsupported,
    Value,
    is_complex,
    kind_of,
    part_of,
    size_of,
)
from adjoint.native.llvm.writer import as_complex, as_kind
from adjoint.native.llvm.writing.emission import Emission


def array(value: Value) -> Array:
    if not isinstance(value, Array):
        raise Unsupported("what is no array")
    return value


def writable(value: Value) -> Array:
    """An array that may be written."""
    found = array(value)
    if found.kind.read_only:
        raise Unsupported("a store to memory that cannot be written")
    return found


def element_kind(dtype: Value | None, default: str = "f8") -> str:
    """The kind of numbers that a dtype stands for."""
    if dtype is None or (isinstance(dtype, Known) and dtype.value is None):
        return default
    if not isinstance(dtype, Known):
        raise Unsupported("a dtype at run time")
    return kind_of(dtype.value)


def extents_of(shape: Value) -> list[str]:
    """The extents that a shape tells, as they are."""
    match shape:
        case Number():
            return [as_kind_of_word(shape)]
        case Tuple(items=items):
            return [as_kind_of_word(item) for item in items]
    raise Unsupported("a shape of unknown rank")


def as_kind_of_word(value: Value) -> str:
    if not isinstance(value, Number) or value.kind != "i8":
        raise Unsupported("an extent that is no whole number")
    return value.name


_TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def new(e: Emission, element: str, shape: Sequence[str], zero: bool = False, checked: bool = True) -> Array:
    """A new array, laid out by rows."""
    e.program.asks |= element in ("f4", "c4")
    writer = e.writer
    size = str(size_of(element))
    for extent in shape:
        if checked and not extent.isdigit():
            e.check(writer.compare("slt", extent, "0"), ValueError, "negative dimensions are not allowed")
            size, is_too_large = writer.mul_or_overflow(size, extent)
            e.check(is_too_large, ValueError, _TOO_BIG)
        else:
            size = writer.mul(size, extent)
    block = writer.op(f"call noalias ptr @new_block(ptr %call, i64 {size})")
    e.check(writer.op(f"icmp eq ptr {block}, null"), MemoryError, "no memory for an array")
    if zero:
        writer.line(f"call void @llvm.memset.p0.i64(ptr align 64 {block}, i8 0, i64 {size}, i1 false)")
    kind = ArrayKind(element, len(shape), True)
    return Array(kind, block, block, tuple(shape), e.writer.strides_by_rows(kind.element, shape), e.owning(block))


def address(e: Emission, x: Array, places_: Sequence[str]) -> str:
    """Where an element lies."""
    writer = e.writer
    offset = "0"
    if x.kind.by_rows and x.kind.rank:
        for place, extent in zip(places_, x.shape, strict=True):
            offset = place if offset == "0" else writer.add(writer.mul(offset, extent), place)
        return writer.op(f"getelementptr inbounds {IN_MEMORY[x.kind.element]}, ptr {x.data}, i64 {offset}")
    for place, stride in zip(places_, x.strides, strict=True):
        offset = writer.add(offset, writer.mul(place, stride))
    return writer.place(x.data, offset)


def item(e: Emission, kind: str, place: str) -> Number | Complex:
    """The number of a kind at a place."""
    if not is_complex(kind):
        return read(e, kind, place)
    part = part_of(kind)
    return Complex(kind, read(e, part, place).name, read(e, part, e.writer.place(place, kind[1])).name)


def read(e: Emission, kind: str, place: str) -> Number:
    """The real number of a kind at a place."""
    if is_complex(kind):
        raise Unsupported("complex numbers among real ones")
    found = e.writer.op(f"load {IN_MEMORY[kind]}, ptr {place}, align {kind[1]}")
    return Number("b1", e.writer.op(f"icmp ne i8 {found}, 0")) if kind == "b1" else Number(kind, found)


def write(e: Emission, kind: str, place: str, value: Number | Complex) -> None:
    """Puts a number at a place, as one of a kind."""
    if is_complex(kind):
        for part, at in zip(as_complex(e.writer, value, kind).parts, ("0", kind[1]), strict=True):
            write(e, part.kind, e.writer.place(place, at), part)
        return
    if isinstance(value, Complex):
        raise Unsupported("complex numbers among real ones")
    given = as_kind(e.writer, value, kind).name
    if kind == "b1":
        given = e.writer.op(f"zext i1 {given} to i8")
    e.writer.line(f"store {IN_MEMORY[kind]} {given}, ptr {place}, align {kind[1]}")


def size(e: Emission, x: Array) -> str:
    found = "1"
    for extent in x.shape:
        found = e.writer.mul(found, extent)
    return found


def transposed(x: Array, axes: Sequence[int] | None = None) -> Array:
    """An array with its axes in another order; the reverse one if none is told."""
    order = range(x.kind.rank)[::-1] if axes is None else axes
    if x.kind.rank < 2:
        return x
    kind = ArrayKind(x.kind.element, x.kind.rank, False, x.kind.read_only)
    shape, strides = (tuple(each[axis] for axis in order) for each in (x.shape, x.strides))
    return Array(kind, x.base, x.data, shape, strides, x.owner)


def seen_as(e: Emission, x: Array, shape: Sequence[str]) -> Array:
    """An array that lies by rows, in another shape."""
    kind = ArrayKind(x.kind.element, len(shape), True, x.kind.read_only)
    return Array(kind, x.base, x.data, tuple(shape), e.writer.strides_by_rows(kind.element, shape), x.owner)


def nest(e: Emission, shape: Sequence[str], body: Callable[[list[str]], None]) -> None:
    """Loops over all places of a shape."""
    index: list[str] = []

    def level(axis: int) -> None:
        if axis == len(shape):
            body(index)
            return

        def inside(place: str) -> None:
            index.append(place)
            level(axis + 1)
            index.pop()

        e.each(shape[axis], inside)

    level(0)


def element(e: Emission, value: Value, index: Sequence[str], rank: int) -> Number | Complex:
    """The element of what is broadcast to so many axes."""
    if isinstance(value, (Number, Complex)):
        return value
    x = array(value)
    places_ = []
    for extent, place in zip(x.shape, index[rank - x.kind.rank :], strict=True):
        if extent == "1":
            places_.append("0")
            continue
        one = e.writer.compare("eq", extent, "1")
        places_.append(e.writer.select(one, "i64", "0", place))
    return item(e, x.kind.element, address(e, x, places_))


STORED = {"add": operator.add, "sub": operator.sub}


def assign(e: Emission, target: Array, value: Value, mode: str = "set") -> None:
    """Writes each element of a part of an array: a number, or an array that is broadcast."""
    if isinstance(value, Array):
        if value.kind.rank > target.kind.rank:
            raise Unsupported("a store of more axes")
        if value.base == target.base:  # whatever else may overlap is a copy already: see "overlapping-updates"
            value = copied(e, value)
        for one, other in zip(value.shape[::-1], target.shape[::-1], strict=False):
            checks.fits_extent(e, one, other, "could not broadcast input array into this shape")
    elif not isinstance(value, (Number, Complex)):
        raise Unsupported("a store of what is neither a number nor an array")
    kind = target.kind.element

    def body(index: Sequence[str]) -> None:
        place = address(e, target, index)
        given = element(e, value, index, target.kind.rank)
        if mode != "set":
            given = RULES[STORED[mode]](e, item(e, kind, place), given)
        write(e, kind, place, given)

    nest(e, target.shape, body)


def full(e: Emission, x: Array, value: Value) -> Array:
    """A new array, filled."""
    assign(e, x, value)
    return x


def like(e: Emission, x: Array, element_: str | None = None, zero: bool = False) -> Array:
    """A new array of the shape of another, laid out as NumPy does it: the axis with the longest step comes first."""
    made = new(e, element_ or x.kind.element, x.shape, zero, checked=False)
    if x.kind.by_rows or x.kind.rank < 2:
        return made
    writer, axes = e.writer, range(x.kind.rank)
    writer.module.declare("llvm.abs.i64", "i64", ["i64", "i1"])
    steps = [writer.op(f"call i64 @llvm.abs.i64(i64 {stride}, i1 false)") for stride in x.strides]
    strides = []
    for axis in axes:
        stride = str(size_of(made.kind.element))
        for other in axes:
            if other != axis:
                lies_inside = writer.compare("slt" if other < axis else "sle", steps[other], steps[axis])
                stride = writer.mul(stride, writer.select(lies_inside, "i64", x.shape[other], "1"))
        strides.append(stride)
    kind = ArrayKind(made.kind.element, x.kind.rank, False)
    return Array(kind, made.base, made.data, made.shape, tuple(strides), made.owner)


def float_kind(kind: str) -> str:
    return kind if kind[0] in "fc" else "f8"


def in_rows(e: Emission, x: Value) -> Array:
    given = array(x)
    return given if given.kind.by_rows and given.kind.rank else copied(e, given)


def copied(e: Emission, x: Array, element_: str | None = None, *, as_it_lies: bool = False) -> Array:
    """A copy, laid out by rows, or as the array lies."""
    found = like(e, x, element_) if as_it_lies else new(e, element_ or x.kind.element, x.shape, checked=False)
    if x.kind.by_rows and found.kind.element == x.kind.element:
        copy_memory(e, found, x.data)
        return found

    def body(index: Sequence[str]) -> None:
        given = item(e, x.kind.element, address(e, x, index))
        write(e, found.kind.element, address(e, found, index), given)

    nest(e, x.shape, body)
    return found


def copy_memory(e: Emission, x: Array, data: str) -> None:
    """Fills a new array with as many bytes from elsewhere."""
    count = e.writer.mul(size(e, x), str(size_of(x.kind.element)))
    e.writer.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    e.writer.line(f"call void @llvm.memcpy.p0.p0.i64(ptr align 64 {x.data}, ptr {data}, i64 {count}, i1 false)")


def one_of(e: Emission, condition: str, given: Array, made: Callable[[], Array]) -> Array:
    """An array where a condition holds; else a new one of this shape, which is made then."""
    writer = e.writer
    making, going_on = writer.new_label("make"), writer.new_label("on")
    before = writer.label
    writer.branch(condition, going_on, making)
    writer.start(making)
    other = made()
    assert other.owner is not None
    e.disown(other.owner)
    after = writer.label
    writer.jump(going_on)
    writer.start(going_on)

    def either(kind: str, one: str, two: str) -> str:
        return one if one == two else writer.phi(kind, [(one, before), (two, after)])

    base = writer.phi("ptr", [(given.base, before), (other.base, after)])
    data = writer.phi("ptr", [(given.data, before), (other.data, after)])
    shape = tuple(either("i64", one, two) for one, two in zip(given.shape, other.shape, strict=True))
    strides = tuple(either("i64", one, two) for one, two in zip(given.strides, other.strides, strict=True))
    is_new = writer.phi("i1", [("false", before), ("true", after)])
    keeping, end = writer.new_label("keep"), writer.new_label("on")
    writer.branch(is_new, end, keeping)
    writer.start(keeping)
    e.retain(base)
    writer.jump(end)
    writer.start(end)
    if given.kind.by_rows:
        strides = e.writer.strides_by_rows(given.kind.element, shape)
    return Array(given.kind, base, data, shape, strides, e.owning(base))


def is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None
