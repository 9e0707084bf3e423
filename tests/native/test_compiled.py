"""Compiled derivatives are those that run as Python."""

import math
import pickle
import warnings

import numpy as np
import pytest

import adjoint as ad

numba = pytest.importorskip("numba")


def flow(s, r, b, x, y, z):
    return s * (y - x), x * (r - z) - y, x * y - b * z


def moved(u, h, k):
    return u[0] + h * k[0], u[1] + h * k[1], u[2] + h * k[2]


def lorenz_tuple(s, r, b, h, n):
    u = (1.0, 1.0, 1.0)
    for _ in range(n):
        k1 = flow(s, r, b, *u)
        k2 = flow(s, r, b, *moved(u, 0.5 * h, k1))
        k3 = flow(s, r, b, *moved(u, 0.5 * h, k2))
        k4 = flow(s, r, b, *moved(u, h, k3))
        for weight, k in ((1, k1), (2, k2), (2, k3), (1, k4)):
            u = moved(u, weight * h / 6, k)
    return u[0] + u[1] + u[2]


def lorenz_scalar(s, r, b, h, n):
    x = y = z = 1
    for _ in range(n):
        dx, dy, dz = s * (y - x), x * (r - z) - y, x * y - b * z
        u, v, w = x + 0.5 * h * dx, y + 0.5 * h * dy, z + 0.5 * h * dz
        x += h * s * (v - u)
        y += h * (u * (r - w) - v)
        z += h * (u * v - b * w)
    return x + y + z


def fill_flow(s, r, b, u, k):
    k[0] = s * (u[1] - u[0])
    k[1] = u[0] * (r - u[2]) - u[1]
    k[2] = u[0] * u[1] - b * u[2]


def lorenz_array(s, r, b, h, n):
    u, k, w = np.ones(3), np.zeros(3), np.zeros(3)
    for _ in range(n):
        fill_flow(s, r, b, u, k)
        for i in range(3):
            w[i] = u[i] + 0.5 * h * k[i]
        fill_flow(s, r, b, w, k)
        for i in range(3):
            u[i] += h * k[i]
    return u[0] + u[1] + u[2]


def exponential(x, tolerance):
    y, t, k = 0.0, 1.0, 0
    while abs(t) > tolerance:
        k += 1
        y = y + t
        t = t * x / k
    return y


def horner(c, x):
    y = 0.0
    i = len(c) - 1
    while i >= 0 and abs(y) < 1e6:
        y = y * x + c[i]
        i -= 1
    return y


def log_sum_exp(x):
    m = x[0]
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
    s = 0.0
    for i in range(len(x)):
        s += math.exp(x[i] - m)
    return m + math.log(s)


def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def energy(x):
    e = 0.0
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            e += 1 / math.sqrt((x[i] - x[j]) ** 2 + 0.1)
    return e


def newton(a):
    x = a
    for _ in range(50):
        following = x - (x * x - a) / (2 * x)
        if abs(following - x) < 1e-12:
            return following
        x = following
    return x


def singular(x):
    return abs(x[0]) + math.sqrt(x[1]) * x[2] ** 1.5 + max(x[0], x[2]) + math.lgamma(x[2] + 1.0)


def stencil(u, n):
    u = u.copy()
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] += 0.1 * (u[i - 1, j] + u[i, j + 1] - 2 * u[i, j])
    total = 0.0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += u[i, j] ** 2
    return total


LORENZ = (10.0, 28.0, 8 / 3, 0.001, 100)
CASES = [
    (lorenz_tuple, LORENZ, (0, 1, 2)),
    (lorenz_scalar, LORENZ, (0, 1, 2)),
    (lorenz_array, LORENZ, (0, 1, 2)),
    (exponential, (0.5, 1e-9), 0),
    (horner, (np.array([1.0, 2.0, -3.0, 0.5]), 1.3), (0, 1)),
    (log_sum_exp, (np.array([0.3, 2.0, 1.0, 2.5]),), 0),
    (logistic, (3.1, 0.3, 20), (0, 1)),
    (energy, (np.array([0.0, 1.0, 0.4, 3.0]),), 0),
    (newton, (2.0,), 0),
    (singular, (np.array([0.0, 2.0, 0.7]),), 0),
    (stencil, (np.arange(20.0).reshape(4, 5), 3), 0),
]


def same(one, other):
    if isinstance(one, tuple):
        assert isinstance(other, tuple) and len(one) == len(other)
        for mine, theirs in zip(one, other):
            same(mine, theirs)
        return
    assert isinstance(other, np.ndarray) == isinstance(one, np.ndarray)
    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("f", "args", "wrt"), CASES, ids=lambda part: getattr(part, "__name__", ""))
def test_gradients_are_those_of_the_interpreted_form(f, args, wrt):
    same(ad.grad(f, wrt)(*args), ad.grad(f, wrt, native="strict")(*args))


def test_a_long_integration():
    args = (10.0, 28.0, 8 / 3, 0.0001, 100_000)
    same(ad.grad(logistic, (0, 1))(3.1, 0.3, 100_000), ad.grad(logistic, (0, 1), native="strict")(3.1, 0.3, 100_000))
    gradient = ad.grad(lorenz_scalar, (0, 1, 2), native="strict")(*args)
    value, tangent = ad.jvp(lorenz_scalar, args, (0.3, -0.2, 0.7, None, None), native="strict")
    assert tangent == pytest.approx(np.dot(gradient, (0.3, -0.2, 0.7)), rel=1e-9)
    assert value == pytest.approx(numba.njit(lorenz_scalar)(*args), rel=1e-9)


def test_value_and_grad_and_pullbacks():
    x = np.array([0.3, 2.0, 1.0, 2.5])
    same(ad.value_and_grad(log_sum_exp)(x), ad.value_and_grad(log_sum_exp, native="strict")(x))
    value, pullback = ad.vjp(logistic, 3.1, 0.3, 20, native="strict")
    expected, interpreted = ad.vjp(logistic, 3.1, 0.3, 20)
    same(expected, value)
    for _ in range(2):
        same(interpreted(2.0)[:2], pullback(2.0)[:2])


def test_functions_of_numba_are_native_without_asking():
    f = numba.njit(logistic)
    derivative = ad.grad(f)
    assert derivative.native
    same(ad.grad(logistic)(3.1, 0.3, 20), derivative(3.1, 0.3, 20))
    assert derivative.specialized((3.1, 0.3, 20), {}).call.is_compiled
    assert not ad.grad(f, native=False).native


def test_layouts_of_arrays():
    gradient = ad.grad(stencil, native="strict")
    x = np.arange(40.0).reshape(8, 5)
    for array in (x, np.asfortranarray(x), x[::2], x.T):
        same(ad.grad(stencil)(array, 2), gradient(array, 2))
    frozen = x.copy()
    frozen.flags.writeable = False
    same(ad.grad(stencil)(x, 2), gradient(frozen, 2))


def rebound(x, steps):
    y = np.zeros(len(x))
    for _ in range(steps):
        slope = np.empty(len(x))
        slope[0] = x[0]
        for i in range(1, len(x)):
            slope[i] = x[i] * y[i - 1]
        following = np.empty(len(x))
        for i in range(len(x)):
            following[i] = y[i] + 0.1 * slope[i]
        y = following
    return np.sum(y)


def test_arrays_made_anew_in_each_iteration_and_handed_to_the_next():
    x = np.array([1.3, 0.7, 0.4])
    found = ad.grad(rebound, native="strict")(x, 3)
    np.testing.assert_allclose(found, ad.grad(rebound)(x, 3), rtol=1e-12)
    np.testing.assert_allclose(found, [0.32128, 0.03952, 0.00091], rtol=1e-12)


def test_single_precision_stays():
    def f(x):
        total = x[0] * 0.5
        for i in range(len(x)):
            total = total + 0.3 * x[i] * x[i]
        return total

    x = np.array([1.0, 2.0], np.float32)
    gradient = ad.grad(f, native="strict")(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(f)(x), rtol=1e-6)


def weighted(layers, xs):
    y = 0.0
    for i in range(len(layers)):
        w, b = layers[i]
        y = math.tanh(w * y + b) + xs[i]
    return y


def test_lists():
    args = ([(0.3, 1.0), (2.0, -0.5)], [0.1, 0.2])
    expected = ad.grad(weighted, (0, 1))(*args)
    gradient = ad.grad(weighted, (0, 1), native="strict")(*args)
    assert [list(map(type, part)) for part in gradient] == [list(map(type, part)) for part in expected]
    for mine, theirs in zip(expected, gradient):
        np.testing.assert_allclose(theirs, mine, rtol=1e-12)


def stack_machine(x, program):
    for name, value in program:
        if name == "mul":
            x = x * value
        else:
            x = -x
    return x


def test_lists_of_several_kinds_run_as_python():
    program = [("mul", 2.0), ("neg", None), ("mul", 4.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)
        assert ad.grad(stack_machine, native=True)(3.0, program) == -8.0


def test_unused_arguments_need_no_type():
    def f(x, mode, table):
        return x * x if mode == "square" else x

    assert ad.grad(f, native="strict")(3.0, "square", object()) == 6.0


def of_one_or_two(x, y):
    return np.sum(x * x) if x is y else np.sum(x)


def test_what_cannot_be_compiled_runs_as_python_with_a_warning():
    with pytest.warns(ad.DifferentiationWarning, match="AD0601") as found:
        gradient = ad.grad(of_one_or_two, native=True)
        x = np.ones(2)
        assert gradient(x, x).tolist() == [2.0, 2.0]
        assert gradient(x, np.ones(2)).tolist() == [1.0, 1.0]
    assert len(found) == 1


def test_strict_refuses():
    with pytest.raises(ad.DifferentiationError, match="AD0601"):
        ad.grad(of_one_or_two, native="strict")(np.ones(2), np.ones(2))


def test_other_values_are_refused():
    with pytest.raises(ValueError, match="native"):
        ad.grad(logistic, native="yes")


def test_a_missing_compiler_is_named(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ad.DifferentiationError, match=r"AD0601(.|\n)*adjoint\[native\]"):
        ad.grad(logistic, native=True)


def test_errors_of_the_program_come_through():
    def f(x, n):
        if n > 3:
            raise TypeError("too many")
        return x * x

    gradient = ad.grad(f, native="strict")
    assert gradient(3.0, 1) == 6.0
    with pytest.raises(TypeError, match="too many"):
        gradient(3.0, 4)


def test_native_is_part_of_the_derivative():
    gradient = pickle.loads(pickle.dumps(ad.grad(logistic, (0, 1), native=True)))
    assert gradient.native is True
    assert "native=True" in repr(gradient)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(ad.grad(logistic, (0, 1))(3.1, 0.3, 5), gradient(3.1, 0.3, 5))


def test_nested_operators_are_compiled_with_the_outermost():
    def f(x):
        return ad.grad(lambda t: t * t * x, native=True)(2.0) * x

    same(ad.grad(f)(3.0), ad.grad(f, native="strict")(3.0))


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "i4", "?"])
def test_arrays_out_of_a_pickle_have_dtypes_of_their_own(dtype: str) -> None:
    weights = np.array([1, 0, 1], dtype)
    stored, x = pickle.loads(pickle.dumps((weights, np.array([0.5, -1.0, 2.0]))))

    def weighted(x: np.ndarray, weights: np.ndarray) -> float:
        return np.sum(np.sin(x) * weights).real

    gradient = ad.grad(weighted, native="strict")
    np.testing.assert_allclose(gradient(x, stored), np.cos(x) * weights.real)
    np.testing.assert_allclose(gradient(np.array(x), weights), gradient(x + 0.0, stored))
