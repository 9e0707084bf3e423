"""Arrays that loops keep only for their shape are kept without their elements; what is read again is kept whole."""

import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions import arrays
from sampling import check_grads

rng = np.random.default_rng(5)
X, W = rng.normal(size=12), rng.normal(size=(3, 2))


def halves(x):
    """The shape is another one in each iteration."""
    total = 0.0
    while len(x) > 2:
        x = (x[: len(x) // 2] + x[len(x) // 2 : 2 * (len(x) // 2)]) * 0.5
        total += np.sum(x[:1] * x)
    return total


def powers_of_radix(x, n):
    """A reshaped view of an array is kept for its shape, and so is a product of what no longer exists."""
    y = x.copy()
    for k in range(n):
        block = np.reshape(y, (3**k, -1))
        y[:] = np.reshape((block * 1.5) @ np.ones((block.shape[1], block.shape[1])) * 0.1, -1)
    return np.sum(y * y)


def biased(w, n):
    """The bias is broadcast, or not: its cotangent is summed to the shape that it had."""
    total = 0.0
    for k in range(n):
        bias = w[:k] if k else w[:1] * 2.0
        row = np.concatenate((bias, bias)) * 1.0
        total += np.sum(np.sin(w[:, 0]) * np.sum(row)) + np.sum(row[:1] + np.ones((4, 2)))
    return total


def kept_for_its_elements(x, n):
    for k in range(n):
        part = x[: 12 - k] * 0.3
        x = np.sin(part + part[:1]) * part
    return np.sum(x)


def folded(x):
    while len(x) > 2:
        x = (x[: len(x) // 2] + x[len(x) // 2 : 2 * (len(x) // 2)]) * 0.5
    return np.sum(x)


def handed_on(x, n):
    """The first array is read again; what is carried is read at the end, or in a choice."""
    last = x
    for k in range(n):
        last, x = x, (x[1:] * 2.0 if k % 2 else np.concatenate((x, last[:1])) * 0.5)
    return np.sum(last * last) + np.sum(x[:1] * 3.0)


PROGRAMS = [
    (folded, (X,)),
    (handed_on, (X, 5)),
    (halves, (X,)),
    (powers_of_radix, (rng.normal(size=27), 3)),
    (biased, (W, 3)),
    (kept_for_its_elements, (X, 4)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_derivatives(f, args):
    check_grads(f, args)
    np.testing.assert_allclose(ad.grad(f, native="strict")(*args), ad.grad(f)(*args), rtol=1e-12)


def test_only_shapes_are_kept():
    text = ad.source(ad.grad(powers_of_radix), rng.normal(size=27), 3)
    assert ".append(rt.shape_only(" in text


def test_what_is_read_is_kept():
    text = ad.source(ad.grad(kept_for_its_elements), X, 4)
    for line in text.splitlines():
        assert "shape_only(part)" not in line, text


def squares_of_parts(x, n):
    total = 0.0
    for k in range(1, n):
        total += np.sum(np.reshape(x[: len(x) - len(x) % k], (k, -1)).sum(axis=0) * 2.0) ** 2
    return total


def test_memory_is_that_of_one_iteration():
    x = np.ones(100_000)
    gradient = ad.grad(squares_of_parts)
    gradient(x, 3)
    peaks = []
    for n in (3, 12):
        tracemalloc.start()
        gradient(x, n)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_what_an_iteration_hands_to_the_next_is_freed():
    text = ad.source(ad.grad(folded), X)
    assert text.count(".append(rt.shape_only(") == 4 and "x_kept.append(x" not in text


def test_a_pullback_keeps_no_elements_either():
    x = np.ones(2**16)
    pullback = ad.vjp(folded, x)[1]
    tracemalloc.start()
    pullback = ad.vjp(folded, x)[1]
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    np.testing.assert_array_equal(pullback(1.0)[0], ad.grad(folded)(x))
    np.testing.assert_array_equal(pullback(1.0)[0], ad.grad(folded)(x))
    assert kept < x.nbytes / 4


def test_the_report_says_so():
    report = ad.tape_report(ad.grad(powers_of_radix), rng.normal(size=27), 3)
    (loop,) = report.loops
    shapes = [kept for kept in loop.kept if kept.what == "a shape"]
    assert len(shapes) == 3 and all(kept.bytes == 24 for kept in shapes)
    assert any(kept.what == "an array" and (kept.bytes or 0) > 600 for kept in loop.kept)


def test_arrays_without_elements():
    for x in (np.ones((2, 3)), np.ones(4, dtype=np.float32), np.ones((2, 0, 1), dtype=complex), np.arange(3)):
        kept = arrays.shape_only(x)
        assert kept.shape == x.shape and kept.dtype == x.dtype and not kept.flags.writeable
        assert arrays.unbroadcast(np.ones((5, *x.shape)), kept).shape == x.shape
    assert arrays.shape_only(2.5) == 2.5
