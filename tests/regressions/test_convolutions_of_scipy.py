"""Convolutions of SciPy, in one dimension and in two, and its test function; what is left is refused with a code."""

import numpy as np
import pytest
from scipy import optimize, signal

import adjoint as ad
from regressions.differences import either, right

LINE, KERNEL = np.array([0.1, 0.5, -0.3, 0.7]), np.array([1.0, 2.0])
PLANE, PATCH = np.arange(12.0).reshape(3, 4) / 7, np.array([[1.0, 2.0], [-0.5, 0.3]])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_along_a_line(mode: str) -> None:
    right(lambda x: np.sum(signal.convolve(x, KERNEL, mode) ** 2), LINE)
    right(lambda x: np.sum(signal.convolve(KERNEL, x, mode=mode) ** 2), LINE)
    right(lambda k: np.sum(signal.fftconvolve(LINE, k, mode) ** 2), KERNEL)
    either(right, lambda x: np.sum(signal.correlate(x, KERNEL, mode) ** 2), LINE)


def test_in_a_plane() -> None:
    right(lambda x: np.sum(signal.convolve(x, PATCH) ** 2), PLANE)
    right(lambda k: np.sum(signal.correlate(PLANE, k) ** 2), PATCH)
    either(right, lambda x: np.sum(signal.convolve(x, PATCH, "same") ** 2), PLANE)
    either(right, lambda x: np.sum(signal.convolve2d(x, PATCH) ** 2), PLANE)


def test_the_function_of_rosenbrock() -> None:
    right(optimize.rosen, LINE)
    right(lambda a: np.sum(optimize.rosen(a)), PLANE)
    np.testing.assert_allclose(ad.hessian(optimize.rosen)(LINE), optimize.rosen_hess(LINE), rtol=1e-12)


def test_the_extreme_of_what_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="not supported between"):
        ad.grad(lambda x: max(None, None) * x)(2.0)
