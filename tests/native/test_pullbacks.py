"""Pullbacks of functions whose memory changes hands agree in both forms, at each call."""

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def arrays_swapped(x, n):
    u, v = x.copy(), np.zeros(2)
    for _ in range(n):
        v[1] = u[1] * u[0]
        v[0] = u[1]
        u, v = v, u
    return np.sum(u * u) + v[1]


def array_of_one_branch(x, n):
    u, v = x.copy(), x * 2.0
    w = u if n > 2 else v
    w[0] = w[1] * u[0]
    return np.sum(u * v * w)


def lists_swapped(x, n):
    u, v = [x[0], x[1]], [0.0, 0.0]
    for _ in range(n):
        v[1] = u[1] * u[0]
        v[0] = u[1]
        u, v = v, u
    return u[0] + v[1]


def list_of_one_branch(x, n):
    u = [x[0], x[1]]
    w = u if n > 2 else [x[1], x[1]]
    for i in range(n):
        w[0] = u[1] * x[1]
        u[1] = w[0] * u[0]
    return u[0] + w[1]


def rows_of_a_list(x, n):
    rows = [x.copy(), x * 2.0]
    for _ in range(n):
        rows[0][1] *= rows[1][0]
        rows[1] = rows[0]
    return np.sum(rows[0] * rows[1])


def dicts_swapped(x, n):
    u, v = {0: x[0], 1: x[1]}, {0: 0.0, 1: 0.0}
    for _ in range(n):
        v[1] = u[1] * u[0]
        v[0] = u[1]
        u, v = v, u
    return u[0] + v[1]


PROGRAMS = [arrays_swapped, array_of_one_branch, lists_swapped, list_of_one_branch, rows_of_a_list, dicts_swapped]


@pytest.mark.parametrize("f", PROGRAMS)
def test_each_call_of_a_pullback_gives_the_gradient(f):
    x = np.array([1.3, 0.7])
    expected = ad.grad(f)(x, 3)
    with pytest.warns(ad.DifferentiationWarning, match="which list, dict or array is which"):
        _, pullback = ad.vjp(f, x, 3, native=True)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_strict_refuses_before_anything_runs(f):
    with pytest.raises(ad.DifferentiationError, match="which list, dict or array is which") as refused:
        ad.vjp(f, np.array([1.3, 0.7]), 3, native="strict")
    assert "test_pullbacks.py" in str(refused.value)


def test_stores_into_one_array_stay_compiled():
    def running(x, n):
        u = x.copy()
        for i in range(1, n):
            u[i] = u[i] * u[i - 1]
        return np.sum(u * u)

    x = np.array([1.3, 0.7, 1.1])
    _, pullback = ad.vjp(running, x, 3, native="strict")
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], ad.grad(running)(x, 3), rtol=1e-12)


def test_keys_that_are_new_have_a_zero_beside_arrays() -> None:
    def put(x):
        table = {}
        for i in range(4):
            table[i] = x * x[i]
        table[1] = table[0] * table[2]
        return np.sum(table[1] * table[3])

    x = np.linspace(0.3, 1.2, 4)
    _, expected = ad.vjp(put, x)
    _, pullback = ad.vjp(put, x, native=True)
    np.testing.assert_allclose(pullback(1.0)[0], expected(1.0)[0])
