"""Systems of linear equations, factors, inverses and determinants of one matrix, by LAPACK and BLAS.

What LAPACK calls a matrix is the transpose of ours. A matrix that turns out to be triangular is substituted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.arithmetic import complexes
from adjoint.native.llvm.rules.array_functions import elementwise
from adjoint.native.llvm.rules.linear_algebra.products import BlasMatrix, LibraryCall, for_blas
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, ArrayKind, Number, Unsupported, Value, is_complex, size_of
from adjoint.native.llvm.writer import constant, truth, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import linalg
from adjoint.runtime.array_functions.triangular import solve_triangular

TRIANGLE = """define internal i64 @triangle(ptr %data, i64 %n, i64 %pitch) {
entry:
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %next_i, %row_done ]
  %upper_i = phi i1 [ true, %entry ], [ %upper, %row_done ]
  %lower_i = phi i1 [ true, %entry ], [ %lower, %row_done ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %diagonal, label %found
diagonal:
  %row_offset = mul i64 %i, %pitch
  %place = add i64 %row_offset, %i
  %at = getelementptr double, ptr %data, i64 %place
  %entry_value = load double, ptr %at
  %singular = fcmp oeq double %entry_value, 0.0
  br i1 %singular, label %full, label %column
column:
  %j = phi i64 [ 0, %diagonal ], [ %next_j, %both ]
  %upper = phi i1 [ %upper_i, %diagonal ], [ %still_upper, %both ]
  %lower = phi i1 [ %lower_i, %diagonal ], [ %still_lower, %both ]
  %more_j = icmp slt i64 %j, %i
  br i1 %more_j, label %compare, label %row_done
compare:
  %below_place = add i64 %row_offset, %j
  %below_at = getelementptr double, ptr %data, i64 %below_place
  %below = load double, ptr %below_at
  %above_offset = mul i64 %j, %pitch
  %above_place = add i64 %above_offset, %i
  %above_at = getelementptr double, ptr %data, i64 %above_place
  %above = load double, ptr %above_at
  %no_below = fcmp oeq double %below, 0.0
  %no_above = fcmp oeq double %above, 0.0
  %still_upper = and i1 %upper, %no_below
  %still_lower = and i1 %lower, %no_above
  %one = or i1 %still_upper, %still_lower
  br i1 %one, label %both, label %full
both:
  %next_j = add i64 %j, 1
  br label %column
row_done:
  %next_i = add i64 %i, 1
  br label %row
found:
  %side = select i1 %upper_i, i64 2, i64 1
  ret i64 %side
full:
  ret i64 0
}"""
"""On which side of its diagonal a matrix has all that is not zero: 1 below, 2 above; 0 for both, or if singular."""


def matrix_of(value: Value) -> Array:
    """A matrix of doubles."""
    x = arrays.array(value)
    if x.kind.rank != 2 or x.kind.element != "f8":
        raise Unsupported("linear algebra of other numbers, or stacks of matrices")
    return x


def check_square(e: Emission, a: Array) -> None:
    """Raises unless a matrix has as many rows as columns."""
    rows, columns = a.shape
    if rows != columns:
        said = "Last 2 dimensions of the array must be square"
        e.check(e.writer.compare("ne", rows, columns), np.linalg.LinAlgError, said)


def refuse_failure(e: Emission, info: str, said: str) -> None:
    """Raises where LAPACK says that it has failed."""
    status = e.writer.op(f"load i32, ptr {info}")
    e.check(e.writer.op(f"icmp ne i32 {status}, 0"), np.linalg.LinAlgError, said)


def transposed_copy(e: Emission, x: Array) -> Array:
    """The columns of a matrix one behind the other."""
    return arrays.copied(e, arrays.transposed(x))


def chosen(e: Emission, condition: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Does one of two things."""
    writer = e.writer
    first, second, end = (writer.new_label(hint) for hint in ("then", "else", "end"))
    writer.branch(condition, first, second)
    for label, body in ((first, then), (second, otherwise)):
        writer.start(label)
        e.inside(body)
        writer.jump(end)
    writer.start(end)


@rule(np.linalg.solve)
def _solution(e: Emission, a: Value, b: Value) -> Array:
    matrix, right = matrix_of(a), arrays.array(b)
    if right.kind.rank not in (1, 2) or right.kind.element != "f8":
        raise Unsupported("linear systems of other numbers")
    check_square(e, matrix)
    n = matrix.shape[0]
    said = "solve: Input operand 1 has a mismatch in its core dimension 0"
    e.check(e.writer.compare("ne", right.shape[0], n), ValueError, said)
    lying = for_blas(e, matrix)
    out = arrays.copied(e, right)
    count = "1" if right.kind.rank == 1 else right.shape[1]
    e.writer.module.functions.setdefault("triangle", TRIANGLE)
    side = e.writer.op(f"call i64 @triangle(ptr {lying.data}, i64 {n}, i64 {lying.leading})")
    empty = checks.either_word(e, e.writer.compare("eq", n, "0"), e.writer.compare("eq", count, "0"))
    chosen(
        e,
        empty,
        lambda: None,
        lambda: chosen(
            e,
            e.writer.compare("eq", side, "0"),
            lambda: _solve_full(e, matrix, out, count),
            lambda: _substitute(e, lying, out, count, e.writer.compare("eq", side, "2")),
        ),
    )
    return out


@rule(solve_triangular)
def _solution_by_substitution(e: Emission, a: Value, b: Value, lower: Value) -> Array:
    del lower  # it is looked at which triangle is empty
    return _solution(e, a, b)


def _solve_full(e: Emission, matrix: Array, out: Array, count: str) -> None:
    n = matrix.shape[0]
    factor = transposed_copy(e, matrix)
    pivots = arrays.new(e, "i4", (n,), checked=False)
    turned = out if out.kind.rank == 1 else transposed_copy(e, out)
    call = LibraryCall(e).whole(n, count).array(factor.data).whole(n).array(pivots.data).array(turned.data).whole(n)
    info = call.status()
    call.run("lapack_dgesv")
    refuse_failure(e, info, "Singular matrix")
    if turned is not out:
        arrays.assign(e, out, arrays.transposed(turned))


def _substitute(e: Emission, matrix: BlasMatrix, out: Array, count: str, is_upper: str) -> None:
    """What lies above the diagonal by rows lies below it by columns; ``is_upper`` is told of what lies there."""
    n = matrix.rows
    if out.kind.rank == 1:
        call = LibraryCall(e).letter(is_upper, "U", "L").letter(matrix.turned, "T", "N").letter("false", "N", "U")
        call.whole(n).array(matrix.data).whole(matrix.leading).array(out.data).whole("1").run("blas_dtrsv")
        return
    call = LibraryCall(e).letter("false", "R", "L").letter(is_upper, "U", "L").letter(matrix.turned, "N", "T")
    call.letter("false", "N", "U").whole(count, n).number("f8", 1.0).array(matrix.data).whole(matrix.leading)
    call.array(out.data).whole(count).run("blas_dtrsm")


@rule(np.linalg.cholesky)
def _cholesky(e: Emission, a: Value) -> Array:
    matrix = matrix_of(a)
    check_square(e, matrix)
    n = matrix.shape[0]
    out = arrays.copied(e, matrix)

    def factorise() -> None:
        call = LibraryCall(e).letter("false", "U", "L").whole(n).array(out.data).whole(n)
        info = call.status()
        call.run("lapack_dpotrf")
        refuse_failure(e, info, "Matrix is not positive definite")

    chosen(e, e.writer.compare("eq", n, "0"), lambda: None, factorise)

    def clear(i: str) -> None:
        first = e.writer.add(i, "1")

        def one(k: str) -> None:
            at = arrays.address(e, out, [i, e.writer.add(first, k)])
            e.writer.line(f"store double 0.0, ptr {at}")

        e.each(e.writer.sub(n, first), one)

    e.each(n, clear)
    return out


@rule(np.linalg.inv)
def _inverse(e: Emission, a: Value) -> Array:
    matrix = matrix_of(a)
    check_square(e, matrix)
    n = matrix.shape[0]
    out = arrays.copied(e, matrix)

    def invert() -> None:
        pivots = arrays.new(e, "i4", (n,), checked=False)
        refuse_failure(e, factorise_in_place(e, out, pivots), "Singular matrix")
        invert_factors(e, out, pivots)

    chosen(e, e.writer.compare("eq", n, "0"), lambda: None, invert)
    return out


def invert_factors(e: Emission, factors: Array, pivots: Array) -> None:
    """Puts the inverse in the place of the factors of a matrix."""
    n = factors.shape[0]
    work = arrays.new(e, "f8", (e.writer.mul(n, "64"),), checked=False)
    call = LibraryCall(e).whole(n).array(factors.data).whole(n).array(pivots.data).array(work.data)
    info = call.whole(work.shape[0]).status()
    call.run("lapack_dgetri")
    refuse_failure(e, info, "Singular matrix")


def factorise_in_place(e: Emission, x: Array, pivots: Array) -> str:
    """Puts the factors of a matrix in its place; where it says whether it is singular."""
    n = x.shape[0]
    call = LibraryCall(e).whole(n, n).array(x.data).whole(n).array(pivots.data)
    info = call.status()
    call.run("lapack_dgetrf")
    return info


@rule(np.linalg.det)
def _determinant(e: Emission, a: Value) -> Number:
    matrix = matrix_of(a)
    check_square(e, matrix)
    n, writer = matrix.shape[0], e.writer
    factor = arrays.copied(e, matrix)
    pivots = arrays.new(e, "i4", (n,), zero=True, checked=False)
    slot = e.slots(1)
    writer.line(f"store double 1.0, ptr {slot}")

    def factorise() -> None:
        factorise_in_place(e, factor, pivots)

    chosen(e, writer.compare("eq", n, "0"), lambda: None, factorise)

    def one(k: str) -> None:
        pivot = arrays.read(e, "i4", arrays.address(e, pivots, [k]))
        wide = writer.op(f"sext i32 {pivot.name} to i64")
        moved = truth(writer.compare("ne", wide, writer.add(k, "1")))
        entry = arrays.read(e, "f8", arrays.address(e, factor, [k, k])).name
        turned = writer.select(moved.name, "double", writer.op(f"fneg double {entry}"), entry)
        total = writer.op(f"load double, ptr {slot}")
        writer.line(f"store double {writer.op(f'fmul double {total}, {turned}')}, ptr {slot}")

    e.each(n, one)
    return Number("f8", writer.op(f"load double, ptr {slot}"))


# What derivatives of these are made of


@rule(linalg.transposed, linalg.hermitian)
def _transposed(e: Emission, a: Value) -> Array:
    return arrays.transposed(matrix_of(a))


@rule(linalg.conjugated)
def _conjugated(e: Emission, a: Value) -> Array:
    given = arrays.array(a)
    if not is_complex(given.kind.element):
        return given
    return elementwise.mapped(e, lambda each: complexes.conjugate(e, each), given)


@rule(linalg.as_columns)
def _as_columns(e: Emission, x: Value, b: Value) -> Array:
    given = arrays.array(x)
    if arrays.array(b).kind.rank != 1:
        return given
    kind = ArrayKind(given.kind.element, given.kind.rank + 1, given.kind.by_rows, given.kind.read_only)
    shape = (*given.shape, "1")
    strides = (
        e.writer.strides_by_rows(kind.element, shape) if kind.by_rows else (*given.strides, str(size_of(kind.element)))
    )
    return Array(kind, given.base, given.data, shape, strides, given.owner)


@rule(linalg.from_columns)
def _from_columns(e: Emission, x: Value, b: Value) -> Array:
    given = matrix_of(x)
    if arrays.array(b).kind.rank != 1:
        return given
    kind = ArrayKind(given.kind.element, 1, False, given.kind.read_only)
    return Array(kind, given.base, given.data, given.shape[:1], given.strides[:1], given.owner)


@rule(linalg.lower_half)
def _lower_half(e: Emission, m: Value) -> Array:
    """What lies below the diagonal, and half of what lies on it."""
    given = matrix_of(m)
    out = arrays.new(e, "f8", given.shape, checked=False)

    def one(place: Sequence[str]) -> None:
        row, column = map(whole, place)
        entry = arrays.read(e, "f8", arrays.address(e, given, place))
        half = numbers.arithmetic(e, "fmul", entry, constant(0.5))
        above = numbers.choice(e, numbers.compare(e, "lt", row, column), constant(0.0), entry)
        found = numbers.choice(e, numbers.compare(e, "eq", row, column), half, above)
        arrays.write(e, "f8", arrays.address(e, out, place), found)

    arrays.nest(e, given.shape, one)
    return out


def _of_triangle(callee: Any, opposite: str) -> None:
    """A matrix of the entries on one side of the diagonal: ``mirrored`` to the other, or with those ``added``."""

    @rule(callee)
    def write(e: Emission, m: Value, lower: Value | None = None) -> Array:
        given = matrix_of(m)
        side = "true" if lower is None else numbers.number(lower).name
        if side not in ("true", "false"):
            raise Unsupported("a side that is known at run time only")
        out = arrays.new(e, "f8", given.shape, checked=False)
        order = "lt" if side == "true" else "gt"

        def one(place: Sequence[str]) -> None:
            row, column = map(whole, place)
            entry = arrays.read(e, "f8", arrays.address(e, given, place))
            other = arrays.read(e, "f8", arrays.address(e, given, place[::-1]))
            counts = numbers.compare(e, order, column, row)
            if opposite == "mirrored":
                found = numbers.choice(e, counts, entry, other)
            else:
                found = numbers.choice(e, counts, numbers.arithmetic(e, "fadd", entry, other), constant(0.0))
            found = numbers.choice(e, numbers.compare(e, "eq", row, column), entry, found)
            arrays.write(e, "f8", arrays.address(e, out, place), found)

        arrays.nest(e, given.shape, one)
        return out


_of_triangle(linalg.completed, "mirrored")
_of_triangle(linalg.folded, "added")
