"""Arguments and functions that were once refused: weights, borders, updates of factors, transforms."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft, interpolate, linalg, optimize, signal, special, stats
from scipy.cluster import vq
from scipy.spatial.transform import Rotation, Slerp

import adjoint as ad
from sampling import check_grads

X = np.array([0.3, -0.7, 1.2, 0.4])
WIDE = np.array([[0.3, -0.7, 1.2, 0.4], [0.9, 0.1, -0.3, 0.8]])
TALL = np.array([[4.0, 1.0], [0.5, 3.0], [0.3, 0.2], [-0.4, 0.6]])
CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "average": (lambda x: np.average(x, weights=x * x, returned=True)[1] * np.average(x, returned=True)[0], X),
    "cov": (lambda x: np.cov(x, aweights=np.array([1.0, 2.0, 1.5, 0.3]), fweights=np.array([1, 2, 1, 4])), WIDE),
    "cov of weights": (lambda x: np.cov(x, aweights=x[0] * x[0]), WIDE),
    "polyfit": (lambda x: np.polyfit(np.arange(4.0), x, 1, cov=True)[1], X),
    "pad by means": (lambda x: np.pad(x, ((1, 2), (0, 3)), mode="mean") ** 2, WIDE),
    "pad by medians": (lambda x: np.pad(x, 2, mode="median", stat_length=3) ** 2, WIDE),
    "pad by extremes": (lambda x: np.pad(x, 1, "maximum") * np.pad(x, 1, "minimum"), WIDE),
    "ramps": (lambda x: np.pad(x, (2, 3), mode="linear_ramp", end_values=x[0]) ** 2, X),
    "odd reflections": (lambda x: np.pad(x, (5, 4), mode="reflect", reflect_type="odd") ** 2, X),
    "odd symmetry": (lambda x: np.pad(x, (5, 4), mode="symmetric", reflect_type="odd") ** 2, X),
    "counts in two directions": (
        lambda x: np.histogram2d(np.array([0.3, 0.8, 0.1, 0.4]), X, bins=[2, 3], weights=x * x, density=True)[0],
        X + 2.0,
    ),
    "counts in several directions": (
        lambda x: np.histogramdd(np.stack([X, X[::-1]], 1), [2, 3], [(-1, 1), (-2, 2)], weights=x * x)[0],
        X + 2.0,
    ),
    "densities in several directions": (
        lambda x: np.histogramdd([X, X[::-1]], (2, [-1.0, 0.2, 0.5, 2.0]), weights=x * x, density=True)[0],
        X + 2.0,
    ),
    "edges of counts": (lambda x: np.concatenate(np.histogramdd((x, x * x), [2, 3])[1]), X),
    "distances from codes": (lambda x: vq.vq(x.T, x.T[1:3] * 1.1)[1], WIDE),
    "distances from numbers": (lambda x: vq.vq(x, x[:2] * 1.1)[1], X),
    "real blocks": (
        lambda x: np.concatenate(linalg.cdf2rdf(x[:2] + 1j * TURNS * x[2], np.outer(x[:2], 1j + x[2:]))),
        X,
    ),
    "high-pass": (lambda x: np.concatenate(signal.lp2hp(x[:2], x[1:], 1.0 + x[2])), X),
    "spline at places": (lambda x: signal.cspline1d_eval(x, 3.0 * x, x[2], 0.1), X),
    "parabolas at places": (lambda x: signal.qspline1d_eval(x, 3.0 * x, x[2], 0.1), X),
    "least within bounds": (
        lambda x: (
            optimize.fmin_slsqp(
                lambda v: np.sum((v - x[:2]) ** 2), np.zeros(2), bounds=[(0.0, 1.0)] * 2, iprint=0, acc=1e-14
            )
            * x[2]
        ),
        X,
    ),
    "scalar products": (lambda x: SCALAR_PRODUCTS(x, x[0] * x), WIDE),
    "products of stacks": (lambda x: PRODUCTS(np.stack([x, 2.0 * x])[:, None], x), WIDE),
    "sums and squares": (lambda x: np.concatenate([np.ravel(part) for part in SUMS_AND_SQUARES(x)]), WIDE),
    "harmonic mean": (lambda x: statistics.harmonic_mean([x[0], x[2], x[3]]), X),
    "kve": (lambda x: special.kve(x, 1.0 + x * x), X),
    "Hankel": (lambda x: fft.fht(x, 0.2, 0.3, offset=0.1, bias=0.2) ** 2, X),
    "Hankel backwards": (lambda x: fft.ifht(x, 0.2, 0.3, offset=0.1, bias=0.2) ** 2, X),
    "product with a factor": (lambda x: linalg.qr_multiply(x, x.T[:1] * 2.0)[0], TALL),
    "product with a turned factor": (lambda x: linalg.qr_multiply(x, x[:2], "left", pivoting=True)[0], TALL),
    "update": (lambda x: _of(linalg.qr_update(*linalg.qr(x, mode="economic"), x[:, 0], x[1])), TALL),
    "row inserted": (lambda x: _of(linalg.qr_insert(*linalg.qr(x, mode="economic"), x[0] * x[1], 2)), TALL),
    "column inserted": (lambda x: _of(linalg.qr_insert(*linalg.qr(x.T), x[0] ** 2, 1, "col")), TALL[:2]),
    "row deleted": (lambda x: _of(linalg.qr_delete(*linalg.qr(x), 1)), TALL[:2]),
    "column deleted": (lambda x: _of(linalg.qr_delete(*linalg.qr(x, mode="economic"), 0, 1, "col")), TALL),
    "turned on the way": (
        lambda x: Slerp([0, 1, 3], Rotation.from_rotvec(np.outer(x[:3], x[1:])))([0.3, 2.2]).as_matrix(),
        X,
    ),
    "turned by then": (lambda x: TURNED(x[2]).as_rotvec() * TURNED(x * x).as_quat()[0, 1], X),
}


TURNS = np.array([1.0, -1.0])
SCALAR_PRODUCTS = np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
PRODUCTS = np.vectorize(lambda a, b: a @ b * b[0], signature="(m,n),(n)->(m)")
SUMS_AND_SQUARES = np.vectorize(lambda a: (np.sum(a), a * a), signature="(n)->(),(n)")
TURNED = Slerp([0, 1, 3], Rotation.from_rotvec([[0.0, 0.1, 0.0], [0.2, 0.0, 1.0], [0.5, -0.4, 0.3]]))


def _of(factors):
    return np.concatenate([np.ravel(factors[0]), np.ravel(factors[1])])


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    function, x = CALLS[name]
    check_grads(lambda x: np.sum(np.sin(function(x))), (x,))


def test_machine_code_says_the_same() -> None:
    def total(x):
        return np.sum(np.pad(x, (2, 3), mode="linear_ramp", end_values=x[0]) ** 2) + np.sum(np.cov(x, aweights=x * x))

    assert np.allclose(ad.grad(total)(X), ad.grad(total, native=True)(X), rtol=1e-13)


def test_zeros_in_a_harmonic_mean() -> None:
    assert ad.grad(lambda x: statistics.harmonic_mean([x, 2.0, 3.0]))(0.0) == 3.0
    with pytest.raises(statistics.StatisticsError):
        ad.grad(lambda x: statistics.harmonic_mean([x, 2.0]))(-1.0)


def test_columns_beyond_those_of_a_matrix_are_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="columns of 'q' beyond"):
        ad.grad(lambda x: np.sum(linalg.qr_insert(*linalg.qr(x), x[0], 1)[1]))(TALL[:2])


def by_normal_equations(x, y):
    q, r = linalg.qr(x)
    second, also = np.linalg.qr(x, mode="complete")
    rank = x.shape[1]
    return np.sum(linalg.solve_triangular(r[:rank], (q.T @ y)[:rank]) * also[:rank, 0]) + np.sum(second[:, 0] ** 3)


def test_columns_beyond_those_of_a_matrix_that_nobody_asks_for() -> None:
    check_grads(by_normal_equations, (TALL, TALL[:, 0] ** 2 + 0.3), order=1)
    with pytest.raises(np.linalg.LinAlgError, match="columns of 'q' beyond"):
        ad.grad(lambda x: np.sum(linalg.qr(x)[0] ** 3))(TALL)


def test_below_the_diagonal_of_a_factor_nothing_varies() -> None:
    q, r = linalg.qr(TALL, mode="economic")
    slope = ad.grad(lambda r: np.sum(np.sin(linalg.qr_update(q, r, TALL[:, 0], TALL[1])[1])))(r)
    assert np.all(np.tril(slope, -1) == 0.0) and np.any(np.triu(slope, 1) != 0.0)
    check_grads(lambda x: np.sum(np.sin(linalg.qr_delete(q, np.triu(x), 0, 1, "col")[1])), (r + 0.1,))
    with pytest.raises(np.linalg.LinAlgError, match="below the diagonal"):
        ad.grad(lambda r: np.sum(linalg.qr_insert(q, r, TALL[0], 1)[0]))(r + 0.1)


def test_an_array_of_unknown_rank_is_called_so() -> None:
    curve = interpolate.KroghInterpolator(np.arange(4.0), np.sin(np.arange(4.0)))
    with pytest.raises(ad.DifferentiationError, match="returns an array of a rank that is not known here"):
        ad.grad(lambda x: curve(x))(1.3)
    assert abs(ad.grad(lambda x: np.sum(curve(x)))(1.3) - curve.derivative(1.3)) < 1e-12


def test_what_is_not_known_of_distributions_that_are_classes_is_refused_by_name() -> None:
    if hasattr(stats, "truncate"):
        with pytest.raises(ad.DifferentiationError, match=r"AD0204(.*\n)*.*no derivative of 'truncate' is known"):
            ad.grad(lambda x: stats.truncate(stats.Normal(), lb=0.0).pdf(x))(0.7)


def test_no_option_is_to_be_left_out_where_nothing_is_known() -> None:
    with pytest.raises(ad.DifferentiationError) as raised:
        ad.grad(lambda x: optimize.bracket(lambda t: (t - x) ** 2)[0])(0.7)
    assert "leave it out" not in str(raised.value)


def test_different_elements_in_the_order_that_numpy_gives_them() -> None:
    """Which is that of a hash table, since NumPy 2.3; elements that are no numbers are all different."""
    x = np.array([np.nan, 3.0, -1.0, 3.0, np.nan, 2.0, 0.0, 7.0])
    expected = np.unique_values(x)
    value, pullback = ad.vjp(np.unique_values, x)
    np.testing.assert_array_equal(value, expected)
    (bar,) = pullback(np.arange(1.0, 1.0 + len(expected)))
    assert bar[3] == 0.0
    assert sorted(bar) == list(range(8))
    for given, slope in zip(x[1:], bar[1:], strict=True):
        assert slope == 0.0 or np.isnan(given) or expected[int(slope) - 1] == given
    check_grads(lambda x: np.unique_values(x * x) ** 2 * np.arange(1.0, 5.0), (np.array([0.3, 0.7, -1.2, 2.0]),))


@pytest.mark.parametrize("given", [(np.ones(3), np.ones(2)), (np.ones((2, 3)), np.ones(2))])
def test_axes_of_a_signature_that_do_not_fit(given: Any) -> None:
    with pytest.raises(ValueError, match="inconsistent size for core dimension 'n'") as theirs:
        SCALAR_PRODUCTS(*given)
    with pytest.raises(ValueError, match="inconsistent size for core dimension 'n'") as ours:
        ad.grad(lambda a, b: np.sum(SCALAR_PRODUCTS(a, b)))(*given)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("search", [vq.kmeans, vq.kmeans2])
def test_searches_for_codes_are_refused_by_name(search: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match=f"no derivative of '{search.__name__}' is known"):
        ad.grad(lambda x: np.sum(search(x, 2)[0]))(WIDE)
