"""What derivatives of linear algebra are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import prod_others

_WELL_CONDITIONED = 1e6
"""Matrices of a larger condition are looked at by their singular values: inverses have lost these digits."""


def transposed(a: Any) -> Any:
    """The last two axes exchanged."""
    return np.swapaxes(a, -1, -2)


def conjugated(a: Any) -> Any:
    """The complex conjugate; a real array itself."""
    return np.conjugate(a) if a.dtype.kind == "c" else a


def hermitian(a: Any) -> Any:
    """The conjugate of the transpose."""
    return conjugated(np.swapaxes(a, -1, -2))


def as_columns(x: Any, b: Any) -> Any:
    """The solution of ``np.linalg.solve(a, b)`` as a matrix of columns."""
    return x[..., None] if np.ndim(b) == 1 else x


def from_columns(x: Any, b: Any) -> Any:
    """Undoes :func:`as_columns`."""
    return x[..., 0] if np.ndim(b) == 1 else x


def lower_half(m: Any) -> Any:
    """The lower triangle of a matrix, with half of its diagonal."""
    half = np.tril(m)
    _diagonal(half)[...] *= 0.5
    return half


def completed(m: Any, lower: bool = True) -> Any:
    """The Hermitian matrix of which one triangle is given; what stands in the other does not count."""
    half = np.tril(m, -1) if lower else np.triu(m, 1)
    whole = half + hermitian(half)
    _diagonal(whole)[...] = diagonal_of(m).real
    return whole


def folded(ct: Any, lower: bool = True) -> Any:
    """The transpose of :func:`completed`: all that belongs to one triangle."""
    whole = ct + hermitian(ct)
    half = np.tril(whole) if lower else np.triu(whole)
    _diagonal(half)[...] = diagonal_of(ct).real
    return half


def _diagonal(a: Any) -> Any:
    """The diagonal of a matrix as a view that can be written."""
    return np.einsum("...ii->...i", a)


def skew(m: Any) -> Any:
    """The skew matrix with the same lower triangle; a complex one has the imaginary part of the diagonal, too."""
    lower = np.tril(m, -1)
    return lower - hermitian(lower) + _turning(m)


def unskew(ct: Any) -> Any:
    """The transpose of :func:`skew`."""
    return np.tril(ct - hermitian(ct), -1) + _turning(ct)


def _turning(m: Any) -> Any:
    """The imaginary part of the diagonal; zero for a real matrix."""
    return 1j * diagonal_matrix(diagonal_of(m).imag) if m.dtype.kind == "c" else 0.0


def hollow(m: Any) -> Any:
    """A matrix with zeros on its diagonal."""
    return np.where(np.eye(np.shape(m)[-1], dtype=bool), 0, m)


def diagonal_matrix(d: Any) -> Any:
    """Diagonal matrices of the vectors along the last axis."""
    return d[..., None] * np.eye(np.shape(d)[-1], dtype=d.dtype)


def diagonal_of(m: Any) -> Any:
    """The diagonals of matrices, along the last axis."""
    return np.diagonal(m, 0, -2, -1).copy()


def differences(w: Any) -> Any:
    """The matrix of ``w[j] - w[i]``."""
    return w[..., None, :] - w[..., :, None]


def gaps(w: Any) -> Any:
    """:func:`differences`, with ones on the diagonal."""
    return differences(w) + np.eye(np.shape(w)[-1], dtype=w.dtype)


def occupied(m: Any) -> Any:
    """Which columns of a matrix have an element that is not zero."""
    return np.any(m != 0, axis=-2)


def distinct(w: Any, asked: Any = None) -> Any:
    """Not a number where two real values are equal to the rounding of a decomposition, one elsewhere.

    Where it says of which values the vectors are asked for: one also for pairs of which neither is.
    """
    rounding = np.max(np.abs(w), axis=-1, initial=0.0) * (np.shape(w)[-1] * np.finfo(w.dtype).eps)
    apart = (np.abs(differences(w)) > rounding[..., None, None]) | np.eye(np.shape(w)[-1], dtype=bool)
    if asked is not None:
        apart = apart | ~(asked[..., None, :] | asked[..., :, None])
    return np.where(apart, 1.0, np.nan).astype(w.dtype)


def without_phase(m: Any) -> Any:
    """:func:`hollow`; not a number where the imaginary part of a column's diagonal element is not to be neglected.

    The cotangents of eigenvectors, seen from the eigenvectors, have such a part if a result depends on their phases.
    """
    if m.dtype.kind != "c":
        return hollow(m)
    turning = np.abs(diagonal_of(m).imag) > np.sqrt(np.finfo(m.dtype).eps) * np.linalg.norm(m, axis=-2)
    return hollow(m) + np.where(turning, np.nan, 0.0).astype(m.real.dtype)[..., None, :]


def pivots(v: Any) -> Any:
    """One in the place of the largest element of each column, zero elsewhere."""
    size = np.abs(v)
    return (np.arange(np.shape(v)[-2])[:, None] == np.argmax(size, axis=-2)[..., None, :]).astype(size.dtype)


def widened(x: Any, like: Any) -> Any:
    """``x`` with as many columns as ``like`` has; those that are new are not numbers."""
    missing = np.shape(like)[-1] - np.shape(x)[-1]
    return np.concatenate([x, np.full((*np.shape(x)[:-1], missing), np.nan, x.dtype)], axis=-1) if missing else x


def narrowed(ct: Any, x: Any) -> Any:
    """``ct`` with as many columns as ``x`` has; not a number if one of those that are dropped is not zero."""
    kept = np.shape(x)[-1]
    return ct[..., :kept] + (np.nan if np.any(ct[..., kept:]) else 0.0)


def scaled_by(m: Any, factor: Any) -> Any:
    """Each matrix times its number."""
    return m * np.asarray(factor)[..., None, None]


def cofactors(a: Any) -> Any:
    """The derivative of the determinant, defined also where the matrix is singular."""
    size = np.linalg.det(a)
    if np.all((size != 0) & np.isfinite(size)):
        inverse = np.linalg.inv(a)
        if np.all(condition(a, inverse) < _WELL_CONDITIONED):
            return scaled_by(transposed(inverse), size)
    u, s, vh = np.linalg.svd(a)
    orientation = np.linalg.det(u) * np.linalg.det(vh)
    return scaled_by((conjugated(u) * prod_others(s, -1)[..., None, :]) @ conjugated(vh), orientation)


def cofactors_along(a: Any, direction: Any) -> Any:
    """The derivative of :func:`cofactors` along a direction, defined also where the matrix is singular."""
    size = np.linalg.det(a)
    if np.all((size != 0) & np.isfinite(size)):
        inverse = np.linalg.inv(a)
        if np.all(condition(a, inverse) < _WELL_CONDITIONED):
            turned = inverse @ direction
            trace = np.sum(diagonal_of(turned), axis=-1)
            return scaled_by(transposed(inverse), size * trace) - scaled_by(transposed(turned @ inverse), size)
    u, s, vh = np.linalg.svd(a)
    orientation = np.linalg.det(u) * np.linalg.det(vh)
    eye = np.eye(np.shape(s)[-1], dtype=s.dtype)
    others = prod_others(s[..., None, :] * (1 - eye) + eye, -1) * (1 - eye)  # the products without two of them
    seen = hermitian(u) @ direction @ hermitian(vh)
    diagonal = np.matmul(others, diagonal_of(seen)[..., None])[..., 0]
    moved = diagonal_matrix(diagonal) - others * transposed(seen)
    return scaled_by(conjugated(u) @ moved @ conjugated(vh), orientation)


def condition(a: Any, inverse: Any) -> Any:
    """How much larger relative errors of the inverse are than those of a matrix, at most: by sums of columns."""
    sizes = [np.max(np.sum(np.abs(each), axis=-2), axis=-1, initial=0.0) for each in (a, inverse)]
    return sizes[0] * sizes[1]


def least_squares(a: Any, b: Any, rcond: float | None = None) -> Any:
    """The solution that ``np.linalg.lstsq`` finds."""
    return np.linalg.lstsq(a, b, rcond)[0]


def least_squares_rank(a: Any, b: Any, rcond: float | None = None) -> int:
    """The rank that ``np.linalg.lstsq`` finds."""
    return int(np.linalg.lstsq(a, b, rcond)[2])


def solving(a: Any, rcond: float | None = None) -> Any:
    """The pseudo-inverse; not a number where the rank is not full, because it jumps there."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    cut = (np.finfo(s.dtype).eps * max(np.shape(a)) if rcond is None else rcond) * np.max(s, initial=0.0)
    if np.any(s <= cut):
        return np.full_like(np.swapaxes(a, -1, -2), np.nan)
    return hermitian(u / s @ vh)


def power_norm(x: Any, ord: float, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors of an order that is neither 0 nor infinite."""
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def change_of_basis(convert: Any, n: int) -> Any:
    """The matrix of a linear map of ``n`` coefficients, by what it makes of each alone.

    >>> change_of_basis(np.polynomial.chebyshev.cheb2poly, 3).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """
    matrix = np.zeros((n, n))
    for place, single in enumerate(np.eye(n)):
        column = convert(single)
        matrix[: len(column), place] = column
    return matrix


def as_given(a: Any) -> Any:
    """The array itself, through which no derivative goes."""
    return a


def with_further_columns(q: Any, a: Any) -> Any:
    """The orthogonal factor of ``a`` with the columns beyond those of ``a``, which turn freely as ``a`` varies."""
    return np.concatenate([q, np.linalg.qr(a, mode="complete")[0][..., np.shape(q)[-1] :]], axis=-1)


def within_columns(ct: Any, q: Any) -> Any:
    """The cotangent of the columns of ``q``, where nothing depends on those beyond them."""
    extent = np.shape(q)[-1]
    if np.any(ct[..., extent:]):
        label = "columns of 'q' beyond those of the matrix have no derivative"
        raise np.linalg.LinAlgError(f"{label}: mode='reduced', which SciPy calls 'economic'")
    return ct[..., :extent]
