"""Simpler forms of what the rules of arrays leave behind."""

import numpy as np

import adjoint as ad
from sampling import check_grads


def of_elements(x, y):
    a = np.array([[x, y * x, 1.0], [y, x, 2.0]])
    return np.sum(a @ np.array([y, 2.0, x * y]))


def shifted(x, y, v):
    return np.sum((v - np.array([x, x * y])) ** 2)


def test_cotangents_of_elements_are_read_where_they_are():
    text = ad.source(ad.grad(of_elements, (0, 1)), 1.0, 2.0)
    assert "float(t_2[0, 1])" in text and "array_leaf" not in text
    check_grads(of_elements, (1.0, 2.0))
    dx, dy = ad.grad(of_elements, (0, 1))(1.0, 2.0)
    assert type(dx) is float and type(dy) is float


def test_signs_are_those_of_elements():
    args = 1.0, 2.0, np.array([0.5, 3.0])
    assert "rt." not in ad.source(ad.grad(shifted, (0, 1)), *args)
    check_grads(shifted, args)


def test_numbers_scale_cotangents_not_factors() -> None:
    def f(s, a, x, b):
        return np.sum(s * a @ x + b @ x * s)

    generator = np.random.default_rng(0)
    args = 0.7, generator.normal(size=(3, 2)), generator.normal(size=2), generator.normal(size=(3, 2))
    derivative = ad.grad(f, (1, 2, 3))
    text = ad.source(derivative, *args)
    assert "s * a" not in text and "empty_product(a, x)" in text
    _, a, x, b = args
    one, two, three = derivative(*args)
    np.testing.assert_allclose(one, 0.7 * np.outer(np.ones(3), x))
    np.testing.assert_allclose(two, 0.7 * (a + b).sum(axis=0))
    np.testing.assert_allclose(three, one)


def test_factors_that_are_read_stay_scaled() -> None:
    def f(s, a, x):
        y = s * a @ x
        return np.sum(y * y)

    args = 0.7, np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0])
    assert ad.source(ad.grad(f, 2), *args).count("s * a") == 1
    np.testing.assert_allclose(ad.grad(f, 2)(*args), 2 * 0.49 * args[1].T @ (args[1] @ args[2]))


def test_matrices_of_one_side_are_not_made_for_their_shape() -> None:
    def f(a, b):
        return np.sum(np.triu(a, k=1) + b)

    a, b = np.ones((3, 3)), np.ones((3, 3))
    assert "triu" not in ad.source(ad.grad(f, 1), a, b)
    np.testing.assert_allclose(ad.grad(f, (0, 1))(a, b)[0], np.triu(np.ones((3, 3)), 1))


def filled(x):
    found = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        found[i, :] = x * x[i]
    return np.sum(found)


def filled_and_read(x):
    found = np.ones((len(x), len(x)))
    for i in range(len(x)):
        found[i, :] += x * x[i]
    return np.sum(found**2)


def test_arrays_are_not_made_for_their_shadows_shape() -> None:
    x = np.array([0.5, -2.0, 3.0])
    for f, shadow in ((filled, "np.zeros((n, n))"), (filled_and_read, "2.0 * found")):
        text = ad.source(ad.grad(f), x)
        assert f"found_bar = {shadow}" in text and ("found =" in text) == (f is filled_and_read), text
        check_grads(f, (x,))


def variances(k):
    return np.sum(np.log(np.diag(np.linalg.inv(k))))


def diagonal_of_part(k):
    part = np.linalg.inv(k)[:, :2]
    return np.sum(np.diag(part) ** 3)


def test_products_with_diagonal_matrices_scale_columns() -> None:
    k = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    for f, is_product in ((variances, False), (diagonal_of_part, True)):
        text = ad.source(ad.grad(f), k)
        assert ("place_diagonal" in text) == is_product, text
        check_grads(f, (k,))
