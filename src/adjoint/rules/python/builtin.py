"""Rules of Python's built-in functions and types."""

# mypy: allow-untyped-defs, allow-untyped-calls

import builtins

import numpy as np

from adjoint.rules.declare import (
    attribute,
    case,
    constant,
    definition,
    elementwise,
    general,
    linear,
    method,
    no_derivative,
    number,
    observer,
)
from adjoint.rules.python.operators import power_of_constant
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import choose, first_equal, imaginary_part, log, power, times, unit
from adjoint.runtime.array_functions.arrays import unbroadcast

linear(float, lambda ct, x: unbroadcast(ct, x), cases=[case(number())])
linear(
    complex,
    lambda ct, real, imag=0.0: (unbroadcast(ct, real), unbroadcast(1j * ct, imag)),
    wrt=(0, 1),
    cases=[case(number(), number()), case(complex(0.6, -0.4)), case(complex(0.6, -0.4), complex(0.3, 0.8))],
)
elementwise(
    pow,
    scaled=lambda ct, base, exp, y: (times(ct * exp, power(base, exp - 1)), times(times(ct, y), log(base))),
    singular=True,
    domain=((0.5, 2.0), (-2.0, 2.0)),
    by_constants=power_of_constant,
)


def _divmod_jvp(dots, y, a, b):
    remainder = 0.0
    if dots[0] is not None:  # of a whole number
        remainder = remainder + dots[0]
    if dots[1] is not None:
        remainder = remainder - y[0] * dots[1]
    return 0.0, remainder


general(
    divmod,
    _divmod_jvp,
    lambda ct, y, a, b: (ct[1], -ct[1] * y[0]),
    results=2,
    cases=[case(5.3, 2.1), case(-5.3, 2.1)],
)


def _extreme_jvp(dots, y, *xs):
    index = first_equal(y, *xs)
    total = 0.0
    for place, dot in enumerate(dots):
        if dot is not None:
            total = total + unit(dot, index, place)
    return total


def _extreme_vjp(ct, y, *xs):
    index = first_equal(y, *xs)
    return tuple([unit(ct, index, place) for place, _ in enumerate(xs)])


def _two(form):
    return {(0, 0): form}


general(
    max,
    _extreme_jvp,
    _extreme_vjp,
    by_rank=_two(lambda ct, y, a, b: (choose(b > a, 0.0, ct), choose(b > a, ct, 0.0))),
    cases=[case(number(), number()), case(1.5, 1.0, number())],
)
general(
    min,
    _extreme_jvp,
    _extreme_vjp,
    by_rank=_two(lambda ct, y, a, b: (choose(b < a, 0.0, ct), choose(b < a, ct, 0.0))),
    cases=[case(number(), number()), case(1.5, 1.0, number())],
)
constant(round, imaginary_part)
no_derivative(int, bool, len, isinstance, issubclass, type, callable, hasattr, ord, chr, any, all, range, slice)
observer(repr, str, format, id, hash, ascii, bin, hex)
observer(print, display.print_all, builtins.open, delattr, pure=False)


def _sum(iterable, start=0):
    total = start
    for x in iterable:
        total = total + x
    return total


def _max(iterable):
    first = True
    best = 0.0
    for x in iterable:
        if first or x > best:
            best = x
        first = False
    if first:
        raise ValueError("max() arg is an empty sequence")
    return best


def _min(iterable):
    first = True
    best = 0.0
    for x in iterable:
        if first or x < best:
            best = x
        first = False
    if first:
        raise ValueError("min() arg is an empty sequence")
    return best


definition(sum, _sum, cases=[case([1.5, 2.5]), case([1.5, 2.5], 3.0)])
definition(max, _max, arity=1, cases=[case([1.5, 2.5, 0.5])])
definition(min, _min, arity=1, cases=[case([1.5, 2.5, 0.5])])

method(float, "conjugate", float)
method(float, "__abs__", abs)
attribute(float, "real", float)
attribute(float, "imag", imaginary_part)
no_derivative(float.is_integer, float.hex, int.bit_length)
method(float, "is_integer", float.is_integer)
method(float, "hex", float.hex)
method(int, "bit_length", int.bit_length)
linear(complex.conjugate, lambda ct, z: ct.conjugate(), cases=[case(complex(0.6, -0.4))])
method(complex, "conjugate", complex.conjugate)
attribute(complex, "real", np.real)
attribute(complex, "imag", np.imag)
