"""What is particular about the derivatives of Fourier transforms."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.declare import elementwise


def power(x):
    return np.sum(np.abs(np.fft.fft(x, axis=0)) ** 2)


def test_a_real_argument_has_a_real_cotangent() -> None:
    x = np.arange(6.0)
    np.testing.assert_allclose(ad.grad(power)(x), 12 * x, atol=1e-12)
    assert ad.grad(power)(x).dtype == np.float64
    assert ad.grad(power)(x.astype(np.float32)).dtype == np.float32


def test_a_complex_argument_is_paired_without_conjugation() -> None:
    z = np.arange(6.0) - 1j * np.ones(6)
    np.testing.assert_allclose(ad.grad(power)(z), 12 * np.conj(z), atol=1e-12)


def twice(x):
    return np.abs(np.fft.fftn(x, s=(4, 5), axes=(0, 0)))[1, 1]


def test_lengths_for_an_axis_that_is_named_twice_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="names an axis twice"):
        ad.grad(twice)(np.ones((3, 3)))


def into(x):
    out = np.zeros(4, complex)
    np.fft.fft(x, out=out)
    return np.sum(np.abs(out))


def test_a_place_for_the_result_is_not_ignored() -> None:
    x = np.array([1.0, 2.0, -1.0, 0.5])
    try:
        gradient = ad.grad(into)(x)
    except ad.DifferentiationError:
        return
    step = 1e-6 * np.array([1.0, 0.0, 0.0, 0.0])
    assert abs(gradient[0] - (into(x + step) - into(x - step)) / 2e-6) < 1e-6


def stretched(x, n):
    return x * n


def test_parameters_of_own_functions_are_not_taken_for_settings() -> None:
    elementwise(stretched, lambda x, n, y: (n, x))
    assert ad.grad(lambda n: stretched(2.0, n=n))(3.0) == 2.0
