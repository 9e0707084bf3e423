"""Derivatives of any order along a direction: against nested forward mode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint.runtime.copies import copy_as_it_lies


def nested(f, x, x_dot, order):
    """The same by forward mode of forward mode, whose cost doubles with each order."""
    found, g = [f(x)], f
    for _ in range(order):
        g = (lambda h: lambda x: ad.jvp(h, (x,), (x_dot,))[1])(g)
        found.append(g(x))
    return found


def check(f, x, x_dot, order):
    for one, other in zip(ad.jet(f, (x,), (x_dot,), order), nested(f, x, x_dot, order), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
        assert np.shape(one) == np.shape(other)


SCALARS = {
    "sin": lambda x: math.sin(x),
    "tan": lambda x: math.tan(x) * x,
    "quotient": lambda x: math.log(x) / x,
    "root": lambda x: math.sqrt(x) ** 3,
    "power": lambda x: x**2.5,
    "reciprocal": lambda x: x**-2 + (3.0 - x) / (x * x + 1),
    "exponential": lambda x: 2.0**x,
    "varying exponent": lambda x: x**x,
    "inverse": lambda x: math.atan(x) + math.asin(x / 2) + math.acosh(x + 1),
    "hyperbolic": lambda x: math.tanh(x) * abs(x) + math.cosh(x) / math.sinh(x),
    "gamma": lambda x: math.gamma(x) + math.lgamma(x),
    "error function": lambda x: math.erf(x),
    "several arguments": lambda x: math.hypot(x, 2.0) * math.atan2(x, 2.0 + x),
    "log1p": lambda x: math.log1p(x) * math.expm1(x),
    "polynomial": lambda x: x**3 - 2 * x**2 + x,
    "choices": lambda x: max(x, 0.5) * min(x, 3.0) + x % 0.7,
    "bessel": lambda x: scipy.special.j0(x),
    "truth values": lambda x: (x > 0.5) + x * ((x > 0.9) - x) - (x > 0.1) / x,
    "gradient": lambda x: x * ad.grad(lambda y: math.sin(y) * y)(x),
}


@pytest.mark.parametrize("name", SCALARS)
def test_of_functions_of_numbers(name):
    check(SCALARS[name], 0.7, 1.3, 3)


def in_place(x):
    a = np.zeros(4)
    for i in range(3):
        a[i + 1] = a[i] * x[i] + math.sin(x[i])
    a[1:] *= 2.0
    b = a[1:]
    b += x
    a[a > 1.5] = 0.5
    return a @ a


def lists(x):
    out = [x[i] * x[i] for i in range(3)]
    out[0] = out[1] * out[2]
    return np.array(out) * x


def steps(x):
    y = x.copy()
    for _ in range(5):
        y = y + 0.1 * np.tanh(y) * np.roll(y, 1)
    return y


def momentum(x):
    x = x.copy()
    velocity = np.zeros_like(x)
    for _ in range(4):
        velocity[:] = 0.9 * velocity - 0.1 * (x**3 - x)
        x += velocity
    return np.sum(x * velocity)


def newton(x):
    y = x
    while True:
        step = (y * y - x) / (2 * y)
        y = y - step
        if abs(step) < 1e-12:
            return y


ARRAYS = {
    "in place": in_place,
    "lists": lists,
    "steps": steps,
    "norm": lambda x: np.linalg.norm(x),
    "where": lambda x: np.where(x > 0.5, x**3, np.sin(x)),
    "reductions": lambda x: np.max(x) * np.prod(x) + np.std(x),
    "shapes": lambda x: np.concatenate([x, x * x])[1:5] * np.stack([x, x**2]).T.sum(),
    "einsum": lambda x: np.einsum("i,j->ij", x, x),
    "broadcasting": lambda x: (x[:, None] * x + 1.0).sum(axis=0) * np.cumsum(x),
    "roots": lambda x: np.sqrt(np.abs(x)) * np.power(x, 0.5),
    "logaddexp": lambda x: np.logaddexp(x, 0.3),
    "sort": lambda x: np.sort(x) * x,
    "made like": momentum,
    "moduli": lambda x: abs(x[0] + 1j * x[1]) * np.abs(np.exp(1j * x) * x),
    "arrays of numbers": lambda x: np.array([x[0] * x[1], 2.0, x[2] ** 2]) * np.array([[x[0]], [x[1]]]),
    "pad": lambda x: np.pad(x, (1, 2)) * np.pad(x, (1, 2)) ** 2,
    "median": lambda x: np.median(x) * np.interp(x, [0.0, 1.0], [2.0, 5.0]),
    "truth values": lambda x: (x[1] > 0.5) + x * ((x[0] > 0.9) - x) - (x > 0.1) / x + x * np.bool_(True),
    "fft": lambda x: np.abs(np.fft.fft(x)) ** 2,
}
MATRICES = {
    "inv": lambda a: np.linalg.inv(a),
    "det": lambda a: np.linalg.det(a) + np.linalg.slogdet(a)[1],
    "solve": lambda a: np.linalg.solve(a, np.ones(3)),
    "cholesky": lambda a: np.linalg.cholesky(a @ a.T),
    "eigh": lambda a: np.linalg.eigh(a + a.T)[0],
    "products": lambda a: np.trace(a @ a @ a),
}
X, X_DOT = np.array([0.3, 0.8, 0.55]), np.array([1.0, -0.5, 0.25])
A, A_DOT = np.array([[0.9, 0.3, 0.4], [0.5, 0.7, 0.6], [0.2, 0.8, 0.35]]), np.outer(X, X_DOT) + np.eye(3)


@pytest.mark.parametrize("name", ARRAYS)
def test_of_functions_of_arrays(name):
    check(ARRAYS[name], X, X_DOT, 3)


@pytest.mark.parametrize("name", MATRICES)
def test_of_functions_of_matrices(name):
    check(MATRICES[name], A, A_DOT, 2)


def test_of_loops_that_end_by_a_condition():
    check(newton, 1.7, 1.0, 3)


@dataclass
class Model:
    w: np.ndarray
    b: float


def test_of_structures():
    def f(model, x):
        return np.sum(x @ model.w + model.b**2), {"b": model.b * x}

    point, direction = Model(X, 0.5), Model(X_DOT, 1.0)
    value, first, second = ad.jet(f, (point, np.ones(3)), (direction, None), order=2)
    assert value[0] == f(point, np.ones(3))[0]
    assert first[0] == pytest.approx(X_DOT.sum() + 3.0 * 0 + 1.0)
    assert second[0] == 2.0
    np.testing.assert_array_equal(first[1]["b"], np.ones(3))
    np.testing.assert_array_equal(second[1]["b"], np.zeros(3))
    assert ad.jet(lambda m: m, (point,), (direction,), order=1)[1].b == 1.0


def test_of_objects_that_can_be_called():
    @dataclass
    class Line:
        slope: float

        def __call__(self, x):
            return self.slope * x

    line = ad.jet(lambda x: Line(x * x), (3.0,), (1.0,), order=2)
    assert line[0] == Line(9.0)
    assert (line[1].slope, line[2].slope) == (6.0, 2.0)
    assert ad.jet(lambda line, x: line(x) ** 2, (Line(3.0), 2.0), (Line(1.0), None), 2) == (36, 24, 8)


def test_arguments_are_not_written():
    def f(x):
        x[0] = x[1] * x[1]
        return x[0] * x[2]

    x = X.copy()
    check_value = ad.jet(f, (x,), (X_DOT,), order=2)
    np.testing.assert_array_equal(x, X)
    assert check_value[0] == f(X.copy())


def test_what_counts_as_a_constant():
    assert ad.jet(lambda x: x * ad.stop_gradient(x), (2.0,), (1.0,), order=2) == (4.0, 2.0, 0.0)
    assert ad.jet(lambda x: 3.0, (2.0,), (1.0,), order=2) == (3.0, 0.0, 0.0)
    assert ad.jet(lambda x: x * x, (2.0,), (1.0,), order=0) == (4.0,)


def test_a_handler_of_the_user_does_not_hide_what_is_not_covered():
    def f(x, table):
        try:
            return np.interp(x, table, table) * x
        except Exception:
            return 0.0

    try:
        found = ad.jet(f, (0.5, np.array([0.0, 1.0])), (1.0, None), order=2)
    except ad.DifferentiationError:
        return
    np.testing.assert_allclose(found, (0.25, 1.0, 2.0))


def test_coefficients_cost_their_square():
    order = 62
    found = ad.jet(lambda x: math.exp(x) * math.sin(x), (0.0,), (1.0,), order)
    assert found[order] == pytest.approx((2 ** (order / 2)) * math.sin(order * math.pi / 4))


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def even(x, n):
    return math.sin(x) if n <= 0 else x * odd(x, n - 1)


def odd(x, n):
    return math.exp(x) if n <= 0 else x + even(x * x, n - 1)


def filled(a, place, x):
    if place < len(a):
        a[place] = a[place - 1] * x + place
        filled(a, place + 1, x)


def written_by_recursion(x):
    a = np.ones(4) * x
    filled(a, 1, x)
    return a @ a


def checkpointed(x):
    for _ in ad.checkpointed(range(5), snapshots=2):
        x = x + 0.1 * math.sin(x)
    return ad.checkpoint(math.exp)(x) * x


def gradient_of_recursion(x):
    return x * ad.grad(lambda y: power(y, 3) * y)(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: power(x, 4) * math.sin(x),
        lambda x: even(x, 5),
        written_by_recursion,
        checkpointed,
        gradient_of_recursion,
    ],
)
def test_of_functions_that_are_called(f):
    check(f, 0.7, 1.3, 3)


class TestDeclaredDerivatives:
    """Their own source is differentiated further, whatever the function itself says."""

    def test_of_another_function_than_that_of_the_value(self):
        def own(x):
            return x * x

        ad.derivative_of(own)(lambda x: (own(x), lambda seed: math.sin(x) * seed))
        check(lambda x: own(x) * x, 0.5, 1.3, 4)
        check(lambda x: own(x) + (own(0.5 * x) if x > 0 else x), 0.5, 1.3, 3)

    def test_of_a_value_that_the_pullback_keeps(self):
        def cbrt(x):
            return float(np.cbrt(x))

        @ad.derivative_of(cbrt)
        def declared(x):
            y = cbrt(x)
            return y, lambda seed: seed / (3.0 * y * y)

        found = ad.jet(cbrt, (8.0,), (1.0,), 5)
        expected = [2.0]
        for n in range(5):
            expected.append(expected[-1] * (1 / 3 - n) / 8.0)
        np.testing.assert_allclose(found, expected)
        check(lambda x: cbrt(x * x) * x, 1.5, 0.3, 3)

    def test_by_an_adjoint_beyond_the_order_of_nested_forward_mode(self):
        def tanh(x):
            return math.tanh(x)

        ad.derivative_of(tanh, adjoint=lambda result, seed: (1.0 - result * result) * seed)
        np.testing.assert_allclose(
            ad.jet(lambda x: tanh(x) * x, (0.5,), (1.3,), 7), ad.jet(lambda x: math.tanh(x) * x, (0.5,), (1.3,), 7)
        )

    def test_by_a_differential(self):
        def product(a, b):
            return np.einsum("ij,jk", a, b)

        ad.differential_of(product)(lambda a, b: (a @ b, lambda da, db: da @ b + a @ db))
        check(lambda x: np.sum(product(x, x) @ x), A[:2, :2], A_DOT[:2, :2], 3)

    def test_by_a_pullback_that_writes(self):
        def ordered(v):
            return np.sort(v)

        @ad.derivative_of(ordered)
        def declared(v):
            order = np.argsort(v)

            def pullback(seed):
                found = np.zeros_like(v)
                found[order] = seed * v
                return found

            return ordered(v), pullback

        check(lambda v: np.sum(ordered(v) ** 2), np.array([0.5, 0.1, 0.7]), np.ones(3), 3)

    def test_of_several_values(self):
        def both(x, y):
            return x * y, x + y

        @ad.derivative_of(both)
        def declared(x, y):
            return (x * y, x + y), lambda seed: (seed[0] * y + seed[1], seed[0] * x + seed[1])

        check(lambda x: both(x, x * x)[0] * both(2.0, x)[1], 0.5, 1.3, 3)


def cube(x):
    return x * x * x


def transposed_and_written(m):
    a = m.copy()
    d = np.einsum("ij->ji", a)
    d[0] += m[0]
    return np.sum(a * m)


class TestRefusals:
    def test_views_of_which_the_rule_makes_no_view(self):
        with pytest.raises(ad.DifferentiationError, match="AD0423"):
            ad.jet(transposed_and_written, (A,), (A_DOT,), order=2)

    def test_what_the_function_raises_is_raised(self):
        def f(x):
            if x > 1:
                raise ValueError("too large")
            return x

        with pytest.raises(ValueError, match="too large"):
            ad.jet(f, (2.0,), (1.0,), order=2)

    def test_solvers(self):
        from scipy import optimize

        def f(x):
            return optimize.minimize_scalar(lambda z: (z - x) ** 2 + z**4).x

        with pytest.raises(ad.DifferentiationError, match="AD0423") as refusal:
            ad.jet(f, (2.0,), (1.0,), order=2)
        assert "a function whose derivative takes derivatives of another one is not covered" in str(refusal.value)
        assert "minimize_scalar" in str(refusal.value)

    def test_functions_of_cotangents(self):
        def f(x):
            return ad.with_derivative(x * x, lambda seed: 2.0 * seed) * x

        with pytest.raises(ad.DifferentiationError) as refusal:
            ad.jet(f, (2.0,), (1.0,), order=2)
        assert "error[AD0423]: ad.jet does not cover this" in str(refusal.value)
        assert "'with_derivative' changes cotangents, and a series has none" in str(refusal.value)

    def test_declared_derivatives_that_keep_lists(self):
        def f(x):
            return x * x

        @ad.derivative_of(f)
        def declared(x):
            kept = []
            for i in range(int(x) + 1):
                kept.append(2.0 * x)
            return x * x, lambda seed: kept[-1] * seed

        with pytest.raises(ad.DifferentiationError, match="of this is declared, with a list, dict or object"):
            ad.jet(lambda x: f(x) * x, (2.0,), (1.0,), order=2)

    @pytest.mark.parametrize("order", [-1, 1.5, True, "2"])
    def test_orders(self, order):
        with pytest.raises(ad.DifferentiationError, match=r"the order of ad\.jet is a whole number from 0"):
            ad.jet(math.sin, (2.0,), (1.0,), order=order)

    def test_what_forward_mode_refuses(self):
        with pytest.raises(ad.DifferentiationError, match="AD0204"):
            ad.jet(lambda x: math.sin(x) * float(str(x)), (2.0,), (1.0,), order=2)

    def test_tangents_of_another_structure(self):
        with pytest.raises(ad.DifferentiationError, match="AD0409"):
            ad.jet(cube, (2.0,), (np.ones(2),), order=2)

    def test_in_code_that_is_differentiated(self):
        with pytest.raises(ad.DifferentiationError, match=r"ad\.jet inside other code is not covered"):
            ad.grad(lambda x: ad.jet(cube, (x,), (1.0,), 2)[2])(1.0)


Layer = ad.Fn[[np.ndarray, float], np.ndarray]
Pair = ad.Fn[[float], tuple[float, float]]


def test_function_values_known_only_at_run_time() -> None:
    declared = ad.differentiable_function(
        lambda v, k: (np.sin(v) * k, lambda ct: (ct * np.cos(v) * k, np.sum(ct * np.sin(v))))
    )
    kept = {"visible": lambda v, k: np.sin(v) * k, "declared": declared, "pair": lambda x: (x * x, math.sin(x))}
    of = lru_cache(lambda name: kept[name])

    def f(v, k, name):
        layer: Layer = of(name)
        for _ in range(3):
            v = layer(v, k) + v
        return np.sum(v)

    def known(v, k):
        for _ in range(3):
            v = np.sin(v) * k + v
        return np.sum(v)

    def product(x):
        both: Pair = of("pair")
        a, b = both(x)
        return a * b

    point, direction = (np.array([0.3, 0.4]), 0.5), (np.array([1.0, -0.2]), 0.7)
    expected = ad.jet(known, point, direction, 3)
    for name in ("visible", "declared"):
        np.testing.assert_allclose(ad.jet(f, (*point, name), (*direction, None), 3), expected, rtol=1e-12)
    np.testing.assert_allclose(
        ad.jet(product, (0.7,), (1.0,), 3), ad.jet(lambda x: x * x * math.sin(x), (0.7,), (1.0,), 3), rtol=1e-12
    )

    def written(v):
        layer: Layer = of("visible")
        w = layer(v, 0.3)
        w[0] = 1.0
        return np.sum(w)

    with pytest.raises(ad.DifferentiationError, match="a function value beside memory that is written"):
        ad.jet(written, (point[0],), (direction[0],), 2)


def test_arrays_lie_as_they_are_given() -> None:
    """What is a view of an argument, and what is a copy, is told by how that lies."""

    def f(a, x):
        w = a.ravel()
        w[1] = x * x
        return np.sum(a * a) + w[1]

    a, direction = np.arange(6.0).reshape(3, 2), np.ones((3, 2))
    for lies in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[::-1]):
        value, first, second = ad.jet(f, (lies, 0.7), (np.asfortranarray(direction), 1.0), 2)
        np.testing.assert_allclose(
            (value, first), ad.jvp(f, (copy_as_it_lies(lies), 0.7), (direction, 1.0)), rtol=1e-12
        )
        other = ad.jet(f, (lies, 0.7), (direction, 1.0), 2)
        np.testing.assert_allclose((value, first, second), other, rtol=1e-12)


class TestAux:
    def test_behind_the_derivatives(self):
        def f(x):
            return np.sum(x**3), ("seen", 2.0 * x)

        value, first, second, (text, doubled) = ad.jet(
            f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),), 2, has_aux=True
        )
        assert (value, first, second, text) == (9.0, 3.0, 6.0, "seen")
        assert doubled.tolist() == [2.0, 4.0]

    def test_of_what_gives_no_pair(self):
        with pytest.raises(ad.DifferentiationError, match="AD0407"):
            ad.jet(lambda x: x * x, (2.0,), (1.0,), 2, has_aux=True)


@dataclass
class Weight:
    value: float


CAPTURED = Weight(3.0)


def test_what_is_captured_is_a_constant() -> None:
    """Also where it is an argument: only under that name it moves."""
    f = lambda w, x: CAPTURED.value * w.value * x
    direction = ad.grad(f)(CAPTURED, 1.0)
    assert ad.jet(f, (CAPTURED, 2.0), (direction, 0.0), 2)[1:] == (18.0, 0.0)
    assert ad.jvp(f, (CAPTURED, 2.0), (direction, 0.0))[1] == 18.0


def test_what_is_captured_an_argument_and_written_is_refused() -> None:
    def f(w, x):
        CAPTURED.value = w.value * x
        return w.value * x

    direction = ad.grad(lambda w, x: w.value * x)(Weight(3.0), 1.0)
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.jet(f, (CAPTURED, 2.0), (direction, 1.0), 2)
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.jet(f, (CAPTURED, 2.0), (None, 1.0), 2)


def test_what_is_outside_is_left_as_it_was() -> None:
    """Lists and dicts outside are given no series."""
    history, table = [1.0], {"k": 2.0}

    def f(x):
        history.append(x * history[-1])
        table["k"] = table["k"] * x
        return history[-1] * table["k"]

    assert ad.jet(f, (3.0,), (1.0,), 2) == (18.0, 12.0, 4.0)
    assert (history, table) == ([1.0], {"k": 2.0})
