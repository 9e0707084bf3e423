"""What derivatives of linear algebra are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.arrays import prod_others


def transposed(a: Any) -> Any:
    """The last two axes exchanged."""
    return np.swapaxes(a, -1, -2)


def as_columns(x: Any, b: Any) -> Any:
    """The solution of ``np.linalg.solve(a, b)`` as a matrix of columns."""
    return x[..., None] if np.ndim(b) == 1 else x


def from_columns(x: Any, b: Any) -> Any:
    """Undoes :func:`as_columns`."""
    return x[..., 0] if np.ndim(b) == 1 else x


def lower_half(m: Any) -> Any:
    """The lower triangle of a matrix, with half of its diagonal."""
    return np.tril(m) - 0.5 * m * np.eye(np.shape(m)[-1], dtype=m.dtype)


def mirror(m: Any) -> Any:
    """The symmetric part of a matrix."""
    return (m + np.swapaxes(m, -1, -2)) / 2


def skew(m: Any) -> Any:
    """The lower triangle of a matrix without its diagonal, less its transpose."""
    lower = np.tril(m, -1)
    return lower - np.swapaxes(lower, -1, -2)


def hollow(m: Any) -> Any:
    """A matrix with zeros on its diagonal."""
    return m * (1 - np.eye(np.shape(m)[-1], dtype=m.dtype))


def diagonal_matrix(d: Any) -> Any:
    """Diagonal matrices of the vectors along the last axis."""
    return d[..., None] * np.eye(np.shape(d)[-1], dtype=d.dtype)


def diagonal_of(m: Any) -> Any:
    """The diagonals of matrices, along the last axis."""
    return np.diagonal(m, 0, -2, -1).copy()


def differences(w: Any) -> Any:
    """The matrix of ``w[j] - w[i]``."""
    return w[..., None, :] - w[..., :, None]


def scaled_by(m: Any, factor: Any) -> Any:
    """Each matrix times its number."""
    return m * np.asarray(factor)[..., None, None]


def cofactors(a: Any) -> Any:
    """The derivative of the determinant, defined also where the matrix is singular."""
    u, s, vh = np.linalg.svd(a)
    orientation = np.linalg.det(u) * np.linalg.det(vh)
    return scaled_by((u * prod_others(s, -1)[..., None, :]) @ vh, orientation)
