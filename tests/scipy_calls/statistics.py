"""Statistics, tests and distributions."""

# ruff: noqa

import numpy as np
from scipy import stats

from scipy_calls.given import Corpus, A12, A8, AT, B8, S3

corpus = Corpus(10)
call, normal, positive = corpus.call, corpus.normal, corpus.positive


@call(A8, B8)
def ttest_ind(a, b):
    r = stats.ttest_ind(a, b)
    return (r.statistic, r.pvalue)


@call(A8, B8)
def ttest_ind_tuple(a, b):
    t, p = stats.ttest_ind(a, b)
    return (t, p)


@call(A8, B8[:6])
def ttest_ind_welch(a, b):
    r = stats.ttest_ind(a, b, equal_var=False)
    return (r.statistic, r.pvalue, r.df)


@call(A8, B8)
def ttest_ind_alt(a, b):
    r = stats.ttest_ind(a, b, alternative="less")
    return r.pvalue


@call(A8, B8)
def ttest_ind_ci(a, b):
    r = stats.ttest_ind(a, b).confidence_interval(0.9)
    return (r.low, r.high)


@call(normal(4, 3), normal(5, 3))
def ttest_ind_2d(a, b):
    r = stats.ttest_ind(a, b)
    return (r.statistic, r.pvalue)


@call(1.0, 0.5, 1.2, 0.7)
def ttest_ind_from_stats(a, b, c, d):
    r = stats.ttest_ind_from_stats(a, b, 10, c, d, 12)
    return (r.statistic, r.pvalue)


@call(A8, B8)
def ttest_rel(a, b):
    r = stats.ttest_rel(a, b)
    return (r.statistic, r.pvalue)


@call(A8, 0.1)
def ttest_1samp(a, m):
    r = stats.ttest_1samp(a, m)
    return (r.statistic, r.pvalue)


@call(A8, 0.1)
def ttest_1samp_ci(a, m):
    r = stats.ttest_1samp(a, m).confidence_interval()
    return (r.low, r.high)


@call(A8, B8)
def pearsonr(a, b):
    r = stats.pearsonr(a, b)
    return (r.statistic, r.pvalue)


@call(A8, B8)
def pearsonr_tuple(a, b):
    r, p = stats.pearsonr(a, b)
    return r + p


@call(A8, B8)
def pearsonr_0(a, b):
    return stats.pearsonr(a, b)[0]


@call(A8, B8)
def pearsonr_ci(a, b):
    r = stats.pearsonr(a, b).confidence_interval(0.95)
    return (r.low, r.high)


@call(A8, B8)
def linregress(a, b):
    r = stats.linregress(a, b)
    return (r.slope, r.intercept, r.rvalue, r.pvalue, r.stderr, r.intercept_stderr)


@call(A8, B8)
def linregress_tuple(a, b):
    slope, intercept, r, p, se = stats.linregress(a, b)
    return slope + intercept + r + p + se


@call(A8, B8)
def spearmanr(a, b):
    return stats.spearmanr(a, b).statistic + 0 * np.sum(a)


@call(A8, B8)
def kendalltau(a, b):
    return stats.kendalltau(a, b).statistic + np.sum(a * a)


@call(A8, B8)
def mannwhitneyu(a, b):
    return stats.mannwhitneyu(a, b).statistic + np.sum(a * a)


@call(A8, B8)
def wilcoxon(a, b):
    return stats.wilcoxon(a, b).statistic + np.sum(a * a)


@call(A8, B8)
def ks_2samp(a, b):
    return stats.ks_2samp(a, b).statistic + np.sum(a * a)


@call(A8)
def kstest_norm(a):
    return stats.kstest(a, "norm").statistic


@call(A8)
def kstest_cdf(a):
    return stats.kstest(a, stats.norm.cdf).statistic


@call(A8)
def kstest_p(a):
    r = stats.kstest(a, "norm")
    return r.pvalue


@call(A8, B8, A12)
def kruskal(a, b, c):
    return stats.kruskal(a, b, c).statistic + np.sum(a * a)


@call(A8)
def zscore(a):
    return stats.zscore(a)


@call(A8)
def zscore_ddof(a):
    return stats.zscore(a, ddof=1)


@call(positive(5))
def gzscore(a):
    return stats.gzscore(a)


@call(A8, B8)
def zmap(a, b):
    return stats.zmap(a, b)


@call(A8)
def sem(a):
    return stats.sem(a)


@call(A8)
def skew(a):
    return stats.skew(a)


@call(A8)
def kurtosis(a):
    return stats.kurtosis(a)


@call(A8)
def moment(a):
    return stats.moment(a, 3)


@call(A8)
def kstat(a):
    return stats.kstat(a, 3)


@call(A8)
def kstatvar(a):
    return stats.kstatvar(a, 2)


@call(positive(5))
def gmean(a):
    return stats.gmean(a)


@call(positive(5))
def hmean(a):
    return stats.hmean(a)


@call(positive(5))
def pmean(a):
    return stats.pmean(a, 2.5)


@call(A8)
def describe(a):
    r = stats.describe(a)
    return (r.mean, r.variance, r.skewness, r.kurtosis)


@call(A8)
def describe_minmax(a):
    r = stats.describe(a)
    return r.minmax[0] + r.minmax[1]


@call(A8, B8, A12)
def bartlett(a, b, c):
    r = stats.bartlett(a, b, c)
    return (r.statistic, r.pvalue)


@call(A8, B8, A12)
def levene(a, b, c):
    r = stats.levene(a, b, c)
    return (r.statistic, r.pvalue)


@call(A8, B8, A12)
def levene_mean(a, b, c):
    r = stats.levene(a, b, c, center="mean")
    return (r.statistic, r.pvalue)


@call(A8, B8, A12)
def f_oneway(a, b, c):
    r = stats.f_oneway(a, b, c)
    return (r.statistic, r.pvalue)


@call(A8, B8, A12)
def f_oneway_tuple(a, b, c):
    f, p = stats.f_oneway(a, b, c)
    return (f, p)


@call(A8, B8, A12)
def alexandergovern(a, b, c):
    r = stats.alexandergovern(a, b, c)
    return (r.statistic, r.pvalue)


@call(positive(5))
def chisquare(a):
    r = stats.chisquare(a)
    return (r.statistic, r.pvalue)


@call(positive(5))
def chisquare_exp(a):
    b = a[::-1]
    r = stats.chisquare(a, b)
    return (r.statistic, r.pvalue)


@call(positive(5))
def power_divergence(a):
    r = stats.power_divergence(a, lambda_="log-likelihood")
    return (r.statistic, r.pvalue)


@call(positive(2, 3) * 10)
def chi2_contingency(a):
    r = stats.chi2_contingency(a)
    return (r.statistic, r.pvalue)


@call(A12)
def normaltest(a):
    r = stats.normaltest(a)
    return (r.statistic, r.pvalue)


@call(A12)
def skewtest(a):
    r = stats.skewtest(a)
    return (r.statistic, r.pvalue)


@call(A12)
def kurtosistest(a):
    r = stats.kurtosistest(a)
    return (r.statistic, r.pvalue)


@call(A12)
def jarque_bera(a):
    r = stats.jarque_bera(a)
    return (r.statistic, r.pvalue)


@call(A12)
def cramervonmises(a):
    return stats.cramervonmises(a, "norm").statistic


@call(np.array([0.1, 0.04, 0.3]))
def combine_pvalues(a):
    r = stats.combine_pvalues(a)
    return (r.statistic, r.pvalue)


@call(np.array([0.1, 0.04, 0.3]))
def combine_stouffer(a):
    r = stats.combine_pvalues(a, method="stouffer")
    return (r.statistic, r.pvalue)


@call(np.array([0.1, 0.04, 0.3]))
def false_discovery_control(a):
    return stats.false_discovery_control(a)


@call(A8, B8)
def pointbiserialr(a, b):
    r = stats.pointbiserialr(a > 0, b)
    return r.statistic


@call(A8, B8)
def theilslopes(a, b):
    r = stats.theilslopes(b, a)
    return (r.slope, r.intercept)


@call(normal(2, 8), np.array([[0.3, 0.1]]).T + np.zeros((2, 1)))
def gaussian_kde(a, x):
    return stats.gaussian_kde(a)(x)


@call(A8, AT)
def gaussian_kde_1d(a, x):
    return stats.gaussian_kde(a)(x)


@call(A8, AT)
def gaussian_kde_bw(a, x):
    return stats.gaussian_kde(a, bw_method=0.4).evaluate(x)


@call(A8, AT)
def gaussian_kde_logpdf(a, x):
    return stats.gaussian_kde(a, bw_method="silverman").logpdf(x)


KDE = stats.gaussian_kde(A8)


@call(AT)
def gaussian_kde_const(x):
    return KDE(x)


@call(0.1, 0.9)
def gaussian_kde_box(a, b):
    return KDE.integrate_box_1d(a, b)


@call(positive(6), 0.3)
def boxcox_llf(a, l):
    return stats.boxcox_llf(l, a)


@call(positive(6), 0.3)
def boxcox(a, l):
    return stats.boxcox(a, l)


@call(positive(6))
def boxcox_fit(a):
    return stats.boxcox(a)[0]


@call(A8, 0.3)
def yeojohnson(a, l):
    return stats.yeojohnson(a, l)


@call(A8, 0.3)
def yeojohnson_llf(a, l):
    return stats.yeojohnson_llf(l, a)


@call(A8)
def circmean(a):
    return stats.circmean(a)


@call(A8)
def circvar(a):
    return stats.circvar(a)


@call(A8)
def circstd(a):
    return stats.circstd(a)


@call(A8)
def tmean(a):
    return stats.tmean(a, (-1, 2))


@call(A8)
def tvar(a):
    return stats.tvar(a)


@call(A8)
def tstd(a):
    return stats.tstd(a)


@call(A8)
def tsem(a):
    return stats.tsem(a)


@call(A8)
def tmin(a):
    return stats.tmin(a) + stats.tmax(a)


@call(A8)
def iqr(a):
    return stats.iqr(a)


@call(A8)
def mad(a):
    return stats.median_abs_deviation(a)


@call(A8)
def mad_normal(a):
    return stats.median_abs_deviation(a, scale="normal")


@call(A8)
def trim_mean(a):
    return stats.trim_mean(a, 0.1)


@call(A8)
def differential_entropy(a):
    return stats.differential_entropy(a)


@call(A8, B8)
def wasserstein(a, b):
    return stats.wasserstein_distance(a, b)


@call(positive(4), positive(4))
def entropy(a, b):
    return stats.entropy(a, b)


@call(A8)
def scoreatpercentile(a):
    return stats.scoreatpercentile(a, 30)


@call(A8)
def percentileofscore(a):
    return stats.percentileofscore(a, 0.3) + np.sum(a)


@call(A8)
def probplot(a):
    return stats.probplot(a)[1][0]


@call(A8, B8, A12)
def tukey_hsd(a, b, c):
    return stats.tukey_hsd(a, b, c).statistic


@call(A8, B8)
def t_interval(a, b):
    return stats.t.interval(0.95, 7, loc=np.mean(a), scale=stats.sem(a))


@call(0.3, 1.2)
def norm_interval(a, b):
    return stats.norm.interval(0.95, a, b)


@call(0.3, 1.2)
def norm_stats(a, b):
    return stats.norm(a, b).mean() + stats.norm(a, b).var() + stats.norm(a, b).std()


@call(0.3, 1.2)
def norm_stats2(a, b):
    return stats.norm.stats(a, b, moments="mv")


@call(2.3, 1.2)
def gamma_mean(a, b):
    return (
        stats.gamma.mean(a, scale=b)
        + stats.gamma.var(a, scale=b)
        + stats.gamma.median(a, scale=b)
        + stats.gamma.entropy(a)
    )


@call(2.3, 1.2)
def beta_mean(a, b):
    return stats.beta(a, b).mean()


@call(A8)
def norm_fit(a):
    return stats.norm.fit(a)


@call(positive(8))
def expon_fit(a):
    return stats.expon.fit(a)


@call(positive(8))
def lognorm_fit0(a):
    r = stats.lognorm.fit(a, floc=0)
    return (r[0], r[2])


@call(positive(8))
def gamma_fit0(a):
    r = stats.gamma.fit(a, floc=0)
    return (r[0], r[2])


@call(positive(8))
def gamma_fit_at_a_list(a):
    r = stats.gamma.fit(a, floc=[0.0])
    return (r[0], r[2])


@call(A8, 0.3)
def norm_fit_at_a_list(a, m):
    return stats.norm.fit(a, floc=[m])[1]


@call(A8, 0.3, 1.2)
def nnlf(a, m, s):
    return stats.norm.nnlf((m, s), a)


@call(A8, 0.3, 1.2)
def norm_logpdf(a, m, s):
    return stats.norm.logpdf(a, m, s)


@call(normal(3), normal(3), S3)
def mvn_logpdf(a, m, s):
    return stats.multivariate_normal.logpdf(a, m, s)


@call(normal(3), normal(3), S3)
def mvn_frozen(a, m, s):
    return stats.multivariate_normal(m, s).pdf(a)


@call(positive(4), np.array([0.2, 0.3, 0.1, 0.4]))
def dirichlet_logpdf(a, x):
    return stats.dirichlet.logpdf(x[:3], a)


@call(0.3)
def binomtest_p(p):
    return stats.binomtest(3, 10, p).pvalue


@call(0.3)
def poisson_logpmf(m):
    return stats.poisson.logpmf(3, m)


@call(0.3)
def hypergeom(p):
    return stats.hypergeom.pmf(2, 20, 7, 12) * p


@call(A8, B8)
def somersd(a, b):
    return stats.weightedtau(a, b).statistic + np.sum(a * a)


@call(A8, B8)
def energy_distance(a, b):
    return stats.energy_distance(a, b)


@call(A8, B8)
def brunnermunzel(a, b):
    return stats.brunnermunzel(a, b).statistic + np.sum(a * b)


@call(normal(6, 3))
def friedman(a):
    return stats.friedmanchisquare(a[:, 0], a[:, 1], a[:, 2]).statistic + np.sum(a * a)


@call(A8)
def sigmaclip(a):
    return np.mean(stats.sigmaclip(a, 2.0, 2.0)[0])


@call(normal(6, 2))
def directional(a):
    return stats.directional_stats(a).mean_direction


@call(S3)
def formulas_of_distributions(a):
    """As packages call them, which want no location and no scale."""
    return (stats.norm._cdf(a), stats.norm._pdf(a), stats.norm._logcdf(a), stats.logistic._logpdf(a))


@call(positive(3))
def parameters_by_a_star(p):
    frozen = stats.gamma(*p[:2])
    places = np.array([2.5, 3.5])
    return (stats.norm.logpdf(places, *p[:2]), stats.t.cdf(places, *p), frozen.logpdf(places))


@call(positive(2))
def parameters_by_a_star_of_a_distribution_of_numbers(p):
    return (stats.poisson.logpmf(2, *p[:1]), stats.gamma.logsf(2.0, *p[:1], scale=p[1]))


@call(positive(2) + 1.0)
def frozen_by_one_of_two_calls(p):
    frozen = stats.gamma(p[0], 0.1, scale=p[1]) if p[0] > p[1] else stats.gamma(*p[:1], scale=p[1])
    return (frozen.logsf(2.0), frozen.pdf(1.5))


# --- expectations, higher moments, probabilities of vectors ------------------------------------------------------------


@call(1.3, 1.2)
def expectations(a, s):
    within = stats.gamma(a, scale=s).expect(lambda x: s * np.log(x), lb=0.5, ub=2.0, conditional=True)
    return (within, stats.uniform(a, s).expect(lambda x: x**2), stats.norm.expect(lambda x: np.exp(a * x), scale=s))


@call(1.3, 0.3)
def sums_expected(mu, p):
    return (stats.poisson(mu).expect(lambda k: k**2), stats.binom.expect(lambda k: mu * k, (5, p), lb=2))


@call(1.3, 0.7)
def higher_moments(a, s):
    return (*stats.gamma.stats(a, scale=s, moments="mvsk"), stats.norm(a, s).moment(4), stats.poisson.moment(3, a, 0.5))


@call(0.3, 2.5)
def higher_moments_of_counts(p, n):
    return stats.nbinom(n, p).stats("mvsk")


@call(2.3, 0.3, 1.4)
def moments_that_are_integrals(c, loc, scale):
    return (stats.powernorm.mean(c, loc, scale), stats.skewnorm.entropy(c, loc, scale), stats.geom(loc).entropy())


SHARES = np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]]).T


@call(np.array([1.0, 2.0, 1.5]))
def dirichlet_of_several(alpha):
    return (stats.dirichlet(alpha).logpdf(SHARES), stats.dirichlet.cov(alpha))


@call(normal(2, 4, 3), normal(3), np.array([1.0, 2.0, 0.5]), S3)
def covariances(x, m, d, s):
    diagonal = stats.Covariance.from_diagonal(d)
    factor = stats.Covariance.from_cholesky(np.linalg.cholesky(s))
    return (
        stats.multivariate_normal.logpdf(x, m, diagonal),
        stats.multivariate_normal(m, factor).pdf(x[0, 0]),
        stats.multivariate_normal.logpdf(x, m, s),
    )


PLANE = stats.multivariate_normal(np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.5]]))


@call(normal(2))
def vectors_of_a_frozen_distribution(x):
    return (PLANE.logpdf(x), PLANE.pdf(x), PLANE.cdf(x))
