"""Powers of Python's floats that turn out to be complex are refused when that happens, in all modes."""

import math
import operator

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


def real_part(a):
    return ((-a) ** 0.5 * 1j).real


def imaginary_part(a):
    return pow(-a, 0.5).imag


def by_operator(a):
    return abs(operator.pow(-a, 1.5))


def by_what_varies(a, b=0.3):
    return abs((1.0 - a) ** b)


def in_place(a):
    z = -a
    z **= 1 / 3
    return abs(z)


def of_a_whole_number(a, n=-2):
    return abs(n**a)


def told_by_its_class(a):
    z = (-a) ** 0.5
    return a if isinstance(z, complex) else 2.0 * a


def handled(a):
    try:
        return abs((-a) ** 0.5)
    except (TypeError, ValueError):
        return a


def in_a_loop(a):
    total = 0.0
    for k in range(4):
        total += abs((1.5 - a * k) ** 0.5)
    return total


COMPLEX = (
    real_part,
    imaginary_part,
    by_operator,
    by_what_varies,
    in_place,
    of_a_whole_number,
    told_by_its_class,
    handled,
)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")  # the imaginary part of a float
@pytest.mark.parametrize("function", [*COMPLEX, handled, in_a_loop], ids=lambda function: function.__name__)
def test_what_is_complex_is_refused(function, native):
    with pytest.raises(ad.DifferentiationError, match="AD0414") as refusal:
        ad.grad(function, native=native)(2.5)
    if not native:
        assert "**" in str(refusal.value) or "pow(" in str(refusal.value)
        with pytest.raises(ad.DifferentiationError, match="AD0414"):
            ad.jvp(function, (2.5,), (1.0,))


def even_and_odd(a):
    return (-a) ** 2 + (-a) ** 3.0 + (-a) ** -1


def guarded(a):
    return (-a) ** 0.5 if a < 0 else a**0.5


def of_squares(a, b):
    return (a**2 + b * b) ** 0.5 + abs(a) ** 1.5 + math.exp(a) ** b + max(a, 0.5) ** 0.3


def of_numpy(a):
    return float(np.sum(np.array([a, -a]) ** 2.0) ** 0.5)


@pytest.mark.parametrize(
    ("function", "args"),
    [(even_and_odd, (1.3,)), (guarded, (1.3,)), (guarded, (-1.3,)), (of_squares, (-1.3, 0.4)), (of_numpy, (1.3,))],
)
def test_what_is_real_is_right(function, args):
    check_grads(function, args)
    for native in (False, True):
        found = ad.grad(function, native=native)(*args)
        step = 1e-6
        moved = [function(args[0] + sign * step, *args[1:]) for sign in (1.0, -1.0)]
        assert math.isclose(found, (moved[0] - moved[1]) / (2 * step), rel_tol=1e-6)


def test_infinite_numbers_are_as_python_has_them():
    for base, exponent in ((-math.inf, 0.5), (-2.0, math.inf), (-2.0, math.nan), (-math.inf, math.nan)):
        value, _ = ad.value_and_grad(lambda x, y: x**y)(base, exponent)
        expected = base**exponent
        assert value == expected or (math.isnan(value) and math.isnan(expected))


def test_what_is_not_negative_is_not_asked():
    assert "check_real" not in ad.source(ad.grad(of_squares), 1.0, 2.0)
    assert "check_real" not in ad.source(ad.grad(even_and_odd), 1.0)
    assert "check_real(x, 0.3)" in ad.source(ad.grad(lambda x: x**0.3), 1.0)
