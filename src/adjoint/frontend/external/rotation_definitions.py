"""Rotations as `scipy.spatial.transform` has them, in Python: read by the compiler where they vary."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.spatial.transform import Slerp

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.numerical_methods.implicit import answered, root, taken

SMALL = 1e-6
"""Below this square of an angle, series are taken for quotients of zeros."""


class Rotations:
    """One rotation or several, as quaternions with the real part last."""

    def __init__(self, quat):
        self.quat = quat

    def as_quat(self, canonical=False, scalar_first=False):
        quat = _canonical(self.quat) if canonical else self.quat
        return np.roll(quat, 1, axis=-1) if scalar_first else quat.copy()

    def as_matrix(self):
        x, y, z, w = _parts(self.quat)
        first = np.stack([x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=-1)
        second = np.stack([2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)], axis=-1)
        third = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w], axis=-1)
        return np.stack([first, second, third], axis=-2)

    def as_rotvec(self, degrees=False):
        quat = _canonical(self.quat)
        vector, w = quat[..., :3], quat[..., 3:]
        square = np.sum(vector * vector, axis=-1, keepdims=True)
        length = np.sqrt(np.where(square < SMALL, 1.0, square))
        ratio = square / (w * w)
        series = 2.0 / w * (1.0 - ratio / 3.0 + ratio * ratio / 5.0 - ratio * ratio * ratio / 7.0)
        found = np.where(square < SMALL, series, 2.0 * np.arctan2(length, w) / length) * vector
        return np.degrees(found) if degrees else found

    def as_mrp(self):
        quat = _canonical(self.quat)
        return quat[..., :3] / (1.0 + quat[..., 3:])

    def as_euler(self, seq, degrees=False):
        found = _euler(_parts(self.quat), seq)
        return np.degrees(found) if degrees else found

    def magnitude(self):
        x, y, z, w = _parts(self.quat)
        return 2.0 * np.arctan2(np.sqrt(x * x + y * y + z * z), np.abs(w))

    def apply(self, vectors, inverse=False):
        matrix, given = self.as_matrix(), np.asarray(vectors)
        turned = np.swapaxes(matrix, -1, -2) if inverse else matrix
        return np.sum(turned * np.expand_dims(given, -2), axis=-1)

    def inv(self):
        return Rotations(self.quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __mul__(self, other):
        return Rotations(_product(self.quat, as_rotations(other).quat))

    def __rmul__(self, other):
        return as_rotations(other) * self

    def __pow__(self, n, modulus=None):
        if modulus is not None:
            raise NotImplementedError("modulus not supported")
        return from_rotvec(n * self.as_rotvec())

    def mean(self, weights=None):
        share = 1.0 if weights is None else np.expand_dims(weights, -1)
        quat = np.reshape(self.quat, (-1, 4))
        return Rotations(_largest(np.transpose(quat) @ (share * quat))[0])

    def __len__(self):
        return len(self.quat)

    @property
    def single(self):
        return np.ndim(self.quat) == 1

    def __getitem__(self, place):
        return Rotations(self.quat[place])


class Slerps:
    """Rotations between others: at a steady rate about one axis."""

    __adjoint_stands_for__ = Slerp

    def __init__(self, times, rotations):
        self.times = np.asarray(times) + 0.0
        self.rotations = as_rotations(rotations)
        self.rotvecs = (self.rotations[:-1].inv() * self.rotations[1:]).as_rotvec()

    def __call__(self, times):
        return between(self.times, self.rotations, self.rotvecs, times)


def between(known, rotations, rotvecs, times):
    """The rotations at some times, from those at known ones and the vectors that lead from each to the next."""
    asked = np.ravel(times) + 0.0
    if np.any(asked < known[0]) or np.any(asked > known[-1]):
        raise ValueError(f"Interpolation times must be within the range [{known[0]}, {known[-1]}], both inclusive.")
    place = np.maximum(np.searchsorted(known, asked) - 1, 0)
    share = (asked - known[place]) / np.diff(known)[place]
    found = rotations[place] * from_rotvec(rotvecs[place] * np.expand_dims(share, 1))
    return found[0] if np.ndim(times) == 0 else found


def at_times(slerp, times):
    """The same of an object of SciPy, which does not vary."""
    return between(slerp.times, as_rotations(slerp.rotations), slerp.rotvecs, times)


def _parts(quat):
    return quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]


def _canonical(quat):
    return choose(quat[..., 3:] < 0, -quat, quat)


def _product(p, q):
    a, b, c, d = _parts(p)
    x, y, z, w = _parts(q)
    return np.stack(
        [
            d * x + w * a + b * z - c * y,
            d * y + w * b + c * x - a * z,
            d * z + w * c + a * y - b * x,
            d * w - a * x - b * y - c * z,
        ],
        axis=-1,
    )


def as_rotations(rotation):
    """Rotations of SciPy, which do not vary, in this form."""
    if isinstance(rotation, Rotations):
        return rotation
    return Rotations(quaternions(rotation))


def quaternions(rotation):
    """The quaternions of a rotation of SciPy; the compiler calls its method."""
    return rotation.as_quat()


def from_quat(quat, *, scalar_first=False):
    given = np.roll(quat, -1, axis=-1) if scalar_first else np.asarray(quat)
    return Rotations(given / np.sqrt(np.sum(given * given, axis=-1, keepdims=True)))


def from_rotvec(rotvec, degrees=False):
    vector = np.radians(rotvec) if degrees else np.asarray(rotvec)
    square = np.sum(vector * vector, axis=-1, keepdims=True)
    angle = np.sqrt(np.where(square < SMALL, 1.0, square))
    series = 0.5 - square / 48.0 + square * square / 3840.0
    scale = np.where(square < SMALL, series, np.sin(0.5 * angle) / angle)
    series = 1.0 - square / 8.0 + square * square / 384.0
    real = np.where(square < SMALL, series, np.cos(0.5 * angle))
    return Rotations(np.concatenate([scale * vector, real], axis=-1))


def from_mrp(mrp):
    given = np.asarray(mrp)
    square = np.sum(given * given, axis=-1, keepdims=True)
    return Rotations(np.concatenate([2.0 * given, 1.0 - square], axis=-1) / (1.0 + square))


def from_matrix(matrix, *, assume_valid=False):
    """By the largest of the parts of the quaternion; of what is no rotation by the one that is nearest."""
    given = np.asarray(matrix)
    m = given if assume_valid else linalg.polar(given)[0]
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = a + b + c
    across = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    rows = [
        np.stack([1.0 - trace + 2.0 * a, xy, xz, across[0]], axis=-1),
        np.stack([xy, 1.0 - trace + 2.0 * b, yz, across[1]], axis=-1),
        np.stack([xz, yz, 1.0 - trace + 2.0 * c, across[2]], axis=-1),
        np.stack([*across, 1.0 + trace], axis=-1),
    ]
    largest = np.expand_dims(np.argmax(np.stack([a, b, c, trace], axis=-1), axis=-1), -1)
    chosen = np.where(largest == 0, rows[0], np.where(largest == 1, rows[1], np.where(largest == 2, rows[2], rows[3])))
    return from_quat(chosen)


def align_vectors(a, b, weights=None, return_sensitivity=False):
    """The rotation that brings some vectors nearest to others, by the largest eigenvalue of a matrix (Davenport 1968).

    Of one vector it is the shortest, along a great circle.
    """
    if return_sensitivity:
        raise NotImplementedError("the matrix of sensitivity")
    to, of = np.reshape(a, (-1, 3)), np.reshape(b, (-1, 3))
    share = np.ones(len(to)) if weights is None else np.asarray(weights)
    if np.any(np.isinf(share)):
        raise ValueError("derivatives are known of rotations that align vectors of finite weight")
    if len(to) == 1:
        one, other = to[0] / np.sqrt(np.sum(to * to)), of[0] / np.sqrt(np.sum(of * of))
        found = from_quat(np.append(np.cross(other, one), 1.0 + np.sum(one * other)))
        return found, np.sqrt(np.sum(share * (to - found.apply(of)) ** 2))
    m = np.transpose(share[:, None] * to) @ of
    trace = np.trace(m)
    across = np.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    upper = np.concatenate([m + np.transpose(m) - trace * np.eye(3), across[:, None]], axis=1)
    quat, value = _largest(np.concatenate([upper, np.append(across, trace)[None]]))
    apart = np.sum(share[:, None] * (to * to + of * of)) - 2.0 * value
    return from_matrix(Rotations(quat).as_matrix(), assume_valid=True), np.sqrt(np.maximum(apart, 0.0))


def _largest(matrix):
    """The vector of the largest eigenvalue of a symmetric matrix, and that value; others may be equal."""
    values, vectors = np.linalg.eigh(stop_gradient(matrix))
    pair = np.append(vectors[:, 3], values[3])
    missing = lambda x: np.append(matrix @ x[:4] - x[4] * x[:4], np.sum(x[:4] * x[:4]) - 1.0)
    found = solved(root, missing, (pair,), answered, (taken, pair))
    return found[:4], found[4]


def concatenate(rotations):
    if isinstance(rotations, Rotations):
        return Rotations(rotations.quat.copy())
    return Rotations(np.concatenate([np.reshape(as_rotations(each).quat, (-1, 4)) for each in rotations]))


def from_euler(seq, angles, degrees=False):
    given = np.radians(angles) if degrees else np.asarray(angles)
    axes, count = seq.lower(), len(seq)
    if count == 1 and np.ndim(given) == 2:
        given = given[:, 0]
    quat = _about(axes[0], given if count == 1 else given[..., 0])
    for place in range(1, count):
        other = _about(axes[place], given[..., place])
        quat = _product(other, quat) if seq == axes else _product(quat, other)
    return Rotations(quat)


def _about(axis, angle):
    sine, zero = np.sin(0.5 * angle), 0.0 * angle
    parts = [sine if name == axis else zero for name in "xyz"]
    return np.stack([*parts, np.cos(0.5 * angle)], axis=-1)


def _euler(parts, seq):
    """The angles about three axes (Bernardes, Viollet 2022), where no two turns are about one line."""
    order = seq.lower() if seq == seq.lower() else seq.lower()[::-1]
    i, j, k = "xyz".index(order[0]), "xyz".index(order[1]), "xyz".index(order[2])
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    if symmetric:
        a, b, c, d = parts[3], parts[i], parts[j], parts[k] * sign
    else:
        a, b, c, d = parts[3] - parts[j], parts[i] + parts[k] * sign, parts[j] + parts[3], parts[k] * sign - parts[i]
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    one, other = half_sum - half_difference, half_sum + half_difference
    if not symmetric:
        other, middle = other * sign, middle - np.pi / 2
    found = [one, middle, other] if seq == seq.lower() else [other, middle, one]
    return np.stack([_wrapped(angle) for angle in found], axis=-1)


def _wrapped(angle):
    return angle - 2 * np.pi * np.round(angle / (2 * np.pi))
