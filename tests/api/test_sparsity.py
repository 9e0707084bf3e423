"""Sparse Jacobians and Hessians: equal to the dense ones, in few sweeps; patterns that do not fit are refused."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint.api.sparse import colouring, plans
from adjoint.api.sparse.colouring import groups_of_columns, star_colouring


def differences(x):
    return (x[1:] - x[:-1]) ** 2


def bidiagonal(n):
    return np.eye(n - 1, n) + np.eye(n - 1, n, k=1)


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def sums(x):
    return np.array([np.sum(x * x), x[0] * x[-1]])


def arrow(x):
    """The first number goes into each result, and each number into the first result."""
    y = np.sin(x) * x[0]
    y[0] = x @ x
    return y


def arrow_of_second_derivatives(x):
    return np.sum(np.sin(x[0] * x) + x**3)


def arrow_pattern(n):
    pattern = np.eye(n)
    pattern[0] = pattern[:, 0] = 1.0
    return pattern


def test_sweeps_both_ways():
    x = np.random.default_rng(8).normal(size=40)
    jacobian = ad.jacobian(arrow, sparsity=arrow_pattern(40))
    assert jacobian.plan.counts == (2, 1)
    assert repr(jacobian) == "jacobian(arrow, sparsity=40 x 40 in 2 forwards and 1 backwards)"
    np.testing.assert_allclose(jacobian(x).toarray(), ad.jacobian(arrow)(x), rtol=1e-14)


def test_symmetry_saves_sweeps():
    x = np.random.default_rng(9).normal(size=40)
    hessian = ad.hessian(arrow_of_second_derivatives, sparsity=arrow_pattern(40))
    assert hessian.sweeps == 2
    np.testing.assert_allclose(hessian(x).toarray(), ad.hessian(arrow_of_second_derivatives)(x), rtol=1e-13)
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        ad.hessian(arrow_of_second_derivatives, sparsity=np.tril(arrow_pattern(40)))(x)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("density", [0.03, 0.1, 0.4])
def test_plans_find_each_entry(seed, density):
    """The products of a random matrix with the groups of a plan give the matrix again, exactly."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 40, size=2)
    matrix = sparse.random_array((m, n), density=density, rng=rng, format="csr")
    matrix.data[:] = rng.integers(1, 100, size=matrix.nnz)
    matrix.sort_indices()
    whole = (matrix.T @ matrix).tocsr()
    whole.sort_indices()
    for given, plan in (
        *((matrix, plan) for plan in (plans.plan_of_jacobian(matrix), plans._both_ways(matrix))),
        (whole, plans.plan_of_hessian(whole)),
    ):
        forwards, backwards = plan.counts
        products = [given @ (plan.forwards == group) for group in range(forwards)]
        products += [given.T @ (plan.backwards == group) for group in range(backwards)]
        np.testing.assert_array_equal(plan.values(products), given.data)


@pytest.mark.parametrize("seed", range(6))
def test_star_colourings(seed, monkeypatch):
    """Neighbours differ, and no path of four vertices has but two colours; compiled or not."""
    one = sparse.random_array((30, 30), density=0.08, rng=np.random.default_rng(seed), format="csr")
    pattern = (one + one.T + sparse.eye_array(30)).tocsr()
    pattern.sort_indices()
    colours, alone = star_colouring(pattern)
    near = pattern.toarray() != 0
    np.fill_diagonal(near, False)
    assert not np.any(near & (colours[:, None] == colours))
    rows, columns = pattern.nonzero()
    assert np.all(alone | alone[np.lexsort((rows, columns))])
    for w, x in zip(*np.nonzero(near), strict=True):
        for v, y in itertools.product(np.flatnonzero(near[w]), np.flatnonzero(near[x])):
            if len({v, w, x, y}) == 4:
                assert len(set(colours[[v, w, x, y]])) > 2
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(colouring, "COMPILED_FROM", 0)
    for found, compiled in zip((colours, alone), star_colouring(pattern), strict=True):
        np.testing.assert_array_equal(found, compiled)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_jacobian(make):
    x = np.random.default_rng(0).normal(size=30)
    jacobian = ad.jacobian(differences, sparsity=make(bidiagonal(30)))
    found = jacobian(x)
    assert isinstance(found, sparse.csr_array)
    assert jacobian.sweeps == 2
    np.testing.assert_allclose(found.toarray(), ad.jacobian(differences)(x), rtol=1e-14)
    np.testing.assert_array_equal(jacobian(x).toarray(), found.toarray())


def test_rows_are_grouped_where_there_are_fewer():
    x = np.random.default_rng(1).normal(size=12)
    jacobian = ad.jacobian(sums, sparsity=np.ones((2, 12)))
    assert jacobian.plan.counts == (0, 2)
    np.testing.assert_allclose(jacobian(x).toarray(), ad.jacobian(sums)(x), rtol=1e-14)


def test_hessian():
    x = np.random.default_rng(2).normal(size=20)
    hessian = ad.hessian(rosenbrock, sparsity=np.eye(20) + np.eye(20, k=1) + np.eye(20, k=-1))
    assert hessian.sweeps == 3
    np.testing.assert_allclose(hessian(x).toarray(), ad.hessian(rosenbrock)(x), rtol=1e-13)


def test_arguments_of_any_shape():
    def f(scale, a):
        return scale * a[:, 0] * a[:, 1]

    a = np.random.default_rng(3).normal(size=(5, 2))
    pattern = np.kron(np.eye(5), np.ones((1, 2)))
    found = ad.jacobian(f, wrt=1, sparsity=pattern)(2.0, a)
    np.testing.assert_allclose(found.toarray(), ad.jacobian(f, wrt=1)(2.0, a).reshape(5, 10), rtol=1e-14)


def test_function_that_writes_its_argument():
    def f(x):
        x *= 2.0
        return x * x

    x = np.arange(1.0, 5.0)
    found = ad.jacobian(f, sparsity=sparse.eye_array(4))(x)
    np.testing.assert_array_equal(found.toarray(), np.diag(8.0 * np.arange(1.0, 5.0)))
    np.testing.assert_array_equal(x, 2.0 * np.arange(1.0, 5.0))


def test_groups_have_no_common_row():
    rng = np.random.default_rng(4)
    pattern = sparse.random_array((300, 200), density=0.2, rng=rng, format="csc")
    groups = groups_of_columns(pattern)
    dense = pattern.toarray() != 0
    for group in range(groups.max() + 1):
        assert dense[:, groups == group].sum(axis=1).max() <= 1
    assert groups.max() >= 64


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        (np.eye(29, 30), "depends on an entry"),
        (np.ones((29, 31)), "31 columns"),
        (np.ones((28, 30)), "28 rows"),
    ],
)
def test_pattern_that_does_not_fit(pattern, label):
    with pytest.raises(ad.DifferentiationError, match=label):
        ad.jacobian(differences, sparsity=pattern)(np.arange(30.0) ** 2)


def test_what_is_refused_at_once():
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        ad.hessian(rosenbrock, sparsity=np.ones((2, 3)))
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        ad.jacobian(differences, wrt=(0, 1), sparsity=np.ones((2, 3)))
