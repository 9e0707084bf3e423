"""Programs of SciPy's tutorials, and others of a few lines."""

# ruff: noqa

import numpy as np
import scipy.sparse.linalg
from scipy import (
    cluster,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)
from scipy.spatial import distance

from scipy_calls.given import Corpus, A8, AT, B8, PTS, Q, S3, VAL, X, Y

corpus = Corpus(3)
call, normal, positive = corpus.call, corpus.normal, corpus.positive

D = np.array([0.7, 1.9, 0.4, 2.6, 1.1, 5.0, 0.9, 1.4, 2.2])


T = np.linspace(0, 1, 9)


@call(0.5)
def chebt(x):
    return special.chebyt(3)(x) + special.chebyu(2)(x) + special.chebyc(2)(x) + special.chebys(2)(x)


@call(0.5)
def herm(x):
    return special.hermite(3)(x) + special.hermitenorm(3)(x) + special.laguerre(3)(x) + special.sh_legendre(2)(x)


@call(0.5)
def shche(x):
    return (
        special.sh_chebyt(3)(x)
        + special.sh_chebyu(3)(x)
        + special.gegenbauer(2, 0.7)(x)
        + special.jacobi(2, 0.3, 0.4)(x)
        + special.sh_jacobi(2, 1.5, 0.7)(x)
    )


@call(PTS, Q)
def kd(p, q):
    return spatial.KDTree(p).query(q)[0]


@call(A8, B8)
def rank_tests(a, b):
    return stats.ansari(a, b).statistic + stats.mood(a, b).statistic + stats.fligner(a, b).statistic + np.sum(a * b)


@call(A8, B8)
def two_sample(a, b):
    return stats.cramervonmises_2samp(a, b).statistic + stats.ranksums(a, b).statistic + np.sum(a * b)


@call(A8, B8)
def chatterjee(a, b):
    return stats.chatterjeexi(a, b).statistic + stats.spearmanrho(a, b).statistic + np.sum(a * b)


@call(A8)
def ks1(a):
    return stats.ks_1samp(a, stats.norm.cdf).statistic


@call(D)
def variation_(a):
    return stats.variation(a)


@call(X, Y, AT)
def pchip_anti(x, y, at):
    p = interpolate.PchipInterpolator(x, y)
    return (p.antiderivative()(at), p.derivative()(at))


@call(X, Y, AT)
def bspl_anti(x, y, at):
    p = interpolate.make_interp_spline(x, y)
    return p.antiderivative()(at)


@call(X, Y)
def cs_roots2(x, y):
    return interpolate.CubicSpline(x, y).roots(extrapolate=False)


@call(Y, 0.7)
def us_anti(y, at):
    s = interpolate.InterpolatedUnivariateSpline(X, y)
    return (s.antiderivative()(at), s.derivatives(at), s.derivative()(at))


@call(PTS, VAL, Q)
def nearest_nd(p, v, q):
    return interpolate.NearestNDInterpolator(p, v)(q)


@call(1.3, 0.4)
def systems(k, d):
    return (
        signal.step(signal.TransferFunction([k], [1, d, 2.0]), T=T)[1],
        signal.impulse(signal.ZerosPolesGain([], [-d, -2.0], k), T=T)[1],
    )


@call(1.3, 0.4)
def systems2(k, d):
    return (
        signal.step(signal.StateSpace([[0, 1.0], [-2.0, -d]], [[0.0], [k]], [[1.0, 0.0]], [[0.0]]), T=T)[1],
        signal.dstep(signal.dlti([k], [1, -d], dt=0.1), n=5)[1][0],
    )


@call(1.0, 0.1, 1.5, 0.075)
def lotka(a, b, c, d):

    def rhs(t, z):
        x, y = z
        return [a * x - b * x * y, -c * y + d * x * y]

    return integrate.solve_ivp(rhs, [0, 2], [10, 5], rtol=1e-09, atol=1e-09, t_eval=[1.0, 2.0]).y


@call(0.25, 5.0)
def pendulum(b, c):

    def pend(y, t, b, c):
        theta, omega = y
        return [omega, -b * omega - c * np.sin(theta)]

    return integrate.odeint(pend, [np.pi - 0.1, 0.0], np.linspace(0, 2, 5), args=(b, c), rtol=1e-09, atol=1e-09)


@call(2.5, 1.3, 0.5)
def fit_exp(a, b, c):
    x = np.linspace(0, 4, 20)
    y = a * np.exp(-b * x) + c + 0.05 * np.sin(7 * x)
    popt, pcov = optimize.curve_fit(
        lambda x, a, b, c: a * np.exp(-b * x) + c, x, y, p0=[2.0, 1.0, 0.3], xtol=1e-12, ftol=1e-12
    )
    return popt


@call(np.array([1.3, 0.7]))
def rosen_min(p):
    return optimize.minimize(
        lambda x: (p[0] - x[0]) ** 2 + p[1] * (x[1] - x[0] ** 2) ** 2, [0.5, 0.5], method="BFGS", tol=1e-10
    ).x


@call(0.3, 0.7)
def mixture(w, m):
    lp = np.stack([np.log(w) + stats.norm.logpdf(D, m, 1.0), np.log1p(-w) + stats.norm.logpdf(D, 3.0, 2.0)])
    return np.sum(special.logsumexp(lp, axis=0))


@call(1.7)
def poisson_ll(r):
    return np.sum(stats.poisson.logpmf(np.array([1, 3, 2, 0, 4]), r))


@call(3.0, 0.4)
def nbinom_ll(n, p):
    return np.sum(stats.nbinom.logpmf(np.array([1, 3, 2, 0, 4]), n, p))


@call(normal(2), S3[:2, :2], normal(4, 2))
def mvn_ll(m, s, x):
    return stats.multivariate_normal(m, s).logpdf(x).sum()


@call(normal(2), S3[:2, :2], normal(4, 2))
def mvt_ll(m, s, x):
    return stats.multivariate_t(m, s, df=5).logpdf(x).sum()


@call(S3)
def wishart_ll(s):
    return stats.wishart.logpdf(np.eye(3) * 2.0, df=5, scale=s @ s.T)


@call(normal(64))
def filtered(x):
    b, a = signal.butter(3, 0.2)
    return signal.filtfilt(b, a, x)


@call(normal(64))
def psd(x):
    f, p = signal.welch(x, fs=10.0, nperseg=16)
    return 10 * np.log10(p)


@call(normal(64))
def roundtrip(x):
    f, t, z = signal.stft(x, nperseg=16)
    _, y = signal.istft(z, nperseg=16)
    return y


@call(normal(64))
def envelope2(x):
    return np.abs(signal.hilbert(x))


@call(normal(64), 0.3)
def fir(x, c):
    return signal.lfilter(signal.firwin(9, c), 1.0, x)


@call(normal(64))
def lag(x):
    c = signal.correlate(x, x[10:20], mode="valid")
    return c[np.argmax(c)]


@call(normal(64))
def rfft_lowpass(x):
    s = fft.rfft(x)
    s[10:] = 0
    return fft.irfft(s)


@call(normal(8, 8))
def edges(im):
    return np.hypot(ndimage.sobel(im, 0), ndimage.sobel(im, 1))


@call(normal(8, 8), 1.3)
def blur(im, s):
    return ndimage.gaussian_filter(im, 1.5) * s


@call(normal(8, 8), 3.4, 2.2)
def warp(im, r, c):
    return ndimage.map_coordinates(im, [[r, 2.0], [c, 5.5]], order=3)


@call(normal(3, 3), 0.5)
def expm_ode(a, t):
    return linalg.expm(a * t) @ np.ones(3)


@call(normal(6, 3), normal(6))
def ridge(a, b):
    return linalg.solve(a.T @ a + 0.1 * np.eye(3), a.T @ b, assume_a="pos")


@call(normal(6, 4))
def lowrank(a):
    u, s, vt = linalg.svd(a, full_matrices=False)
    return u[:, :2] * s[:2] @ vt[:2]


@call(S3, normal(3))
def gp(k, y):
    L = linalg.cholesky(k, lower=True)
    al = linalg.cho_solve((L, True), y)
    return -0.5 * y @ al - np.sum(np.log(np.diag(L)))


@call(np.array([3.0, 1.0, 0.4, 0.1]), normal(4))
def toep(c, b):
    return (linalg.solve_toeplitz(c, b), linalg.toeplitz(c) @ b)


@call(0.3 * normal(2, 2), normal(2, 1))
def lqr(a, b):
    x = linalg.solve_continuous_are(a, b, np.eye(2), np.eye(1))
    return b.T @ x


@call(normal(5), normal(4))
def tridiag(d, u):
    a = sparse.diags([u, d + 4.0, u], [-1, 0, 1], format="csc")
    return scipy.sparse.linalg.spsolve(a, np.ones(5))


@call(normal(4, 3), normal(5, 3), 1.5)
def rbf_kernel(a, b, l):
    return np.exp(-distance.cdist(a, b, "sqeuclidean") / (2 * l * l))


@call(normal(3), normal(4, 3))
def rotate(v, p):
    return spatial.transform.Rotation.from_rotvec(v).apply(p)


@call(0.7, 2.5)
def bessel_(x, n):
    return special.jv(n, x) + special.kv(1, x) + special.iv(2, x) + special.spherical_jn(2, x)


@call(0.3, 0.8)
def voigt(s, g):
    return special.voigt_profile(0.4, s, g) + special.erfcx(s) + special.dawsn(g)


@call(1.2)
def quad_inf(a):
    return integrate.quad(lambda x: np.exp(-a * x**2) * np.cos(x), -np.inf, np.inf)[0]


@call(1.2)
def quad_pts(a):
    return integrate.quad(lambda x: np.abs(x - a * 0.3), 0, 1, points=[0.36])[0]


@call(0.9)
def ball(e):

    def hit(t, y):
        return y[0]

    hit.terminal = True
    return integrate.solve_ivp(
        lambda t, y: [y[1], -9.8], [0, 5], [e, 1.0], events=hit, rtol=1e-10, atol=1e-10
    ).t_events[0][0]


@call(D)
def normality(x):
    return (stats.jarque_bera(x).statistic, stats.skew(x), stats.kurtosis(x))


@call(A8, B8)
def regression(x, y):
    r = stats.linregress(x, y)
    return (r.slope * 2.0 + r.intercept, r.rvalue**2)


@call(D)
def ci(x):
    return stats.t.interval(0.95, len(x) - 1, loc=np.mean(x), scale=stats.sem(x))


@call(D)
def kde(x):
    return stats.gaussian_kde(x, weights=np.arange(1, 10.0))(np.array([1.0, 2.0]))


@call(D)
def entropy_(x):
    return (stats.entropy(x / np.sum(x)), stats.differential_entropy(x))


@call(normal(6, 2))
def whitened(x):
    return cluster.vq.whiten(x)


@call(D)
def ema(x):
    return signal.lfilter([0.3], [1, -0.7], x, zi=[0.7 * x[0]])[0]


@call(0.3)
def chirp_(f):
    return (signal.chirp(T, f, 1.0, 2.0 * f), signal.square(2 * np.pi * T) * f)


@call(normal(7))
def peaks(x):
    p, props = signal.find_peaks(np.concatenate([x, [-5.0]]), prominence=0.01)
    return props["prominences"]


@call(np.array([1.0, -3.0, 2.0, 0.5]))
def polyroots_(c):
    return (np.abs(np.roots(c)), np.polyval(np.polyder(c), 0.4))


@call(0.4, 1.1)
def two_norms(a, b):
    n = stats.norm(a, b)
    return (n.cdf(1.0) - n.cdf(0.0), n.ppf(0.9), n.entropy())


@call(np.array([0.2, 0.5, 0.3]))
def dirich(x):
    return stats.dirichlet.logpdf(x / x.sum(), [1.5, 2.0, 3.0])


@call(1.3)
def trunc(s):
    return stats.truncnorm.logpdf(0.3, -1.0, 2.0, scale=s) + stats.truncnorm.mean(-1.0, 2.0, scale=s)


@call(np.array([0.2, 0.4]))
def implicit_root(p):
    return optimize.root(lambda z: [z[0] + p[0] * np.sin(z[1]) - 1.0, z[1] - p[1] * z[0] ** 2], [0.5, 0.5], tol=1e-12).x


@call(0.7)
def kepler(e):
    return optimize.brentq(lambda E: E - e * np.sin(E) - 1.0, 0, 3)


@call(normal(3, 3))
def lap(c):
    i, j = optimize.linear_sum_assignment(c)
    return c[i, j].sum()


@call(D)
def savgol(x):
    return signal.savgol_filter(x, 5, 2, deriv=1)


@call(normal(12))
def resampled(x):
    return (signal.resample(x, 18), signal.decimate(np.tile(x, 4), 2))


@call(normal(4, 4))
def cov_eig(x):
    w, v = linalg.eigh(x @ x.T)
    return (w, np.abs(v[:, -1]))


@call(1.0, 2.0)
def normal_new(m, s):
    n = stats.Normal(mu=m, sigma=s)
    return (n.logpdf(0.3), n.cdf(1.0), n.mean(), n.icdf(0.3))


@call(normal(3))
def sph(v):
    return np.abs(special.sph_harm_y(2, 1, v[0], v[1]))


@call(0.4, 0.3)
def ellip(m, x):
    return (special.ellipk(m), special.ellipe(m), special.ellipkinc(x, m))


@call(0.6)
def lamb(x):
    return (special.lambertw(x).real, special.zeta(x + 2.0), special.expi(x))


@call(normal(4))
def soft(x):
    return (special.softmax(x), special.log_softmax(x), special.expit(x), special.logit(special.expit(x)))


@call(0.1, 1.2)
def uniform_new(a, b):
    n = stats.Uniform(a=a, b=b)
    return n.logpdf(0.3), n.cdf(0.7), n.mean()


@call(normal(6, 2), normal(2, 2))
def nearest_of_book(x, c):
    d = distance.cdist(x, c)
    return np.sum(d[np.arange(6), np.argmin(d, axis=1)])
