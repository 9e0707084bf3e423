"""Zeros that a selection leaves behind, zeros that were computed, and second derivatives at points that are zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

PARTLY = np.array([0.5, -0.7])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x > 0, x**1.5, x**2).sum(),
        lambda x: np.where(x > 0, x * np.sqrt(x), 0.0).sum(),
        lambda x: np.where(x > 0, np.sqrt(x), x**2).sum(),
        lambda x: np.nan_to_num(np.sqrt(x)).sum(),
        lambda x: np.nansum(np.sqrt(x)),
        lambda x: np.nanmean(x * np.log(x)),
        lambda x: np.sum((x * np.sqrt(x))[x > 0] ** 2),
    ],
)
def test_the_untaken_branch_of_where(f: Callable[[np.ndarray], Any]) -> None:
    with np.errstate(all="ignore"):
        right(f, PARTLY)
        second(f, PARTLY)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda v: np.sum(np.sinc(v)), np.zeros(1)),
        (lambda v: np.sum(np.sinc(v) ** 2), np.array([0.0, 1e-4, 0.3, 1.0, -2.6])),
        (lambda x: np.sum(x[:, None] ** np.arange(3)), np.zeros(1)),
        (lambda x: np.sum(x[:, None] ** np.arange(4.0)), np.array([0.0, -1.5])),
        (lambda x: np.sum(np.vander(x, 4)), np.zeros(1)),
        (lambda v: np.sum(v**0), np.array([0.0, 1.5])),
        (lambda v: np.sum(v**1), np.array([0.0, 1.5])),
        (lambda v: np.prod(v), np.array([0.0, 1.5, 0.0, 2.0])),
        (lambda v: np.linalg.det(v.reshape(3, 3)), np.arange(9.0)),
        (lambda v: np.linalg.det(np.outer(v, v)), np.array([1.0, 2.0])),
    ],
)
def test_second_derivatives_at_zero(f: Callable[[np.ndarray], Any], x: np.ndarray) -> None:
    second(f, x)


def test_the_hessian_of_a_determinant_at_a_singular_matrix() -> None:
    found = ad.hessian(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])).reshape(4, 4)
    np.testing.assert_allclose(found, np.fliplr(np.diag([1.0, -1.0, -1.0, 1.0])), atol=1e-9)


def test_the_third_derivative_of_a_determinant() -> None:
    matrix = np.array([[2.0, 1.0, 0.5], [0.3, 1.5, -1.0], [0.2, -0.4, 1.0]])

    def curvature(t: float) -> float:
        return ad.grad(ad.grad(lambda t: np.linalg.det(matrix + t * matrix @ matrix + t * t * np.eye(3))))(t)

    expected = (curvature(0.3 + 1e-5) - curvature(0.3 - 1e-5)) / 2e-5
    np.testing.assert_allclose(ad.grad(curvature)(0.3), expected, rtol=1e-6)


@pytest.mark.parametrize("t", [0.0, 1e-9, 1e-8, 1e-5])
def test_eigenvectors_of_nearly_equal_eigenvalues(t: float) -> None:
    def turned(t: float) -> Any:
        matrix = np.array([[1 - 2 * t * t, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        return np.linalg.eigh(matrix + matrix.T)[1][0, 1]

    slope = ad.grad(turned)(t)
    assert not np.isfinite(slope) or abs(slope) < 1e6, slope


def rows_of_a_norm(x):
    return np.sum(np.where(x[:, 0] > 0, np.linalg.norm(x, axis=1), 0.0))


def rows_of_a_deviation(x):
    return np.sum(np.where(x[:, 0] > 0, np.std(x, axis=1, ddof=1), 0.0))


@pytest.mark.parametrize("f", [rows_of_a_norm, rows_of_a_deviation])
@pytest.mark.parametrize("row", [[np.nan, 1.0], [0.0, np.nan], [0.0, 0.0], [np.nan, 0.0]])
def test_rows_that_are_left_out(f: Callable[[np.ndarray], Any], row: list[float]) -> None:
    rest = np.array([[3.0, 4.0]])
    x = np.array([row, *rest])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(x), [[0.0, 0.0], *ad.grad(f)(rest)])
        found = ad.hessian(f)(x).reshape(4, 4)
        expected = np.zeros((4, 4))
        expected[2:, 2:] = ad.hessian(f)(rest).reshape(2, 2)
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "x"),
    [(lambda x: np.std(x, ddof=1), np.array([2.0])), (lambda x: np.linalg.norm(x), np.array([0.0, np.nan]))],
)
def test_what_is_not_a_number_has_no_slope(f: Callable[[np.ndarray], Any], x: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(ad.grad(f)(x)).all()
        assert np.isnan(ad.jvp(f, (x,), (np.ones_like(x),))[1])


def test_the_second_derivative_of_a_squared_norm_at_zero_is_not_known() -> None:
    """The norm has a kink there, which the square hides; no way to the second derivative gives a number instead."""

    def f(x):
        return np.linalg.norm(x) ** 2

    zero = np.zeros(2)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.grad(f)(zero), zero)
        ways = [ad.hessian(f)(zero), ad.jacobian(ad.grad(f))(zero)]
        for found in ways:
            assert np.isnan(np.diag(found)).all()
    second(lambda x: np.sum(x * x), zero)


@pytest.mark.parametrize("f", [lambda x: np.linalg.norm(x[0] * x), lambda x: np.std(x[0] * x)])
def test_kinks_along_tangents_that_are_zero_by_chance(f: Callable[[np.ndarray], Any]) -> None:
    x = np.array([0.0, 4.0, -1.0])
    with np.errstate(all="ignore"):
        gradient = ad.grad(f)(x)
        np.testing.assert_array_equal(gradient, np.zeros(3))
        np.testing.assert_array_equal([ad.jvp(f, (x,), (row,))[1] for row in np.eye(3)], gradient)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("extreme", [max, min])
def test_extremes_beside_what_is_not_a_number(extreme: Callable[..., Any], native: bool) -> None:
    """Python keeps the first argument unless the second one is beyond it."""

    def f(x, y):
        kept = extreme(x, y)
        return kept * kept if kept == kept else 1.0

    gradient = ad.value_and_grad(f, wrt=(0, 1), native=native)
    assert gradient(2.0, np.nan) == (4.0, (4.0, 0.0))
    assert gradient(np.nan, 2.0) == (1.0, (0.0, 0.0))


def powers_of_rows(x: np.ndarray, mask: np.ndarray, weights: np.ndarray) -> Any:
    rows = np.zeros((4, len(x)))
    for t in range(3):
        rows[t + 1] = rows[t] ** 1.5 + x
    return np.sum(rows[:, mask])


def weighted_rows(x: np.ndarray, mask: np.ndarray, weights: np.ndarray) -> Any:
    rows = np.zeros((4, len(x)))
    rows[0] = x
    for t in range(3):
        rows[t + 1] = rows[t] * weights
    return np.sum(rows[:, mask] ** 2)


@pytest.mark.each_time
@pytest.mark.parametrize("f", [powers_of_rows, weighted_rows])
def test_what_a_mask_leaves_out_of_iterations_that_are_run_again(f: Callable[..., Any]) -> None:
    x, mask = np.array([0.0, 1.5, 0.0, 0.7]), np.array([False, True, False, True])
    args = x, mask, np.where(mask, 1.2, np.inf)
    with np.errstate(all="ignore"):
        for native in (False, True):
            assert np.all(ad.grad(f, native=native)(*args)[~mask] == 0)
            product, *_ = ad.hvp(f, args, (np.array([1.0, 0.5, -2.0, 3.0]), None, None), native=native)
            assert np.all(product[~mask] == 0)
            assert np.isfinite(ad.hessian(f, native=native)(*args)).all()
