"""Loops over ranges that are known to be empty: nothing is left of them, and what they bind stays as it was."""

import numpy as np
from scipy.interpolate import interp1d

import adjoint as ad
from sampling import check_grads


def skipped(x):
    i = 5.0
    for i in range(0):
        x = x * 2.0
    for _ in range(3, 1):
        break
    else:
        x = x * 3.0
    for i in range(2, 2):
        x = x * i
    return x * i


def differences(x, order):
    for _ in range(order):
        x = x[1:] - x[:-1]
    return np.sum(x * x)


def none_of_them(x):
    return differences(x, 0)


def test_nothing_is_left_of_them():
    assert ad.grad(skipped)(2.0) == 15.0 and ad.jvp(skipped, (2.0,), (1.0,)) == (30.0, 15.0)
    for f, args in ((skipped, (2.0,)), (none_of_them, (np.ones(3),))):
        assert "for " not in ad.source(ad.grad(f), *args)
        check_grads(f, args)
    assert ad.grad(differences)(np.array([1.0, 3.0]), 1).tolist() == [-4.0, 4.0]


def many_values(y):
    line = interp1d(np.linspace(0.0, 1.0, 8), y, kind="quadratic")
    total = 0.0
    for i in range(5):
        total += float(line(i / 5)) ** 2
    return total


def test_a_spline_is_made_once_for_many_values():
    y = np.arange(8.0) ** 2
    check_grads(many_values, (y,))
    assert (
        "banded_solution"
        not in ad.source(ad.grad(many_values), y).partition("for i in range(5)")[2].partition("reversed(range(5))")[0]
    )
