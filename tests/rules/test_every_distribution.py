"""Every distribution of SciPy with parameters that vary: what each of its functions gives, and how that moves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats._distr_params import distcont, distdiscrete

import adjoint as ad

CONTINUOUS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
DISCRETE = ("logpmf", "pmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
WHOLE = {"irwinhall": (0,), "ksone": (0,), "kstwo": (0,)}
"""Places of parameters that are whole numbers, of continuous distributions."""
WRONG = ("norminvgauss-sf", "norminvgauss-logsf", "norminvgauss-isf")
"""SciPy gives each element what it gives the first one."""
COARSE = {
    "kstwobign": 1e-8,
    "kstwo": 1e-8,
    "skewnorm": 1e-8,
    "genhyperbolic": 1e-6,
    "geninvgauss": 1e-6,
    "vonmises": 1e-6,
}
"""How much SciPy's values are off, relative, where that is more than rounding."""
SHAPES: dict[str, tuple[Any, ...]] = {}
for _name, _shapes in (*distcont, *distdiscrete):
    if isinstance(_name, str):
        SHAPES.setdefault(_name, tuple(_shapes))
CALLS = [
    f"{name}-{method}"
    for name in SHAPES
    for method in (CONTINUOUS if isinstance(getattr(stats, name), stats.rv_continuous) else DISCRETE)
]


def _program(call: str) -> tuple[Any, Any, list[Any], tuple[int, ...]]:
    """A call of a method, one of a frozen distribution, the arguments, and the places of those that vary."""
    name, method = call.split("-")
    dist = getattr(stats, name)
    function = getattr(dist, method)

    def called(x: Any, *parameters: Any) -> Any:
        return function(x, *parameters)

    def frozen(x: Any, *parameters: Any) -> Any:
        return getattr(dist(*parameters), method)(x)

    shares = np.array([0.37, 0.71])
    if isinstance(dist, stats.rv_continuous):
        shapes = [float(s) if k not in WHOLE.get(name, ()) else s for k, s in enumerate(SHAPES[name])]
        parameters = [*shapes, 0.2, 1.3]
        places = [k for k, parameter in enumerate(parameters) if isinstance(parameter, float)]
        x = shares if method in ("ppf", "isf") else dist.ppf(shares, *parameters)
        return called, frozen, [x, *parameters], (0, *[1 + k for k in places])
    shapes = [np.array(s) if isinstance(s, list) else s for s in SHAPES[name]]
    x = shares if method in ("ppf", "isf") else dist.ppf(shares, *shapes)
    return called, frozen, [x, *shapes], tuple(1 + k for k, s in enumerate(shapes) if not isinstance(s, int))


def _difference(f: Any, args: list[Any], place: int, direction: Any) -> list[Any]:
    """Differences of several widths."""
    found = []
    for step in (1e-3, 1e-4, 1e-5):
        moved = [
            f(*[arg + k * step * direction if i == place else arg for i, arg in enumerate(args)])
            for k in (1, -1, 2, -2)
        ]
        found.append((8.0 * (moved[0] - moved[1]) - (moved[2] - moved[3])) / (12.0 * step))
    return found


@pytest.mark.parametrize("call", CALLS)
def test_methods_and_how_they_move(call: str) -> None:
    called, frozen, args, places = _program(call)
    rtol = COARSE.get(call.split("-")[0], 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = called(*args)
        value, pullback = ad.vjp(called, *args)
        if call not in WRONG:
            np.testing.assert_allclose(value, expected, rtol=rtol)
        seed = np.array([1.3, 0.7])
        bars = pullback(seed)
        for place in places:
            direction = np.where(np.ones(np.shape(args[place])) > 0, 1.0, 0.0)[()]
            dots = [direction if i == place else None for i in range(len(args))]
            forward = ad.jvp(called, tuple(args), tuple(dots))[1]
            np.testing.assert_allclose(np.sum(seed * forward), np.sum(bars[place] * direction), rtol=1e-7, atol=1e-12)
            if place == places[-1]:
                np.testing.assert_allclose(ad.jvp(frozen, tuple(args), tuple(dots))[1], forward, rtol=1e-9, atol=1e-15)
            differences = _difference(called, args, place, direction)
            scale = np.maximum(1e-3, np.abs(forward))
            errors = np.min([np.abs(each - forward) for each in differences], axis=0)
            unknown = np.isnan(differences).all(axis=0) | (call in WRONG)
            assert (unknown | (errors < max(1e-5, 30.0 * rtol) * scale)).all(), (place, forward, differences)


def _without_meaning(name: str) -> list[tuple[int, list[Any]]]:
    """Parameters, of which one at a time is none that the distribution has, and its place."""
    dist = getattr(stats, name)
    is_continuous = isinstance(dist, stats.rv_continuous)
    shapes = [np.array(s) if isinstance(s, list) else s for s in SHAPES[name]]
    parameters: list[Any] = [*shapes, 0.2, 1.3] if is_continuous else shapes
    found = []
    for place, parameter in enumerate(parameters):
        for wrong in (-1, 0, 1, 7):
            value = type(parameter)(wrong) if np.ndim(parameter) == 0 else np.append(parameter[:-1], wrong)
            given = [*parameters[:place], value, *parameters[place + 1 :]]
            is_known = np.all(dist._argcheck(*given[: len(shapes)])) and (not is_continuous or given[-1] > 0)
            if not is_known:
                found.append((place, given))
                break
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_no_slope_without_meaning(name: str) -> None:
    """Where a parameter leaves no value, there is no slope by any, whatever cases formulas tell apart."""
    dist = getattr(stats, name)
    methods = CONTINUOUS if isinstance(dist, stats.rv_continuous) else DISCRETE
    first = list(SHAPES).index(name)
    for place, parameters in _without_meaning(name):
        method = methods[(first + 3 * place) % len(methods)]
        function = getattr(dist, method)
        x = 0.37 if method in ("ppf", "isf") else 1.0
        floats = [k for k, parameter in enumerate(parameters) if np.asarray(parameter).dtype == float]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, pullback = ad.vjp(function, x, *parameters)
            bars = pullback(1.0)
            assert np.isnan(value), (method, parameters)
            for k in floats:
                dots = [np.ones(np.shape(p))[()] if i == k else None for i, p in enumerate(parameters)]
                forward = ad.jvp(function, (x, *parameters), (None, *dots))[1]
                assert np.isnan(bars[1 + k]).any(), (method, parameters, k)
                assert np.isnan(forward), (method, parameters, k)


@pytest.mark.parametrize("name", SHAPES)
def test_no_second_slope_without_meaning(name: str) -> None:
    """There a gradient does not stand still, either: forward over reverse, and reverse over reverse."""
    dist = getattr(stats, name)
    is_continuous = isinstance(dist, stats.rv_continuous)
    methods = CONTINUOUS if is_continuous else DISCRETE
    first, given = list(SHAPES).index(name), _without_meaning(name)
    _, parameters = given[first % len(given)]
    method = methods[(first // 3) % len(methods)]
    function = getattr(dist, method)
    args = (0.37 if method in ("ppf", "isf") else 1.0, *parameters)
    places = [k for k, p in enumerate(args) if np.asarray(p).dtype == float and (is_continuous or k > 0)]
    slopes = ad.grad(lambda *given: function(*given), wrt=tuple(places))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, pullback = ad.vjp(slopes, *args)
        for k in places:
            dots = tuple(np.ones(np.shape(p))[()] if i == k else None for i, p in enumerate(args))
            seed = tuple(np.full(np.shape(args[i]), float(i == k))[()] for i in places)
            forward, reverse = ad.jvp(slopes, args, dots)[1], pullback(seed)
            for i, found in zip(places, forward, strict=True):
                assert np.isnan(found).any(), (method, parameters, k, i)
                assert np.isnan(reverse[i]).any(), (method, parameters, k, i)


@pytest.mark.parametrize("name", ["norm", "gamma", "t"])
def test_no_slope_of_moments_without_meaning(name: str) -> None:
    dist, shapes = getattr(stats, name), SHAPES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("mean", "var", "std", "median", "entropy"):
            called = getattr(dist, method)
            assert np.isnan(called(*shapes, 0.2, -1.3))
            places = (len(shapes), len(shapes) + 1)
            slopes = ad.grad(lambda *given, called=called: called(*given), wrt=places)
            args = (*map(float, shapes), 0.2, -1.3)
            assert np.isnan(slopes(*args)).all(), method
            second = ad.jvp(slopes, args, (*[None] * len(shapes), 1.0, 1.0))[1]
            assert np.isnan(second).all(), method


@pytest.mark.parametrize("name", ["norm", "expon", "gamma", "t"])
def test_shares_beyond_one_have_no_slopes(name: str) -> None:
    """Of other elements they are what they are."""
    dist, shapes = getattr(stats, name), tuple(map(float, SHAPES[name]))
    shares = np.array([0.3, 1.2, -0.1, 0.8])
    f = lambda q, loc, scale: dist.ppf(q, *shapes, loc, scale)
    for by in ((1.0, 0.0), (0.0, 1.0)):
        forward = ad.jvp(f, (shares, 0.2, 1.3), (None, *by))[1]
        assert np.isnan(forward).tolist() == [False, True, True, False]
    inside = (shares > 0) & (shares < 1)
    picked = ad.grad(lambda loc, scale: np.sum(np.where(inside, f(shares, loc, scale), 0.0)), wrt=(0, 1))(0.2, 1.3)
    alone = ad.grad(lambda loc, scale: np.sum(f(shares[inside], loc, scale)), wrt=(0, 1))(0.2, 1.3)
    np.testing.assert_allclose(picked, alone, rtol=1e-14)
