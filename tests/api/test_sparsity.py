"""Sparse Jacobians and Hessians: equal to the dense ones, in few sweeps; patterns that do not fit are refused."""

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint.api.sparse_jacobians import groups_of_columns


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
    assert jacobian.is_reverse
    assert jacobian.sweeps == 2
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
