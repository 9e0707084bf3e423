"""Functions in expressions of CasADi, compared with the same written in CasADi's operations, to second order."""

import numpy as np
import pytest

casadi = pytest.importorskip("casadi")

from adjoint.interop.casadi import function  # noqa: E402

QUIET = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.tol": 1e-10}


def several(a, b, c):
    return a @ b * c, np.outer(b, a[0]) + c, np.sum(a)


def of_casadi(a, b, c):
    return casadi.mtimes(a, b) * c, casadi.mtimes(b, a[0, :]) + c, casadi.sum1(casadi.sum2(a))


A, B, C = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), 2.0
SYMBOLS = casadi.MX.sym("a", 2, 3), casadi.MX.sym("b", 3), casadi.MX.sym("c")


@pytest.fixture(scope="module")
def called():
    return function(several, A, np.ones(3), 1.0)


def values_of(*expressions):
    evaluated = casadi.Function("f", list(SYMBOLS), list(expressions))
    return [evaluated(A, B, C)] if len(expressions) == 1 else list(evaluated(A, B, C))


def test_values(called):
    for found, expected in zip(values_of(*called(*SYMBOLS)), several(A, B, C), strict=True):
        np.testing.assert_allclose(np.reshape(found.full(), np.shape(expected)), expected)
    assert A.ravel().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_derivatives(called):
    """Jacobians, with the same zeros, Hessians, and mixed second derivatives."""
    for ours, theirs in zip(called(*SYMBOLS), of_casadi(*SYMBOLS), strict=True):
        for symbol in SYMBOLS:
            found, expected = values_of(casadi.jacobian(ours, symbol), casadi.jacobian(theirs, symbol))
            np.testing.assert_allclose(found.full(), expected.full(), rtol=1e-13)
            assert found.nnz() == expected.nnz()
        for wrt in SYMBOLS:
            second = [casadi.jacobian(casadi.gradient(casadi.sumsqr(each), SYMBOLS[1]), wrt) for each in (ours, theirs)]
            found, expected = values_of(*second)
            np.testing.assert_allclose(found.full(), expected.full(), rtol=1e-13)


def chain(x):
    r = np.zeros(len(x) - 1)
    for i in range(len(x) - 1):
        r[i] = x[i] ** 2 + np.sin(x[i + 1]) * x[i] if x[i] < 10.0 else x[i]
    return r


def cost(x):
    return np.sum((x - 1.0) ** 4)


def solve(f, g, options=()):
    x = casadi.MX.sym("x", 5)
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": f(x), "g": g(x)}, {**QUIET, **dict(options)})
    found = solver(x0=np.full(5, 0.5), lbg=0.3, ubg=0.3)
    assert solver.stats()["success"]
    return solver, np.ravel(found["x"].full())


def test_in_a_nonlinear_program():
    expected = solve(lambda x: casadi.sumsqr((x - 1.0) ** 2), lambda x: x[:-1] ** 2 + casadi.sin(x[1:]) * x[:-1])
    f, g = function(cost, np.ones(5)), function(chain, np.ones(5))
    found = solve(f, g)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    assert found[0].stats()["iter_count"] == expected[0].stats()["iter_count"]  # the Hessians are exact
    for name, place in (("nlp_jac_g", 1), ("nlp_hess_l", 0)):
        pattern, given = (each[0].get_function(name).sparsity_out(place) for each in (found, expected))
        assert pattern == given, name
    rough = solve(f, g, {"ipopt.hessian_approximation": "limited-memory"})
    np.testing.assert_allclose(rough[1], expected[1], rtol=1e-7)


def test_patterns_hold_where_floats_choose():
    chosen = function(lambda x: x[int(x[0])] * x[1:], np.zeros(3))
    x = casadi.MX.sym("x", 3)
    slope = casadi.Function("slope", [x], [casadi.jacobian(chosen(x), x)])
    np.testing.assert_allclose(slope([0.5, 2.0, 3.0]).full(), [[2.0, 0.5, 0.0], [3.0, 0.0, 0.5]])
    np.testing.assert_allclose(slope([1.5, 2.0, 3.0]).full(), [[0.0, 4.0, 0.0], [0.0, 3.0, 2.0]])


def test_constants_and_names():
    scaled = function(lambda x, k: k * x * x, 1.0, args=(3.0,), name="scaled")
    assert scaled.name() == "scaled" and float(scaled(2.0)) == 12.0
    x = casadi.MX.sym("x")
    third = scaled(x) * x
    for _ in range(3):
        third = casadi.gradient(third, x)
    assert float(casadi.Function("third", [x], [third])(0.7)) == pytest.approx(18.0)


def test_arrays_of_more_dimensions_are_refused():
    with pytest.raises(TypeError, match="numbers, vectors and matrices"):
        function(np.sum, np.zeros((2, 2, 2)))


def test_machine_code():
    g = function(chain, np.ones(5), native=True)
    x = casadi.MX.sym("x", 5)
    slope = casadi.Function("slope", [x], [casadi.jacobian(g(x), x)])
    plain = casadi.jacobian(function_of_casadi(x), x)
    point = np.linspace(0.2, 1.0, 5)
    np.testing.assert_allclose(slope(point).full(), casadi.Function("plain", [x], [plain])(point).full(), rtol=1e-12)


def function_of_casadi(x):
    return x[:-1] ** 2 + casadi.sin(x[1:]) * x[:-1]
