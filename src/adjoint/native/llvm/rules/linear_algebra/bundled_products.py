"""Products of matrices of numbers with matrices of bundles, and rows of such products."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.native.costs import FEWEST_WITH_ZEROS
from adjoint.native.helpers import bundled_products, instructions
from adjoint.native.llvm.rules import arrays, functions, numbers
from adjoint.native.llvm.rules.bundles import width_told
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    LLVM_TYPES,
    Array,
    ArrayKind,
    Number,
    Tuple,
    Unsupported,
    Value,
    bundle_of,
    width_of,
)
from adjoint.native.llvm.writer import as_kind, constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import bundles
from adjoint.runtime.array_functions import sparse

_product_to_bundles = helper(bundled_products.product_to_bundles)
_product_of_bundles = helper(bundled_products.product_of_bundles)
_product_by_rows = helper(bundled_products.product_by_rows)


def _in_any_layout(x: Array) -> Array:
    """The array, of a kind that says nothing of how it lies in memory."""
    kind = ArrayKind(x.kind.element, x.kind.rank, False, x.kind.read_only)
    return Array(kind, x.base, x.data, x.shape, x.strides, x.owner)


@rule(bundles.product_of_moving_bundles)
def _product(e: Emission, a: Value, b: Value, skips: Value, moves_left: Value) -> Value:
    one, other = arrays.array(a), arrays.array(b)
    widths = width_of(one.kind.element), width_of(other.kind.element)
    if one.kind.rank != 2 or other.kind.rank != 2 or (widths[0] == 0) == (widths[1] == 0):
        raise Unsupported("products of these bundles")
    made = _product_of_bundles if widths[0] else _product_to_bundles
    return made(e, _in_any_layout(one), _in_any_layout(other), skips)  # type: ignore[no-any-return]


@rule(bundles.product_with_bundles)
def _product_with_bundles(e: Emission, a: Value, b: Value, moves_left: Value) -> Value:
    """Of matrices; a vector is made one."""
    one, other = arrays.array(a), arrays.array(b)
    as_row = _of_one_row(one) if one.kind.rank == 1 else one
    as_column = arrays.transposed(_of_one_row(other)) if other.kind.rank == 1 else other
    found = _product(e, as_row, as_column, constant(False), moves_left)
    assert isinstance(found, Array)
    ranks = one.kind.rank, other.kind.rank
    if ranks == (1, 1):
        return arrays.read(e, found.kind.element, found.data)
    shape = (*(found.shape[:1] if ranks[0] == 2 else ()), *(found.shape[1:] if ranks[1] == 2 else ()))
    kind = ArrayKind(found.kind.element, len(shape), True)
    return Array(kind, found.base, found.data, shape, e.writer.strides_by_rows(kind.element, shape), found.owner)


def _of_one_row(x: Array) -> Array:
    kind = ArrayKind(x.kind.element, 2, False, x.kind.read_only)
    return Array(kind, x.base, x.data, ("1", *x.shape), (*x.strides, *x.strides), x.owner)


@rule(bundles.product_by_rows)
def _rows(e: Emission, a: Value, b: Value, skips: Value, width: Value) -> Value:
    one, other = arrays.array(a), arrays.array(b)
    if width_of(one.kind.element) or not width_of(other.kind.element):
        raise Unsupported("rows of products of these bundles")
    return _product_by_rows(e, _in_any_layout(one), _in_any_layout(other), skips, width)  # type: ignore[no-any-return]


@rule(bundles.row_of_product)
def _row(e: Emission, a: Value, row: Value, places: Value, moving: Value, whole_: Value, width: Value) -> Tuple:
    """The sums of multiples of rows that move, to what is in the row of the product if that is there as a whole."""
    factors, chosen, rows, product = map(arrays.array, (a, places, moving, whole_))
    size, writer = width_of(rows.kind.element), e.writer
    at = e.extent(row)
    sums = []
    for column in range(0, width_told(width), 2):  # two elements at a time: some processors have registers for both
        kind = bundle_of("f8", size * min(2, width_told(width) - column))
        sums.append((column, kind, _sum(e, kind)))
    is_there = writer.compare("sgt", product.shape[0], "0")
    adding, begun = writer.new_label("whole"), writer.new_label("begun")
    writer.branch(is_there, adding, begun)
    writer.start(adding)
    for column, kind, total in sums:
        _put(e, kind, total, arrays.read(e, kind, arrays.address(e, product, [at, str(column)])))
    writer.jump(begun)
    writer.start(begun)

    def one(index: str) -> None:
        place = arrays.read(e, "i8", arrays.address(e, chosen, [index])).name
        number = arrays.read(e, "f8", arrays.address(e, factors, [at, place]))
        for column, kind, total in sums:
            factor = arrays.read(e, kind, arrays.address(e, rows, [index, str(column)]))
            _add_product(e, kind, as_kind(writer, number, kind), factor, total)

    e.each(chosen.shape[0], one)
    return Tuple(tuple(part for _, kind, total in sums for part in _bundles_of(e, kind, total, size)))


def _sum(e: Emission, kind: str) -> str:
    """Room for a sum, in registers; it is zero."""
    name = e.writer.name()
    e.allocas.append(f"  {name} = alloca {LLVM_TYPES[kind]}")
    _put(e, kind, name, constant(0.0, kind))
    return name


def _put(e: Emission, kind: str, total: str, value: Number) -> None:
    e.writer.line(f"store {LLVM_TYPES[kind]} {value.name}, ptr {total}")


def _add_product(e: Emission, kind: str, one: Number, other: Number, total: str) -> None:
    """Adds a product to a sum, rounded once where the processor does that at once."""
    so_far = e.writer.op(f"load {LLVM_TYPES[kind]}, ptr {total}")
    args = [(LLVM_TYPES[kind], name) for name in (one.name, other.name, so_far)]
    _put(e, kind, total, Number(kind, e.writer.call(f"llvm.fmuladd.v{width_of(kind)}f64", LLVM_TYPES[kind], args)))


def _bundles_of(e: Emission, kind: str, total: str, size: int) -> list[Number]:
    """The single bundles of two side by side."""
    found = e.writer.op(f"load {LLVM_TYPES[kind]}, ptr {total}")
    pairs = LLVM_TYPES[kind]
    parts = []
    for first in range(0, width_of(kind), size):
        places = ", ".join(f"i32 {first + place}" for place in range(size))
        name = e.writer.op(f"shufflevector {pairs} {found}, {pairs} poison, <{size} x i32> <{places}>")
        parts.append(Number(bundle_of("f8", size), name))
    return parts


# What helpers are made of


@rule(instructions.room_of)
def _room_of(e: Emission, x: Value, rows: Value, columns: Value) -> Array:
    return arrays.new(e, arrays.array(x).kind.element, [e.extent(rows), e.extent(columns)], checked=False)


@rule(instructions.is_zero)
def _is_zero(e: Emission, x: Value) -> Number:
    given = numbers.number(x)
    width = width_of(given.kind)
    equal = numbers.compare(e, "eq", given, constant(0.0, given.kind))
    if not width:
        return equal
    bits = e.writer.op(f"bitcast {equal.type} {equal.name} to i{width}")
    return Number("b1", e.writer.op(f"icmp eq i{width} {bits}, -1"))


@rule(instructions.tile)
def _tile(
    e: Emission, rows: Value, columns: Value, a: Value, i: Value, b: Value, j: Value,
    places: Value, start: Value, stop: Value, out: Value,
) -> None:  # fmt: skip
    factors, given, chosen, target = map(arrays.array, (a, b, places, out))
    kind, writer = given.kind.element, e.writer
    first_row, first_column, begin, end = map(e.extent, (i, j, start, stop))
    lines = [writer.add(first_row, str(row)) for row in range(width_told(rows))]
    fields = [writer.add(first_column, str(column)) for column in range(width_told(columns))]
    sums = [(line, field, _sum(e, kind)) for line in lines for field in fields]
    adding, begun = writer.new_label("more"), writer.new_label("begun")
    writer.branch(writer.compare("sgt", begin, "0"), adding, begun)
    writer.start(adding)
    for line, field, total in sums:
        _put(e, kind, total, arrays.read(e, kind, arrays.address(e, target, [line, field])))
    writer.jump(begun)
    writer.start(begun)

    def one(index: str) -> None:
        place = arrays.read(e, "i8", arrays.address(e, chosen, [writer.add(begin, index)])).name
        loaded = {field: arrays.read(e, kind, arrays.address(e, given, [place, field])) for field in fields}
        for at, line in enumerate(lines):
            number = arrays.read(e, "f8", arrays.address(e, factors, [line, place]))
            everywhere = as_kind(writer, number, kind)
            for _, field, total in sums[at * len(fields) : (at + 1) * len(fields)]:
                _add_product(e, kind, everywhere, loaded[field], total)

    e.each(writer.sub(end, begin), one)
    for line, field, total in sums:
        found = writer.op(f"load {LLVM_TYPES[kind]}, ptr {total}")
        arrays.write(e, kind, arrays.address(e, target, [line, field]), Number(kind, found))


@rule(sparse.lets_zeros_be_skipped)
def _lets_zeros_be_skipped(e: Emission, factor: Value) -> Number:
    """Whether a factor is large, and all finite."""
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
