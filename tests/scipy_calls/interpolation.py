"""Interpolation."""

# ruff: noqa

import numpy as np
from scipy import interpolate

from scipy_calls.given import Corpus, AT, G, PTS, Q, VAL, X, Y

corpus = Corpus(13)
call, normal, positive = corpus.call, corpus.normal, corpus.positive


@call(X, Y, AT)
def interp1d(x, y, at):
    return interpolate.interp1d(x, y)(at)


@call(X, Y, AT)
def interp1d_cubic(x, y, at):
    return interpolate.interp1d(x, y, kind="cubic")(at)


@call(X, np.stack([Y, Y**2], axis=1), AT)
def interp1d_of_rows(x, y, at):
    return interpolate.interp1d(x, y, kind="cubic", axis=0)(at)


@call(X, Y, AT)
def interp1d_quadratic(x, y, at):
    return interpolate.interp1d(x, y, kind="quadratic")(at)


@call(X, Y, AT)
def interp1d_nearest(x, y, at):
    return interpolate.interp1d(x, y, kind="nearest")(at)


@call(X, Y, AT)
def interp1d_previous(x, y, at):
    return interpolate.interp1d(x, y, kind="previous")(at)


@call(X, Y, AT + 0.5)
def interp1d_fill(x, y, at):
    return interpolate.interp1d(x, y, bounds_error=False, fill_value=0.0)(at)


@call(X, Y, AT + 0.5)
def interp1d_fill2(x, y, at):
    return interpolate.interp1d(x, y, bounds_error=False, fill_value=(y[0], y[-1]))(at)


@call(X, Y, AT + 0.5)
def interp1d_extra(x, y, at):
    return interpolate.interp1d(x, y, fill_value="extrapolate")(at)


I1 = interpolate.interp1d(X, Y)


I3 = interpolate.interp1d(X, Y, kind="cubic")


@call(AT)
def interp1d_const(at):
    return I1(at)


@call(AT)
def interp1d_cubic_const(at):
    return I3(at)


@call(1.2)
def interp1d_scalar(at):
    return I1(at)


@call(1.2)
def interp1d_cubic_scalar_float(at):
    return float(I3(at))


@call(X, Y, AT)
def univariate(x, y, at):
    return interpolate.UnivariateSpline(x, y, s=0)(at)


@call(X, Y, AT)
def interpolated_univariate(x, y, at):
    return interpolate.InterpolatedUnivariateSpline(x, y)(at)


US = interpolate.UnivariateSpline(X, Y, s=0.05)


@call(AT)
def univariate_const(at):
    return US(at)


@call(AT)
def univariate_const_der(at):
    return US.derivative()(at) + US(at, 1)


@call(0.3, 1.2)
def univariate_const_int(a, b):
    return US.integral(a, b)


@call(Y, AT)
def lsq_univariate(y, at):
    return interpolate.LSQUnivariateSpline(X, y, [1.5])(at)


@call(X, Y, AT)
def make_interp(x, y, at):
    return interpolate.make_interp_spline(x, y, k=3)(at)


@call(X, Y, AT)
def make_interp_bc(x, y, at):
    return interpolate.make_interp_spline(x, y, k=3, bc_type="natural")(at)


@call(X, Y, AT)
def make_interp_clamped(x, y, at):
    return interpolate.make_interp_spline(x, y, k=3, bc_type="clamped")(at)


@call(Y, AT)
def make_lsq(y, at):
    return interpolate.make_lsq_spline(X, y, np.r_[[0.0] * 4, [1.5], [3.1] * 4])(at)


@call(Y, AT)
def make_smoothing(y, at):
    return interpolate.make_smoothing_spline(X, y, lam=0.1)(at)


@call(X, Y, AT)
def splrep(x, y, at):
    return interpolate.splev(at, interpolate.splrep(x, y))


@call(Y, AT)
def splrep_y(y, at):
    return interpolate.splev(at, interpolate.splrep(X, y, s=0))


@call(X, Y)
def splprep(x, y):
    tck, u = interpolate.splprep([x, y], s=0)
    along, across = interpolate.splev(np.linspace(0.0, 1.0, 5), tck, der=1)
    return np.sum(np.arctan2(across, along)) + np.sum(interpolate.splev(u, tck)[1] ** 2) + u[1]


@call(Y)
def splprep_of_degree_2(y):
    (t, c, k), u = interpolate.splprep(np.stack([X, y]), u=X, s=0, k=2)
    return np.sum(c[0] ** 2) + np.sum(np.sin(c[1])) + t[k + 1] * u[2]


TCK = interpolate.splrep(X, Y)


@call(AT)
def splev_const(at):
    return interpolate.splev(at, TCK)


@call(0.3, 1.7)
def splint(a, b):
    return interpolate.splint(a, b, TCK)


@call(AT)
def splder(at):
    return interpolate.splev(at, interpolate.splder(TCK))


@call(PTS[:, 0].copy(), PTS[:, 1].copy(), VAL, Q)
def rbf(x, y, z, q):
    return interpolate.Rbf(x, y, z)(q[:, 0], q[:, 1])


@call(VAL, Q)
def rbf_gauss(z, q):
    return interpolate.Rbf(PTS[:, 0], PTS[:, 1], z, function="gaussian", epsilon=0.7)(q[:, 0], q[:, 1])


@call(PTS, VAL, Q)
def rbfinterp(x, z, q):
    return interpolate.RBFInterpolator(x, z)(q)


@call(PTS, VAL, Q)
def rbfinterp_gauss(x, z, q):
    return interpolate.RBFInterpolator(x, z, kernel="gaussian", epsilon=1.0)(q)


RB = interpolate.RBFInterpolator(PTS, VAL)


@call(Q)
def rbfinterp_const(q):
    return RB(q)


@call(VAL, Q)
def griddata(z, q):
    return interpolate.griddata(PTS, z, q)


@call(VAL, Q)
def griddata_near(z, q):
    return interpolate.griddata(PTS, z, q, method="nearest")


@call(VAL, Q)
def linearnd(z, q):
    return interpolate.LinearNDInterpolator(PTS, z)(q)


LN = interpolate.LinearNDInterpolator(PTS, VAL)


@call(G, 1.2, 2.3)
def rectbivariate(z, x, y):
    return interpolate.RectBivariateSpline(np.arange(5.0), np.arange(6.0), z)(x, y)


RBS = interpolate.RectBivariateSpline(np.arange(5.0), np.arange(6.0), G)


@call(AT, AT)
def rectbivariate_const_ev(x, y):
    return RBS.ev(x, y)


@call(1.2, 2.3)
def rectbivariate_const(x, y):
    return RBS(x, y)


@call(AT, AT)
def rectbivariate_const_grid(x, y):
    return RBS(x, y, grid=False)


RG = interpolate.RegularGridInterpolator((np.arange(5.0), np.arange(6.0)), G, method="cubic")
PLACES = np.stack([AT, AT + 0.7], axis=1)


@call(PLACES)
def grid_of_splines(at):
    return RG(at) * RG(at, nu=(1, 0))


@call(np.arange(5.0), G, PLACES)
def grid_of_pchip(x, z, at):
    return interpolate.RegularGridInterpolator((x, np.arange(6.0)), z, method="pchip")(at)


@call(0.7, 2.2)
def grid_at_a_point(x, y):
    return interpolate.interpn((np.arange(5.0), np.arange(6.0)), G, (x, y), method="pchip")


KNOTS = np.r_[[0.0] * 4, [1.0, 2.0], [3.1] * 4]


@call(normal(6, 6, 2), PLACES)
def tensor_spline(c, at):
    spline = interpolate.NdBSpline((KNOTS, KNOTS), c, 3, extrapolate=False)
    return (spline(at), spline(at, nu=(1, 2)))


@call(X, Y, AT)
def cubicspline(x, y, at):
    return interpolate.CubicSpline(x, y)(at)


@call(Y, AT)
def cubicspline_periodic(y, at):
    y = np.concatenate([y[:-1], y[:1]])
    return interpolate.CubicSpline(X, y, bc_type="periodic")(at)


@call(X, Y, AT)
def barycentric(x, y, at):
    return interpolate.BarycentricInterpolator(x, y)(at)


@call(X, Y, AT)
def barycentric_f(x, y, at):
    return interpolate.barycentric_interpolate(x, y, at)


@call(X, Y, AT)
def krogh(x, y, at):
    return interpolate.KroghInterpolator(x, y)(at)


@call(X[:4], Y[:4])
def lagrange(x, y):
    return interpolate.lagrange(x, y)(0.7)


@call(X, Y, AT)
def akima(x, y, at):
    return interpolate.Akima1DInterpolator(x, y)(at)


@call(normal(4, 2), AT)
def ppoly(c, at):
    return interpolate.PPoly(c, np.array([0.0, 1.5, 4.0]))(at)


@call(normal(4, 2), AT)
def bpoly(c, at):
    return interpolate.BPoly(c, np.array([0.0, 1.5, 4.0]))(at)


@call(normal(6), AT)
def bspline(c, at):
    return interpolate.BSpline(np.r_[[0.0] * 4, [1.0, 2.0], [3.1] * 4], c, 3)(at)


@call(X, Y, np.cos(X), AT)
def hermite(x, y, d, at):
    return interpolate.CubicHermiteSpline(x, y, d)(at)


@call(X, Y)
def cs_integrate(x, y):
    return interpolate.CubicSpline(x, y).integrate(0.3, 1.9)


@call(X, Y)
def pade(x, y):
    p, q = interpolate.pade(y, 2)
    return p(0.3) / q(0.3)
