"""Rotations and rigid motions of three-dimensional space."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.manifolds.matrices import orthonormal
from adjoint.manifolds.spheres import along_great_circle

Array = NDArray[np.floating[Any]]


def hat(vector: Array) -> Array:
    """The matrix that takes the cross product with a vector."""
    x, y, z = vector[0], vector[1], vector[2]
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(matrix: Array) -> Array:
    """The vector of a skew-symmetric matrix; of any matrix, that of its skew-symmetric part."""
    return 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])


def rotation_matrix(vector: Array) -> Array:
    """The rotation about a vector, by its length."""
    angle = math.sqrt(np.dot(vector, vector))
    k = hat(vector)
    first = np.sinc(angle / np.pi)
    half = np.sinc(angle / (2 * np.pi))
    return np.eye(3) + first * k + 0.5 * half * half * (k @ k)


@differentiable(frozen=True, eq=False)
class SO3:
    """A rotation, as an orthogonal matrix.

    Attributes
    ----------
    matrix
        Orthogonal, with determinant 1; :meth:`about` and :meth:`nearest` make one.
    """

    matrix: Array

    @classmethod
    def identity(cls) -> Self:
        """No rotation."""
        return cls(np.eye(3))

    @classmethod
    def about(cls, vector: Array) -> Self:
        """The rotation about a vector, by its length in radians."""
        return cls(rotation_matrix(np.asarray(vector, dtype=float)))

    @classmethod
    def nearest(cls, matrix: Array) -> Self:
        """The rotation that is nearest to a matrix."""
        u, _, v = np.linalg.svd(matrix)
        return cls(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v)

    def __matmul__(self, other: SO3) -> SO3:
        return type(self)(self.matrix @ other.matrix)

    @property
    def inverse(self) -> SO3:
        """The rotation back."""
        return type(self)(self.matrix.T)

    def rotate(self, points: Array) -> Array:
        """Points, as the last axis of an array, rotated."""
        return points @ self.matrix.T

    @property
    def vector(self) -> Array:
        """The axis of the rotation, as long as the angle."""
        return UnitQuaternion.from_matrix(self.matrix).vector

    def tangent_from(self, cotangent: Any) -> Any:
        """The part of a gradient that is tangent to the rotations."""
        return type(self).TangentVector(matrix=self.matrix @ self._turning(cotangent.matrix))  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The rotation followed by the turn that a direction means."""
        turn = rotation_matrix(vee(self._turning(along.matrix)))
        return type(self)(orthonormal(self.matrix @ turn))

    def _turning(self, direction: Array) -> Array:
        turning = self.matrix.T @ direction
        skew: Array = (turning - turning.T) / 2
        return skew


@differentiable(frozen=True, eq=False)
class UnitQuaternion:
    """A rotation, as a quaternion of length 1.

    Attributes
    ----------
    components
        ``w, x, y, z``, where ``w`` is the real part.
    """

    components: Array

    @classmethod
    def identity(cls) -> Self:
        """No rotation."""
        return cls(np.array([1.0, 0.0, 0.0, 0.0]))

    @classmethod
    def about(cls, vector: Array) -> Self:
        """The rotation about a vector, by its length in radians."""
        half = 0.5 * np.asarray(vector, dtype=float)
        angle = math.sqrt(np.dot(half, half))
        return cls(np.concatenate([[math.cos(angle)], np.sinc(angle / np.pi) * half]))

    @classmethod
    def from_matrix(cls, matrix: Array) -> Self:
        """The quaternion of an orthogonal matrix."""
        m = matrix
        outer = np.array(
            [
                [1 + m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
                [m[2, 1] - m[1, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
                [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1 - m[0, 0] + m[1, 1] - m[2, 2], m[1, 2] + m[2, 1]],
                [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1 - m[0, 0] - m[1, 1] + m[2, 2]],
            ]
        )
        row = outer[int(np.argmax(np.diag(outer)))]
        return cls(row / np.linalg.norm(row))

    def __matmul__(self, other: UnitQuaternion) -> UnitQuaternion:
        w, v = self.components[0], self.components[1:]
        ow, ov = other.components[0], other.components[1:]
        real = w * ow - np.dot(v, ov)
        imaginary = w * ov + ow * v + np.cross(v, ov)
        return type(self)(np.concatenate([np.array([real]), imaginary]))

    @property
    def inverse(self) -> UnitQuaternion:
        """The rotation back."""
        return type(self)(self.components * np.array([1.0, -1.0, -1.0, -1.0]))

    def rotate(self, points: Array) -> Array:
        """Points, as the last axis of an array, rotated."""
        return points @ self.matrix.T

    @property
    def matrix(self) -> Array:
        """The orthogonal matrix of the rotation."""
        w, v = self.components[0], self.components[1:]
        k = hat(v)
        matrix: Array = np.eye(3) + 2.0 * w * k + 2.0 * (k @ k)
        return matrix

    @property
    def vector(self) -> Array:
        """The axis of the rotation, as long as the angle, which is at most half a turn."""
        w, v = self.components[0], self.components[1:]
        if w < 0:
            w, v = -w, -v
        length = math.sqrt(np.dot(v, v))
        factor = 2.0 * math.atan2(length, w) / length if length > 0 else 2.0
        vector: Array = factor * v
        return vector

    def tangent_from(self, cotangent: Any) -> Any:
        """The part of a gradient that is tangent to the unit quaternions."""
        return type(self).TangentVector(components=self._projected(cotangent.components))  # type: ignore[attr-defined]

    def moved(self, along: Any) -> Self:
        """The end of the great circle that starts in a direction and is as long as it."""
        return type(self)(along_great_circle(self.components, self._projected(along.components)))

    def _projected(self, vector: Array) -> Array:
        tangent: Array = vector - np.dot(self.components, vector) * self.components
        return tangent


@differentiable(frozen=True, eq=False)
class SE3:
    """A rigid motion: a rotation, then a translation. Its parts move each for itself.

    Attributes
    ----------
    rotation, translation
        ``apply`` takes a point ``p`` to ``rotation @ p + translation``.
    """

    rotation: SO3
    translation: Array

    @classmethod
    def identity(cls) -> Self:
        """No motion."""
        return cls(SO3.identity(), np.zeros(3))

    @classmethod
    def from_twist(cls, angular: Array, linear: Array) -> Self:
        """The motion along a screw for one unit of time: at an angular and a linear velocity."""
        angular, linear = np.asarray(angular, dtype=float), np.asarray(linear, dtype=float)
        angle = math.sqrt(np.dot(angular, angular))
        k = hat(angular)
        half = np.sinc(angle / (2 * np.pi))
        rest = (1 - np.sinc(angle / np.pi)) / angle**2 if angle > 1e-4 else 1 / 6 - angle**2 / 120
        travelled = np.eye(3) + 0.5 * half * half * k + rest * (k @ k)
        return cls(SO3(rotation_matrix(angular)), travelled @ linear)

    def __matmul__(self, other: SE3) -> SE3:
        return type(self)(self.rotation @ other.rotation, self.apply(other.translation))

    @property
    def inverse(self) -> SE3:
        """The motion back."""
        back = self.rotation.inverse
        return type(self)(back, -back.rotate(self.translation))

    def apply(self, points: Array) -> Array:
        """Points, as the last axis of an array, moved."""
        return self.rotation.rotate(points) + self.translation
