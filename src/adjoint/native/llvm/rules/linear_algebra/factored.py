"""Matrices that are factorised once: factors, and systems, inverses and determinants by them.

Where a triangle is empty, a matrix is its own factors, but for a scale: nothing is factorised.
"""

from __future__ import annotations

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.linear_algebra.products import LibraryCall, for_blas
from adjoint.native.llvm.rules.linear_algebra.systems import (
    TRIANGLE,
    check_square,
    chosen,
    factorise_in_place,
    invert_factors,
    matrix_of,
    refuse_failure,
    transposed_copy,
)
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Tuple, Unsupported, Value
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import lu


@rule(lu.lu_factors)
def _factors(e: Emission, a: Value) -> Tuple:
    matrix = matrix_of(a)
    writer = e.writer
    n = matrix.shape[0]
    lying = for_blas(e, matrix)
    factors, pivots = transposed_copy(e, matrix), arrays.new(e, "i8", (n,), checked=False)
    writer.module.functions.setdefault("triangle", TRIANGLE)
    is_empty = checks.either_word(e, writer.compare("ne", n, matrix.shape[1]), writer.compare("eq", n, "0"))

    def factorise() -> None:
        factorise_in_place(e, factors, pivots)

    def unscaled_below(j: str) -> None:
        """Rows of ``factors`` are columns of the matrix; what lies below the diagonal has ones on it then."""
        scale = arrays.read(e, "f8", arrays.address(e, factors, [j, j])).name
        first = writer.add(j, "1")

        def one(k: str) -> None:
            at = arrays.address(e, factors, [j, writer.add(first, k)])
            found = arrays.read(e, "f8", at).name
            writer.line(f"store double {writer.op(f'fdiv double {found}, {scale}')}, ptr {at}")

        e.each(writer.sub(n, first), one)

    def no_exchange(k: str) -> None:
        place = writer.op(f"trunc i64 {writer.add(k, '1')} to i32")
        writer.line(f"store i32 {place}, ptr {writer.op(f'getelementptr i32, ptr {pivots.data}, i64 {k}')}")

    def scale() -> None:
        e.each(n, unscaled_below)
        e.each(n, no_exchange)

    def work() -> None:
        side = writer.op(f"call i64 @triangle(ptr {lying.data}, i64 {n}, i64 {lying.leading})")
        chosen(e, writer.compare("eq", side, "0"), factorise, scale)

    chosen(e, is_empty, lambda: None, work)
    return Tuple((arrays.transposed(factors), pivots))


def _by_columns(e: Emission, factors: Value) -> Array:
    """Factors as LAPACK has them: the rows of what is given are the columns."""
    given = matrix_of(factors)
    check_square(e, given)
    return arrays.transposed(given)


def _refuse_singular(e: Emission, factors: Array) -> None:
    slot = e.slots(1)
    writer = e.writer
    writer.line(f"store i32 0, ptr {slot}")

    def one(k: str) -> None:
        pivot = arrays.read(e, "f8", arrays.address(e, factors, [k, k])).name
        found = writer.op(f"zext i1 {writer.op(f'fcmp oeq double {pivot}, 0.0')} to i32")
        seen = writer.op(f"load i32, ptr {slot}")
        writer.line(f"store i32 {writer.op(f'or i32 {seen}, {found}')}, ptr {slot}")

    e.each(factors.shape[0], one)
    refuse_failure(e, slot, "Singular matrix")


@rule(lu.solve_factored)
def _solution(e: Emission, factors: Value, pivots: Value, b: Value, turned: Value | None = None) -> Array:
    columns, right, exchanged = _by_columns(e, factors), arrays.array(b), arrays.array(pivots)
    is_turned = "false" if turned is None else numbers.number(turned).name
    if right.kind.rank not in (1, 2) or right.kind.element != "f8":
        raise Unsupported("linear systems of other numbers")
    n, writer = columns.shape[0], e.writer
    said = "solve: Input operand 1 has a mismatch in its core dimension 0"
    e.check(writer.compare("ne", right.shape[0], n), ValueError, said)
    _refuse_singular(e, columns)
    out = arrays.copied(e, right)
    count = "1" if right.kind.rank == 1 else right.shape[1]

    def solve() -> None:
        by_columns = out if out.kind.rank == 1 else transposed_copy(e, out)
        call = LibraryCall(e).letter(is_turned, "N", "T")
        call.whole(n, count).array(columns.data).whole(n).array(exchanged.data).array(by_columns.data).whole(n)
        call.status()
        call.run("lapack_dgetrs")
        if by_columns is not out:
            arrays.assign(e, out, arrays.transposed(by_columns))

    empty = checks.either_word(e, writer.compare("eq", n, "0"), writer.compare("eq", count, "0"))
    chosen(e, empty, lambda: None, solve)
    return out


@rule(lu.inverse_factored)
def _inverse(e: Emission, factors: Value, pivots: Value) -> Array:
    columns, exchanged = _by_columns(e, factors), arrays.array(pivots)
    n = columns.shape[0]
    _refuse_singular(e, columns)
    out = arrays.copied(e, columns)
    chosen(e, e.writer.compare("eq", n, "0"), lambda: None, lambda: invert_factors(e, out, exchanged))
    return arrays.copied(e, arrays.transposed(out))
