"""Derivatives of special functions against many digits: at zeros, branch points, ends of their domains, in tails."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special as s

import adjoint as ad
from adjoint.runtime.numerical_methods.special.elliptic import carlson_integral, elliptic_moment
from adjoint.runtime.numerical_methods.special.student import stdtr_slope
from adjoint.runtime.numerical_methods.special.zeta import zeta_slope
from sampling import THOROUGH


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    with mp.workdps(80), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _share(quantile: Any, share: Callable[[Any], Any]) -> Any:
    """The inverse of ``share`` near a quantile."""
    return lambda p: mp.findroot(lambda t: share(t) - p, float(quantile(float(p))))


Row = tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[float, ...]]
ROWS: dict[str, Row] = {
    "ellipk": (lambda x: s.ellipk(x), mp.ellipk, (0.0, -3.0, 0.5, 1 - 1e-9, 1e-12)),
    "ellipe": (lambda x: s.ellipe(x), mp.ellipe, (0.0, -3.0, 0.5, 1 - 1e-9)),
    "ellipkm1": (lambda x: s.ellipkm1(x), lambda p: mp.ellipk(1 - p), (1.0, 1e-9, 0.4, 3.0)),
    "ellipkinc": (lambda x: s.ellipkinc(x, 0.4), lambda x: mp.ellipf(x, mp.mpf(0.4)), (0.0, math.pi / 2, 2.0, -5.0)),
    "ellipkinc by m": (lambda x: s.ellipkinc(1.2, x), lambda x: mp.ellipf(mp.mpf(1.2), x), (0.0, -2.0, 0.7, 1.0)),
    "ellipkinc, turned": (lambda x: s.ellipkinc(-4.2, x), lambda x: mp.ellipf(mp.mpf(-4.2), x), (0.0, -2.0, 0.7)),
    "ellipeinc by m": (lambda x: s.ellipeinc(1.2, x), lambda x: mp.ellipe(mp.mpf(1.2), x), (0.0, -2.0, 0.7, 1.0)),
    "spence": (lambda x: s.spence(x), lambda z: mp.polylog(2, 1 - z), (1.0, 1 + 1e-10, 0.3, 2.9, 1e-7)),
    "exprel": (lambda x: s.exprel(x), lambda x: mp.expm1(x) / x, (1e-9, -1e-5, 0.5, -30.0, 20.0)),
    "hyp0f1": (lambda x: s.hyp0f1(1.5, x), lambda x: mp.hyp0f1(1.5, x), (0.0, -7.0, 3.0)),
    "hyp1f1": (lambda x: s.hyp1f1(0.3, 1.5, x), lambda x: mp.hyp1f1(mp.mpf(0.3), 1.5, x), (0.0, -7.0, 3.0)),
    "hyp2f1": (
        lambda x: s.hyp2f1(0.3, 1.5, 2.2, x),
        lambda x: mp.hyp2f1(mp.mpf(0.3), 1.5, mp.mpf(2.2), x),
        (0.0, -7.0, 0.7),
    ),
    "si": (lambda x: s.sici(x)[0], mp.si, (0.0, 1e-8, 2.0, -30.0)),
    "shi": (lambda x: s.shichi(x)[0], mp.shi, (0.0, 1e-8, 2.0, -3.0)),
    "expn": (lambda x: s.expn(3, x), lambda x: mp.expint(3, x), (0.3, 5.0)),
    "expn of order 0": (lambda x: s.expn(0, x), lambda x: mp.expint(0, x), (0.3, 5.0)),
    "expn of order 1": (lambda x: s.expn(1, x), lambda x: mp.expint(1, x), (0.3, 5.0, 1e-3)),
    "fresnel": (lambda x: s.fresnel(x)[0], mp.fresnels, (0.0, 1.0, -3.0)),
    "zeta": (lambda x: s.zeta(x), mp.zeta, (1.01, 2.0, 0.5, 20.0)),
    "zeta of Hurwitz": (lambda x: s.zeta(2.5, x), lambda q: mp.zeta(2.5, q), (0.01, 2.0, 50.0)),
    "wofz": (lambda x: s.wofz(x).imag, lambda x: mp.exp(-x * x) * mp.erfi(x), (0.0, 2.0, 8.0)),
    "erfcx": (lambda x: s.erfcx(x), lambda x: mp.exp(x * x) * mp.erfc(x), (0.0, 1.0, 9.0, 50.0)),
    "log_ndtr": (lambda x: s.log_ndtr(x), lambda x: mp.log(mp.ncdf(x)), (0.0, -9.0, 9.0)),
    "ndtri_exp": (lambda x: s.ndtri_exp(x), _share(s.ndtri_exp, lambda t: mp.log(mp.ncdf(t))), (-1.0, -50.0)),
    "airy": (lambda x: s.airy(x)[0], mp.airyai, (0.0, 2.0, -5.0)),
    "airy, Bi'": (lambda x: s.airy(x)[3], lambda x: mp.airybi(x, derivative=1), (0.0, 2.0, -5.0)),
    "ber": (lambda x: s.ber(x), lambda x: mp.ber(0, x), (0.0, 2.0, -5.0, 20.0)),
    "beip": (lambda x: s.beip(x), lambda x: mp.diff(lambda t: mp.bei(0, t), x), (0.0, 2.0)),
    "ker": (lambda x: s.ker(x), lambda x: mp.ker(0, x), (1e-3, 2.0, 20.0)),
    "spherical_jn": (
        lambda x: s.spherical_jn(2, x),
        lambda x: mp.sqrt(mp.pi / 2 / x) * mp.besselj(2.5, x),
        (1e-4, 2.0, 20.0),
    ),
    "spherical_jn of order 0": (lambda x: s.spherical_jn(0, x), mp.sinc, (0.0, 2.0, 20.0)),
    "struve": (lambda x: s.struve(0, x), lambda x: mp.struveh(0, x), (2.0, 9.0)),
    "modstruve": (lambda x: s.modstruve(1, x), lambda x: mp.struvel(1, x), (0.0, 2.0, 9.0)),
    "cosm1": (lambda x: s.cosm1(x), lambda x: mp.cos(x) - 1, (0.0, 1e-6)),
    "eval_legendre": (lambda x: s.eval_legendre(4, x), lambda x: mp.legendre(4, x), (0.0, 1.0, -1.0)),
    "lambertw": (lambda x: s.lambertw(x).real, lambda x: mp.lambertw(x).real, (0.0, 0.5, -0.3)),
    "lpmv": (lambda x: s.lpmv(1, 3, x), lambda x: -mp.sqrt(1 - x * x) * (15 * x * x - 3) / 2, (0.0, 0.5, -0.3)),
    "gammaincinv": (
        lambda x: s.gammaincinv(2.0, x),
        _share(lambda p: s.gammaincinv(2.0, p), lambda t: mp.gammainc(2, 0, t, regularized=True)),
        (0.3, 1e-6),
    ),
    "owens_t": (
        lambda x: s.owens_t(x, 0.7),
        lambda h: mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, mp.mpf(0.7)]) / 2 / mp.pi,
        (0.0, 1.0),
    ),
    "agm": (lambda x: s.agm(x, 0.7), lambda x: mp.agm(x, mp.mpf(0.7)), (0.7, 1.0, 9.0)),
    "powm1": (lambda x: s.powm1(x, 2.0), lambda x: x * x - 1, (0.0, 1.0, -1.0)),
}


@pytest.mark.parametrize("name", ROWS)
def test_first_and_second_derivatives(name: str) -> None:
    function, exact, points = ROWS[name]
    for x in points:
        for order, derivative in ((1, ad.grad(function)), (2, ad.grad(ad.grad(function)))):
            wanted = float(mp.re(mp.diff(exact, mp.mpf(x), order)))
            assert abs(float(derivative(x)) - wanted) <= 1e-9 * abs(wanted) + 1e-11, (x, order, wanted)


@pytest.mark.skipif(not hasattr(s, "sph_harm_y"), reason="SciPy 1.15")
@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (2, -2), (3, 1)])
def test_spherical_harmonics_at_the_edges_of_their_orders(n: int, m: int) -> None:
    """The slope is made of the orders beside ``m``, of which those beyond ``n`` are zero."""

    def harmonic(theta: float) -> float:
        return s.sph_harm_y(n, m, theta, 0.4).real

    for theta in (0.5, 2.0, -0.7):
        first, second = ad.grad(harmonic), ad.grad(ad.grad(harmonic))
        for derivative, below in ((first, harmonic), (second, first)):
            wanted = (below(theta + 1e-6) - below(theta - 1e-6)) / 2e-6
            assert derivative(theta) == pytest.approx(wanted, abs=1e-8)


def test_integrals_of_elliptic_type() -> None:
    for x in (0.0, 1e-9, 0.3, 1e9):
        for y in (1e-7, 0.3, 2.0):
            for z in (1e-3, 0.5, 8.0):
                first = carlson_integral(0.5, 0.5, 0.5, 0.0, x, y, z, 0.0) / 2
                second = 1.5 * carlson_integral(0.5, 0.5, 1.5, 0.0, x, y, z, 0.0)
                np.testing.assert_allclose((first, second), (s.elliprf(x, y, z), s.elliprd(x, y, z)), rtol=1e-14)
    for phi in (0.0, 1e-8, 1.5, 2.0, -4.0, 9.0):
        for m in (-50.0, 0.0, 1e-9, 0.99, 1 - 1e-9):
            np.testing.assert_allclose(elliptic_moment(0, -0.5, phi, m), s.ellipkinc(phi, m), rtol=1e-12)
            np.testing.assert_allclose(elliptic_moment(0, 0.5, phi, m), s.ellipeinc(phi, m), rtol=1e-12)


def test_zeta_functions_by_their_exponents() -> None:
    for x in (0.1, 0.5, 1.1, 10.0, 40.0) if THOROUGH else (0.5, 1.1, 40.0):
        for q in (0.01, 1.0, 30.0, 1e4) if THOROUGH else (0.01, 30.0):
            for order in (1, 2, 3):
                wanted = float(mp.diff(lambda at, q=q: mp.zeta(at, q), x, order))
                assert abs(zeta_slope(order, x, q) - wanted) < 1e-11 * abs(wanted), (x, q, order)
    assert np.isnan(zeta_slope(1, 1.0, 1.0))
    assert np.isnan(zeta_slope(1, 2.0, -0.5))


def _student(df: Any, t: Any) -> Any:
    share = mp.betainc(0.5, df / 2, 0, t * t / (df + t * t), regularized=True)
    return mp.mpf(0.5) + mp.sign(t) * share / 2


def test_the_distribution_of_student_by_its_degrees_of_freedom() -> None:
    for df in (0.1, 1.0, 3.3, 30.0, 1000.0):
        step = mp.mpf(df) * mp.mpf(10) ** -12
        for t in (-40.0, -2.0, 1e-3, 0.9, 1.1, 5.0):
            before, at, after = (_student(mp.mpf(df) + k * step, mp.mpf(t)) for k in (-1, 0, 1))
            for order, wanted in ((1, (after - before) / (2 * step)), (2, (before - 2 * at + after) / step**2)):
                assert abs(stdtr_slope(order, df, t) - wanted) < 1e-8 * abs(wanted) + 1e-22, (df, t, order)


def _noncentral_f(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    place, half = dfn * f / (dfn * f + dfd), nc / 2
    terms = (
        half**j / mp.factorial(j) * mp.betainc(dfn / 2 + j, dfd / 2, 0, place, regularized=True) for j in range(30)
    )
    return mp.exp(-half) * mp.fsum(terms)


@pytest.mark.parametrize("name", ["ncfdtridfn", "ncfdtridfd", "ncfdtrinc"])
def test_inverses_that_scipy_finds_to_few_digits(name: str) -> None:
    """Their derivatives are those of the inverse at the value that SciPy gives, to all digits."""
    inverse, found = getattr(s, name), {"ncfdtridfn": 0, "ncfdtridfd": 1, "ncfdtrinc": 2}[name]
    with mp.workdps(30):
        for point in ([12.0 if found == 0 else 2.5, 4.0, 0.8, 1.9], [4.0, 4.0, 2.0, 1.7]):
            args = list(point)
            args[found] = float(_noncentral_f(*map(mp.mpf, point)))
            at = list(map(mp.mpf, point))
            at[found] = mp.mpf(float(inverse(*args)))
            slopes = [mp.diff(_noncentral_f, at, tuple(int(j == k) for j in range(4))) for k in range(4)]
            for k in range(4):
                wanted = 1 / slopes[found] if k == found else -slopes[k] / slopes[found]
                assert ad.grad(lambda *a: float(inverse(*a)), wrt=k)(*args) == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize(
    "function",
    [lambda p: s.pdtrik(p, 1.9), lambda p: s.bdtrik(p, 5.0, 0.3), lambda p: s.nbdtrik(p, 3.0, 0.3)],
)
def test_counts_stay_none_where_none_is_likely_enough(function: Callable[[float], float]) -> None:
    assert function(0.01) == 0.0
    assert ad.grad(function)(0.01) == 0.0
    assert ad.grad(function)(0.8) > 0.0
    np.testing.assert_array_equal(ad.jvp(function, (np.array([0.01, 0.8]),), (np.ones(2),))[1] > 0, [False, True])


@pytest.mark.parametrize(
    ("function", "p"),
    [
        (lambda p: s.stdtridf(p, 1.9), 0.99),
        (lambda p: s.stdtridf(p, 1.9), 1e-12),
        (lambda p: s.chndtrinc(2.5, 2.0, p), 0.9),
        (lambda p: s.nctdtrinc(2.5, p, 1.9), 1e-12),
        (lambda p: s.ncfdtridfd(2.5, p, 0.8, 1.9), 0.9),
        (lambda p: s.ncfdtridfn(p, 4.0, 0.8, 1.9), 0.6),
        (lambda p: s.ncfdtrinc(2.5, 4.0, p, 1.9), 0.9),
    ],
)
def test_where_scipy_finds_no_inverse_no_derivative_is_known(function: Callable[[float], float], p: float) -> None:
    assert np.isnan(ad.grad(function)(p))


def of_a_parameter(a: float) -> float:
    return float(s.hyperu(a, 1.5, 0.3))


def of_a_degree(n: float) -> float:
    return float(s.eval_legendre(n, 0.3))


@pytest.mark.parametrize("function", [of_a_parameter, of_a_degree])
def test_parameters_of_which_no_derivative_is_known_are_refused(function: Callable[[float], float]) -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0204"):
        ad.grad(function)(0.7)


def test_factorials_of_arrays_are_of_double_precision() -> None:
    for n in (np.array([1.5, 2.0, -0.3, np.nan], np.float32), np.array(2.5, np.float32), np.float32(2.5)):
        value, expected = ad.vjp(s.factorial, n)[0], s.factorial(n)
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(value, expected)
