"""Spheres of any dimension, and the simplex of probabilities, which is a part of one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adjoint.declarations.differentiable_types import differentiable

Vector = NDArray[np.floating[Any]]


def along_great_circle(point: Vector, direction: Vector) -> Vector:
    """The unit vector that lies in a direction at right angles to ``point``, as far away as the direction is long."""
    angle = np.linalg.norm(direction)
    moved = np.cos(angle) * point + np.sinc(angle / np.pi) * direction
    unit: Vector = moved / np.linalg.norm(moved)
    return unit


@differentiable(frozen=True, eq=False)
class Sphere:
    """A unit vector; it moves along great circles.

    Attributes
    ----------
    point
        A vector of length 1; :meth:`towards` makes one of any vector.
    """

    point: Vector

    @classmethod
    def towards(cls, vector: Vector) -> Self:
        """The point of the sphere in the direction of a vector."""
        return cls(vector / np.linalg.norm(vector))

    def tangent_from(self, cotangent: Any) -> Any:
        """The part of a gradient that is tangent to the sphere."""
        return type(self).TangentVector(point=self._projected(cotangent.point))  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The end of the great circle that starts in a direction and is as long as it."""
        return type(self)(along_great_circle(self.point, self._projected(along.point)))

    def _projected(self, vector: Vector) -> Vector:
        tangent: Vector = vector - np.dot(self.point, vector) * self.point
        return tangent


@differentiable(frozen=True, eq=False)
class Simplex:
    """Probabilities that sum to 1; distances are those of Fisher and Rao.

    Attributes
    ----------
    weights
        Numbers that are not negative and sum to 1.
    """

    weights: Vector

    @classmethod
    def from_weights(cls, weights: Vector) -> Self:
        """Probabilities in these proportions."""
        return cls(weights / np.sum(weights))

    def tangent_from(self, cotangent: Any) -> Any:
        """The natural gradient."""
        gradient = cotangent.weights
        natural = self.weights * (gradient - np.dot(self.weights, gradient))
        return type(self).TangentVector(weights=natural)  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The end of the geodesic: a great circle of the roots of the probabilities."""
        roots = np.sqrt(self.weights)
        direction = np.divide(along.weights, 2 * roots, out=np.zeros_like(roots), where=roots > 0)
        direction = direction - np.dot(roots, direction) * roots
        weights = along_great_circle(roots, direction) ** 2
        return type(self)(weights / np.sum(weights))
