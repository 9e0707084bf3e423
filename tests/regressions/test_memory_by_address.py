"""Memory of arrays that is read or written by address, or through views that are no arrays: refused, as not seen."""

import ctypes

import numpy as np
import pytest

import adjoint as ad


def read_by_address(x):
    out = np.zeros(3)
    ctypes.memmove(out.ctypes.data, x.ctypes.data, 24)
    return np.sum(out * out) + x[0]


def read_by_the_interface(x):
    out = np.zeros(3)
    ctypes.memmove(out.__array_interface__["data"][0], x.__array_interface__["data"][0], 24)
    return np.sum(out * out) + x[0]


def written_by_address(x):
    a = np.eye(3)
    y = np.linalg.solve(a, x)
    ctypes.memset(a.ctypes.data, 0, 8)
    return np.sum(a @ (x * y))


def written_through_memory(x):
    out, total = np.zeros(3), 0.0
    memory = memoryview(out)
    for i in range(3):
        memory[i] = 2.0 + i
        total += out[0] * x[i] + x[0] ** 2 * out[1]
    return total


def written_through_data(x):
    out, total = np.zeros(3), 0.0
    for i in range(3):
        out.data[i] = 2.0 + i
        total += out[0] * x[i] + x[0] ** 2 * out[1]
    return total


def argument_written_through_memory(x, a):
    total, memory = 0.0, memoryview(a)
    for i in range(3):
        total += np.sum(a * x)
        memory[0, i] = 5.0 + i
    return total


def memory_that_is_asked_only(x):
    return np.sum(x * x) * len(memoryview(np.zeros(4))) + len(x.data)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("f", "code"),
    [
        (read_by_address, "AD0201"),
        (read_by_the_interface, "AD0201"),
        (written_by_address, "AD0201"),
        (written_through_memory, "AD0303"),
        (written_through_data, "AD0303"),
        (argument_written_through_memory, "AD0303"),
    ],
)
def test_refused(f, code, native):
    args = (np.array([1.0, 2.0, 3.0]), np.ones((2, 3)))[: f.__code__.co_argcount]
    for derivative in (lambda: ad.grad(f, native=native)(*args), lambda: ad.jvp(f, args, args, native=native)):
        with pytest.raises(ad.DifferentiationError, match=code):
            derivative()


def test_memory_may_be_asked():
    x = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(ad.grad(memory_that_is_asked_only)(x), 8.0 * x)
