"""What is asked only for its shape is not computed, and what would have been refused is refused all the same."""

import re

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions import arrays
from sampling import check_grads

rng = np.random.default_rng(3)
A, B, C, D = (rng.normal(size=shape) for shape in ((3, 4), (4, 2), (2, 5), (5, 3)))
X = rng.normal(size=4)


def chain(a, b, c, d):
    return np.sum(a @ b @ c @ d)


def two_products(alpha, a, b, x):
    return np.sum(alpha * a @ x + a @ x * b)


def layers(w, b, v, x):
    return np.sum(np.tanh(x @ w + b) @ v)


def one_row_for_all(a, b, x):
    return np.sum((a @ b)[:1] + x @ a.T @ a @ b)


def in_a_loop(a, x):
    total = 0.0
    for k in range(3):
        total += np.sum((a @ x) * k + a[:, 0])
    return total


def by_whole_numbers(x):
    return np.sum(x[:, None] * np.arange(6).reshape(1, 6))


PROGRAMS = [
    (chain, (A, B, C, D)),
    (two_products, (1.5, A, rng.normal(size=3), X)),
    (layers, (A.T, rng.normal(size=3), rng.normal(size=(3, 2)), rng.normal(size=(6, 4)))),
    (one_row_for_all, (A, B, rng.normal(size=(2, 4)))),
    (in_a_loop, (A, X)),
    (by_whole_numbers, (X,)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_derivatives(f, args):
    check_grads(f, args)
    wrt = tuple(range(len(args)))
    for one, other in zip(ad.grad(f, wrt, native="strict")(*args), ad.grad(f, wrt)(*args), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_whole_numbers_are_not_multiplied_for_a_shape():
    assert "rt.empty_sum(" in ad.source(ad.grad(by_whole_numbers), X)


def test_products_that_nobody_reads_are_not_computed():
    text = ad.source(ad.grad(chain, wrt=(0, 1, 2, 3)), A, B, C, D)
    assert "rt.empty_product(t_1, d)" in text
    assert text.count("@") == 8  # two of the program, six of the cotangents
    text = ad.source(ad.grad(two_products, wrt=3), 1.5, A, X[:3], X)
    assert "@ x" not in text


def test_what_is_kept_and_what_is_read_is_computed():
    text = ad.source(ad.grad(lambda a, b: np.sum((a @ b) ** 2)), A, B)
    assert "empty_product" not in text
    value, _ = ad.value_and_grad(chain)(A, B, C, D)
    assert value == pytest.approx(chain(A, B, C, D))


@pytest.mark.parametrize("native", [False, True])
def test_products_that_do_not_fit(native):
    with pytest.raises(ValueError, match=r"matmul|operand|size|shape|dimension"):
        ad.grad(lambda a, b: np.sum(a @ b), wrt=1, native=native)(A, C)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (A, B),
        (A, X),
        (X, A.T),
        (rng.normal(size=(7, 1, 3, 4)), rng.normal(size=(2, 4, 5))),
        (A, rng.normal(size=(6, 4, 2))),
    ],
)
def test_shapes(a, b):
    found = arrays.empty_product(a, b)
    assert found.shape == (a @ b).shape
    assert found.dtype == (a @ b).dtype
    one, other = a[..., :1], rng.normal(size=a.shape[-1]).astype("f4")
    assert arrays.empty_sum(one, other).shape == (one + other).shape
    assert arrays.empty_sum(one, other).dtype == (one + other).dtype


def test_names():
    assert re.search(r"\brt\.empty_sum\(", ad.source(ad.grad(two_products, wrt=3), 1.5, A, X[:3], X))
