"""Distributions: what they give at the ends of their supports and beyond, and what they are with their parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from adjoint.rules.kinds import Sample
from adjoint.rules.registry import Definition, all_definitions
from sampling import check_grads, is_chosen

METHODS = [
    entry
    for entry in all_definitions()
    if isinstance(getattr(entry.fn, "__self__", None), (stats.rv_continuous, stats.rv_discrete))
    and entry.fn.__name__ in ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
    and entry.fn.__self__.name != "poisson_binom"
]
IDS = [f"{entry.fn.__self__.name}.{entry.fn.__name__}" for entry in METHODS]
VALUES = np.array([-np.inf, -3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 5.0, np.inf, np.nan])
SHARES = np.array([-0.1, 0.0, 0.3, 1.0, 1.1, np.nan])


def _first(value: Any) -> Any:
    return 1.3 if isinstance(value, Sample) else value if np.ndim(value) == 0 else np.ravel(value)[0]


def _shapes(entry: Definition) -> list[Any]:
    call = next(call for call in entry.cases if not call.kwargs)
    return [_first(arg) for arg in call.args[1 : 1 + entry.fn.__self__.numargs]]


OTHERWISE = {
    "norminvgauss.sf": "SciPy gives each element what it gives the first one",
    "norminvgauss.logsf": "SciPy gives each element what it gives the first one",
    "norminvgauss.isf": "SciPy gives each element what it gives the first one",
    "hypergeom.cdf": "not a number between whole numbers",
    "hypergeom.sf": "not a number between whole numbers",
    "hypergeom.logcdf": "rounded upwards between whole numbers",
    "hypergeom.logsf": "rounded upwards between whole numbers",
    "pearson3.pdf": "zero at infinity",
    "pearson3.logpdf": "minus infinity at infinity",
    "pearson3.ppf": "minus infinity where the probability is zero",
    "pearson3.isf": "minus infinity where the probability is one",
    "ksone.pdf": "one at zero",
    "ksone.logpdf": "zero at zero",
}
"""What SciPy says that is not said here."""
COARSE = {"skewnorm": 1e-9, "norminvgauss": 1e-9, "kstwobign": 1e-9, "skellam": 1e-8}
"""How much SciPy's values are off, relative."""


@pytest.mark.parametrize("entry", METHODS, ids=IDS)
def test_values_at_the_ends_and_beyond(entry: Definition) -> None:
    if f"{entry.fn.__self__.name}.{entry.fn.__name__}" in OTHERWISE:
        return
    rtol = COARSE.get(entry.fn.__self__.name, 1e-11)
    points = SHARES if entry.fn.__name__ in ("ppf", "isf") else VALUES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, got = entry.fn(points, *_shapes(entry)), entry.means(points, *_shapes(entry))
        known = ~(np.isnan(expected) & np.isinf(points))
        np.testing.assert_allclose(got[known], expected[known], rtol=rtol, atol=1e-15)
        undefined = np.isnan(entry.fn(points, *[-1.5 for _ in _shapes(entry)])) & (
            known if not _shapes(entry) else True
        )
        assert np.isnan(entry.means(points, *[-1.5 for _ in _shapes(entry)])[undefined]).all()
        if isinstance(entry.fn.__self__, stats.rv_continuous):
            assert np.isnan(entry.means(points, *_shapes(entry), scale=-1.0)).all()


OUTSIDE = [
    (stats.expon, -0.5, ()),
    (stats.gamma, -0.5, (2.5,)),
    (stats.uniform, 1.5, ()),
    (stats.beta, 1.5, (2.0, 3.0)),
]


@pytest.mark.parametrize(("dist", "x", "shapes"), OUTSIDE, ids=[dist.name for dist, *_ in OUTSIDE])
def test_nothing_varies_outside_of_a_support(dist: Any, x: float, shapes: tuple[float, ...]) -> None:
    def probabilities(x: float, width: float) -> Any:
        return dist.cdf(x, *shapes, scale=width) + dist.pdf(x, *shapes, scale=width) + dist.sf(x, *shapes, 0.0, width)

    assert ad.grad(probabilities, (0, 1))(x, 1.0) == (0.0, 0.0)


def of_frozen(x, centre, width, shape):
    prior = stats.norm(centre, scale=width)
    rate = stats.gamma(shape, scale=width)
    total = np.sum(prior.logpdf(x)) + prior.cdf(0.3) + rate.sf(1.2) + rate.ppf(0.3)
    return total + stats.poisson(width).logpmf(3) + stats.truncnorm(-1.0, width).logcdf(0.4)


def test_distributions_with_parameters_that_vary() -> None:
    check_grads(of_frozen, (np.array([0.2, -0.4, 1.3]), 0.4, 1.2, 2.5))


PRIOR = stats.gamma(2.5, scale=2.0)
PRIORS = {"width": stats.lognorm(0.7), "count": stats.t(4.0, loc=0.3)}


def of_given(x, y):
    return PRIOR.logpdf(x) + PRIORS["width"].logpdf(x) + PRIORS["count"].logcdf(y) * PRIOR.isf(0.2 * x)


def test_distributions_that_were_made_before() -> None:
    check_grads(of_given, (0.7, -0.4))


class _Shifted(stats.rv_continuous):
    def _pdf(self, x: Any) -> Any:
        return np.exp(-x)


def test_other_distributions_are_not_taken_for_those_that_are_known() -> None:
    """A class with another support is another distribution."""
    elsewhere = type(stats.expon)(a=1.0, name="expon")
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda x: elsewhere.logpdf(x))(2.0)
    own = _Shifted(a=0.0, name="own")
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda x: own.logpdf(x))(2.0)


TOLD = {
    "norm": (),
    "t": (3.3,),
    "gamma": (2.3,),
    "beta": (2.3, 1.4),
    "f": (5.3, 7.2),
    "lognorm": (0.7,),
    "weibull_min": (1.7,),
    "pareto": (3.7,),
    "genextreme": (0.1,),
    "triang": (0.3,),
    "rayleigh": (),
}


@pytest.mark.parametrize("name", [name for name in TOLD if name == "gamma" or is_chosen(name, 4)])
def test_what_distributions_tell_of_themselves(name: str) -> None:
    dist = getattr(stats, name)

    def told(*given):
        moments = dist.mean(*given), dist.var(*given), dist.std(*given), dist.entropy(*given)
        low, high = dist.interval(0.9, *given)
        frozen = dist(*given)
        return *moments, dist.median(*given), low, high, frozen.mean() * frozen.std(), *frozen.stats()

    given = (*TOLD[name], 0.2, 1.3)
    np.testing.assert_allclose(ad.vjp(told, *given)[0], told(*given), rtol=1e-11)
    check_grads(told, given, order=1)


def test_moments_of_counts_and_likelihoods_of_samples() -> None:
    x = np.array([0.4, 1.1, -0.3])
    check_grads(
        lambda p: (stats.binom.mean(7, p), stats.geom.var(p), stats.nbinom.std(4, p), stats.bernoulli.var(p)), (0.3,)
    )
    check_grads(lambda x, m, s: stats.norm.nnlf((m, s), x), (x, 0.2, 1.1))

    def fitted(x):
        return *stats.norm.fit(x), *stats.expon.fit(x), stats.lognorm.fit(np.exp(x), floc=0)[2]

    check_grads(fitted, (x,), order=1)


def test_moments_of_which_the_integral_has_no_end_are_told() -> None:
    with pytest.raises(ArithmeticError, match="the integral of the derivative does not converge"):
        ad.grad(lambda s: stats.exponpow.mean(s))(2.0)


def test_whole_numbers_are_needed_where_counts_are() -> None:
    assert ad.grad(lambda mu: stats.poisson.pmf(1.5, mu))(2.0) == 0.0
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda n: stats.binom.cdf(2, n, 0.3))(5.0)


def of_vectors(x, centre, root, degrees):
    spread = root @ root.T + np.eye(3)
    normal = stats.multivariate_normal(centre, spread)
    return np.sum(normal.logpdf(x)) + np.sum(stats.multivariate_t(centre, spread, degrees).logpdf(x))


def test_vectors_with_parameters_that_vary() -> None:
    rng = np.random.default_rng(3)
    check_grads(of_vectors, (rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(3, 3)), 3.5))


def test_covariances_that_are_singular_have_no_derivative() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="no derivative where the covariance is singular"):
        ad.grad(lambda x: stats.multivariate_normal.logpdf(x, np.zeros(2), np.ones((2, 2)), True))(np.ones(2))


def test_means_of_parameters_that_do_not_vary_are_numbers() -> None:
    assert ad.grad(lambda x: x * stats.levy_stable.mean(1.5, 0.3))(1.0) == stats.levy_stable.mean(1.5, 0.3)


def test_stable_distributions_where_slopes_are_not_known() -> None:
    slopes = ad.grad(stats.levy_stable.pdf, wrt=(0, 1, 2))
    at_one, whole = slopes(0.3, 1.0, 0.4), slopes(0.8, 0.6, 1.0)
    assert np.isnan(at_one).tolist() == [False, True, False] and np.isnan(whole).tolist() == [False, False, True]


def test_no_number_between_whole_ones_is_a_parameter() -> None:
    with pytest.raises(ad.DifferentiationError, match=r"AD0204(.*\n)*.*'whole_number' has no derivative"):
        ad.grad(lambda n: stats.irwinhall.logpdf(1.2, n))(3.0)
    with pytest.raises(ad.DifferentiationError, match=r"AD0204(.*\n)*.*'whole_number' has no derivative"):
        ad.grad(lambda n: stats.hypergeom.pmf(3, 20, n, 9))(7.0)


TRIALS = np.array([0.2, 0.5, 0.9])


def of_trials(p):
    frozen = stats.poisson_binom(p)
    counts = np.array([0, 1, 2])
    return np.sum(frozen.pmf(counts) * (1.0 + counts)) + frozen.cdf(1) + frozen.logsf(2) + stats.poisson_binom.sf(1, p)


def test_no_slope_where_a_parameter_has_no_meaning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f in (
            lambda x, a: stats.gamma.cdf(x * a, a),
            lambda x, a: stats.norm.logpdf(x, 0.0, a),
            lambda x, a: stats.skewcauchy.cdf(x, a),
            lambda x, a: stats.gamma.mean(2.0, x, a),
            lambda x, a: stats.beta.std(2.0, a, x) + stats.beta.mean(2.0, a, x),
            lambda x, a: stats.poisson.mean(a, x),
        ):
            assert np.isnan(f(0.7, -3.0)) and np.isnan(ad.value_and_grad(f)(0.7, -3.0)[0])
            assert np.isnan(ad.grad(f, (0, 1))(0.7, -3.0)).all()


def test_trials_that_differ() -> None:
    check_grads(of_trials, (TRIALS,))
    assert abs(ad.value_and_grad(of_trials)(TRIALS)[0] - of_trials(TRIALS)) < 1e-14
    assert ad.grad(lambda p: stats.poisson_binom.ppf(0.3, p) * p[0])(TRIALS).tolist() == [1.0, 0.0, 0.0]


def of_tails(x, a, b):
    """Where probabilities are next to nothing."""
    skewed = stats.skewnorm.logcdf(x - 8.0, a) + stats.skewnorm.logsf(x + 9.0, a)
    mixed = stats.norminvgauss.logcdf(x - 3.0, a, b) + stats.geninvgauss.logcdf(0.003 + 0.001 * x, a, b)
    return np.sum(skewed + mixed + stats.argus.logcdf(0.05 * x, a) + stats.exponnorm.logcdf(x - 4.0, a))


def _of_one_tail(x, a):
    return np.sum(stats.skewnorm.logcdf(x - 8.0, a))


def test_tails_are_known_by_integrals_of_their_own() -> None:
    check_grads(of_tails, (np.array([0.2, 0.9]), 1.5, 0.4), order=1)
    check_grads(_of_one_tail, (np.array([0.2, 0.9]), 1.5))


def test_losses_of_fast_particles_far_from_the_usual_one() -> None:
    for x in (-4.0, -2.5, 0.7, 40.0, 1e3, 9e4):
        value, slope = ad.value_and_grad(lambda x: stats.landau.logpdf(x))(x)
        step = 1e-3 * max(1.0, x)
        ahead, behind = stats.landau.logpdf(x + step), stats.landau.logpdf(x - step)
        assert abs(value - stats.landau.logpdf(x)) < 1e-9
        assert abs(slope - (ahead - behind) / (2.0 * step)) < 1e-4 * abs(slope)
    assert np.isnan(ad.grad(lambda x: stats.landau.logpdf(x))(1e6))


def test_what_is_below_precision_has_no_logarithm() -> None:
    assert np.isnan(ad.grad(lambda x: stats.nct.logsf(x, 4.5, 0.8))(400.0))
    assert np.isnan(ad.grad(lambda x: stats.tukeylambda.logcdf(x, -0.1))(-1e20))
    assert np.isnan(ad.grad(lambda p: stats.geninvgauss.cdf(1.0, p, 1e-3))(1e9))
    assert np.isnan(ad.grad(lambda q: stats.skewnorm.ppf(q, 1.5))(0.0))


def _single_moments(a):
    frozen = stats.gamma(a, scale=2.0)
    return (
        frozen.stats("m") + frozen.stats(moments="v") + stats.poisson(a).stats("m") + stats.norm.stats(a, moments="m")
    )


def test_single_moments() -> None:
    check_grads(_single_moments, (1.3,), order=1)


def shares_below(x, root, rng=3):
    spread = root @ root.T + np.eye(len(x))
    return stats.multivariate_normal.cdf(x, np.full(len(x), 0.1), spread, abseps=1e-7, rng=rng)


def student_shares_below(x, root):
    spread = root @ root.T + np.eye(len(x))
    return stats.multivariate_t.cdf(x, shape=spread, df=4, maxpts=300_000, random_state=0)


@pytest.mark.parametrize(("below", "extent"), [(shares_below, 3), (student_shares_below, 2), (student_shares_below, 3)])
def test_shares_below_points_of_more_components(below, extent) -> None:
    rng = np.random.default_rng(1)
    x, root = rng.normal(size=extent), rng.normal(size=(extent, extent)) * 0.7
    directions = rng.normal(size=extent), rng.normal(size=(extent, extent))
    by_point, by_root = ad.grad(below, (0, 1))(x, root)
    step = 3e-2  # SciPy adds up at points that do not depend on the arguments, and misses 1e-6
    ends = [below(*(at + s * step * v for at, v in zip((x, root), directions, strict=True))) for s in (-2, -1, 1, 2)]
    slope = (8 * (ends[2] - ends[1]) - ends[3] + ends[0]) / (12 * step)
    reverse = np.sum(by_point * directions[0]) + np.sum(by_root * directions[1])
    assert np.isclose(ad.jvp(below, (x, root), directions)[1], reverse, rtol=1e-9)
    assert np.isclose(reverse, slope, atol=3e-4)


def test_shares_below_zero_have_the_slopes_of_arcs() -> None:
    def below(rho):
        spread = np.array([[1.0, rho, 0.2], [rho, 1.0, -0.4], [0.2, -0.4, 1.0]])
        return stats.multivariate_normal.cdf(np.zeros(3), cov=spread)

    assert np.isclose(ad.grad(below)(0.3), 1.0 / (4.0 * np.pi * np.sqrt(1.0 - 0.3**2)), rtol=1e-12)
    assert np.isclose(ad.grad(ad.grad(below))(0.3), 0.3 / (4.0 * np.pi * (1.0 - 0.3**2) ** 1.5), rtol=1e-9)


def test_moments_that_matrices_do_not_have() -> None:
    with pytest.raises(ValueError, match="SciPy returns None"):
        ad.grad(lambda df: np.sum(stats.invwishart.var(df, np.eye(3))))(5.0)
