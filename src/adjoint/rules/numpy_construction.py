"""Rules of the NumPy functions that make arrays."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, constant, linear, no_derivative, number, sample
from adjoint.runtime.arrays import zeros_like
from adjoint.runtime.sequences import fill_cotangent, unarray

constant(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, always_array=True)
constant(np.zeros_like, np.ones_like, np.empty_like)
constant(np.arange, always_array=True, shape="unknown")
no_derivative(np.indices, np.array_repr, np.array2string, np.can_cast, np.result_type, np.finfo, np.iinfo, np.dtype)
no_derivative(np.vander)

linear(
    np.full,
    lambda ct, shape, fill_value, dtype=None: fill_cotangent(ct, fill_value),
    wrt=(1,),
    always_array=True,
    cases=[case((4, 3), number()), case((4, 3), sample(3)), case(4, number())],
)
linear(
    np.full_like,
    lambda ct, a, fill_value, dtype=None: fill_cotangent(ct, fill_value),
    wrt=(1,),
    cases=[case(sample(4, 3), number())],
)


def _linspace(ct, start, stop, num=50, endpoint=True):
    weights = np.reshape(np.linspace(0.0, 1.0, num, endpoint), (-1,) + (1,) * (np.ndim(ct) - 1))
    return (fill_cotangent(ct * (1 - weights), start), fill_cotangent(ct * weights, stop))


linear(
    np.linspace,
    _linspace,
    wrt=(0, 1),
    always_array=True,
    cases=[
        case(number(), number(), 5),
        case(number(), number(), num=4, endpoint=False),
        case(sample(3), sample(3), 4),
    ],
)

for _convert in (np.array, np.asarray, np.ascontiguousarray, np.asanyarray, np.asfortranarray):
    linear(
        _convert,
        lambda ct, a, dtype=None, copy=None: unarray(ct, a),
        view_of=None if _convert is np.array else 0,
        always_array=True,
        cases=[case(sample(4, 3)), case([number(), number()]), case([[number()], [number()]])],
    )
for _scalar in (np.float64, np.float32, np.complex128):
    linear(_scalar, lambda ct, x=0.0: unarray(ct, x), view_of=0, cases=[case(number()), case(sample(3))])
no_derivative(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, np.intp)

linear(
    fill_cotangent,
    lambda ct, y_ct, fill_value: zeros_like(y_ct) + ct,
    cases=[case(sample(4, 3), sample(3)), case(sample(4, 3), number())],
)
