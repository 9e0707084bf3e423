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
