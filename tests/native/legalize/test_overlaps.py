"""Parts of one array that are stored in each other: machine code reads all before it writes, as NumPy does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")

X = np.array([1.3, -0.4, 0.7, 2.1, 0.6])


def shifted_up(x):
    a = x.copy()
    a[1:] += a[:-1]
    return np.sum(a * x)


def backwards(x):
    a = x.copy()
    back = a[::-1]
    back[1:] -= back[:-1]
    a[::-1] += a
    return np.sum(a * x)


def transposed(x):
    m = np.outer(x, x + 1.0)
    m += m.T
    m[:, 1:] += m[:, :-1]
    return np.sum(m)


def moved(x):
    a = x.copy()
    a[1:] = a[:-1]
    a[:] = a[::-1]
    return np.sum(a * x)


def sides(x):
    m = np.outer(x, x + 1.0)
    for _ in range(2):
        m[:, -1] = m[:, -2]
        m[0, :] = m[1, :]
        m[1:, :-1] = m[:-1, 1:]
        m[:] = m[0]
        m[::2] = m[::-2]
        m[1:4] = m[:, 2:5].T
    return np.sum(m * m)


def of_whole_numbers(x):
    order = np.arange(len(x))
    order[1:] = order[:-1]
    flags = x > 0.5
    flags[:-1] = flags[1:]
    return np.sum(np.where(flags, x[order] * x, 2.0 * x[order]))


def down_in_reverse(x):
    a = x.copy()
    a[:-1] += a[1:]
    a[:-1] *= x[1:]
    return np.sum(a * x)


@pytest.mark.filterwarnings("error::adjoint.diagnostics.DifferentiationWarning")  # it is compiled, not interpreted
@pytest.mark.parametrize(
    "function",
    [shifted_up, backwards, transposed, moved, sides, of_whole_numbers, down_in_reverse],
    ids=lambda f: f.__name__,
)
def test_overlapping_parts(function: Callable[..., Any]) -> None:
    value, gradient = ad.value_and_grad(function, native=True)(X)
    expected_value, expected = ad.value_and_grad(function)(X)
    assert value == pytest.approx(function(X))
    assert value == pytest.approx(expected_value)
    np.testing.assert_allclose(gradient, expected)


def test_interpreted_code_needs_no_copies() -> None:
    assert "copy(a[:-1])" not in ad.source(ad.grad(shifted_up), X)


def test_parts_that_do_not_fit_raise() -> None:
    def misfit(x):
        a = x.copy()
        a[1:] = a[:-2]
        return np.sum(a)

    for native in (False, "strict"):
        with pytest.raises(ValueError, match="broadcast"):
            ad.value_and_grad(misfit, native=native)(X)
