"""What arithmetic refuses in loops is refused behind them, if only the speed tells."""

import math
import re

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


NUMBERS_TOLD = re.compile("expected a .* input, got .*")
"""What functions of ``math`` say from Python 3.14 on; machine code says what they said before."""


def compiled_text(f, *args, **options):
    return ad.value_and_grad(f, native="strict", **options).specialized(args, {}).call.emitted.text


def outcome(derivative, *args):
    """What a call gives, or the exception that it raises, and what is left of its arguments."""
    args = [np.copy(arg) for arg in args]
    try:
        found = derivative(*args)
    except (ArithmeticError, ValueError) as problem:
        found = type(problem), NUMBERS_TOLD.sub("math domain error", str(problem))
    return found, args


def assert_same(f, *args):
    expected, changed = outcome(ad.value_and_grad(f), *args)
    found, also_changed = outcome(ad.value_and_grad(f, native="strict"), *args)
    if isinstance(expected[0], type):
        assert found == expected
    else:
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    for one, other in zip(changed, also_changed, strict=True):
        np.testing.assert_array_equal(one, other)


def several(x):
    total = 0.0
    for i in range(len(x)):
        total += math.log(x[i]) + 1.0 / float(x[i] - 2.0) + math.exp(x[i])
    return total


def in_branches(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 1.0:
            continue
        if x[i] > 5.0:
            total += math.exp(x[i])
        else:
            total += math.sqrt(x[i] - 2.0) / float(x[i] - 4.0)
    return total


def nested(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += 1.0 / float(x[i] - x[j])
    return total


def powers(x):
    total = 0.0
    for i in range(len(x)):
        total += math.pow(x[i], 2.5) + abs(float(x[i] - 2.0)) ** -1.5 + math.exp(x[i]) ** 3
    return total


@pytest.mark.parametrize("f", [several, in_branches, nested, powers])
def test_checks_stand_behind_loops(f):
    text = compiled_text(f, np.linspace(2.5, 3.5, 5))
    assert "rt.refuse(" in text
    assert "rt.check_" not in text


WRONG = [-1.0, 2.0, 1000.0, 0.0, 4.0, math.inf, math.nan, 1.5]


@pytest.mark.parametrize("f", [several, in_branches, nested, powers])
def test_the_first_exception_is_raised(f):
    right = np.random.default_rng(0).uniform(2.1, 3.9, 12)
    assert_same(f, right)
    assert_same(f, right[:0])
    for one in WRONG:
        for other in WRONG:
            x = right.copy()
            x[3], x[7] = one, other
            assert_same(f, x)
            x[2], x[8] = 3.0, 3.0
            assert_same(f, x)


def writes_its_argument(x, y):
    for i in range(len(x)):
        y[i] = 1.0 / float(x[i])
    return y[0] + y[2]


def test_what_others_see_is_not_written_after_a_failure():
    x, y = np.array([1.0, 0.0, 2.0]), np.zeros(3)
    assert "rt.check_divisor" in compiled_text(writes_its_argument, x, y)
    assert_same(writes_its_argument, x, y)
    assert_same(writes_its_argument, x + 1.0, y)


def leads_to_a_place(x, table):
    total = 0.0
    for i in range(len(x)):
        total += table[int(math.exp(x[i]))] * x[i]
    return total


def leads_to_a_branch(x, table):
    total = 0.0
    for i in range(len(x)):
        if 1.0 / float(x[i]) > 0.5:
            total += table[i] * x[i]
    return total


@pytest.mark.parametrize("f", [leads_to_a_place, leads_to_a_branch])
def test_places_that_follow_from_what_is_refused_are_not_looked_at(f):
    x, table = np.array([0.5, 1.0, 0.2]), np.arange(5.0)
    assert "rt.refuse" not in compiled_text(f, x, table)
    assert_same(f, x, table)
    assert_same(f, np.array([0.5, 0.0, 1000.0]), table)


def waits(x):
    y = 1.0
    for i in range(len(x)):
        y = math.exp(y) / float(x[i])
    return y


def divides_whole_numbers(x, steps):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * (7 // steps[i])
    return total


@pytest.mark.parametrize(("f", "args"), [(waits, ([1.0, 2.0, 3.0],)), (divides_whole_numbers, ([1.0, 2.0], [1, 2]))])
def test_other_loops_check_at_once(f, args):
    args = [np.array(arg) for arg in args]
    assert "rt.refuse" not in compiled_text(f, *args)
    assert_same(f, *args)
    args[-1][1] = 0
    if f is waits:
        assert_same(f, *args)


def test_out_of_bounds_comes_first_where_it_is_first():
    def beyond(x, n):
        total = 0.0
        for i in range(n):
            total += 1.0 / float(x[i])
        return total

    slope = ad.grad(beyond, native="strict", boundscheck=True)
    with pytest.raises(ZeroDivisionError):
        slope(np.array([1.0, 0.0, 2.0]), 5)
    with pytest.raises(IndexError):
        slope(np.array([1.0, 3.0, 2.0]), 5)


def power(x, y):
    return x**y


def square(x, y):
    return x**2 * y


def power_of_math(x, y):
    return math.pow(x, y)


def inverse(x, y):
    return x**-1 * y


NUMBERS = [0.0, -0.0, 2.0, -2.0, 0.5, 3.0, -3.0, 1e300, -1e300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("f", [power, square, power_of_math, inverse])
def test_powers_refuse_what_python_refuses(f):
    compiled, interpreted = (ad.value_and_grad(f, (0, 1), native=native) for native in ("strict", False))
    for x in NUMBERS:
        for y in NUMBERS:
            expected, _ = outcome_of_numbers(interpreted, x, y)
            found, _ = outcome_of_numbers(compiled, x, y)
            first, other = (str(problem).split("\n")[0] for problem in (found, expected))  # of where, code tells less
            assert type(found) is type(expected) and first == other, (x, y)


def outcome_of_numbers(derivative, x, y):
    """The exception of a call, if it raises one."""
    try:
        return None, derivative(x, y)
    except (ArithmeticError, ValueError, ad.DifferentiationError) as problem:
        return problem, None


def with_negative_powers(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** -1 + x[i] ** -3
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_powers_of_numbers_of_numpy_refuse_nothing(dtype):
    x = np.array([1.0, 0.0, 2.0], dtype)
    with np.errstate(all="ignore"):
        expected = ad.value_and_grad(with_negative_powers)(x)
    found = ad.value_and_grad(with_negative_powers, native="strict")(x)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6 if dtype == np.float32 else 1e-14)
        assert one.dtype == other.dtype
