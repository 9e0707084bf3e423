"""Rules of the runtime's helpers for numbers and displays, so that derivatives can be differentiated."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, elementwise, general, linear, no_derivative, number, observer, sample
from adjoint.rules.python.operators import power_of_constant, power_of_number
from adjoint.runtime import copies, cotangents, display
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.arithmetic.numbers import choose, divide, is_real, polygamma, selected, times, undefined
from adjoint.runtime.array_functions.arrays import unbroadcast

POSITIVE = (0.5, 2.0)
CONDITION = np.array([True, False, True])

elementwise(
    numbers.divide,
    scaled=lambda ct, a, b, y: (divide(ct, b), times(a, divide(-ct, b * b))),
    singular=True,
    domain=POSITIVE,
)
elementwise(numbers.times, scaled=lambda ct, a, b, y: (times(ct, b), times(a, ct)), singular=True)
elementwise(
    numbers.quotient,
    scaled=lambda ct, a, b, y: (divide(ct, b), divide(-ct * a, b * b)),
    singular=True,
    domain=POSITIVE,
)
elementwise(numbers.product, scaled=lambda ct, a, b, y: (times(ct, b), times(ct, a)), singular=True)
linear(
    numbers.selected,
    lambda ct, support, value: unbroadcast(selected(support, ct), value),
    wrt=(1,),
    cases=[case(0.0, number()), case(True, number()), case(CONDITION, sample(3)), case(np.eye(3)[0], sample(3))],
)
general(
    numbers.length_of,
    lambda dots, y, x: np.sum(times(dots[0], divide(x, y))),
    lambda ct, y, x: (times(ct, divide(x, y)),),
    cases=[case(sample(3))],
)
no_derivative(numbers.somewhere)
elementwise(
    numbers.power,
    scaled=power_of_number,
    singular=True,
    domain=(POSITIVE, (-2.0, 2.0)),
    by_constants=power_of_constant,
)
elementwise(numbers.log, scaled=lambda ct, x, y: divide(ct, x), singular=True, domain=POSITIVE)
elementwise(numbers.sqrt, scaled=lambda ct, x, y: divide(ct, 2 * y), singular=True, domain=POSITIVE)


def _turned(dot, y, x):
    if is_real(x):
        return None
    return choose(x == 0, 0.0 * dot, divide(np.conjugate(dot) - y * np.real(y * dot), np.absolute(x)))


general(
    numbers.sign,
    lambda dots, y, x: _turned(dots[0], y, x),
    lambda ct, y, x: (_turned(ct, y, x),),
    cases=[case(sample(3, kind="complex"))],
)
linear(
    cotangents.check_cotangent, lambda ct, x, like, said: ct, view_of=0, cases=[case(number(), number(), "it gives")]
)
linear(
    cotangents.as_array,
    lambda ct, x, rank, dtype, name: ct,
    wrt=(0,),
    view_of=0,
    cases=[case(sample(3), 1, np.dtype(float), "f")],
)
linear(cotangents.as_number, lambda ct, x, name: ct, view_of=0, cases=[case(number(), "f")])
no_derivative(numbers.is_real)
elementwise(numbers.polygamma, lambda n, x, y: (None, polygamma(n + 1, x)), cases=[case(0, 1.3), case(1, sample(3))])
linear(
    numbers.choose,
    lambda ct, condition, a, b: (
        unbroadcast(choose(condition, ct, 0.0), a),
        unbroadcast(choose(condition, 0.0, ct), b),
    ),
    wrt=(1, 2),
    cases=[case(True, number(), number()), case(CONDITION, sample(3), sample(3))],
)
elementwise(
    numbers.undefined,
    scaled=lambda ct, known, varying, y: (None, choose(known, 0.0, times(ct, undefined(known, varying)))),
    cases=[case(True, number()), case(np.array([True, True, True]), sample(3))],
    singular=True,
)
linear(
    numbers.unit, lambda ct, x, index, place: numbers.unit(ct, index, place), view_of=0, cases=[case(number(), 1, 1)]
)
no_derivative(numbers.first_equal)
no_derivative(display.format_value, display.join_string, display.make_slice, display.make_set)
observer(display.keys_of)
observer(display.last_key)
linear(copies.owned, lambda ct, x: ct, cases=[case(sample(4, 3)), case(number())])
