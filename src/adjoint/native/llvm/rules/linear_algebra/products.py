"""Products of matrices and vectors, by BLAS: operands that lie by rows or by columns are taken as they are."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from adjoint.native.llvm.rules import arrays, checks
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    Array,
    Complex,
    Number,
    Unsupported,
    Value,
    is_complex,
    part_of,
    size_of,
)
from adjoint.native.llvm.writer import constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import dataclass

_MISMATCH = "matmul: operands have a mismatch in their core dimensions"


@dataclass(frozen=True, slots=True)
class BlasMatrix:
    """A matrix as BLAS takes it: by rows where ``turned`` is false (an ``i1``), else by columns."""

    data: str
    rows: str
    columns: str
    leading: str
    turned: str


def for_blas(e: Emission, x: Array) -> BlasMatrix:
    """A matrix by rows or by columns: as it lies where it lies so, else a copy."""
    writer = e.writer
    rows, columns = x.shape
    if x.kind.by_rows:
        return BlasMatrix(x.data, rows, columns, writer.most(columns, "1"), "false")
    size = size_of(x.kind.element)
    down, along = x.strides
    by_rows = checks.both_words(
        e, writer.compare("eq", along, str(size)), writer.compare("sge", down, writer.mul(columns, str(size)))
    )
    by_columns = checks.both_words(
        e, writer.compare("eq", down, str(size)), writer.compare("sge", along, writer.mul(rows, str(size)))
    )
    given = checks.either_word(e, by_rows, by_columns)
    data, is_copy = _or_copy(e, x, given)
    pitch = writer.op(f"sdiv i64 {writer.select(by_rows, 'i64', down, along)}, {size}")
    turned = checks.both_words(e, given, writer.op(f"xor i1 {by_rows}, true"))
    narrow = writer.select(turned, "i64", rows, columns)
    leading = writer.most(writer.select(is_copy, "i64", columns, pitch), writer.most(narrow, "1"))
    return BlasMatrix(data, rows, columns, leading, turned)


def _or_copy(e: Emission, x: Array, given: str) -> tuple[str, str]:
    """The elements of an array as they are where a condition holds, else of a copy; whether it is one."""
    writer = e.writer
    copying, going_on = writer.new_label("copy"), writer.new_label("given")
    before = writer.label
    writer.branch(given, going_on, copying)
    writer.start(copying)
    made = arrays.copied(e, x)
    if made.owner is not None:
        e.disown(made.owner)
    after = writer.label
    writer.jump(going_on)
    writer.start(going_on)
    data = writer.phi("ptr", [(x.data, before), (made.data, after)])
    block = writer.phi("ptr", [("getelementptr (i8, ptr @nothing, i64 64)", before), (made.base, after)])
    is_copy = writer.phi("i1", [("false", before), ("true", after)])
    e.owning(block)
    return data, is_copy


def _vector(e: Emission, x: Array) -> tuple[str, str, str]:
    """The elements of a vector, how many, and how far apart they are."""
    (count,) = x.shape
    if x.kind.by_rows:
        return x.data, count, "1"
    size = size_of(x.kind.element)
    (stride,) = x.strides
    data, is_copy = _or_copy(e, x, e.writer.compare("sge", stride, str(size)))
    steps = e.writer.op(f"sdiv i64 {stride}, {size}")
    return data, count, e.writer.select(is_copy, "i64", "1", steps)


class LibraryCall:
    """A call of a function of BLAS or LAPACK: everything is handed by address, whole numbers have 32 bits."""

    def __init__(self, e: Emission) -> None:
        self.e = e
        self.args: list[str] = []

    def whole(self, *values: str) -> LibraryCall:
        for value in values:
            slot = self.e.slots(1)
            given = self.e.writer.op(f"trunc i64 {value} to i32") if not value.isdigit() else value
            self.e.writer.line(f"store i32 {given}, ptr {slot}")
            self.args.append(slot)
        return self

    def letter(self, turned: str, plain_letter: str, turned_letter: str) -> LibraryCall:
        slot = self.e.slots(1)
        given = self.e.writer.select(turned, "i8", str(ord(turned_letter)), str(ord(plain_letter)))
        self.e.writer.line(f"store i8 {given}, ptr {slot}")
        self.args.append(slot)
        return self

    def number(self, kind: str, value: float) -> LibraryCall:
        return self.value(kind, constant(value, part_of(kind)))

    def value(self, kind: str, value: Number) -> LibraryCall:
        slot = self.e.slots(2 if is_complex(kind) else 1)
        arrays.write(self.e, kind, slot, value)
        self.args.append(slot)
        return self

    def array(self, data: str) -> LibraryCall:
        self.args.append(data)
        return self

    def status(self) -> str:
        """Room for what the function says of itself; where that is."""
        slot = self.e.slots(1)
        self.args.append(slot)
        return slot

    def run(self, name: str, result: str = "void") -> str:
        self.e.program.symbols.add(name)
        return self.e.writer.call(name, result, [("ptr", arg) for arg in self.args])


_TYPES = {"f8": "double", "f4": "float"}
_LETTERS = {"f8": "d", "f4": "s", "c8": "z", "c4": "c"}


def routine(kind: str, name: str) -> str:
    """A function of BLAS for numbers of a kind."""
    if kind not in _LETTERS:
        raise Unsupported("products of these numbers")
    return f"blas_{_LETTERS[kind]}{name}"


@rule(operator.matmul, np.matmul, np.dot)
def product(e: Emission, a: Value, b: Value) -> Value:
    """``a @ b``."""
    if not isinstance(a, Array) or not isinstance(b, Array):
        raise Unsupported("products of what is no array")
    kind = a.kind.element
    if kind != b.kind.element or kind not in _LETTERS:
        raise Unsupported("products of these numbers")
    ranks = a.kind.rank, b.kind.rank
    if ranks[0] > 2 and ranks[1] in (1, 2) and a.kind.by_rows:
        return _stacked(e, a, b)
    forms: dict[tuple[int, int], Callable[..., Value]] = {
        (1, 1): _inner,
        (2, 1): _matrix_vector,
        (1, 2): lambda e, x, y: _matrix_vector(e, arrays.transposed(y), x),
        (2, 2): _matrices,
    }
    if ranks not in forms:
        raise Unsupported("products of arrays of these ranks")
    return forms[ranks](e, a, b)


def _contracts(e: Emission, one: str, other: str) -> None:
    if one != other:
        e.check(e.writer.compare("ne", one, other), ValueError, _MISMATCH)


def _inner(e: Emission, a: Array, b: Array) -> Number | Complex:
    _contracts(e, a.shape[0], b.shape[0])
    kind = a.kind.element
    first, count, step = _vector(e, a)
    second, _, other_step = _vector(e, b)
    if is_complex(kind):
        return _as_row(e, kind, (first, count, step), (second, other_step))
    call = LibraryCall(e).whole(count).array(first).whole(step).array(second).whole(other_step)
    return Number(kind, call.run(routine(kind, "dot"), _TYPES[kind]))


def _as_row(e: Emission, kind: str, row: tuple[str, str, str], column: tuple[str, str]) -> Number | Complex:
    """A matrix of one row by a vector: compilers differ in how functions of BLAS hand complex numbers back."""
    (data, count, step), out = row, e.slots(2)
    arrays.write(e, kind, out, constant(0.0, part_of(kind)))  # BLAS leaves it where nothing is summed
    call = LibraryCall(e).letter("false", "N", "N").whole("1", count).number(kind, 1.0).array(data).whole(step)
    call.array(column[0]).whole(column[1]).number(kind, 0.0).array(out).whole("1").run(routine(kind, "gemv"))
    return arrays.item(e, kind, out)


def _matrix_vector(e: Emission, a: Array, x: Array) -> Array:
    _contracts(e, a.shape[1], x.shape[0])
    kind = a.kind.element
    matrix = for_blas(e, a)
    data, _, step = _vector(e, x)
    out = arrays.new(e, kind, (matrix.rows,), zero=True, checked=False)
    first = e.writer.select(matrix.turned, "i64", matrix.rows, matrix.columns)
    second = e.writer.select(matrix.turned, "i64", matrix.columns, matrix.rows)
    call = LibraryCall(e).letter(matrix.turned, "T", "N").whole(first, second).number(kind, 1.0)
    call.array(matrix.data).whole(matrix.leading).array(data).whole(step).number(kind, 0.0)
    call.array(out.data).whole("1").run(routine(kind, "gemv"))
    return out


def _matrices(e: Emission, a: Array, b: Array) -> Array:
    _contracts(e, a.shape[1], b.shape[0])
    kind = a.kind.element
    one, other = for_blas(e, a), for_blas(e, b)
    out = arrays.new(e, kind, (one.rows, other.columns), checked=False)
    call = LibraryCall(e).letter(other.turned, "N", "T").letter(one.turned, "N", "T")
    call.whole(other.columns, one.rows, one.columns).number(kind, 1.0)
    call.array(other.data).whole(other.leading).array(one.data).whole(one.leading).number(kind, 0.0)
    call.array(out.data).whole(e.writer.most(other.columns, "1")).run(routine(kind, "gemm"))
    return out


def _stacked(e: Emission, a: Array, b: Array) -> Value:
    """Many matrices by one: those lie one below the other."""
    rows = "1"
    for extent in a.shape[:-1]:
        rows = e.writer.mul(rows, extent)
    flat = arrays.seen_as(e, a, (rows, a.shape[-1]))
    found = product(e, flat, b)
    assert isinstance(found, Array)
    return arrays.seen_as(e, found, (*a.shape[:-1], *found.shape[1:]))
