"""Frames of orthonormal vectors, and positive definite matrices."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adjoint.declarations.differentiable_types import differentiable

Matrix = NDArray[np.floating[Any]]


def orthonormal(nearly: Matrix) -> Matrix:
    """A matrix with orthonormal columns near one whose columns almost are: rounding errors are squared away."""
    return nearly @ (1.5 * np.eye(nearly.shape[1]) - 0.5 * (nearly.T @ nearly))


def exponential_of_skew(matrix: Matrix) -> Matrix:
    """The exponential of a skew-symmetric matrix: a rotation."""
    values, vectors = np.linalg.eigh(1j * matrix)
    return np.asarray(((vectors * np.exp(-1j * values)) @ vectors.conj().T).real)


def symmetric(matrix: Matrix) -> Matrix:
    """The symmetric part of a matrix."""
    return (matrix + matrix.T) / 2


@differentiable(frozen=True, eq=False)
class Stiefel:
    """A matrix with orthonormal columns; distances are those of the canonical metric.

    Attributes
    ----------
    matrix
        Has at least as many rows as columns; :meth:`spanning` makes one of any columns.
    """

    matrix: Matrix

    @classmethod
    def spanning(cls, columns: Matrix) -> Self:
        """Orthonormal columns that span what these do."""
        q, r = np.linalg.qr(columns)
        return cls(q * np.where(np.diag(r) < 0, -1.0, 1.0))

    def tangent_from(self, cotangent: Any) -> Any:
        """The gradient in the canonical metric."""
        gradient = cotangent.matrix
        tangent = gradient - self.matrix @ gradient.T @ self.matrix
        return type(self).TangentVector(matrix=tangent)  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The end of the geodesic that starts in a direction and is as long as it."""
        y, direction = self.matrix, along.matrix
        direction = direction - y @ symmetric(y.T @ direction)
        inside = y.T @ direction
        q, r = np.linalg.qr(direction - y @ inside)
        p = y.shape[1]
        turned = exponential_of_skew(np.block([[inside, -r.T], [r, np.zeros((p, p))]]))
        return type(self)(orthonormal(y @ turned[:p, :p] + q @ turned[p:, :p]))


@differentiable(frozen=True, eq=False)
class PositiveDefinite:
    """A symmetric positive definite matrix; distances do not depend on the choice of coordinates.

    Attributes
    ----------
    matrix
        Symmetric, with positive eigenvalues.
    """

    matrix: Matrix

    def tangent_from(self, cotangent: Any) -> Any:
        """The gradient in the affine-invariant metric."""
        tangent = symmetric(self.matrix @ symmetric(cotangent.matrix) @ self.matrix)
        return type(self).TangentVector(matrix=tangent)  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The end of the geodesic, which never leaves the positive definite matrices."""
        values, vectors = np.linalg.eigh(self.matrix)
        root = (vectors * np.sqrt(values)) @ vectors.T
        inverse = (vectors / np.sqrt(values)) @ vectors.T
        exponents, axes = np.linalg.eigh(symmetric(inverse @ symmetric(along.matrix) @ inverse))
        moved = root @ (axes * np.exp(exponents)) @ axes.T @ root
        return type(self)(symmetric(moved))
