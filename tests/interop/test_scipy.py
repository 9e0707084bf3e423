"""SciPy's solvers with our derivatives, compared with what they find without."""

import numpy as np
import pytest
from numba import njit
from scipy import integrate, optimize
from scipy.sparse import diags_array, issparse

import adjoint as ad
from adjoint.interop import scipy as solvers

T = np.linspace(0.0, 2.0, 25)


def chain(x, scale=1.0):
    """Residuals of Rosenbrock's function of any length."""
    r = np.zeros(2 * (len(x) - 1))
    for i in range(len(x) - 1):
        r[2 * i] = 10.0 * scale * (x[i + 1] - x[i] ** 2)
        r[2 * i + 1] = 1.0 - x[i]
    return r


def pattern(n):
    p = np.zeros((2 * (n - 1), n), bool)
    for i in range(n - 1):
        p[2 * i, i] = p[2 * i, i + 1] = p[2 * i + 1, i] = True
    return p


@pytest.mark.parametrize("sparsity", [None, pattern(6)])
def test_least_squares(sparsity):
    start = np.full(6, -0.5)
    found = solvers.least_squares(chain, start, (2.0,), sparsity=sparsity)
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-8)
    assert issparse(found.jac) == (sparsity is not None)
    assert np.all(start == -0.5)
    assert found.nfev < 60


def test_least_squares_of_compiled_functions():
    @njit
    def bend(x):
        return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])

    found = solvers.least_squares(bend, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-8)
    assert solvers.VectorFunction(bend, np.ones(2)).native


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root_of_a_structure(method):
    def equations(p):
        return [p["a"] + p["b"][0] - 3.0, p["a"] * p["b"][1] - 2.0, p["b"][0] ** 2 - p["b"][1] - 2.0]

    found = solvers.root(equations, {"a": 1.3, "b": np.array([1.7, 1.6])}, method=method, tol=1e-10)
    assert found.success
    np.testing.assert_allclose(equations(found.x), 0.0, atol=1e-8)
    assert type(found.x["a"]) is float and found.x["b"].shape == (2,)


def test_root_of_a_number():
    assert solvers.root(lambda x: x * x - 2.0, 1.0).x == pytest.approx(2.0**0.5)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_value_and_jacobian(size):
    def f(x):
        y = np.zeros(size)
        for i in range(size):
            y[i] = np.sum(np.sin(x * (i + 1)))
        return y

    function = solvers.VectorFunction(f, np.zeros(3))
    x = np.array([0.1, 0.2, 0.3])
    expected = [(i + 1) * np.cos(x * (i + 1)) for i in range(size)]
    np.testing.assert_allclose(function.jacobian(x), expected, rtol=1e-13)
    value, jacobian = function.at_once(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(jacobian, expected, rtol=1e-13)
    x[0] = 5.0  # what was found belongs to the numbers, not to the array
    np.testing.assert_allclose(function.at_once(x)[0], f(x))


def wave(t, height, rate, phase):
    return height * np.sin(rate * t + phase) + 0.0 * phase


@pytest.mark.parametrize("options", [{}, {"bounds": (0.0, 5.0)}, {"sigma": 0.1 + T, "absolute_sigma": True}])
def test_curve_fit(options):
    data = wave(T, 2.0, 1.5, 0.3) + 0.01 * np.cos(40.0 * T)
    found, covariance = solvers.curve_fit(wave, T, data, (1.0, 1.4, 0.5), **options)
    expected, expected_covariance = optimize.curve_fit(wave, T, data, (1.0, 1.4, 0.5), **options)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-3)


def test_curve_fit_without_a_start():
    found, _ = solvers.curve_fit(lambda t, a, b: a + b * t, T, 3.0 - 2.0 * T)
    np.testing.assert_allclose(found, [3.0, -2.0])


def robertson(t, y, fast):
    return [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - fast * y[1] ** 2, fast * y[1] ** 2]


@pytest.mark.parametrize("method", ["BDF", "Radau", "LSODA", "RK45"])
def test_stiff_equations(method):
    end = 0.1 if method == "RK45" else 40.0
    options = {"args": (3e7,), "rtol": 1e-7, "atol": 1e-10}
    found = solvers.solve_ivp(robertson, (0.0, end), np.array([1.0, 0.0, 0.0]), method, **options)
    plain = integrate.solve_ivp(robertson, (0.0, end), [1.0, 0.0, 0.0], method, **options)
    np.testing.assert_allclose(found.y[:, -1], plain.y[:, -1], rtol=1e-5)
    assert found.nfev <= plain.nfev


def diffusion(t, u):
    du = np.zeros(len(u))
    du[1:-1] = 400.0 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - u[1:-1] ** 3
    return du


def test_sparse_jacobians_of_equations():
    u = np.sin(np.linspace(0.0, np.pi, 40))
    tridiagonal = diags_array([np.ones(39), np.ones(40), np.ones(39)], offsets=(-1, 0, 1))
    found = solvers.solve_ivp(diffusion, (0.0, 0.2), u, sparsity=tridiagonal, rtol=1e-8, atol=1e-10)
    dense = solvers.solve_ivp(diffusion, (0.0, 0.2), u, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.y[:, -1], dense.y[:, -1], rtol=1e-6, atol=1e-9)


def cost(p):
    return (p["x"] - 1.0) ** 2 + (p["y"][0] - 2.5) ** 2 + p["y"][0] * p["y"][1] ** 2


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA"])
def test_constraints(method):
    start = {"x": 2.0, "y": [0.5, 0.5]}
    kept = solvers.constraint(lambda p, c: [p["x"] - 2.0 * p["y"][0], p["y"][1] ** 2 + p["x"] * c], -2.0, 3.0, (1.5,))
    inside = optimize.LinearConstraint(np.eye(3), 0.1, 4.0)
    found = solvers.minimize(cost, start, method=method, constraints=[kept, inside])
    plain = optimize.minimize(
        lambda v: cost({"x": v[0], "y": v[1:]}),
        [2.0, 0.5, 0.5],
        method="SLSQP",
        tol=1e-12,
        constraints=[
            optimize.NonlinearConstraint(lambda v: [v[0] - 2 * v[1], v[2] ** 2 + v[0] * 1.5], -2.0, 3.0),
            inside,
        ],
    )
    np.testing.assert_allclose([found.x["x"], *found.x["y"]], plain.x, atol=2e-3)
    assert start == {"x": 2.0, "y": [0.5, 0.5]}


def test_curvature_of_constraints():
    function = ad.optim.constraint(lambda x: np.array([x[0] ** 2 * x[1], x[1] ** 3])).over(np.ones(2))
    x, weights = np.array([2.0, 3.0]), np.array([0.5, 2.0])
    np.testing.assert_allclose(
        function.hess(x, weights) @ np.eye(2), 0.5 * np.array([[6.0, 4.0], [4.0, 0.0]]) + [[0, 0], [0, 36.0]]
    )


def test_sparse_hessians_and_constraints():
    n = 12

    def energy(x):
        total = 0.0
        for i in range(n - 1):
            total += 5.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        return total

    def products(x):
        return x[1:] * x[:-1]

    band = diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=(-1, 0, 1))
    steps = diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=(0, 1), shape=(n - 1, n))
    found = solvers.minimize(
        energy,
        np.full(n, 0.4),
        method="trust-constr",
        sparsity=band,
        constraints=solvers.constraint(products, 0.0, 0.6, sparsity=steps),
    )
    plain = optimize.minimize(
        energy,
        np.full(n, 0.4),
        method="SLSQP",
        constraints=optimize.NonlinearConstraint(products, 0.0, 0.6),
        tol=1e-10,
    )
    assert found.fun == pytest.approx(plain.fun, rel=1e-4)
    assert issparse(found.jac[0])
