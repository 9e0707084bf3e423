"""What is particular about the derivatives of Fourier transforms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.declare import elementwise
from adjoint.testing import check_grads


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


def lengths(x, s, axes):
    found = np.fft.fftn(x, s, axes)
    return np.sum(np.abs(found) ** 2 + found.imag)


@pytest.mark.parametrize("axes", [(1, 1), (0, 1), [1, -1], (0, 0, 1), (0, 1, -2)])
def test_lengths_for_axes_of_which_one_is_named_twice(axes) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    s = (3, 5, 2)[: len(axes)]
    check_grads(lambda x: lengths(x, s, axes), (x,))
    check_grads(lengths, (x, s, axes), wrt=0)
    check_grads(lambda x: np.abs(np.fft.ifft2(x, (5, -1), (0, 0)))[1, 1], (x,))


def test_absolute_values_of_transforms_along_axes_that_nobody_looked_at() -> None:
    """They had complex tangents: the transforms were taken for real arrays."""
    for fn, given in ((np.fft.fft, {"axis": 0}), (np.fft.fft2, {"axes": (1, 0)}), (np.fft.rfft, {"norm": "ortho"})):
        kept = pickle.dumps(given)

        def f(x, fn=fn, name=next(iter(given)), kept=kept):
            return np.abs(fn(x, **{name: pickle.loads(kept)[name]}))

        x = np.random.default_rng(0).normal(size=(3, 4))
        check_grads(f, (x,), order=1, wrt=0)


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
