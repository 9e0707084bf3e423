"""Definitions of ``scipy.interpolate``: splines by their knots and coefficients (de Boor 1978)."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import interpolate

from adjoint.rules.declare import case, definition, number, sample


def _basis(x, t, k):
    """Of the B-splines that are not zero at each of some points: the index of the first, and the values."""
    place = np.clip(np.searchsorted(t, x, side="right") - 1, k, len(t) - k - 2)
    values = np.ones((1, len(x)))
    none = np.zeros((1, len(x)))
    for degree in range(1, k + 1):
        following = np.arange(degree)[:, None]
        left, right = t[place - degree + 1 + following], t[place + 1 + following]
        ratio = values / (right - left)
        values = np.concatenate([ratio * (right - x), none]) + np.concatenate([none, ratio * (x - left)])
    return place - k, values


def _splev(x, tck, der=0, ext=0):
    t, c, k = tck
    if isinstance(c, list):
        return [_spline_at(x, t, one, k, der, ext) for one in c]
    if np.ndim(c) != 1:
        return [_spline_at(x, t, c[line], k, der, ext) for line in range(np.shape(c)[0])]
    return _spline_at(x, t, c, k, der, ext)


def _spline_at(x, t, c, k, der, ext):
    if ext not in (0, 1, 3) or (ext == 3 and der != 0):
        raise NotImplementedError("this 'ext'")
    t, c = np.asarray(t), np.asarray(c)
    c = c[: len(t) - k - 1]
    first, last = t[k], t[len(t) - k - 1]
    for _ in range(der):
        c = k * (c[1:] - c[:-1]) / (t[k + 1 : -1] - t[1 : -k - 1])
        t = t[1:-1]
        k = k - 1
    points = np.ravel(x)
    if ext == 3:
        points = np.clip(points, first, last)
    start, values = _basis(points, t, k)
    y = np.sum(c[start + np.arange(k + 1)[:, None]] * values, axis=0)
    if ext == 1:
        y = np.where((points < first) | (points > last), 0.0, y)
    return np.reshape(y, np.shape(x))


def _bisplev(x, y, tck, dx=0, dy=0):
    if dx != 0 or dy != 0:
        raise NotImplementedError("partial derivatives")
    tx, ty, c, kx, ky = tck
    tx, ty, c = np.asarray(tx), np.asarray(ty), np.asarray(c)
    row, in_x = _basis(np.clip(np.ravel(x), tx[kx], tx[len(tx) - kx - 1]), tx, kx)
    column, in_y = _basis(np.clip(np.ravel(y), ty[ky], ty[len(ty) - ky - 1]), ty, ky)
    rows = (row + np.arange(kx + 1)[:, None])[:, :, None, None]
    columns = (column + np.arange(ky + 1)[:, None])[None, None, :, :]
    coefficients = c[rows * (len(ty) - ky - 1) + columns]
    z = np.sum(coefficients * in_x[:, :, None, None] * in_y[None, None, :, :], axis=(0, 2))
    if np.ndim(x) == 0 and np.ndim(y) == 0:
        return z[0, 0]
    if len(z) > 1:
        return z
    if len(z[0]) > 1:
        return z[0]
    return z[0, 0]


KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.7, 1.3, 2.0, 2.0, 2.0, 2.0])
POINTS = np.array([0.1, 0.9, 1.9])
definition(
    interpolate.splev,
    _splev,
    arrays=("x",),
    cases=[
        case(POINTS, (KNOTS, sample(6), 3)),
        case(sample(3), (KNOTS, np.array([0.1, 0.4, -0.3, 0.7, 0.2, 0.5]), 3)),
        case(number(), (KNOTS, sample(6), 3), 1),
        case(sample(3), (KNOTS, sample(6), 3), ext=3),
        case(sample(3), (KNOTS, sample(6), 3), ext=1),
        case(sample(3), (KNOTS, [sample(6), sample(6)], 3), 1),
    ],
)
KNOTS_OF_2 = np.array([0.0, 0.0, 0.0, 1.1, 2.0, 2.0, 2.0])
definition(
    interpolate.bisplev,
    _bisplev,
    arrays=("x", "y"),
    cases=[
        case(number(), number(), (KNOTS, KNOTS_OF_2, sample(24), 3, 2)),
        case(POINTS, np.array([0.3, 1.2]), (KNOTS, KNOTS_OF_2, sample(24), 3, 2)),
    ],
)
