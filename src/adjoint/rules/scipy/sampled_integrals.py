"""Definitions of ``scipy.integrate``: integrals of functions that are known at points."""

# mypy: allow-untyped-defs, allow-untyped-calls

import itertools

import numpy as np
from scipy import integrate

from adjoint.rules.declare import case, definition, sample


def _last(values, axis):
    """With the axis of the points at the end."""
    return np.moveaxis(values, axis, -1)


def _points(x, axis):
    return x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, axis)


def _cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    rows = _last(y, axis)
    steps = dx if x is None else np.diff(_points(x, axis))
    pieces = np.moveaxis(steps * (rows[..., 1:] + rows[..., :-1]) / 2.0, -1, axis)
    sums = np.cumsum(pieces, axis=axis)
    if initial is None:
        return sums
    return np.concatenate([np.zeros_like(np.take(sums, [0], axis=axis)), sums], axis=axis)


def _first_of_pairs(rows, steps, equal):
    """The integrals of parabolas through three points each, up to the second (Cartwright 2017, equations 8 and 10)."""
    first, second, third = rows[..., :-2], rows[..., 1:-1], rows[..., 2:]
    before, after = steps[..., :-1], steps[..., 1:]
    if equal:
        return before / 3 * (5 * first / 4 + 2 * second - third / 4)
    share = before / (before + after)
    excess = share * before / after
    return before / 6 * ((3 - share) * first + (3 + excess + share) * second - excess * third)


def _cumulative_simpson(y, *, x=None, dx=1.0, axis=-1, initial=None):
    rows = _last(y, axis)
    count = np.shape(rows)[-1]
    steps = np.broadcast_to(dx, np.shape(rows[..., 1:])) if x is None else np.diff(_points(x, axis))
    if count < 3:
        pieces = steps * (rows[..., 1:] + rows[..., :-1]) / 2.0
    else:
        steps = np.broadcast_to(steps, np.shape(rows[..., 1:]))
        forth = _first_of_pairs(rows, steps, x is None)
        back = np.flip(_first_of_pairs(np.flip(rows, -1), np.flip(steps, -1), x is None), -1)
        place = np.arange(count - 1)
        by_next = np.concatenate([forth, forth[..., -1:]], axis=-1)
        by_last = np.concatenate([forth[..., :1], back], axis=-1)
        pieces = np.where(np.logical_and(place % 2 == 0, place < count - 2), by_next, by_last)
    sums = np.cumsum(pieces, axis=-1)
    if initial is not None:
        start = _last(initial + np.zeros_like(np.take(y, [0], axis=axis)), axis)
        sums = np.concatenate([start, start + sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def _simpson_of_pairs(rows, steps):
    """Parabolas through three points each."""
    first, second = steps[..., :-1:2], steps[..., 1::2]
    both, ratio = first + second, first / second
    inner = rows[..., 2::2] * (2.0 - ratio) + rows[..., 1::2] * (both * both / (first * second))
    return np.sum(both / 6.0 * (rows[..., :-1:2] * (2.0 - 1.0 / ratio) + inner), axis=-1)


def _simpson(y, x=None, *, dx=1.0, axis=-1):
    rows = _last(y, axis)
    count = np.shape(rows)[-1]
    steps = dx * np.ones(count - 1) if x is None else np.diff(_points(x, axis))
    if count % 2 == 1:
        return _simpson_of_pairs(rows, steps)
    if count == 2:
        return 0.5 * steps[..., 0] * (rows[..., 0] + rows[..., 1])
    before, last = steps[..., -2], steps[..., -1]  # Cartwright 2017, equation 8
    right = rows[..., -1] * (2 * last * last + 3 * before * last) / (6 * (last + before))
    middle = rows[..., -2] * (last * last + 3.0 * before * last) / (6 * before)
    left = rows[..., -3] * last**3 / (6 * before * (before + last))
    return _simpson_of_pairs(rows[..., :-1], steps[..., :-1]) + right + middle - left


def _romb(y, dx=1.0, axis=-1):
    rows = _last(y, axis)
    intervals = np.shape(rows)[-1] - 1
    if intervals < 1 or intervals & (intervals - 1):
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    sums = []
    step = intervals
    while step >= 1:
        inner = np.sum(rows[..., step:-1:step], axis=-1)
        sums.append(step * dx * (0.5 * (rows[..., 0] + rows[..., -1]) + inner))
        step //= 2
    for k in range(1, len(sums)):
        sums = [after + (after - before) / (4.0**k - 1.0) for before, after in itertools.pairwise(sums)]
    return sums[0]


GRID = np.array([0.0, 0.3, 0.5, 1.1, 1.4, 2.0])
CALLS = [
    case(sample(5)),
    case(sample(6), dx=0.5),
    case(sample(5), GRID[:5]),
    case(sample(6), x=GRID),
    case(sample(4, 3), axis=0),
    case(sample(2, 6), x=np.stack([GRID, GRID * GRID])),
]
definition(integrate.trapezoid, _trapezoid, cases=CALLS)
definition(integrate.simpson, _simpson, cases=CALLS)
definition(
    integrate.cumulative_trapezoid,
    _cumulative_trapezoid,
    cases=[*CALLS, case(sample(5), initial=0), case(sample(4, 3), axis=0, initial=0)],
)
definition(integrate.romb, _romb, cases=[case(sample(5)), case(sample(9), dx=0.5), case(sample(3, 4), axis=0)])
definition(
    integrate.cumulative_simpson,
    _cumulative_simpson,
    when=lambda given: isinstance(given.get("dx", 1.0), (int, float)),
    arrays=("y", "x"),
    cases=[
        case(sample(6)),
        case(sample(7), x=np.array([0.0, 0.3, 0.5, 1.1, 1.6, 1.8, 2.5])),
        case(sample(5, 3), dx=0.5, axis=0, initial=0),
        case(sample(2, 4), x=np.array([0.0, 0.3, 0.5, 1.1]), initial=1.0),
        case(sample(2), dx=0.2),
    ],
)
