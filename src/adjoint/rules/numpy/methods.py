"""Methods and attributes of arrays and of NumPy's scalars, as the functions they mean."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import attribute, case, linear, method, no_derivative, sample
from adjoint.runtime.array_functions.arrays import reshape_like, unbroadcast

CLASSES = (np.ndarray, np.generic)

SAME_NAME = """
    sum mean prod max min var std cumsum cumprod ptp any all argmax argmin argsort argpartition nonzero searchsorted
    ravel squeeze swapaxes diagonal trace repeat take dot round
"""
for _name in SAME_NAME.split():
    for _cls in CLASSES:
        method(_cls, _name, getattr(np, _name))


def _clip(a, min=None, max=None, *out, **options):
    """One bound is enough for the method, not for the function."""
    return np.clip(a, min, max, *out, **options)


for _cls in CLASSES:
    method(_cls, "clip", _clip)
    attribute(_cls, "real", np.real)
    attribute(_cls, "imag", np.imag)
    attribute(_cls, "T", np.transpose)
    attribute(_cls, "shape", np.shape)
    attribute(_cls, "ndim", np.ndim)
    attribute(_cls, "size", np.size)
attribute(np.ndarray, "mT", np.matrix_transpose)

# those that say it in another way are callees themselves

_VARIADIC_SHAPE = [
    *(case(sample(4, 3), 2, 6), case(sample(4, 3), (6, 2)), case(sample(4, 3), -1)),
    case(sample(4, 3), -1, copy=True),
]


def _reshaped_array(ct, a, *shape, order="C", copy=None):
    if order != "C":
        return np.reshape(ct, a.shape, order=order)
    return np.reshape(ct, a.shape)


def _reshaped(ct, a, *shape, order="C", copy=None):
    if order != "C":
        return np.reshape(ct, np.shape(a), order=order)
    return reshape_like(ct, a)


def _untransposed(ct, a, *axes):
    if len(axes) == 0:
        return np.transpose(ct)
    return np.transpose(ct, inverse_permutation(*axes))


def inverse_permutation(*axes):
    """The axes that undo ``a.transpose(*axes)``."""
    order = axes[0] if len(axes) == 1 else axes
    return None if order is None else tuple([int(place) for place in np.argsort([axis % len(order) for axis in order])])


no_derivative(inverse_permutation)
for _cls in CLASSES:
    linear(
        _cls.reshape,
        _reshaped,
        by_rank={(rank, ...): _reshaped_array for rank in range(1, 6)},
        view_of=0,
        always_array=True,
        cases=_VARIADIC_SHAPE if _cls is np.ndarray else [case(np.float64(1.5), 1)],
    )
    linear(
        _cls.transpose,
        _untransposed,
        view_of=0,
        cases=[case(sample(4, 3)), case(sample(2, 4, 3), 1, 2, 0), case(sample(2, 4, 3), (2, 0, 1))]
        if _cls is np.ndarray
        else [case(np.float64(1.5))],
    )
    linear(
        _cls.flatten,
        lambda ct, a: reshape_like(ct, a),
        by_rank={(rank, ...): lambda ct, a: np.reshape(ct, a.shape) for rank in range(1, 6)},
        always_array=True,
        cases=[case(sample(4, 3))] if _cls is np.ndarray else [case(np.float64(1.5))],
    )
    for _conj in (_cls.conj, _cls.conjugate):  # of a real array, the array itself
        linear(
            _conj,
            lambda ct, a: np.conjugate(ct),
            view_of=0,
            cases=[case(sample(3)), case(sample(3, kind="complex"))] if _cls is np.ndarray else [case(np.float64(1.5))],
        )
    linear(
        _cls.astype,
        lambda ct, a, dtype, copy=True: unbroadcast(ct, a),
        cases=[case(sample(4, 3), np.float32)] if _cls is np.ndarray else [case(np.float64(1.5), np.float32)],
    )
    linear(
        _cls.copy,  # in the order of rows, where np.copy leaves the elements in the order in which they lie
        lambda ct, a, order="C": ct,
        always_array=_cls is np.ndarray,
        cases=[case(sample(4, 3)), case(sample(4, 3), "F")] if _cls is np.ndarray else [case(np.float64(1.5))],
    )
    linear(
        _cls.item,
        lambda ct, a: reshape_like(np.asarray(ct), a),
        cases=[case(sample(1))] if _cls is np.ndarray else [case(np.float64(1.5))],
    )
    no_derivative(_cls.tobytes)
    for _name in ("reshape", "transpose", "flatten", "astype", "item", "tobytes", "conj", "conjugate", "copy"):
        method(_cls, _name, getattr(_cls, _name))
