"""Values of functions of NumPy at which a derivative is a matter of convention, or of care."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import adjoint as ad


def running_maximum(x: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(x)


def sum_without_axis(x: np.ndarray) -> float:
    return float(np.add.reduce(x, dtype=float))


def directions(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sign(x + 1j * y).real


def test_a_running_maximum_belongs_to_what_met_it_first() -> None:
    _, pullback = ad.vjp(running_maximum, np.array([1.0, 3.0, 3.0, 2.0]))
    np.testing.assert_array_equal(pullback(np.ones(4))[0], [1.0, 3.0, 0.0, 0.0])


def test_a_running_maximum_is_not_a_number_behind_one() -> None:
    value, pullback = ad.vjp(running_maximum, np.array([1.0, np.nan, 3.0]))
    np.testing.assert_array_equal(value, [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [1.0, 2.0, 0.0])


def test_arguments_without_a_derivative_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match=r"AD0204.*\n(.*\n)*.*no derivative with these arguments"):
        ad.grad(sum_without_axis)(np.ones(3))


def test_the_direction_of_zero_does_not_vary() -> None:
    _, pullback = ad.vjp(directions, np.zeros(1), np.zeros(1))
    np.testing.assert_array_equal(pullback(np.ones(1)), np.zeros((2, 1)))


def median(x: np.ndarray) -> float:
    return float(np.median(x))


def lower_quartile_by_count(x: np.ndarray) -> float:
    return float(np.quantile(x, 0.25, method="inverted_cdf"))


def shifted_by_a_quantile_of_data(x: np.ndarray, data: np.ndarray) -> float:
    return float(np.sum(x) * np.quantile(data, 0.25, method="inverted_cdf"))


def test_a_median_is_not_a_number_where_one_element_is() -> None:
    value, _ = ad.vjp(median, np.array([1.0, np.nan, 3.0]))
    assert np.isnan(value)


def test_what_a_definition_does_not_cover_is_refused_where_it_varies_only() -> None:
    with pytest.raises(ad.DifferentiationError, match=r"AD0204"):
        ad.grad(lower_quartile_by_count)(np.arange(4.0))
    gradient = ad.grad(shifted_by_a_quantile_of_data)(np.ones(2), np.arange(1.0, 5.0))
    np.testing.assert_array_equal(gradient, [1.0, 1.0])


def positive_parts(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda t: t * t if t > 0 else 0)(x)


def test_results_that_numpy_cuts_off_are_refused() -> None:
    """All results have the type of the first one: whole numbers here, though the derivative would flow."""
    np.testing.assert_array_equal(positive_parts(np.array([-1.0, 1.5])), [0, 2])
    with pytest.raises(TypeError, match="otypes"):
        ad.vjp(positive_parts, np.array([-1.0, 1.5]))
    _, pullback = ad.vjp(positive_parts, np.array([1.5, -1.0]))
    np.testing.assert_array_equal(pullback(np.ones(2))[0], [3.0, 0.0])


def smallest(x: float) -> float:
    return float(np.sort(np.float64(x), axis=None)[0] * np.partition(np.float64(x), 0, axis=None)[0])


def deviation(x: np.ndarray) -> float:
    return float(np.nanstd(x))


def test_a_number_that_is_sorted_varies() -> None:
    assert ad.grad(smallest)(3.0) == 6.0


@pytest.mark.parametrize("native", [False, True])
def test_a_number_has_one_order(native: bool) -> None:
    in_order = lambda x: np.sort(x, axis=None) * np.partition(x, 0, axis=None)
    value, slope = ad.jvp(in_order, (3.0,), (1.0,), native=native)
    assert (value.tolist(), slope.tolist()) == ([9.0], [6.0])
    assert ad.jacobian(in_order)(3.0).tolist() == [6.0]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (special.xlogy, 0.0, 0.0),
        (special.xlogy, 2.0, 0.0),
        (special.xlog1py, -1.0, 0.0),
        (special.rel_entr, 0.0, 0.0),
        (special.rel_entr, 1.5, 0.0),
        (special.kl_div, 0.0, 1.0),
        (special.kl_div, 1.5, 1.0),
    ],
)
def test_shares_that_are_zero(function: np.ufunc, at: float, slope: float, native: bool) -> None:
    """They are zero, or linear, whatever their second argument: so is their slope, in both modes."""
    one = lambda p: function(0.0, p)
    given = lambda x, p: function(x, p)
    several = lambda x, p: np.sum(2.0 * function(x, p))
    assert ad.grad(one, native=native)(at) == slope
    assert ad.grad(given, wrt=1, native=native)(0.0, at) == slope
    assert ad.vjp(given, 0.0, at, native=native)[1](1.0)[1] == slope
    assert ad.jvp(given, (0.0, at), (0.0, 1.0), native=native)[1] == slope
    x, p = np.array([0.0, 0.5]), np.array([at, 0.7])
    reverse = ad.grad(several, wrt=1, native=native)(x, p)
    forward = [ad.jvp(several, (x, p), (np.zeros(2), each), native=native)[1] for each in np.eye(2)]
    differences = (several(x, p + [0.0, 1e-6]) - several(x, p - [0.0, 1e-6])) / 2e-6
    np.testing.assert_allclose(reverse, [2.0 * slope, differences], rtol=1e-7)
    np.testing.assert_allclose(forward, reverse)


def test_a_deviation_of_equal_numbers_does_not_vary() -> None:
    np.testing.assert_array_equal(ad.grad(deviation)(np.ones(3)), np.zeros(3))


@pytest.mark.parametrize("native", [False, True])
def test_the_absolute_value_of_infinity_has_a_slope(native: bool) -> None:
    slope = ad.grad(lambda x: abs(x) + 2 * np.abs(x), native=native)
    assert [float(slope(x)) for x in (math.inf, -math.inf, 0.0, -2.5)] == [3.0, -3.0, 0.0, -3.0]
    assert math.isnan(slope(math.nan))
    assert isinstance(ad.grad(abs)(np.float32(-math.inf)), np.float32)


def test_a_remainder_of_a_division_by_zero_is_what_it_is_for_numpy() -> None:
    with np.errstate(all="ignore"):
        value, slopes = ad.value_and_grad(lambda x, y: np.fmod(x, y) * 1.0, wrt=(0, 1))(1.0, 0.0)
    assert np.isnan(value)
    assert slopes == (1.0, -math.inf)


def largest_or(x: np.ndarray) -> float:
    return float(np.max(x, initial=0.25))


def test_a_maximum_of_nothing_is_what_it_starts_with() -> None:
    value, pullback = ad.vjp(largest_or, np.array([]))
    assert value == 0.25
    assert pullback(1.0)[0].shape == (0,)
    value, pullback = ad.vjp(lambda x: np.linalg.norm(x, axis=(2, 0), ord=2), np.ones((0, 4, 3)))
    np.testing.assert_array_equal(value, np.zeros(4))


def vectors_of_a_product(x: np.ndarray) -> np.ndarray:
    return np.linalg.eigh(np.outer(x, x))[1]


def left_vectors_of_a_product(x: np.ndarray) -> np.ndarray:
    return np.linalg.svd(np.outer(x, x))[0]


@pytest.mark.parametrize(
    ("f", "native"), [(vectors_of_a_product, False), (vectors_of_a_product, True), (left_vectors_of_a_product, False)]
)
def test_vectors_of_values_equal_to_rounding_have_no_derivative(f: object, native: bool) -> None:
    x = np.array([0.3, -0.7, 0.2])
    _, tangent = ad.jvp(f, (x,), (np.array([1.0, 0.5, 0.1]),), native=native)
    assert np.isnan(tangent).any()
    _, pullback = ad.vjp(f, x, native=native)
    assert np.isnan(pullback(np.arange(9.0).reshape(3, 3))).all()


def largest_value_of_a_product(x: np.ndarray) -> float:
    values, vectors = np.linalg.eigh(np.outer(x, x))
    return float(values[-1] + vectors[0, -1] ** 2)


def test_a_vector_of_a_value_that_stands_alone_has_a_derivative_beside_equal_ones() -> None:
    ad.testing.check_grads(largest_value_of_a_product, (np.array([0.3, -0.7, 0.2]),), order=1)


def scaled(v: np.ndarray, k: float) -> np.ndarray:
    return v * k + np.sum(v)


def vector_behind_a_checkpoint(v: np.ndarray, k: float) -> float:
    w = ad.checkpoint(scaled)(v, k)
    return float(abs(np.linalg.eigh(np.outer(w, w) + np.diag(np.arange(1.0, len(v) + 1)))[1][0, 0]))


def test_an_eigenvalue_is_not_compared_with_itself() -> None:
    ad.testing.check_grads(vector_behind_a_checkpoint, (np.array([0.3, -0.7]), 0.4), order=2)


def below_a_limit(x: float, table: list[np.ndarray]) -> float:
    return np.arcsin(min(x, table[0][0]) / table[0][0])


def test_what_is_not_the_least_has_no_part_in_an_infinite_derivative() -> None:
    """Nor where the kinds of the numbers are not known."""
    table = [np.array([2.0, "limit"], dtype=object)]
    assert ad.grad(below_a_limit)(3.0, table) == 0.0
    assert ad.jvp(lambda x: below_a_limit(x, table), (3.0,), (1.0,))[1] == 0.0
    assert ad.grad(below_a_limit)(1.0, table) == pytest.approx(1 / np.sqrt(3))


def test_what_becomes_complex_by_value_is_told() -> None:
    def root(x):
        return np.sum(np.emath.sqrt(x - 2.0).real)

    np.testing.assert_allclose(ad.grad(root)(np.array([3.0, 6.0])), [0.5, 0.25])
    with pytest.raises(ValueError, match=r"hand the function of np itself x \+ 0j"):
        ad.grad(root)(np.array([3.0, 1.0]))


def hypergeometric(p: np.ndarray) -> float:
    return special.hyp2f1(p[0], p[1], p[2], p[3]) * special.hyp1f1(p[0], p[1], p[3]) * special.hyp0f1(p[1], p[3])


@pytest.mark.parametrize("z", [0.3, 0.0, -0.8])
def test_parameters_of_hypergeometric_functions(z: float) -> None:
    p, step = np.array([0.7, -1.3, 2.2, z]), 1e-5
    gradient, hessian = ad.grad(hypergeometric)(p), ad.hessian(hypergeometric)(p)
    for i, unit in enumerate(np.eye(4)):
        ahead, behind = p + step * unit, p - step * unit
        np.testing.assert_allclose(
            gradient[i], (hypergeometric(ahead) - hypergeometric(behind)) / (2 * step), rtol=1e-7, atol=1e-8
        )
        differences = (ad.grad(hypergeometric)(ahead) - ad.grad(hypergeometric)(behind)) / (2 * step)
        np.testing.assert_allclose(hessian[i], differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: special.hyp2f1(a, 1.3, 2.2, 0.99999),
        lambda a: special.hyp1f1(a - 61.0, 2.0, 80.0),
        lambda a: special.hyp0f1(a, -900.0),
    ],
)
def test_parameters_of_hypergeometric_functions_where_series_say_nothing(f) -> None:
    with pytest.raises(ValueError, match="not known so far out"):
        ad.grad(f)(0.5)
