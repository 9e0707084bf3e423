"""Of which class a sparse matrix of what varies is: what was asked for one of SciPy's was told that it is none."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import adjoint as ad
from sampling import check_grads

V = np.array([1.0, 2.0])


def by_instance(x):
    a = sp.csr_matrix(np.eye(2) * x)
    if not isinstance(a, sp.csr_matrix) or isinstance(a, (sp.csc_matrix, sp.csr_array)):
        raise TypeError("a matrix in rows is expected")
    return np.sum(a @ V * x)


def by_type(x):
    a, b = sp.csr_matrix(np.eye(2) * x), sp.csr_array(np.eye(2))
    if type(a) is not sp.csr_matrix or a.__class__ is not sp.csr_matrix or type(b) is not sp.csr_array:
        return x
    return np.sum(type(a)(a.T) @ V * x) + np.sum(b @ V * x**3)


def by_format(x):
    a = sp.diags([x, x * x])
    b = a.tocsr() @ sp.csr_matrix(np.eye(2)) + sp.csr_matrix(np.ones((2, 2)))
    is_so = a.format == "dia" and b.getformat() == "csr" and sp.isspmatrix_csr(b) and sp.isspmatrix_csc(b.T)
    return np.sum(b @ V) if is_so else x


def filled(x):
    a = sp.lil_matrix((2, 2))
    a[0, 0], a[1, 1] = x, x * x
    return np.sum(a @ V) if sp.isspmatrix_lil(a) and a.tocsr().format == "csr" else x


def by_pattern(x):
    match sp.csc_matrix(np.eye(2) * x):
        case sp.csr_matrix():
            return x
        case sp.csc_matrix() as found:
            return np.sum(found @ V * x)
    return 0.0


@functools.singledispatch
def total(matrix):
    return 0.0


@total.register(sp.csr_matrix)
def _(matrix):
    return np.sum(matrix @ V)


def by_dispatch(x):
    return total(sp.csr_matrix(np.eye(2) * x**2))


class Stands:
    """Says that it is a dict, as proxies say what they stand for."""

    def __init__(self, x):
        self.x = x

    @property
    def __class__(self):
        return dict


def of_a_proxy(x):
    proxy = Stands(x)
    is_so = isinstance(proxy, dict) and isinstance(proxy, Stands) and not isinstance(proxy, list)
    return proxy.x**3 if is_so and type(proxy) is Stands and proxy.__class__ is dict else proxy.x


@pytest.mark.parametrize(
    "function", [by_instance, by_type, by_format, filled, by_pattern, by_dispatch, of_a_proxy], ids=lambda f: f.__name__
)
def test_the_class_is_that_of_scipy(function):
    check_grads(function, (1.5,))
    value, gradient = ad.value_and_grad(function)(1.5)
    assert value == pytest.approx(function(1.5), rel=1e-12)
    assert ad.grad(function, native=True)(1.5) == pytest.approx(gradient, rel=1e-12)


def test_what_is_not_known_is_refused():
    def f(x):
        a = sp.kron(sp.csr_matrix(np.eye(2) * x), np.eye(1))
        return np.sum(a @ V) if isinstance(a, sp.csr_matrix) else x

    with pytest.raises(ad.DifferentiationError, match="a matrix whose format is not known") as caught:
        ad.grad(f)(1.5)
    assert "isinstance(a, sp.csr_matrix)" in str(caught.value)
