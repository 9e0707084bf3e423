"""Definitions of the methods of NumPy's element-wise functions: reductions, running results, tables."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, linear, no_derivative, sample
from adjoint.runtime.array_functions import segments
from adjoint.runtime.array_functions.arrays import copy_laid_out_like, restore_axes, spread


def _add_reduce(array, axis=0, *, keepdims=False, initial=None, where=True):
    kept = array if where is True else np.where(where, array, 0)
    total = np.sum(kept, axis=axis, keepdims=keepdims)
    return total if initial is None else total + initial


def _multiply_reduce(array, axis=0, *, keepdims=False, initial=None, where=True):
    kept = array if where is True else np.where(where, array, 1)
    total = np.prod(kept, axis=axis, keepdims=keepdims)
    return total if initial is None else total * initial


REDUCTIONS = [
    case(sample(4, 3)),
    case(sample(4, 3), 1),
    case(sample(4, 3), axis=None),
    case(sample(2, 4, 3), axis=(0, -1), keepdims=True),
    case(sample(4, 3), initial=0.5),
]
SOME = [case(sample(4, 3), axis=1, where=np.array([True, False, True]))]

definition(np.add.reduce, _add_reduce, cases=[*REDUCTIONS, *SOME])
definition(np.multiply.reduce, _multiply_reduce, cases=[*REDUCTIONS, *SOME])


def _extreme_reduction(extreme):
    def reduction(array, axis=0, *, keepdims=False, initial=None):
        if initial is None:
            return extreme(array, axis=axis, keepdims=keepdims)
        return extreme(array, axis=axis, keepdims=keepdims, initial=initial)

    return reduction


definition(np.maximum.reduce, _extreme_reduction(np.max), cases=REDUCTIONS)
definition(np.minimum.reduce, _extreme_reduction(np.min), cases=REDUCTIONS)
definition(
    np.logaddexp.reduce,
    lambda array, axis=0, *, keepdims=False: segments.log_sum_exp(array, axis=axis, keepdims=keepdims),
    cases=REDUCTIONS[:-1],
)

RUNNING = [case(sample(5)), *[case(sample(4, 3), axis) for axis in (0, 1, -1)], case(sample(5), (0,))]


def _only(axis):
    """The axis along which something accumulates, which may stand in a tuple."""
    return axis[0] if isinstance(axis, tuple) else axis


def _running(argument):
    def accumulate(array, axis=0):
        along = _only(axis)
        running = np.take_along_axis(array, argument(array, along), along)
        return running if np.ndim(array) == 1 else copy_laid_out_like(running, array)

    return accumulate


definition(np.add.accumulate, lambda array, axis=0: np.cumsum(array, axis=_only(axis)), cases=RUNNING)
definition(np.multiply.accumulate, lambda array, axis=0: np.cumprod(array, axis=_only(axis)), cases=RUNNING)
definition(np.maximum.accumulate, _running(segments.running_argmax), cases=RUNNING)
definition(np.minimum.accumulate, _running(segments.running_argmin), cases=RUNNING)
definition(np.fmax.accumulate, _running(segments.running_fargmax), cases=RUNNING)
definition(np.fmin.accumulate, _running(segments.running_fargmin), cases=RUNNING)


def _logaddexp_accumulate(array, axis=0):
    along = np.moveaxis(array, _only(axis), 0)
    running = np.empty_like(along)
    for i in range(len(along)):
        running[i] = along[0] if i == 0 else np.logaddexp(running[i - 1], along[i])
    running = np.moveaxis(running, 0, _only(axis))
    return running if np.ndim(array) == 1 else copy_laid_out_like(running, array)


definition(np.logaddexp.accumulate, _logaddexp_accumulate, cases=RUNNING)


def _reduceat(reduced):
    def reduceat(array, indices, axis=0):
        along = np.moveaxis(array, axis, 0)
        parts = []
        for place in range(len(indices)):
            start = indices[place]
            end = indices[place + 1] if place + 1 < len(indices) else len(along)
            parts.append(reduced(along[start : max(start + 1, end)], axis=0))
        return np.stack(parts, axis=axis)

    return reduceat


PIECES = [
    case(sample(6), np.array([0, 2, 5])),
    case(sample(6), np.array([3, 1, 1, 4])),
    case(sample(4, 3), np.array([0, 2]), axis=1),
]
for _of_pieces, _reduced in ((np.multiply, np.prod), (np.maximum, np.max), (np.minimum, np.min)):
    definition(_of_pieces.reduceat, _reduceat(_reduced), cases=PIECES)
definition(
    np.add.reduceat,
    lambda array, indices, axis=0: segments.add_reduceat(array, indices, axis),
    cases=PIECES,
)


def _strong(x):
    """A number as an array, whose precision counts."""
    return np.asarray(x) if np.ndim(x) == 0 else x


def _outer(function):
    def outer(A, B):
        if np.ndim(A) == 0 or np.ndim(B) == 0:
            return function(_strong(A), _strong(B))
        return function(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)

    return outer


TABLES = [
    case(sample(3, kind="positive"), sample(4, kind="positive")),
    case(sample(2, 3, kind="positive"), sample(2, kind="positive")),
    case(1.5, sample(3, kind="positive")),
]
for _function in (
    *(np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.hypot, np.arctan2, np.logaddexp, np.mod),
):
    definition(_function.outer, _outer(_function), cases=TABLES)

# what these definitions are made of

general(
    segments.log_sum_exp,
    lambda dots, y, x, axis=None, keepdims=False: np.sum(
        np.exp(x - restore_axes(y, x, axis, keepdims)) * dots[0], axis=axis, keepdims=keepdims
    ),
    lambda ct, y, x, axis=None, keepdims=False: (
        spread(ct, x, axis, keepdims) * np.exp(x - restore_axes(y, x, axis, keepdims)),
    ),
    cases=[case(sample(4, 3)), case(sample(4, 3), axis=0), case(sample(4, 3), axis=1, keepdims=True)],
)
linear(
    segments.add_reduceat,
    lambda ct, x, indices, axis=0: segments.unreduceat(ct, x, indices, axis),
    cases=[case(sample(6), np.array([3, 1, 1, 4])), case(sample(4, 3), np.array([0, 2]), 1)],
)
linear(
    segments.unreduceat,
    lambda ct, y_ct, x, indices, axis=0: segments.add_reduceat(ct, indices, axis),
    cases=[case(sample(4), sample(6), np.array([3, 1, 1, 4]))],
)
no_derivative(segments.running_argmax, segments.running_argmin, segments.running_fargmax, segments.running_fargmin)
