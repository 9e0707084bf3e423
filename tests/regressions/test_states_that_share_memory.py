"""States of loops, and shadows, that refer to one memory in several ways: copies of them do, whoever owns that."""

import mmap

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.copies import fresh_shadows
from adjoint.runtime.snapshots import memory_as_it_is

X = np.array([0.7, 1.3, -0.4, 2.1])


def written_through_a_view(x):
    a, s = x.copy(), 0.0
    b = a[1:]
    for i in ad.checkpointed(range(7), snapshots=2):
        b *= 1.1
        a[0] += b[i % 3] * 0.5
        s += a[0] * a[-1]
    return s + np.sum(a)


def read_through_a_view(x):
    a, s = x.copy(), 0.0
    b = a[1:]
    for _ in ad.checkpointed(range(7), snapshots=2):
        a[1] *= a[1] * 0.8
        s += b[0] * a[-1]
    return s + np.sum(a)


def in_another_shape(x):
    a, s = x.copy(), 0.0
    b = a.reshape(2, 2)
    for _ in ad.checkpointed(range(7), snapshots=2):
        a[1] *= 1.1
        s += b[0, 1] * x[0]
    return s


def backwards(x):
    a, s = x.copy(), 0.0
    b, c = a[::-2], a[2:]
    for _ in ad.checkpointed(range(7), snapshots=2):
        b *= x[0]
        c += 0.1
        s += a[3] * c[0]
    return s


@pytest.mark.parametrize("program", [written_through_a_view, read_through_a_view, in_another_shape, backwards])
@pytest.mark.parametrize("native", [False, True])
def test_loops(program, native) -> None:
    slopes = [ad.jvp(program, (X,), (unit,))[1] for unit in np.eye(4)]  # forwards nothing runs again
    value, gradient = ad.value_and_grad(program, native=native)(X)
    assert np.isclose(value, program(X), rtol=1e-13) and np.allclose(gradient, slopes, rtol=1e-13)


def buffers():
    whole = np.arange(8.0)
    yield whole, whole[1:7:2], whole[::-1]
    for memory in (bytearray(64), mmap.mmap(-1, 64)):
        one = np.frombuffer(memory, count=6)
        other = np.frombuffer(memory, offset=16)
        one[:] = np.arange(6.0)
        yield one, other, np.ndarray((2, 2), float, memory, 56, (-8, -24)), np.ndarray((1,), float, memory, 0)


@pytest.mark.parametrize("copied", [memory_as_it_is, fresh_shadows])
def test_whoever_owns_the_memory(copied) -> None:
    for arrays in buffers():
        before = [array.copy() for array in arrays]
        copies = copied(arrays)
        assert all(np.array_equal(*pair) for pair in zip(copies, arrays, strict=True))
        for k, copy in enumerate(copies):
            assert copy.strides == arrays[k].strides and not any(np.shares_memory(copy, array) for array in arrays)
            copy += 1.0
        moved = [array.copy() for array in arrays]
        assert all(np.array_equal(*pair) for pair in zip(moved, before, strict=True))
        for array in arrays:
            array += 1.0
        assert all(np.array_equal(*pair) for pair in zip(copies, arrays, strict=True))
