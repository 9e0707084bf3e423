"""Forms of NumPy's calls that mean other calls: reductions of some elements, differences with more in front, and so on.

Each definition is for arguments that the rule of the function itself does not cover.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np

from adjoint.rules.conversions import of_dtype
from adjoint.rules.declare import case, definition, number, sample

SOME = np.array([True, False, True, True])
ROWS = np.array([[True], [False], [True], [True]])


def _is_of_some(given):
    """Whether a reduction is told what to start from, or which elements count."""
    return given.get("where", True) is not True or "initial" in given


def _sum(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    total = np.sum(np.where(where, a, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total + of_dtype(initial, np.result_type(total))


def _prod(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True):
    total = np.prod(np.where(where, a, 1), axis=axis, dtype=dtype, keepdims=keepdims)
    return total * of_dtype(initial, np.result_type(total))


def _mean(a, axis=None, dtype=None, *, keepdims=False, where=True):
    chosen = np.broadcast_to(where, np.shape(a))
    total = np.sum(np.where(chosen, a, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / np.sum(chosen, axis=axis, keepdims=keepdims, dtype=np.result_type(total))


def _var(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    chosen = np.broadcast_to(where, np.shape(a))
    centred = np.where(chosen, a - _mean(a, axis, dtype, keepdims=True, where=chosen), 0)
    squares = (centred * np.conj(centred)).real if np.iscomplexobj(a) else centred * centred
    return np.sum(squares, axis=axis, keepdims=keepdims) / (
        np.sum(chosen, axis=axis, keepdims=keepdims, dtype=np.result_type(squares)) - ddof
    )


def _std(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return np.sqrt(_var(a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where))


def _max(a, axis=None, *, keepdims=False, initial, where=True):
    if np.size(a) == 0:
        return np.sum(a, axis=axis, keepdims=keepdims) + of_dtype(initial, np.result_type(a))
    first = of_dtype(initial, np.result_type(a))
    return np.maximum(np.max(np.where(where, a, first), axis=axis, keepdims=keepdims), first)


def _min(a, axis=None, *, keepdims=False, initial, where=True):
    if np.size(a) == 0:
        return np.sum(a, axis=axis, keepdims=keepdims) + of_dtype(initial, np.result_type(a))
    first = of_dtype(initial, np.result_type(a))
    return np.minimum(np.min(np.where(where, a, first), axis=axis, keepdims=keepdims), first)


REAL = [case(sample(4), where=SOME), case(sample(4, 3), axis=0, where=ROWS), case(sample(4, 3), where=ROWS)]
_fn: Any
_means: Any
for _fn, _means in ((np.sum, _sum), (np.prod, _prod)):
    definition(
        _fn, _means, when=_is_of_some, arrays=("a", "initial", "where"), cases=[*REAL, case(sample(3), initial=1.5)]
    )
for _fn, _means in ((np.mean, _mean), (np.var, _var), (np.std, _std)):
    definition(_fn, _means, when=_is_of_some, arrays=("a", "where"), cases=REAL)
for _fn, _means in ((np.max, _max), (np.min, _min)):
    definition(
        _fn,
        _means,
        when=_is_of_some,
        arrays=("a", "initial", "where"),
        cases=[case(sample(3), initial=0.25), case(sample(4, 3), axis=0, initial=0.1, where=ROWS)],
    )


def _has_bounds_by_name(given):
    return "min" in given or "max" in given


definition(
    np.clip,
    lambda a, *, min=None, max=None: np.clip(a, min, max),
    when=_has_bounds_by_name,
    cases=[case(sample(5), min=-0.5, max=0.5), case(sample(5), max=sample(5))],
)


def _is_extended(given):
    return "prepend" in given or "append" in given


def _diff(a, n=1, axis=-1, prepend=None, append=None):
    begun = a if prepend is None else np.concatenate([_as_slab(prepend, a, axis), a], axis=axis)
    whole = begun if append is None else np.concatenate([begun, _as_slab(append, a, axis)], axis=axis)
    return np.diff(whole, n, axis)


def _as_slab(part, a, axis):
    if np.ndim(part) > 0:
        return np.asarray(part)
    return np.broadcast_to(part, [1 if k == axis % np.ndim(a) else m for k, m in enumerate(np.shape(a))])


definition(
    np.diff,
    _diff,
    when=_is_extended,
    arrays=("a", "prepend", "append"),
    cases=[
        case(sample(4), prepend=0.5),
        case(sample(4), append=sample(2)),
        case(sample(4, 3), axis=0, prepend=1.0, append=sample(2, 3)),
        case(sample(5), 2, prepend=0.5, append=1.5),
    ],
)


def _is_beyond(given):
    return any(name in given for name in ("left", "right", "period"))


def _periodic_interp(x, xp, fp, period):
    if period == 0:
        raise ValueError("period must be a non-zero value")
    length = np.abs(period)
    within = np.mod(xp, length)
    order = np.argsort(within)
    places, values = within[order], np.asarray(fp)[order]
    around = np.concatenate((places[-1:] - length, places, places[:1] + length))
    return np.interp(np.mod(x, length), around, np.concatenate((values[-1:], values, values[:1])))


def _interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:  # what is left and right of all points does not count then
        return _periodic_interp(x, xp, fp, period)
    y = np.interp(x, xp, fp)
    if left is not None:
        y = np.where(np.asarray(x) < xp[0], left, y)
    if right is not None:
        y = np.where(np.asarray(x) > xp[-1], right, y)
    return y[()]


definition(
    np.interp,
    _interp,
    when=_is_beyond,
    arrays=("x", "xp", "fp"),
    cases=[
        case(np.array([-0.3, 0.7, 2.5]), np.array([0.0, 1.0, 2.0]), sample(3), left=0.5),
        case(np.array([-0.3, 0.7, 2.5]), np.array([0.0, 1.0, 2.0]), sample(3), left=number(), right=1.5),
        case(np.array([-0.3, 0.9, 5.6]), np.array([0.2, 3.0, 1.5]), sample(3), period=2.3),
    ],
)


def _take(a, indices, axis=None, *, mode="raise"):
    extent = np.size(a) if axis is None else np.shape(a)[axis]
    if mode == "wrap":
        return np.take(a, np.mod(indices, extent), axis)
    if mode == "clip":
        return np.take(a, np.clip(indices, 0, extent - 1), axis)
    return np.take(a, indices, axis)


definition(
    np.take,
    _take,
    when=lambda given: "mode" in given,
    arrays=("a", "indices"),
    cases=[
        case(sample(3), np.array([0, 4, -1]), mode="wrap"),
        case(sample(3, 4), np.array([[0, 7], [1, -2]]), axis=1, mode="clip"),
        case(sample(3), np.array([0, 2]), mode="raise"),
    ],
)


def _has_axes_of_its_own(given):
    return any(name in given for name in ("axisa", "axisb", "axisc"))


def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return np.cross(a, b, axis=axis)
    product = np.cross(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
    return np.moveaxis(product, -1, axisc)


definition(
    np.cross,
    _cross,
    when=_has_axes_of_its_own,
    arrays=("a", "b"),
    cases=[case(sample(3, 4), sample(4, 3), axisa=0), case(sample(4, 3), sample(3, 4), axisb=0, axisc=0)],
)


# functions of real numbers whose results are complex outside of an interval (``numpy.lib.scimath``)


def _inside(x, low, high):
    """Numbers within bounds, or complex ones; of others the kind of a result depends on their values."""
    found = np.asarray(x) if np.ndim(x) > 0 else x
    if not np.iscomplexobj(found) and np.any(np.logical_or(found < low, found > high)):
        outside = "a function of np.emath gives complex numbers here, where its derivative is known of real ones"
        raise ValueError(f"{outside}: hand the function of np itself x + 0j")
    return found


def _power(x, p):
    exponent = np.asarray(p, dtype=float) if np.result_type(p).kind == "i" else p
    return np.power(_inside(x, 0.0, np.inf), exponent)


def _of_interval(fn, low, high):
    return lambda x: fn(_inside(x, low, high))


for _name in ("sqrt", "log", "log2", "log10"):
    _means = _of_interval(getattr(np, _name), 0.0, np.inf)
    definition(getattr(np.emath, _name), _means, cases=[case(np.array([0.5, 2.0, 3.0]))])
for _name in ("arccos", "arcsin", "arctanh"):
    _means = _of_interval(getattr(np, _name), -1.0, 1.0)
    definition(getattr(np.emath, _name), _means, cases=[case(np.array([0.5, -0.2])), case(0.3)])
definition(
    np.emath.logn,
    lambda n, x: np.log(_inside(x, 0.0, np.inf)) / np.log(_inside(n, 0.0, np.inf)),
    cases=[case(2.0, np.array([0.5, 3.0])), case(np.array([2.0, 3.0]), np.array([0.5, 3.0]))],
)
definition(np.emath.power, _power, cases=[case(np.array([0.5, 2.0]), 1.5), case(1.7, np.array([2.0, 0.3]))])
