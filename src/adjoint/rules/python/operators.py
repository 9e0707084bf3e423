"""Rules of Python's operators, which the IR names by the functions of the module ``operator``."""

# mypy: allow-untyped-defs, allow-untyped-calls

import operator

import numpy as np

from adjoint.rules.declare import constant, elementwise, no_derivative
from adjoint.rules.kinds import UNCHECKED
from adjoint.runtime.arithmetic.numbers import divide, log, power, sign, times

POSITIVE = (0.5, 2.0)


def power_of_number(ct, a, b, y):
    """Where the exponent is zero the base does not matter, and where the power is, the exponent does not."""
    return (times(ct, times(b, power(a, b - 1))), times(ct, times(y, log(a))))


def power_of_constant(constants):
    """The form for an exponent that is written in the source; above 1, nothing can go wrong."""
    exponent = constants.get(1)
    if not isinstance(exponent, (int, float)):
        return None
    if exponent == 0:
        return lambda ct, a, b, y: (0.0, None)
    if exponent == 1:
        return lambda ct, a, b, y: (ct, None)
    if exponent == 2:
        return lambda ct, a, b, y: (b * ct * a, None)
    if exponent > 1:
        return lambda ct, a, b, y: (ct * b * a ** (b - 1), None)
    return lambda ct, a, b, y: (times(ct * b, power(a, b - 1)), None)


elementwise(operator.add, lambda a, b, y: (1, 1))
elementwise(operator.sub, lambda a, b, y: (1, -1))
elementwise(operator.mul, lambda a, b, y: (b, a))
elementwise(
    operator.truediv,
    scaled=lambda ct, a, b, y: (divide(ct, b), divide(-ct * a, b * b)),
    by_rank={
        (0, 0): lambda ct, a, b, y: (ct / b, -ct * y / b),  # the function has raised already
        (0, UNCHECKED): lambda ct, a, b, y: (divide(ct, b), -ct * y / b),
    },
    singular=True,
    domain=POSITIVE,
)
for _power in (operator.pow, np.power, np.float_power):
    elementwise(
        _power,
        scaled=power_of_number,
        singular=True,
        domain=(POSITIVE, (-2.0, 2.0)),
        by_constants=power_of_constant,
    )
elementwise(operator.mod, lambda a, b, y: (1, -(a // b)), domain=((1.1, 1.9), (0.6, 0.9)))
elementwise(operator.neg, lambda x, y: -1)
elementwise(operator.pos, lambda x, y: 1)
for _absolute in (abs, operator.abs):
    elementwise(_absolute, lambda x, y: sign(x))

constant(operator.floordiv)
no_derivative(
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.ge,
    operator.gt,
    operator.not_,
    operator.truth,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.invert,
    operator.lshift,
    operator.rshift,
    operator.index,
)

elementwise(np.add, lambda x1, x2, y: (1, 1))
elementwise(np.subtract, lambda x1, x2, y: (1, -1))
elementwise(np.multiply, lambda x1, x2, y: (x2, x1))
elementwise(
    np.divide,
    scaled=lambda ct, x1, x2, y: (divide(ct, x2), divide(-ct * x1, x2 * x2)),
    singular=True,
    domain=POSITIVE,
)
elementwise(np.mod, lambda x1, x2, y: (1, -np.floor_divide(x1, x2)), domain=((1.1, 1.9), (0.6, 0.9)))
elementwise(np.fmod, lambda x1, x2, y: (1, -np.trunc(np.divide(x1, x2))), domain=((1.1, 1.9), (0.6, 0.9)))
elementwise(np.negative, lambda x, y: -1)
elementwise(np.positive, lambda x, y: 1)
elementwise(np.absolute, lambda x, y: sign(x))
elementwise(np.fabs, lambda x, y: sign(x))
constant(np.floor_divide)
