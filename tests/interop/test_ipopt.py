"""Nonlinear programs by Ipopt: known solutions, conditions of optimality, sparse against dense."""

import math

import numpy as np
import pytest

pytest.importorskip("ipyopt")

import adjoint as ad


def cost(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


def limits(x):
    return [x[0] * x[1] * x[2] * x[3], np.sum(x * x)]


def test_hock_and_schittkowski_71():
    start = np.array([1.0, 5.0, 5.0, 1.0])
    found = ad.nlp(cost, limits, start, lower=1.0, upper=5.0, g_lower=[25.0, 40.0], g_upper=[np.inf, 40.0])
    assert found.success and found.message == "solved"
    np.testing.assert_allclose(found.x, [1.0, 4.74299963, 3.82114998, 1.37940829], rtol=1e-6)
    slope = ad.grad(cost)(found.x) + found.multipliers @ np.stack(ad.jacobian(lambda x: np.array(limits(x)))(found.x))
    np.testing.assert_allclose(slope, found.multipliers_lower - found.multipliers_upper, atol=1e-6)
    assert start.tolist() == [1.0, 5.0, 5.0, 1.0]


def test_structures_and_arguments():
    f = lambda p, c: (p["a"] - c) ** 2 + np.sum((p["b"] - 1.0) ** 2)
    g = lambda p, c: p["a"] + p["b"][0] - c
    found = ad.nlp(f, g, {"a": 0.0, "b": np.zeros(2)}, args=(2.0,))
    assert found.x["a"] == pytest.approx(1.5) and found.x["b"] == pytest.approx([0.5, 1.0])
    free = ad.nlp(f, None, {"a": 0.0, "b": np.zeros(2)}, args=(2.0,))
    assert free.x["a"] == pytest.approx(2.0) and free.multipliers.shape == (0,)


def chain(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i] ** 2 - x[i + 1]) ** 2 + (x[i] - 1.0) ** 2
    return total


def bends(x):
    """The constraints of Luksan and Vlcek's problem 5.1."""
    g = np.zeros(len(x) - 2)
    for i in range(len(x) - 2):
        a, b, c = x[i], x[i + 1], x[i + 2]
        g[i] = 3.0 * b**3 + 2.0 * c - 5.0 + math.sin(b - c) * math.sin(b + c) + 4.0 * b - a * math.exp(a - b) - 3.0
    return g


@pytest.mark.parametrize("is_found", [True, False])
def test_sparse_and_dense_agree(is_found):
    n = 12
    jacobian = np.tri(n - 2, n, 2) * (1 - np.tri(n - 2, n, -1))
    hessian = np.tri(n, n, 2) * np.tri(n, n, 2).T
    start = np.where(np.arange(n) % 2, 1.0, -1.2)
    full = {"sparsity": np.ones((n - 2, n)), "hessian_sparsity": np.ones((n, n))}
    dense = ad.nlp(chain, bends, start, options={"tol": 1e-10}, **full)
    given = (
        {"sparsity": "auto", "hessian_sparsity": "auto"}
        if is_found
        else {"sparsity": jacobian, "hessian_sparsity": hessian}
    )
    sparse = ad.nlp(chain, bends, start, options={"tol": 1e-10}, **given)
    assert dense.success and sparse.success
    np.testing.assert_allclose(sparse.x, dense.x, rtol=1e-7)
    np.testing.assert_allclose(sparse.multipliers, dense.multipliers, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(bends(sparse.x), 0.0, atol=1e-9)


def barrier(x):
    """Where an undefined side of a branch is not run, the pattern is that of one call."""
    if x[0] < 1.0:
        return 1.0 - math.log(x[0]) + (x[1] - 2.0) ** 2 + x[2] ** 2
    return 1.0 - math.log(2.0 * x[0] - 1.0) + 0.25 * (x[0] - 1.0) ** 2 * x[1] + (x[1] - 2.0) ** 2 + x[2] ** 2


def test_patterns_that_change_on_the_way():
    options = {"lower": 0.1, "upper": 4.0, "options": {"tol": 1e-10}}
    where = lambda x: x[int(x[1])] + x[0]
    auto = {"sparsity": "auto", "hessian_sparsity": "auto"}
    for start in (np.array([0.2, 0.5, 1.0]), np.array([3.0, 1.5, 1.0])):
        found = ad.nlp(barrier, where, start, g_lower=0.0, g_upper=9.0, **options, **auto)
        dense = ad.nlp(barrier, where, start, g_lower=0.0, g_upper=9.0, **options)
        assert found.success and dense.success
        np.testing.assert_allclose(found.x, dense.x, atol=1e-6)


def test_undefined_points_are_left():
    assert ad.nlp(lambda x: x[0] - math.log(x[0]), None, np.array([5.0])).x[0] == pytest.approx(1.0)


def test_exceptions_are_raised():
    def f(x):
        if x[0] > 0.5:
            raise KeyError("too far")
        return (x[0] - 3.0) ** 2

    with pytest.raises(KeyError, match="too far"):
        ad.nlp(f, None, np.zeros(1))


def test_what_has_no_solution():
    found = ad.nlp(lambda x: x[0], lambda x: x[0] ** 2, np.array([1.0]), g_lower=-2.0, g_upper=-1.0)
    assert not found.success and found.status == 2 and "cannot be met" in found.message


def test_patterns_that_lack_an_entry_are_refused():
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        ad.nlp(chain, bends, np.ones(5), hessian_sparsity=np.eye(5))
