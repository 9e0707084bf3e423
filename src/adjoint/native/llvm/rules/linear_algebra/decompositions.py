"""Eigenvalues and singular values of one matrix, by LAPACK, from and to matrices by columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.linear_algebra.products import LibraryCall
from adjoint.native.llvm.rules.linear_algebra.systems import (
    check_square,
    chosen,
    matrix_of,
    refuse_failure,
    transposed_copy,
)
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Known, Number, Tuple, Unsupported, Value
from adjoint.native.llvm.writer import as_kind, truth
from adjoint.native.llvm.writing.emission import Emission


def _unless_empty(e: Emission, extent: str, body: Callable[[], None]) -> None:
    chosen(e, e.writer.compare("eq", extent, "0"), lambda: None, body)


def _words(e: Emission, *terms: tuple[int, str]) -> str:
    """A sum of multiples of extents; none is too little for LAPACK."""
    total = "1"
    for factor, extent in terms:
        total = e.writer.add(total, e.writer.mul(str(factor), extent))
    return total


@rule(np.linalg.eigh)
def _eigh(e: Emission, a: Value, uplo: Value | None = None) -> Tuple:
    values, vectors = _symmetric(e, a, uplo, "V")
    return Tuple((values, transposed_copy(e, vectors)))


@rule(np.linalg.eigvalsh)
def _eigvalsh(e: Emission, a: Value, uplo: Value | None = None) -> Array:
    return _symmetric(e, a, uplo, "N")[0]


def _symmetric(e: Emission, a: Value, uplo: Value | None, job: str) -> tuple[Array, Array]:
    """The eigenvalues, and the vectors as rows."""
    side = "L" if uplo is None else uplo.value if isinstance(uplo, Known) else ""
    if side not in ("L", "U"):
        raise Unsupported("another triangle of a matrix")
    matrix = matrix_of(a)
    check_square(e, matrix)
    n = matrix.shape[0]
    vectors, values = transposed_copy(e, matrix), arrays.new(e, "f8", (n,), checked=False)

    def decompose() -> None:
        work = arrays.new(e, "f8", (_words(e, (34, n), (2, e.writer.mul(n, n))),), checked=False)
        places = arrays.new(e, "i4", (_words(e, (5, n), (2, "1")),), checked=False)
        call = LibraryCall(e).letter("false", job, job).letter("false", side, side).whole(n)
        call.array(vectors.data).whole(n).array(values.data)
        call.array(work.data).whole(work.shape[0]).array(places.data).whole(places.shape[0])
        info = call.status()
        call.run("lapack_dsyevd")
        refuse_failure(e, info, "Eigenvalues did not converge")

    _unless_empty(e, n, decompose)
    return values, vectors


@rule(np.linalg.svd)
def _singular_factors(e: Emission, a: Value, full_matrices: Value | None = None) -> Tuple:
    matrix = matrix_of(a)
    is_full = "true" if full_matrices is None else getattr(full_matrices, "name", "")
    if is_full not in ("true", "false") or (full_matrices is not None and not isinstance(full_matrices, Number)):
        raise Unsupported("factors of an extent at run time")
    rows, columns = matrix.shape
    least = e.writer.least(rows, columns)
    inner = (rows, columns) if is_full == "true" else (least, least)
    copy = transposed_copy(e, matrix)
    left = arrays.new(e, "f8", (inner[0], rows), checked=False)
    right = arrays.new(e, "f8", (columns, inner[1]), checked=False)
    values = arrays.new(e, "f8", (least,), checked=False)
    most = e.writer.most(rows, columns)
    work = arrays.new(e, "f8", (_words(e, (8, e.writer.mul(least, least)), (16, least), (66, most)),), checked=False)
    places = arrays.new(e, "i4", (_words(e, (8, least)),), checked=False)
    job = "A" if is_full == "true" else "S"
    call = LibraryCall(e).letter("false", job, job).whole(rows, columns).array(copy.data).whole(rows)
    call.array(values.data).array(left.data).whole(rows).array(right.data).whole(inner[1])
    call.array(work.data).whole(work.shape[0]).array(places.data)
    info = call.status()

    def factor() -> None:
        call.run("lapack_dgesdd")
        refuse_failure(e, info, "SVD did not converge")

    def of_nothing() -> None:  # unit matrices, which LAPACK does not write
        _put_unit_matrix(e, left)
        _put_unit_matrix(e, right)

    chosen(e, e.writer.compare("eq", least, "0"), of_nothing, factor)
    return Tuple((transposed_copy(e, left), values, transposed_copy(e, right)))


def _put_unit_matrix(e: Emission, matrix: Array) -> None:
    def put(index: list[str]) -> None:
        is_one = truth(e.writer.compare("eq", *index))
        arrays.write(e, "f8", arrays.address(e, matrix, index), as_kind(e.writer, is_one, "f8"))

    arrays.nest(e, matrix.shape, put)
