"""Rules of NumPy's reductions and cumulative functions."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, linear, no_derivative, sample
from adjoint.runtime.arithmetic.numbers import choose, divide, is_real, times
from adjoint.runtime.array_functions import scans
from adjoint.runtime.array_functions.arrays import (
    count,
    float_dtype,
    prod_others,
    reshape_like,
    reverse_cumsum,
    rows_of,
    share,
    share_forward,
    spread,
    unrows,
)
from adjoint.runtime.array_functions.scans import following, previous, recur, recur_back

AXES = [
    case(sample(4, 3)),
    case(sample(4, 3), axis=0),
    case(sample(4, 3), -1),
    case(sample(2, 4, 3), axis=(0, 2)),
    case(sample(4, 3), axis=1, keepdims=True),
    case(sample(3), keepdims=True),
]
PLAIN = [case(sample(4, 3)), case(sample(4, 3), axis=0), case(sample(4, 3), axis=1)]

linear(np.sum, lambda ct, a, axis=None, dtype=None, *, keepdims=False: spread(ct, a, axis, keepdims), cases=AXES)
linear(
    np.mean,
    lambda ct, a, axis=None, dtype=None, *, keepdims=False: spread(ct / max(count(a, axis), 1), a, axis, keepdims),
    cases=AXES,
)


def _conjugated(centred):
    return centred if is_real(centred) else np.conjugate(centred)


def _covariance(dot, centred, axis, keepdims):
    if is_real(centred):
        return np.sum(centred * dot, axis=axis, keepdims=keepdims)
    return np.sum(np.real(np.conjugate(centred) * dot), axis=axis, keepdims=keepdims)


def one_or_nan(y):
    """A factor that hides nothing: not a number where ``y`` is none."""
    return choose(np.isnan(y), y, 1.0)


def _twice_over(a, axis, ddof):
    """Two over what a variance divides by; of nothing, or of too little, NumPy's value is no number."""
    return 2 / max(count(a, axis), 1) if ddof == 0 else divide(2, max(count(a, axis) - ddof, 0))


def _computed_with(a, dtype):
    """``a``; with a dtype of real numbers, NumPy would compute with the real parts alone."""
    if dtype is not None and not is_real(a):
        raise NotImplementedError("a reduction of complex numbers in another dtype")
    return a


def _centred(a, axis, dtype):
    return _computed_with(a, dtype) - np.mean(a, axis=axis, keepdims=True)


def _var_jvp(dots, y, a, axis=None, dtype=None, *, ddof=0, keepdims=False):
    total = _covariance(dots[0], _centred(a, axis, dtype), axis, keepdims)
    return total * _twice_over(a, axis, ddof)


def _var_vjp(ct, y, a, axis=None, dtype=None, *, ddof=0, keepdims=False):
    centred = _centred(a, axis, dtype)
    return (spread(ct * _twice_over(a, axis, ddof), a, axis, keepdims) * _conjugated(centred),)


def _std_jvp(dots, y, a, axis=None, dtype=None, *, ddof=0, keepdims=False):
    dot = dots[0] if ddof == 0 else times(dots[0], spread(one_or_nan(y), a, axis, keepdims))
    inverse = spread(divide(1.0, y * (count(a, axis) - ddof)), a, axis, keepdims)
    inward = times(dot, times(_conjugated(_centred(a, axis, dtype)), inverse))
    return np.sum(inward if is_real(a) else np.real(inward), axis=axis, keepdims=keepdims)


def _std_vjp(ct, y, a, axis=None, dtype=None, *, ddof=0, keepdims=False):
    centred = _centred(a, axis, dtype)
    inverse = spread(divide(1.0, y * (count(a, axis) - ddof)), a, axis, keepdims)
    ct = ct if ddof == 0 else times(ct, one_or_nan(y))
    return (times(spread(ct, a, axis, keepdims), times(_conjugated(centred), inverse)),)


SPREADS = [*AXES, case(sample(4, 3), axis=0, ddof=1), case(sample(4, 3, kind="complex"), axis=0)]
general(np.var, _var_jvp, _var_vjp, cases=SPREADS)
general(np.std, _std_jvp, _std_vjp, cases=SPREADS)
general(
    np.prod,
    lambda dots, y, a, axis=None, dtype=None, *, keepdims=False: np.sum(
        dots[0] * prod_others(_computed_with(a, dtype), axis), axis=axis, keepdims=keepdims
    ),
    lambda ct, y, a, axis=None, dtype=None, *, keepdims=False: (
        spread(ct, a, axis, keepdims) * prod_others(_computed_with(a, dtype), axis),
    ),
    cases=[*AXES, case(np.array([2.0, 0.0, 3.0])), case(np.array([[2.0, 0.0, 0.0], [1.0, 0.0, 3.0]]), axis=1)],
)

for _extreme in (np.max, np.min, np.nanmax, np.nanmin):
    general(
        _extreme,
        lambda dots, y, a, axis=None, *, keepdims=False: share_forward(dots[0], y, a, axis, keepdims),
        lambda ct, y, a, axis=None, *, keepdims=False: (share(ct, y, a, axis, keepdims),),
        cases=AXES,
    )

linear(np.cumsum, lambda ct, a, axis=None, dtype=None: reverse_cumsum(ct, a, axis), cases=PLAIN)


def _cumprod_jvp(dots, y, a, axis=None, dtype=None):
    if axis is None:
        return recur(previous(y, 0, 1.0) * np.ravel(dots[0]), np.ravel(a), 0)
    return recur(previous(y, axis, 1.0) * dots[0], a, axis)


def _cumprod_vjp(ct, y, a, axis=None, dtype=None):
    if axis is None:
        return (reshape_like(previous(y, 0, 1.0) * recur_back(ct, np.ravel(a), 0), a),)
    return (previous(y, axis, 1.0) * recur_back(ct, a, axis),)


general(np.cumprod, _cumprod_jvp, _cumprod_vjp, cases=[*PLAIN, case(np.array([2.0, 0.0, 3.0, 0.0])), case(sample(3))])


def _with_first(running, axis, first):
    """What runs along an axis, behind what it starts from."""
    return np.pad(running, [(1, 0) if k == axis else (0, 0) for k in range(np.ndim(running))], constant_values=first)


def _cumulative_sum(x, /, *, axis=None, include_initial=False):
    along = _along(x, axis)
    sums = np.cumsum(x, axis=along)
    return _with_first(sums, along, 0) if include_initial else sums


def _cumulative_prod(x, /, *, axis=None, include_initial=False):
    along = _along(x, axis)
    products = np.cumprod(x, axis=along)
    return _with_first(products, along, 1) if include_initial else products


def _along(x, axis):
    """The axis along which something runs, which may stand in a tuple."""
    if axis is not None:
        return (axis[0] if isinstance(axis, tuple) else axis) % np.ndim(x)
    if np.ndim(x) != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return 0


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    RUNNING = [
        *[case(sample(4)), case(sample(4), axis=(0,)), case(sample(4, 3), axis=-2)],
        case(sample(4, 3), axis=1, include_initial=True),
    ]
    definition(np.cumulative_sum, _cumulative_sum, cases=RUNNING)
    definition(np.cumulative_prod, _cumulative_prod, cases=RUNNING)

# what these rules are made of

general(
    scans.previous,
    lambda dots, y, x, axis, first: previous(dots[0], axis, 0.0),
    lambda ct, y, x, axis, first: (following(ct, axis, 0.0), None, None),
    fixed=(2,),
    cases=[case(sample(4, 3), 0, 1.0), case(sample(4, 3), 1, 0.0)],
)
general(
    scans.following,
    lambda dots, y, x, axis, last: following(dots[0], axis, 0.0),
    lambda ct, y, x, axis, last: (previous(ct, axis, 0.0), None, None),
    fixed=(2,),
    cases=[case(sample(4, 3), 0, 1.0), case(sample(4, 3), 1, 0.0)],
)


def _recur_vjp(ct, y, c, x, axis):
    c_bar = recur_back(ct, x, axis)
    return (c_bar, c_bar * previous(y, axis, 0.0), None)


def _recur_back_vjp(ct, y, c, x, axis):
    c_bar = recur(ct, x, axis)
    return (c_bar, previous(c_bar, axis, 0.0) * y, None)


general(
    scans.recur,
    lambda dots, y, c, x, axis: recur(dots[0] + dots[1] * previous(y, axis, 0.0), x, axis),
    _recur_vjp,
    cases=[case(sample(4, 3), sample(4, 3), 0), case(sample(4), sample(4), 0)],
)
general(
    scans.recur_back,
    lambda dots, y, c, x, axis: recur_back(dots[0] + following(dots[1] * y, axis, 0.0), x, axis),
    _recur_back_vjp,
    cases=[case(sample(4, 3), sample(4, 3), 1), case(sample(4), sample(4), 0)],
)
linear(reverse_cumsum, lambda ct, x_ct, x, axis=None: np.cumsum(ct, axis), cases=[case(sample(4, 3), sample(4, 3), 0)])
linear(
    share,
    lambda ct, r_ct, y, x, axis=None, keepdims=False: share_forward(ct, y, x, axis, keepdims),
    cases=[case(sample(2), np.array([2.0, 3.0]), np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 1.0]]), 1)],
)
linear(
    share_forward,
    lambda ct, dot, y, x, axis=None, keepdims=False: share(ct, y, x, axis, keepdims),
    cases=[case(sample(2, 3), np.array([2.0, 3.0]), np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 1.0]]), 1)],
)


def _prod_others_product(v, x, axis=None):
    """The Jacobian of ``prod_others``, which is symmetric, times ``v``."""
    return unrows(_prod_others_last(rows_of(v, axis), rows_of(x, axis)), x, axis)


def _prod_others_last(v, x):
    eye = np.eye(np.shape(x)[-1])
    without = np.expand_dims(x, -2) * (1 - eye) + eye  # in row i, element i is 1
    pairs = prod_others(without, -1) * (1 - eye)
    return np.squeeze(np.matmul(pairs, np.expand_dims(v, -1)), -1)


general(
    prod_others,
    lambda dots, y, x, axis=None: _prod_others_product(dots[0], x, axis),
    lambda ct, y, x, axis=None: (_prod_others_product(ct, x, axis), None),
    cases=[
        case(sample(4)),
        case(sample(2, 3), 1),
        case(sample(2, 3)),
        case(np.array([2.0, 0.0, 3.0])),
        case(sample(2, 2, 3), (0, -1)),
    ],
)
linear(
    rows_of,
    lambda ct, x, axis=None: unrows(ct, x, axis),
    view_of=0,
    cases=[case(sample(4, 3)), case(sample(4, 3), 0), case(sample(2, 4, 3), (0, 2))],
)
linear(
    unrows,
    lambda ct, rows, x, axis=None: rows_of(ct, axis),
    view_of=0,
    cases=[case(sample(12), sample(4, 3)), case(sample(4, 6), sample(2, 4, 3), (0, 2))],
)

no_derivative(np.any, np.all, np.count_nonzero, float_dtype)
