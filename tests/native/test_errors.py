"""What raises as Python raises as machine code, in the same words."""

import math
from decimal import Decimal

import numpy as np
import pytest

import adjoint as ad

numba = pytest.importorskip("numba")


def quotient(x, y):
    return x / y


def remainders(x, n):
    return x * (x // n) + x % n


def logarithm_and_root(x):
    return math.log(x) + math.sqrt(x)


def exponential(x):
    return math.exp(x)


def arc(x):
    return math.asin(x)


def limited(x):
    if x > 2:
        raise ValueError("too large")
    return x * x


def gamma(x):
    return math.gamma(x)


def lgamma(x):
    return math.lgamma(x)


def power_of_two(x):
    return math.exp2(x)


def whole_part(x):
    return x * int(x)


def rounded(x):
    return x * round(x)


def floor(x):
    return x * math.floor(x)


def of_numpy(x):
    return np.log(x[0]) / x[1]


def of_a_constant(x):
    return x * math.atanh(2.0)


CASES = [
    (of_a_constant, (1.0,), ValueError),
    (quotient, (1.0, 0.0), ZeroDivisionError),
    (quotient, (1.0, 2.0), None),
    (remainders, (3.5, 0), ZeroDivisionError),
    (logarithm_and_root, (0.0,), ValueError),
    (logarithm_and_root, (-1.0,), ValueError),
    (logarithm_and_root, (4.0,), None),
    (exponential, (1000.0,), OverflowError),
    (exponential, (math.inf,), None),
    (arc, (1.5,), ValueError),
    *[(f, (x,), ValueError) for f in (gamma, lgamma) for x in (0.0, -2.0)],
    *[(f, (2.5,), None) for f in (gamma, lgamma, power_of_two, whole_part, rounded, floor)],
    (gamma, (-math.inf,), ValueError),
    (gamma, (200.0,), OverflowError),
    (power_of_two, (2000.0,), OverflowError),
    *[(f, (math.nan,), ValueError) for f in (whole_part, rounded, floor)],
    *[(f, (-math.inf,), OverflowError) for f in (whole_part, rounded, floor)],
    (limited, (3.0,), ValueError),
    (of_numpy, (np.zeros(2),), None),
]


@pytest.mark.parametrize(("f", "args", "kind"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors_are_those_of_python(f, args, kind):
    interpreted, native = ad.value_and_grad(f), ad.value_and_grad(f, native="strict")
    if kind is None:
        np.testing.assert_allclose(np.hstack(native(*args)), np.hstack(interpreted(*args)), rtol=1e-14)
        return
    with pytest.raises(kind) as expected:
        interpreted(*args)
    with pytest.raises(kind) as found:
        native(*args)
    assert str(found.value) == str(expected.value)


def test_whole_numbers_that_machine_code_does_not_have_are_refused():
    with pytest.raises(OverflowError, match="too large"):
        ad.grad(whole_part, native="strict")(1e19)


def test_fast_arithmetic_refuses_nothing():
    assert ad.grad(quotient, native="strict", fastmath=True)(1.0, 0.0) == math.inf


def all_of(x, rows):
    total = 0.0
    for row in rows:
        for v in row:
            total += v * x
    return total


def number_of(x, part):
    return x * float(part)


NOT_COMPILED = [(all_of, np.ones((2, 2), np.float16), "float16")]


@pytest.mark.parametrize(("f", "argument", "reason"), NOT_COMPILED)
def test_what_is_not_compiled_is_told_at_its_line(f, argument, reason):
    for derivative in (lambda: ad.grad(f, native="strict")(2.0, argument), lambda: _pulled_back(f, 2.0, argument)):
        with pytest.raises(ad.DifferentiationError, match="AD0601") as refused:
            derivative()
        told = str(refused.value)
        assert reason in told and "test_errors.py:" in told and "^" in told


@pytest.mark.parametrize(("f", "argument"), [(all_of, [[1.0, 2.0], [3]]), (number_of, Decimal("0.5"))])
def test_what_machine_code_has_no_kind_for_is_an_object_of_python(f, argument):
    assert ad.grad(f, native="strict")(2.0, argument) == ad.grad(f)(2.0, argument)
    assert _pulled_back(f, 2.0, argument) == ad.vjp(f, 2.0, argument)[1](ad.vjp(f, 2.0, argument)[0])


def _pulled_back(f, *args):
    value, pullback = ad.vjp(f, *args, native="strict")
    return pullback(value)


def test_functions_of_numba_raise_what_they_raise_themselves():
    with pytest.raises(ZeroDivisionError):
        ad.value_and_grad(numba.njit(quotient), native="strict")(1.0, 0.0)
    assert ad.grad(numba.njit(error_model="numpy")(quotient), native="strict")(1.0, 0.0) == math.inf


def test_indices_are_checked_on_request():
    def second(a, i):
        return a[i] * 2.0

    with pytest.raises(IndexError):
        ad.grad(second, native="strict", boundscheck=True)(np.ones(3), 5)


def through_places(a, i):
    return np.sum(a[np.array([0, i])] * 2.0)


def stored_through_places(a, i):
    b = a.copy()
    b[np.array([0, i])] = 3.0 * a[:2]
    return np.sum(b * b)


def rows_of_columns(a, i):
    return np.sum(np.outer(a, a)[:, np.array([i, 0])])


@pytest.mark.parametrize("f", [through_places, stored_through_places, rows_of_columns])
def test_places_are_checked_on_request(f):
    a = np.array([1.0, 2.0, 3.0])
    gradient = ad.grad(f, native="strict", boundscheck=True)
    for i in (2, -3):
        np.testing.assert_allclose(gradient(a, i), ad.grad(f)(a, i))
    for i in (3, -4):
        with pytest.raises(IndexError):
            gradient(a, i)


def test_options_are_part_of_the_derivative():
    import pickle

    gradient = pickle.loads(pickle.dumps(ad.grad(quotient, fastmath=True, boundscheck=True)))
    assert repr(gradient) == "grad(quotient, native=True, fastmath=True, boundscheck=True)"


def test_matrices_and_products():
    def cubes(x):
        return np.sum(x * x * x)

    x = np.arange(3.0)
    np.testing.assert_allclose(ad.hessian(cubes, native="strict")(x), ad.hessian(cubes)(x))
    np.testing.assert_allclose(ad.jacobian(lambda x: x * x, native="strict")(x), np.diag(2 * x))
    (product,) = ad.hvp(cubes, (x,), (np.ones(3),), native="strict")
    np.testing.assert_allclose(product, 6 * x)


def test_functions_may_ask_for_it_themselves():
    @ad.differentiable(native=True, fastmath=True)
    def share(x, y):
        return x / y

    derivative = ad.grad(share)
    assert repr(derivative) == "grad(share, native=True, fastmath=True)"
    assert derivative(1.0, 0.0) == math.inf
    assert not ad.grad(share, native=False).native
    assert share(1.0, 2.0) == 0.5


def test_a_value_that_may_be_none():
    def held(x):
        table = {}
        for i in range(2):
            previous = table.get(i)
            table[i] = x * i
            if previous is not None:
                x = x + previous
        return x

    assert ad.grad(held, native="strict")(2.0) == ad.grad(held)(2.0) == 1.0


def largest_of_the_rest(x, n):
    total = 0.0
    for i in range(n):
        total += max(x[i:]) - min(x, key=abs)
    return total


@pytest.mark.parametrize("native", [False, "strict"])
def test_the_largest_of_nothing(native):
    gradient = ad.grad(largest_of_the_rest, native=native)
    np.testing.assert_array_equal(gradient(np.array([-1.0, 3.0, 2.0]), 3), [-3.0, 2.0, 1.0])
    for x, n in ((np.ones(2), 3), (np.ones(0), 1)):
        with pytest.raises(ValueError, match="empty"):
            largest_of_the_rest(x, n)
        with pytest.raises(ValueError, match="empty"):
            gradient(x, n)
