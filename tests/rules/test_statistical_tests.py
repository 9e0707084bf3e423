"""Tests and intervals of `scipy.stats`: values beside SciPy's, derivatives by samples, in both modes, twice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from sampling import check_grads, is_chosen

A = np.array([0.13, -0.71, 0.64, 1.1, -0.54, 0.36, 1.3, 0.95, -0.7])
B = np.array([0.95, 0.34, -0.32, 0.22, 1.83, -0.35, 0.35, 0.65, 1.21])
C = np.array([0.42, 1.04, -0.13, 1.37, -0.67, 0.35, 0.9, 0.09, -0.74, -0.92])
ROWS, OTHERS = np.stack([A, B * B], axis=1), np.stack([B[2:], A[2:] + 0.3], axis=1)
P = np.array([0.6, 1.1, 0.9, 1.7])


def _both(result: Any) -> Any:
    return result.statistic, result.pvalue


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "two samples": (lambda a, b: _both(stats.ttest_ind(a, b)), (A, C)),
    "unpacked": (lambda a, b: stats.ttest_ind(a, b)[1] + 0.0, (A, B)),
    "two variances": (lambda a, b: _both(stats.ttest_ind(a, b, equal_var=False)), (A, C)),
    "rows": (lambda a, b: _both(stats.ttest_ind(a, b, alternative="less")), (ROWS, OTHERS)),
    "of moments": (
        lambda m, s, k, t: _both(stats.ttest_ind_from_stats(m, s, 9, k, t, 12)),
        (0.3, 1.1, 0.7, 0.8),
    ),
    "pairs": (lambda a, b: _both(stats.ttest_rel(a, b)), (A, B)),
    "a mean": (lambda a, m: _both(stats.ttest_1samp(a, m)), (A, 0.1)),
    "limits of a mean": (lambda a: tuple(stats.ttest_1samp(a, 0.0).confidence_interval(0.9)), (A,)),
    "one limit of a mean": (
        lambda a: stats.ttest_1samp(a, 0.0, alternative="less").confidence_interval().high,
        (A,),
    ),
    "Pearson": (lambda a, b: _both(stats.pearsonr(a, b)), (A, B)),
    "Pearson on one side": (lambda a, b: stats.pearsonr(a, b, alternative="less").pvalue, (A, B)),
    "limits of Pearson": (lambda a, b: tuple(stats.pearsonr(a, b).confidence_interval()), (A, B)),
    "a line": (
        lambda a, b: (lambda r: (r.slope, r.intercept, r.rvalue, r.pvalue, r.stderr, r.intercept_stderr))(
            stats.linregress(a, b)
        ),
        (A, B),
    ),
    "analysis of variance": (lambda a, b, c: _both(stats.f_oneway(a, b, c)), (A, B, C)),
    "Bartlett": (lambda a, b, c: _both(stats.bartlett(a, b, c)), (A, B, C)),
    "Levene": (lambda a, b, c: _both(stats.levene(a, b, c, center="mean")), (A, B, C)),
    "chi square": (lambda p: _both(stats.chisquare(p)), (P,)),
    "chi square beside": (lambda p: _both(stats.chisquare(p, p[::-1])), (P,)),
    "power divergence": (lambda p: _both(stats.power_divergence(p, lambda_="log-likelihood")), (P,)),
    "contingency": (lambda p: _both(stats.chi2_contingency(10.0 * np.reshape(p, (2, 2)), correction=False)), (P,)),
    "normality": (lambda a: _both(stats.normaltest(a)), (np.append(A, B),)),
    "skewness": (lambda a: _both(stats.skewtest(a)), (A,)),
    "tails": (lambda a: _both(stats.kurtosistest(a)), (np.append(A, B),)),
    "Jarque and Bera": (lambda a: _both(stats.jarque_bera(a)), (A,)),
    "combined": (lambda p: _both(stats.combine_pvalues(0.1 * p)), (P,)),
    "description": (
        lambda a: (lambda d: (d.mean, d.variance, d.skewness, d.kurtosis))(stats.describe(a)),
        (A,),
    ),
    "deviations": (lambda a: (stats.tvar(a), stats.tstd(a), stats.tsem(a)), (A,)),
    "angles": (lambda a: (stats.circmean(a), stats.circvar(a)), (A,)),
}


REFUSED_TWICE = ("Bartlett", "normality", "tails")
"""Of these, second derivatives in reverse mode are refused."""


@pytest.mark.parametrize("name", [name for name in CALLS if name == "a mean" or is_chosen(name, 4)])
def test_by_their_samples(name: str) -> None:
    function, given = CALLS[name]
    before = [np.copy(each) for each in given]
    np.testing.assert_allclose(ad.vjp(function, *given)[0], function(*given), rtol=1e-9)
    check_grads(
        function, given, order=2 if name == "a mean" or (is_chosen(name, 8) and name not in REFUSED_TWICE) else 1
    )
    for each, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(each, copy)


def test_nan_and_small_samples_give_nan() -> None:
    value, slope = ad.value_and_grad(lambda a: stats.ttest_1samp(a, 0.1).pvalue)(np.append(A, np.nan))
    assert np.isnan(value)
    assert np.isnan(slope).all()
    assert np.isnan(ad.value_and_grad(lambda a: stats.skewtest(a).pvalue)(A[:3])[0])


def test_what_the_decorator_does_otherwise_is_read_or_refused() -> None:
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda a: stats.ttest_1samp(a, 0.1, nan_policy="omit", keepdims=True).pvalue[0])(A)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: stats.sem(a, 1),
        lambda a: stats.gmean(a * a, 1),
        lambda a: stats.skewtest(a, 0).statistic,
        lambda a: stats.tvar(a, None, (True, True), 0),
        lambda a: stats.circmean(a, 4.0, -4.0, 0),
    ],
)
def test_the_axis_may_go_by_place(function: Callable[..., Any]) -> None:
    rows = np.stack([A, B * B, A - B], axis=1)
    given = rows[:3] if function(rows).shape == (9,) else rows
    value, dot = ad.jvp(function, (given,), (np.ones_like(given),))
    np.testing.assert_allclose(value, function(given), rtol=1e-9)
    assert dot.shape == value.shape
    check_grads(function, (given,), order=1)
