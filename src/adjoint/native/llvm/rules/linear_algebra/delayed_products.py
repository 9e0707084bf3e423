"""Delayed updates of matrices: helpers, and the instructions that these are made of."""

from __future__ import annotations

from adjoint.native.helpers import delayed_products, instructions
from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.linear_algebra.products import LibraryCall, routine
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Number, Tuple, Unsupported, Value, size_of
from adjoint.native.llvm.writer import constant, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import delayed

for _name in (
    *("room_for_outer", "room_for_lines", "add_outer", "add_rows", "add_delayed"),
    *("add_line", "add_delayed_lines"),
):
    helper(getattr(delayed_products, _name), getattr(delayed, _name))


@rule(instructions.item_size)
def _item_size(e: Emission, x: Value) -> Number:
    return constant(size_of(arrays.array(x).kind.element))


@rule(instructions.stride)
def _stride(e: Emission, x: Value, axis: Value) -> Number:
    return whole(arrays.array(x).strides[int(numbers.number(axis).name)])


@rule(instructions.bytes_between)
def _bytes_between(e: Emission, whole_: Value, part: Value) -> Number:
    first, last = (e.writer.op(f"ptrtoint ptr {arrays.array(x).data} to i64") for x in (whole_, part))
    return whole(e.writer.op(f"sub i64 {last}, {first}"))


@rule(instructions.add_product)
def _add_product(
    e: Emission, turns: Value, sizes: Value, a: Value, at_a: Value, apart_a: Value,
    b: Value, at_b: Value, apart_b: Value, keeps: Value, out: Value, at_out: Value, apart_out: Value,
) -> None:  # fmt: skip
    if not isinstance(turns, Tuple) or not isinstance(sizes, Tuple):
        raise Unsupported("products of unknown sizes")
    one, other, target = arrays.array(a), arrays.array(b), arrays.writable(out)
    kind = target.kind.element
    if {one.kind.element, other.kind.element} != {kind}:
        raise Unsupported("products of several kinds of numbers")

    def from_place(x: Array, place: Value) -> str:
        return e.writer.place(x.data, e.writer.mul(e.extent(place), str(size_of(kind))))

    call = LibraryCall(e)
    for turned in turns.items:
        call.letter(numbers.number(turned).name, "N", "T")
    call.whole(*map(e.extent, sizes.items)).number(kind, 1.0)
    call.array(from_place(one, at_a)).whole(e.extent(apart_a)).array(from_place(other, at_b)).whole(e.extent(apart_b))
    call.value(kind, numbers.number(keeps)).array(from_place(target, at_out)).whole(e.extent(apart_out))
    call.run(routine(kind, "gemm"))
