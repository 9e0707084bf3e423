"""Definitions of NumPy's differences and sums along a line: slopes, areas, angles that go round."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.conversions import as_array, inexact, of_dtype
from adjoint.rules.declare import case, constant, definition, number, sample
from adjoint.runtime.array_functions import places
from adjoint.runtime.array_functions.arrays import copy_laid_out_like

TURN = 6.283185307179586
GRID = np.array([0.0, 1.0, 1.5, 3.0, 4.0])


def _gradient(f, *varargs, axis=None, edge_order=1):
    rank = np.ndim(f)
    if axis is None:
        axes = tuple(range(rank))
    else:
        axes = tuple([k % rank for k in axis]) if isinstance(axis, tuple) else (axis % rank,)
    if len(varargs) == 0:
        spacings = tuple([1.0 for _ in axes])
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        spacings = tuple([varargs[0] for _ in axes])
    else:
        spacings = varargs
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    values = inexact(f)
    slopes = [_slope(values, h, k, edge_order) for h, k in zip(spacings, axes, strict=True)]
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def _slope(f, h, axis, edge_order):
    if np.shape(f)[axis] <= edge_order:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    rows = f if np.ndim(f) == 1 else np.moveaxis(f, axis, -1)
    if np.ndim(h) == 0:
        slopes = _evenly_spaced(rows, h, edge_order)
    else:
        slopes = _at_coordinates(rows, np.diff(np.asarray(h)), edge_order)
    joined = of_dtype(np.concatenate(slopes, axis=-1), np.result_type(f))
    return joined if np.ndim(f) == 1 else copy_laid_out_like(np.moveaxis(joined, -1, axis), f)


def _evenly_spaced(f, h, edge_order):
    inner = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        return [(f[..., 1:2] - f[..., :1]) / h, inner, (f[..., -1:] - f[..., -2:-1]) / h]
    first = -1.5 * f[..., :1] + 2.0 * f[..., 1:2] - 0.5 * f[..., 2:3]
    last = 0.5 * f[..., -3:-2] - 2.0 * f[..., -2:-1] + 1.5 * f[..., -1:]
    return [first / h, inner, last / h]


def _at_coordinates(f, steps, edge_order):
    before, behind = steps[:-1], steps[1:]
    inner = _through_three(f[..., :-2], f[..., 1:-1], f[..., 2:], before, behind, before)
    if edge_order == 1:
        return [(f[..., 1:2] - f[..., :1]) / steps[0], inner, (f[..., -1:] - f[..., -2:-1]) / steps[-1]]
    first = _through_three(f[..., :1], f[..., 1:2], f[..., 2:3], steps[0], steps[1], 0.0)
    last = _through_three(f[..., -3:-2], f[..., -2:-1], f[..., -1:], steps[-2], steps[-1], steps[-2] + steps[-1])
    return [first, inner, last]


def _through_three(f0, f1, f2, h0, h1, at):
    """The slope of the parabola through three points ``h0`` and ``h1`` apart, ``at`` behind the first."""
    span = h0 + h1
    return (
        f0 * ((2 * at - h0 - span) / (h0 * span))
        - f1 * ((2 * at - span) / (h0 * h1))
        + f2 * ((2 * at - h0) / (h1 * span))
    )


definition(
    np.gradient,
    _gradient,
    cases=[
        case(sample(5)),
        case(sample(5), 0.5),
        case(sample(5), number("positive"), edge_order=2),
        case(sample(5), GRID),
        case(sample(5), GRID, edge_order=2),
        case(sample(5, 3)),
        case(sample(3, 5), axis=1),
        case(sample(3, 5), GRID, axis=-1),
        case(sample(5, 3), GRID, 0.5),
        case(sample(2, 5, 3), axis=(1, -1), edge_order=2),
        case(np.arange(5)),
    ],
)


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    if np.ndim(dx) > 0:
        raise NotImplementedError("steps in an array")
    rows = as_array(y) if np.ndim(y) == 1 else np.moveaxis(y, axis, -1)
    sums = rows[..., 1:] + rows[..., :-1]
    if x is None:
        return np.sum(sums, axis=-1) * dx / 2
    points = as_array(x) if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)
    return np.sum((points[..., 1:] - points[..., :-1]) * sums, axis=-1) / 2


definition(
    np.trapezoid,
    _trapezoid,
    cases=[
        case(sample(5)),
        case(sample(5), dx=0.5),
        case(sample(5), GRID),
        case(sample(5), sample(5)),
        case(sample(3, 5), dx=number()),
        case(sample(5, 3), GRID, axis=0),
        case(sample(5, 3), sample(5, 3), axis=-2),
    ],
)


def _unwrap(p, discont=None, axis=-1, *, period=TURN):
    return as_array(p) + period * places.turns(p, discont, axis, period)


ANGLES = np.array([0.1, 3.0, -3.0, 2.0, -1.5, 9.0])
definition(
    np.unwrap,
    _unwrap,
    cases=[
        case(ANGLES),
        case(sample(3, 4), axis=0),
        case(ANGLES, 4.0),
        case(sample(6), period=0.7),
        case(10 * ANGLES.reshape(2, 3), axis=0, period=5.0),
    ],
)
constant(places.turns)
