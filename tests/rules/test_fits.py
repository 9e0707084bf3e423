"""What is fitted to samples: beside differences, and refused where no maximum of a likelihood decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from sampling import check_grads, is_chosen

X = np.array([0.7, 1.9, 0.4, 2.6, 1.1, 5.0, 0.9, 1.4, 2.2])
FITS: dict[str, Callable[..., Any]] = {
    "gamma": lambda x: stats.gamma.fit(x, floc=0)[::2],
    "gumbel": stats.gumbel_r.fit,
    "logistic": stats.logistic.fit,
    "lognorm": lambda x: stats.lognorm.fit(x, fix_s=0.8, floc=0)[2],
    "inverse gaussian": lambda x: stats.invgauss.fit(x, floc=0)[::2],
    "rayleigh": stats.rayleigh.fit,
    "beta": lambda x: stats.beta.fit(0.1 + x / 8.0, floc=0, fscale=1)[:2],
    "normal with a mean": lambda x: stats.norm.fit(x, floc=x[0])[1],
    "exponential": stats.expon.fit,
    "uniform": stats.uniform.fit,
}


@pytest.mark.parametrize("name", [name for name in FITS if name == "gamma" or is_chosen(name, 3)])
def test_fits(name: str) -> None:
    fit = FITS[name]
    np.testing.assert_allclose(ad.vjp(fit, X)[0], fit(X), rtol=1e-12)
    check_grads(fit, (X,), order=1)


def test_a_fit_has_a_second_derivative() -> None:
    def shape(t):
        return stats.gamma.fit(X + t * X * X, floc=0)[0]

    along = lambda t: ad.grad(shape)(t)
    np.testing.assert_allclose(ad.grad(along)(0.1), (along(0.1001) - along(0.0999)) / 2e-4, rtol=1e-5)


def test_what_ends_at_the_outermost_number_has_no_maximum() -> None:
    with pytest.raises(ValueError, match="no solution"):
        ad.grad(lambda x: stats.halfnorm.fit(x)[0])(X)
    with pytest.raises(ad.DifferentiationError, match="a location or a scale"):
        ad.grad(lambda x: stats.uniform.fit(x, floc=0)[1])(X)
    with pytest.raises(ad.DifferentiationError, match="another method"):
        ad.grad(lambda x: stats.gamma.fit(x, method="MM")[1])(X)


POWERS: dict[str, Callable[..., Any]] = {
    "boxcox": stats.boxcox,
    "boxcox with pearson": lambda x: stats.boxcox_normmax(x),
    "yeojohnson": lambda x: stats.yeojohnson(x - 1.5),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers(name: str) -> None:
    find = POWERS[name]
    mine, theirs = ad.vjp(find, X)[0], find(X)
    for got, expected in zip(mine, theirs, strict=True) if isinstance(theirs, tuple) else [(mine, theirs)]:
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    weights, step = np.cos(np.arange(X.size)), 1e-3  # SciPy finds the power to eight digits

    def power(t):
        found = find(X + t * weights)
        return found[1] if isinstance(found, tuple) else found

    slope = (power(step) - power(-step)) / (2 * step)
    np.testing.assert_allclose(ad.grad(power)(0.0), slope, rtol=1e-3)
    np.testing.assert_allclose(ad.jvp(power, (0.0,), (1.0,))[1], slope, rtol=1e-3)


def test_the_likelihood_of_a_power_of_zero_varies_with_the_power() -> None:
    check_grads(stats.boxcox_llf, (0.0, X))
    check_grads(stats.boxcox_llf, (1e-3, X), order=1)


def test_samples_that_have_no_power_raise_as_in_scipy() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        ad.grad(lambda x: stats.boxcox(x)[1])(X - 1.0)
    with pytest.raises(ad.DifferentiationError, match="alpha"):
        ad.grad(lambda x: stats.boxcox(x, alpha=0.05)[1])(X)


def test_distributions_that_are_classes() -> None:
    def methods(m: float, s: float) -> Any:
        found = stats.Normal(mu=m, sigma=s)
        ends = found.logpdf(0.3), found.cdf(1.0), found.ccdf(1.0), found.logcdf(0.1), found.icdf(0.3), found.iccdf(0.2)
        return *ends, found.mean(), found.variance(), found.standard_deviation(), found.entropy(), found.median()

    np.testing.assert_allclose(ad.vjp(methods, 0.1, 1.3)[0], methods(0.1, 1.3), rtol=1e-12)
    check_grads(methods, (0.1, 1.3), order=1)
    check_grads(lambda a, b: stats.Uniform(a=a, b=b).logpdf(np.array([0.3, 0.7])), (-0.4, 1.2))
    check_grads(lambda x: stats.Normal(mu=x[0]).logpdf(x) + stats.Logistic().logpdf(x), (X,), order=1)
    with pytest.raises(ad.DifferentiationError, match="distributions that are classes"):
        ad.grad(lambda m: stats.Normal(mu=m, sigma=1.0).kurtosis())(1.0)
