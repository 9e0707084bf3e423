"""Forward mode works on tangents of its own: those that a caller passes stay as they are."""

import numpy as np

import adjoint as ad


def swapped_in_a_loop(x, n):
    u = x * 1.0
    v = x * 2.0
    for k in range(n):
        if k % 2 == 0:
            u, v = v, u
        u[0] = u[0] * v[1]
    return np.sum(u) + 2 * np.sum(v)


def writes_its_argument(x):
    x[0] = x[0] * x[1]
    return np.sum(x)


def test_swapped_arrays() -> None:
    x_dot = np.ones(3)
    _, y_dot = ad.jvp(swapped_in_a_loop, (np.array([1.0, 2.0, 3.0]), 4), (x_dot, None))
    assert y_dot == 74.0
    assert np.array_equal(x_dot, np.ones(3))


def test_argument_that_is_written() -> None:
    x_dot = np.ones(2)
    _, y_dot = ad.jvp(writes_its_argument, (np.array([3.0, 5.0]),), (x_dot,))
    assert y_dot == 9.0
    assert np.array_equal(x_dot, np.ones(2))
