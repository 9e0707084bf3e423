"""What a handler leaves without a value is nothing that shapes are asked of: the last iteration may be that one."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

W = np.array([[3.0, 0.2, 0.3], [0.4, 2.0, 0.6], [0.7, 0.8, 4.0]]) / 3.0
X = np.array([0.1, 0.2, 0.3])


def handled_last(w, x):
    for k in range(3):
        try:
            x = np.sin(w @ x)
            [1.0, 2.0][k]
        except IndexError:
            x = x * 2.0
    return np.sum(x)


def handled_first(w, x):
    for k in range(3):
        try:
            x = np.sin(w[0] * x)
            {1: 0, 2: 0}[k]
        except KeyError:
            x = x + np.sum(w) * 0.1
    return np.sum(x**3)


def left_behind(w, x):
    rows = w
    for k in range(3):
        try:
            rows = np.cos(rows * x)
            if k == 2:
                raise ValueError
            x = x + rows[k]
        except ValueError:
            x = x * np.sum(rows, axis=0)
    return np.sum(x * x)


def handled_inside(w, x):
    total = 0.0
    for k in range(2):
        for j in range(2):
            try:
                x = np.tanh(w @ x + k)
                [1.0][j]
            except IndexError:
                x = x[::-1] * 2.0
        total += np.sum(x**2)
    return total


@pytest.mark.parametrize(
    "function", [handled_last, handled_first, left_behind, handled_inside], ids=lambda f: f.__name__
)
def test_second_derivatives(function):
    check_grads(function, (W, X))


def test_a_pullback_of_a_gradient():
    weights = np.cos(np.arange(9.0)).reshape(3, 3)
    _, pullback = ad.vjp(ad.grad(handled_last), W, X)
    along = np.sin(np.arange(9.0)).reshape(3, 3)
    there, back = (ad.grad(handled_last)(W + step * along, X) for step in (1e-5, -1e-5))
    expected = np.sum((there - back) * weights) / 2e-5
    np.testing.assert_allclose(np.sum(pullback(weights)[0] * along), expected, rtol=1e-7)
