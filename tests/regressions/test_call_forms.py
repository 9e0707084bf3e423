"""Calls as NumPy takes them: what was wrong, or raised from inside, for some spelling of the arguments."""

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import adjoint as ad
from regressions.differences import refused, right, second

X = np.array([0.6, -0.4, 1.3])
A = np.eye(3) * 3 + np.arange(9.0).reshape(3, 3) / 7
SINGLE = np.array([0.6, -0.4, 1.3], np.float32)

WITH_WHOLE_NUMBERS = {
    "solve": lambda x: np.linalg.solve(A + np.outer(x, x), [1, 2, 3]).sum(),
    "solve_triangular": lambda x: scipy.linalg.solve_triangular(A + np.outer(x, x), np.array([1, 2, 3])).sum(),
    "scipy.linalg.solve": lambda x: scipy.linalg.solve(A + np.outer(x, x), [1, 2, 3], assume_a="gen").sum(),
    "einsum": lambda x: np.einsum("i,i->", x, [1, 2, 3]) ** 2,
    "interp": lambda x: np.interp(x, [0, 1, 2], [0, 3, 4]).sum(),
    "clip": lambda x: np.clip(x, [0, 0, 1], 1).sum(),
    "polyval": lambda x: np.polyval([1, 2, 3], x).sum(),
    "kron": lambda x: (np.kron(x, [1, 2]) ** 2).sum(),
    "convolve": lambda x: (np.convolve(x, [1, 2]) ** 2).sum(),
    "cross": lambda x: (np.cross(x, [1, 2, 3]) ** 2).sum(),
    "tensordot": lambda x: (np.tensordot(x, [[1, 2, 3]] * 3, 1) ** 2).sum(),
    "logsumexp": lambda x: scipy.special.logsumexp(x, b=[1, 2, 3]),
}


@pytest.mark.parametrize("name", WITH_WHOLE_NUMBERS)
def test_arrays_of_whole_numbers_beside_what_varies(name) -> None:
    right(WITH_WHOLE_NUMBERS[name], X)
    second(WITH_WHOLE_NUMBERS[name], X)


OF_SINGLE_PRECISION = {
    "tolist": lambda x: np.multiply(2.0, x.tolist()),
    "tolist of a matrix": lambda x: np.sum(np.outer(x, x).tolist(), axis=0),
    "outer": lambda x: np.power.outer(x * x, 1.5),
    "outer of a number": lambda x: np.multiply.outer(1.5, x),
    "outer of numbers": lambda x: np.arctan2.outer(x[0], 1.5),
    "ediff1d": lambda x: np.ediff1d(x, to_begin=0.5, to_end=[1.0]),
    "matrix_power": lambda x: np.linalg.matrix_power(np.outer(x, x), 3),
    "matrix_power, zero": lambda x: np.linalg.matrix_power(np.outer(x, x), 0) * x[0],
    "block_diag": lambda x: scipy.linalg.block_diag(np.outer(x, x), x),
    "gradient": lambda x: np.gradient(x, np.array([0.0, 0.5, 2.0])),
}


@pytest.mark.parametrize("name", OF_SINGLE_PRECISION)
def test_precision_is_that_of_numpy(name) -> None:
    call = OF_SINGLE_PRECISION[name]
    expected = call(SINGLE)
    value, pullback = ad.vjp(call, SINGLE)
    assert value.dtype == expected.dtype and type(value) is type(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    (cotangent,) = pullback(np.ones_like(value))
    assert cotangent.dtype == np.float32
    wide = ad.vjp(call, X)[1](np.ones(np.shape(value)) if np.ndim(value) else 1.0)[0]
    np.testing.assert_allclose(cotangent, wide, rtol=1e-4)


def test_an_axis_in_a_tuple() -> None:
    right(lambda x: np.sum(np.add.accumulate(x, (0,)) ** 2), X)
    right(lambda x: np.sum(np.multiply.accumulate(x, axis=(0,)) ** 2), X)
    right(lambda x: np.sum(np.maximum.accumulate(x, (0,)) ** 2), X)
    if hasattr(np, "cumulative_sum"):  # NumPy 2.1
        right(lambda x: np.sum(np.cumulative_sum(x, axis=(0,)) ** 2 + np.cumulative_prod(x, axis=(0,))), X)


def test_numpy_asks_a_sequence_to_split_for_its_length() -> None:
    right(lambda a: np.sum(np.array_split([list(row) for row in a[:2]], 2, 1)[0] ** 2), A)
    right(lambda a: np.sum(np.array_split(a[:2], 2, 1)[0] ** 2), A)
    right(lambda a: np.sum(np.array_split([list(row) for row in a], [1, 2])[1] ** 2), A)


def test_convolutions_with_a_number() -> None:
    right(lambda x: np.sum(np.convolve(np.array(x), [1.0, 2.0]) ** 2), 0.7)
    right(lambda x: np.sum(np.convolve(x, np.array(2.0)) ** 2), X)
    right(lambda x: np.sum(np.convolve(x, 2.0) ** 2), X)


def test_functions_of_lines_that_are_empty() -> None:
    call = ad.vjp(lambda x: np.apply_along_axis(np.sum, 0, x), np.zeros(0))
    assert call[0] == 0.0 and call[1](np.ones_like(call[0]))[0].shape == (0,)


def test_densities_of_numbers_are_numbers() -> None:
    for call in (
        lambda x: scipy.stats.gamma.logpdf(1.7, 0.8, scale=np.array(x)),
        lambda x: scipy.stats.beta.logpdf(0.3, np.array(x), 2.0),
        lambda x: scipy.stats.expon.logpdf(x, scale=1.3),
        lambda x: scipy.stats.poisson.logpmf(3, x),
    ):
        right(call, 0.7)
        assert isinstance(ad.vjp(call, 0.7)[0], np.float64)
    right(lambda x: scipy.stats.poisson.logpmf((0, 1, 4), x).sum(), np.abs(X))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_reductions_of_complex_numbers_in_real_ones() -> None:
    z = X + 1j * X[::-1]
    for function in (np.var, np.std, np.prod):
        refused(lambda f=function: ad.vjp(lambda z: f(z, dtype=float), z))
        refused(lambda f=function: ad.jvp(lambda z: f(z, dtype=float), (z,), (z,)))
        right(lambda x, f=function: f(x, dtype=float) + f(x, dtype=np.float64), X)
