"""Of a result whose extents are known only when it runs there is a gradient if it has one element."""

import numpy as np
import pytest

import adjoint as ad


def product_of_slices(x, n):
    return x[:n] * x[-n:]


def selected(x, n):
    return x[x > n] * 2.0


def doubled(x, n):
    return x[:n] * 2.0


@pytest.mark.parametrize("native", [False, "strict"])
@pytest.mark.parametrize(("f", "several", "single"), [(product_of_slices, 2, 1), (selected, 1, 2), (doubled, 0, 1)])
def test_several_elements_are_refused(f, several, single, native):
    if native:
        pytest.importorskip("llvmlite")
    x = np.array([1.0, 2.0, 3.0])
    for operator in (ad.grad, ad.value_and_grad):
        with pytest.raises(ad.DifferentiationError, match="AD0406"):
            operator(f, native=native)(x, several)
    y, pullback = ad.vjp(f, x, single)
    assert y.size == 1
    np.testing.assert_array_equal(ad.grad(f, native=native)(x, single), pullback(np.ones(1))[0])
