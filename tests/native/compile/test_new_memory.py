"""Loops over new arrays do not ask whether these overlap with others; what they compute is the same."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
import adjoint.runtime as rt

pytest.importorskip("numba")


def test_nothing_is_asked_of_new_memory() -> None:
    from numba import njit

    import adjoint.native.runtime.declarations  # noqa: F401

    def ours(x, y):
        total, product = rt.empty(x.shape[0]), rt.zeros_in_shape(y)
        for i in range(x.shape[0]):
            total[i] = x[i] + y[i]
            product[i] += x[i] * y[i]
        return total, product

    def ordinary(x, y):
        total, product = np.empty(x.shape[0]), np.zeros(y.shape[0])
        for i in range(x.shape[0]):
            total[i] = x[i] + y[i]
            product[i] += x[i] * y[i]
        return total, product

    x, y = np.linspace(-1.0, 2.0, 37), np.linspace(0.5, 0.7, 37)
    asked = {}
    for function in (ours, ordinary):
        compiled = njit(function)
        total, product = compiled(x, y)
        np.testing.assert_array_equal(total, x + y)
        np.testing.assert_array_equal(product, x * y)
        asked[function] = "memcheck" in "".join(compiled.inspect_llvm().values())
    assert asked == {ours: False, ordinary: True}


def turns(x, n):
    """New memory in each iteration, at the addresses of what was given back, handed on in turn."""
    y, z, kept = x * 1.0, x + 1.0, []
    for i in range(n):
        new = np.empty(len(x))
        for k in range(len(x)):
            new[k] = y[k] * z[-1 - k]
        new[1:] += new[:-1] * 0.5
        y, z = z, new
        if i % 2 == 0:
            kept.append(new[1:])
        short = np.zeros(2)
        short[0] = new[0]
        z[-1] += short.sum()
    total = np.sum(y * z)
    for part in kept:
        total += part[0] * part[-1]
    return total


@pytest.mark.parametrize("options", [{}, {"fastmath": True}], ids=["", "fastmath"])
def test_memory_that_is_given_back_and_made_again(options: dict[str, bool]) -> None:
    compiled = ad.value_and_grad(turns, native="strict", **options)
    for size in (3, 9, 40):
        x = np.linspace(0.4, 1.1, size)
        for n in (1, 4, 7):
            value, gradient = ad.value_and_grad(turns, native=False)(x, n)
            found, slopes = compiled(x, n)
            assert found == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(slopes, gradient, rtol=1e-10)
