"""Reductions that are told which elements count."""

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from sampling import check_grads

SOME = np.array([[True, False, True], [False, True, True], [True, True, False], [True, True, True]])


@pytest.mark.parametrize("reduction", [np.var, np.std])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_spreads_of_complex_numbers_are_real(reduction, axis):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    direction = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    f = lambda z: reduction(z, axis=axis, where=SOME)
    value, pullback = ad.vjp(f, z)
    assert np.result_type(value) == np.float64
    np.testing.assert_allclose(value, f(z), rtol=1e-12)
    cotangent = pullback(np.ones_like(value))
    slope = np.sum(f(z + 1e-6 * direction) - f(z - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(np.sum(cotangent * direction).real, slope, rtol=1e-7)


def test_factorials_of_arrays_of_rank_0_are_arrays():
    x = np.array(1.6)
    value, _ = ad.vjp(scipy.special.factorial, x)
    assert type(value) is type(scipy.special.factorial(x)) and value == scipy.special.factorial(x)
    assert ad.grad(scipy.special.factorial)(1.6) == pytest.approx(1.0737158833544365)


@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
def test_elements_that_are_not_computed() -> None:
    a = np.array([0.5, -1.2, 2.0, 0.3])

    def f(a, b):
        divided = np.where(a > 0, np.divide(b, a, where=a > 0), 0.0)
        return divided + np.where(a > 0, np.log(a, where=a > 0, out=None), 1.0) * np.multiply(a, b, where=True)

    np.testing.assert_array_equal(ad.vjp(f, a, a[::-1])[0], f(a, a[::-1]))
    check_grads(f, (a, 2.0 * a[::-1]))
