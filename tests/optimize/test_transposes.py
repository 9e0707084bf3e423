"""Products of matrices: transposes of them are not made, and two with a common factor are one."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

rng = np.random.default_rng(5)
A = rng.normal(size=(5, 3))


def covariance(data):
    d = data - np.mean(data, axis=0)
    return np.sum((d.T @ d / (len(data) - 1)) ** 2)


def gram(a):
    return np.sum((a @ a.T) ** 2) + np.sum((a.T @ a)[0] ** 3)


def written_between(a):
    b = a.copy()
    t = b.T
    p = t @ b
    b[0] = p[0] * a[1]
    return np.sum(p.T * (b.T @ b)) + np.sum(p.T[0])


@pytest.mark.parametrize("f", [covariance, gram, written_between])
def test_derivatives(f):
    check_grads(f, (A,))
    np.testing.assert_allclose(ad.grad(f, native="strict")(A), ad.grad(f)(A), rtol=1e-12)


def test_products_are_written_without_transposes_of_them():
    text = ad.source(ad.grad(covariance), A)
    assert "d_bar = d @ (t_1 + t_1.T)" in text
    assert text.count(".T") == 2
    assert "selected" not in text


def test_what_is_written_is_read_where_it_is():
    x = A.copy()

    def f(a):
        p = a.T @ a
        a *= 2.0
        return np.sum(p.T @ p)

    expected = ad.jvp(f, (x.copy(),), (A,))[1]
    assert np.sum(ad.grad(f)(x.copy()) * A) == pytest.approx(expected)
