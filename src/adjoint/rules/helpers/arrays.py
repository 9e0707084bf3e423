"""Rules of the runtime's helpers for arrays, so that derivatives can be differentiated."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint import ir
from adjoint.rules.declare import case, constant, elementwise, linear, no_derivative, number, sample
from adjoint.runtime.array_functions import arrays, places
from adjoint.runtime.sets import functions

CONDITION = np.array([True, False, True])

elementwise(
    functions.either,
    lambda a, b, y: (1, 1),
    cases=[case(sample(3), sample(3)), case(number(), number())],
)
linear(
    arrays.unbroadcast,
    lambda ct, x, like: arrays.match(ct, x),
    view_of=0,
    cases=[case(sample(4, 3), sample(3)), case(sample(4, 3), number()), case(sample(2, 4, 3), sample(4, 1))],
)
linear(
    arrays.match,
    lambda ct, x, like: arrays.unbroadcast(ct, x),
    view_of=0,
    cases=[case(sample(3), sample(4, 3)), case(number(), sample(4, 3))],
)
linear(
    arrays.copy_laid_out_like,
    lambda ct, x, like: ct,
    wrt=(0,),
    cases=[case(sample(4, 3), np.ones((3, 4)).T)],
)
constant(
    arrays.empty_product,
    arrays.empty_sum,
    arrays.shape_only,
    arrays.without_elements,
    arrays.zeros_in_memory,
    arrays.zeros_like,
)
linear(
    arrays.complex_of,
    lambda ct, real, imag: (arrays.unbroadcast(np.real(ct), real), arrays.unbroadcast(-np.imag(ct), imag)),
    wrt=(0, 1),
    cases=[
        case(sample(3), sample(3)),
        case(sample(3, kind="complex"), sample(3)),
        case(sample(2, 3, kind="complex"), number()),
        case(0.0, sample(3)),
    ],
)
linear(
    arrays.spread,
    lambda ct, x_ct, x, axis=None, keepdims=False: arrays.unbroadcast(np.sum(ct, axis, keepdims=keepdims), x_ct),
    cases=[case(sample(3), sample(4, 3), 0), case(sample(4, 1), sample(4, 3), 1, True), case(number(), sample(4, 3))],
)
linear(
    arrays.restore_axes,
    lambda ct, reduced, x, axis=None, keepdims=False: np.reshape(ct, np.shape(reduced)),
    cases=[case(sample(3), sample(4, 3), 0)],
    view_of=0,
)
no_derivative(arrays.count, places.numbered, places.along)
no_derivative(places.side_of_mesh, typed=lambda arguments: (ir.Array(np.dtype(np.intp), ("any", "any")),))
linear(
    places.chosen,
    lambda ct, x, mask: places.unchosen(ct, x, mask),
    shape="unknown",
    always_array=True,
    cases=[case(sample(3), CONDITION), case(number(), CONDITION), case(sample(1), CONDITION)],
)
linear(
    places.unchosen,
    lambda ct, y_ct, x, mask: places.chosen(ct, mask),
    cases=[case(sample(2), sample(3), CONDITION)],
)
