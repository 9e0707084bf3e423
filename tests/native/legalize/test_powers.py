"""Powers and shifts of whole numbers, of which machine code has 64 bits and no fractions."""

import math

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def outcome(derivative, *args):
    try:
        return derivative(*args)
    except (ArithmeticError, ValueError) as problem:
        return type(problem), str(problem)


def calculated(x, which, n, y):
    if which == 0:
        return x * 3 ** (n - 1) + (n + 2) ** n / 4
    if which == 1:
        return x * n**-2
    if which == 2:
        return x * (77 >> n) + x * (-77 >> n)
    if which == 3:
        return x * (7 << n)
    if which == 4:
        return y[0] ** n * x
    if which == 5:
        return float(y[1]) ** n * x
    if which == 6:
        return math.pow(y[0], n) * x
    if which == 7:
        return math.pow(y[0], -1) * math.ldexp(x, n)
    if which == 8:
        return math.ldexp(x, 1000 * n)
    if which == 9:
        return np.sum(np.arange(1, 4) ** n) * x
    if which == 10:
        return np.sum(np.arange(0, 5, n)) * x
    if which == 11:
        quotient, rest = divmod(x, float(n))
        return quotient + rest
    return abs((x * 0j) ** n)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_they_are_and_refuse_what_they_do_in_python():
    interpreted, native = ad.value_and_grad(calculated), ad.value_and_grad(calculated, native="strict")
    refused = set()
    for which in range(13):
        for n in (-400, -3, -1, 0, 2, 61, 70):
            if which in (0, 3, 9) and n > 2:
                continue  # they wrap
            args = (1.5, which, n, np.array([0.0, 0.1]))
            expected, found = outcome(interpreted, *args), outcome(native, *args)
            if isinstance(expected[0], type):
                refused.add(expected[0])
                assert found == expected, (which, n)
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=f"{which}, {n}")
    assert refused == {ValueError, ZeroDivisionError, OverflowError}


def remainder(x, n, m):
    return x * (n**m % 7) + (1 << m)


def test_fractions_and_bits_that_machine_code_does_not_have_are_refused():
    derivative = ad.value_and_grad(remainder, native="strict")
    assert derivative(2.0, 3, 4) == (2.0 * (81 % 7) + 16, 81 % 7)
    with pytest.raises(ZeroDivisionError):
        derivative(2.0, 0, -1)
    with pytest.raises(ValueError, match="no fraction"):
        derivative(2.0, 3, -1)
    with pytest.raises(OverflowError, match="too large"):
        derivative(2.0, 1, 64)


def test_powers_modulo_a_number() -> None:
    def f(x):
        total = 0.0
        for base in (2, -2, 3):
            total += x * pow(base, 2, 5)
        return total

    assert ad.grad(f, native=True)(1.5) == ad.grad(f)(1.5) == 12.0
