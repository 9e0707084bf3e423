"""Rules of norms, of vectors and of matrices, and of condition numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, sample
from adjoint.rules.numpy.reductions import one_or_nan
from adjoint.runtime.arithmetic.numbers import divide, is_real, power, sign, times
from adjoint.runtime.array_functions.arrays import restore_axes, spread
from adjoint.runtime.array_functions.linalg import power_norm


def _euclidean_jvp(dots, y, x, ord=None, axis=None, keepdims=False):
    inverse = spread(divide(1.0, y), x, axis, keepdims)
    if is_real(x):
        return np.sum(times(dots[0], times(x, inverse)), axis=axis, keepdims=keepdims)
    return np.sum(np.real(times(dots[0], times(np.conjugate(x), inverse))), axis=axis, keepdims=keepdims)


def _euclidean_vjp(ct, y, x, ord=None, axis=None, keepdims=False):
    inverse, ct = spread(divide(1.0, y), x, axis, keepdims), spread(times(ct, one_or_nan(y)), x, axis, keepdims)
    if is_real(x):
        return (times(ct, times(x, inverse)),)
    return (times(ct, times(np.conjugate(x), inverse)),)


general(
    np.linalg.norm,
    _euclidean_jvp,
    _euclidean_vjp,
    cases=[
        case(sample(4)),
        case(sample(4, 3)),
        case(sample(4, 3), axis=1),
        case(sample(4, 3), axis=1, keepdims=True),
        case(sample(4, 3), "fro"),
        case(sample(2, 4, 3), axis=(1, 2)),
        case(sample(4, kind="complex")),
        case(sample(4, 3, kind="complex"), axis=0),
    ],
)


# --- vectors ----------------------------------------------------------------------------------------------------------


def _power_norm_jvp(dots, y, x, ord, axis=None, keepdims=False):
    inward = sign(x) * dots[0] if is_real(x) else np.real(sign(x) * dots[0])
    return np.sum(times(inward, _weights(y, x, ord, axis, keepdims)), axis=axis, keepdims=keepdims)


def _power_norm_vjp(ct, y, x, ord, axis=None, keepdims=False):
    return (times(sign(x) * spread(ct, x, axis, keepdims), _weights(y, x, ord, axis, keepdims)), None)


def _weights(y, x, ord, axis, keepdims):
    return power(divide(np.abs(x), restore_axes(y, x, axis, keepdims)), ord - 1)


general(
    power_norm,
    _power_norm_jvp,
    _power_norm_vjp,
    fixed=(1,),
    cases=[
        *[case(sample(4, kind=kind), order) for kind in ("plain", "complex") for order in (3, -2, 0.5)],
        case(sample(4, 3), 4, axis=1, keepdims=True),
        case(sample(2, 4, 3), 3, axis=(0, 2)),
    ],
)


def _vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    if ord == 2:
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.not_equal(x, 0).astype(np.result_type(np.abs(x))), axis=axis, keepdims=keepdims)
    return power_norm(x, ord, axis=axis, keepdims=keepdims)


# --- matrices ---------------------------------------------------------------------------------------------------------


def _matrix_norm(x, /, *, keepdims=False, ord="fro"):
    if ord == "fro" or ord == "f":
        return np.linalg.norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord == "nuc":
        value = np.sum(np.linalg.svdvals(x), axis=-1)
    elif ord == 2:
        value = np.max(np.linalg.svdvals(x), axis=-1, initial=0.0)
    elif ord == -2:
        value = np.min(np.linalg.svdvals(x), axis=-1)
    elif ord == 1:
        value = np.max(np.sum(np.abs(x), axis=-2), axis=-1)
    elif ord == -1:
        value = np.min(np.sum(np.abs(x), axis=-2), axis=-1)
    elif ord == np.inf:
        value = np.max(np.sum(np.abs(x), axis=-1), axis=-1)
    elif ord == -np.inf:
        value = np.min(np.sum(np.abs(x), axis=-1), axis=-1)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return np.expand_dims(value, (-2, -1)) if keepdims else value


def _norm_of_order(x, ord=None, axis=None, keepdims=False):
    if axis is None:
        if np.ndim(x) == 2:
            return _matrix_norm(x, keepdims=keepdims, ord=ord)
        if np.ndim(x) == 1:
            return _vector_norm(x, keepdims=keepdims, ord=ord)
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(axis, tuple) and len(axis) == 2:
        matrices = np.moveaxis(x, axis, (-2, -1))
        value = _matrix_norm(matrices, ord=ord)
        return np.reshape(value, np.shape(np.sum(x, axis=axis, keepdims=True))) if keepdims else value
    return _vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


MATRIX_ORDERS = ["nuc", 2, -2, 1, -1, np.inf, -np.inf]
definition(
    np.linalg.norm,
    _norm_of_order,
    when=lambda given: given.get("ord") not in (None, "fro", "f"),
    cases=[
        *[case(sample(4), order) for order in (0, 1, 2, 3, np.inf, -np.inf)],
        *[case(sample(4, 3), order) for order in MATRIX_ORDERS],
        *[case(sample(2, 4, 3), order, axis=(2, 0), keepdims=True) for order in MATRIX_ORDERS],
        case(sample(4, 3), 1, axis=0, keepdims=True),
        case(sample(4, 3), 3, axis=(1,)),
    ],
)
definition(
    np.linalg.vector_norm,
    _vector_norm,
    cases=[
        *[case(sample(4), ord=order) for order in (2, 1, np.inf, -np.inf, 3, 0)],
        case(sample(4, 3)),
        case(sample(4, 3), ord=3),
        case(sample(4, 3), axis=1, keepdims=True, ord=4),
        case(sample(2, 4, 3), axis=(0, 2), ord=1),
    ],
)
definition(
    np.linalg.matrix_norm,
    _matrix_norm,
    cases=[
        case(sample(4, 3)),
        *[case(sample(2, 4, 3), ord=order) for order in MATRIX_ORDERS],
        case(sample(2, 4, 3), ord=1, keepdims=True),
    ],
)


def _cond(x, p=None):
    if p is None or p == 2:
        s = np.linalg.svdvals(x)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = np.linalg.svdvals(x)
        return s[..., -1] / s[..., 0]
    return _matrix_norm(x, ord=p) * _matrix_norm(np.linalg.inv(x), ord=p)


definition(
    np.linalg.cond,
    _cond,
    cases=[
        case(sample(4, 3, kind="distinct")),
        *[case(sample(3, 3, kind="regular"), p) for p in (2, -2, 1, -1, "fro", "nuc", np.inf, -np.inf)],
        case(sample(2, 3, 3, kind="regular"), 1),
    ],
)
