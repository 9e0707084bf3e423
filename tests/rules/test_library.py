"""Every rule of the library: forward against reverse against differences; special values; what rules are made of."""

from __future__ import annotations

import dis
import sys
import types
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev

from adjoint.rules.kinds import Bilinear, Constant, Elementwise, General, Linear, NoDerivative, Rule
from adjoint.rules.registry import UNKNOWN, all_definitions, all_rules, definition_of, rule_for

RULES = [
    rule
    for rule in all_rules()
    if not (isinstance(rule, (Constant, NoDerivative)) or rule.is_of_a_user or rule.functional)
    and not ev.is_of_messages(rule.fn)
]
NAMES = [f"{rule.name}" for rule in RULES]
NOT_ANALYTIC = (
    "abs", "absolute", "fabs", "sign", "maximum", "minimum", "fmax", "fmin", "heaviside", "copysign", "hypot", "mod",
    "fmod", "nan_to_num", "numpy.hypot", "arctan2", "logaddexp", "logaddexp2", "polygamma", "expi",
)  # fmt: skip


def _rng(rule: Rule) -> np.random.Generator:
    return np.random.default_rng(len(rule.name))


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_derivatives_agree(rule: Rule) -> None:
    rng = _rng(rule)
    cases = ev.cases_of(rule, rng)
    assert cases, f"{rule.name} has no example call"
    for args, kwargs in cases:
        _check_case(rule, args, kwargs, rng)


def _forms(rule: Rule, args: tuple[Any, ...]) -> list[Any]:
    forms = [rule.derivative]
    ranks = ev.ranks_of(args)
    constants = {place: arg for place, arg in enumerate(args) if isinstance(arg, (int, float, str))}
    for form in (rule.form(ranks), rule.form(ranks, constants)):
        if form not in forms:
            forms.append(form)
    return forms


def _check_case(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], rng: np.random.Generator) -> None:
    y = rule.fn(*args, **kwargs)
    y = tuple(y) if rule.results > 1 else y
    ct = ev.seed_like(y, rng)
    bars = ev.pullback(rule, rule.derivative, ct, y, args, kwargs)
    dots = [ev.direction(arg, bar, rng) for arg, bar in zip(args, bars, strict=True)]
    for arg, bar in zip(args, bars, strict=True):
        _same_structure(bar, arg)
    tangent = ev.pushforward(rule, dots, y, args, kwargs)
    step = 1e-6
    above, below = (
        rule.fn(*[ev.moved(arg, dot, sign * step) for arg, dot in zip(args, dots, strict=True)], **kwargs)
        for sign in (1, -1)
    )
    forward, reverse = ev.pairing(ct, tangent), ev.pairing(bars, dots)
    scale = 1 + abs(forward)
    if _in_single_precision(y):
        return  # too coarse for differences
    difference = ev.pairing(ct, above) - ev.pairing(ct, below)
    assert abs(forward - reverse) < (1e-5 if _in_single_precision(y) else 1e-9) * scale, (
        forward,
        reverse,
        args,
        kwargs,
    )
    tolerance = ev.TO_FEW_DIGITS.get(rule.name, 2e-6)
    assert abs(forward - difference / (2 * step)) < tolerance * scale, (forward, difference / (2 * step), args, kwargs)
    for form in _forms(rule, args)[1:]:
        others = ev.pullback(rule, form, ct, y, args, kwargs)
        for bar, other in zip(bars, others, strict=True):
            if other is not None:
                np.testing.assert_allclose(other, bar, rtol=1e-10, atol=1e-12)


def _in_single_precision(y: Any) -> bool:
    return isinstance(y, (np.ndarray, np.generic)) and y.dtype in (np.float32, np.complex64)


def _same_structure(bar: Any, arg: Any) -> None:
    if bar is None:
        return
    if isinstance(arg, (list, tuple)):
        for part, item in zip(bar, arg, strict=True):
            _same_structure(part, item)
        return
    assert np.shape(bar) == np.shape(arg)
    assert isinstance(bar, np.ndarray) == isinstance(arg, np.ndarray)


GENERAL = [rule for rule in RULES if isinstance(rule, General) and rule.jvp]


@pytest.mark.parametrize("rule", GENERAL, ids=[rule.name for rule in GENERAL])
def test_whole_numbers_have_no_tangent(rule: General) -> None:
    """A whole number in place of a float: its tangent is None, and the others' derivative is that at the same float."""
    rng = _rng(rule)
    given = rule.fixed
    for args, kwargs in ev.cases_of(rule, rng):
        for place in [k for k, arg in enumerate(args) if type(arg) is float and np.isfinite(arg) and k not in given]:
            floats, wholes = (
                (*args[:place], kind(round(args[place]) or 1), *args[place + 1 :]) for kind in (float, int)
            )
            with np.errstate(all="ignore"):
                y = rule.fn(*floats, **kwargs)
                vary = [ev.is_smooth(arg) and k != place and k not in given for k, arg in enumerate(args)]
                dots = [ev.direction(arg, 0.0, rng) if varies else None for arg, varies in zip(args, vary, strict=True)]
                if not any(vary):
                    continue
                expected = ev.pushforward(rule, dots, y, floats, kwargs)
                found = ev.pushforward(rule, dots, y, wholes, kwargs)
            np.testing.assert_allclose(found, expected, rtol=1e-12)


ELEMENTWISE = [rule for rule in RULES if isinstance(rule, Elementwise) and not rule.cases]


@pytest.mark.parametrize("rule", ELEMENTWISE, ids=[rule.name for rule in ELEMENTWISE])
def test_complex_step(rule: Elementwise) -> None:
    if rule.name.split(".")[-1] in NOT_ANALYTIC:
        pytest.skip("not analytic")
    args = ev.cases_of(rule, _rng(rule))[0][0]
    for place in range(rule.arity):
        try:
            stepped = rule.fn(*[arg + 1e-30j if k == place else arg for k, arg in enumerate(args)])
        except TypeError:
            pytest.skip("not for complex numbers")
        (expected,) = np.imag([stepped]) / 1e-30
        dots = [1.0 if k == place else None for k in range(rule.arity)]
        got = ev.pushforward(rule, dots, rule.fn(*args), args, {})
        assert abs(got - expected) < 1e-11 * (1 + abs(expected))


@pytest.mark.parametrize("rule", ELEMENTWISE, ids=[rule.name for rule in ELEMENTWISE])
def test_branches_of_complex_functions(rule: Elementwise) -> None:
    """In all four quadrants, inside the unit circle and outside, the slope is that of the branch that is computed."""
    if rule.name.split(".")[-1] in NOT_ANALYTIC or rule.arity != 1:
        pytest.skip("not analytic, or of several numbers")
    points = [complex(r * np.exp(1j * np.pi * k / 7)) for r in (0.4, 2.3) for k in (1, 5, -2, -6)]
    step = 1e-6 * (1 - 1j)
    for point in points:
        try:
            y, above, below = (rule.fn(point + h) for h in (0, step, -step))
            found = ev.pushforward(rule, [step], y, (point,), {})
        except TypeError:
            pytest.skip("not for complex numbers")
        np.testing.assert_allclose(found, (above - below) / 2, rtol=1e-5, atol=1e-12, err_msg=str(point))


@pytest.mark.parametrize("rule", ELEMENTWISE, ids=[rule.name for rule in ELEMENTWISE])
def test_keeps_single_precision(rule: Elementwise) -> None:
    calls = ev.cases_of(rule, _rng(rule))
    if len(calls) < 2 or rule.name == "numpy.float_power":
        pytest.skip("takes numbers only, or works in double precision")
    args = tuple(arg.astype(np.float32) for arg in calls[1][0])
    y = rule.fn(*args)
    assert y.dtype == np.float32
    for product in ev._products(rule, rule.derivative, np.ones_like(y), args, y, {}):
        assert product is None or np.asarray(product).dtype == np.float32
    wide = tuple(arg.astype(float) for arg in args)
    for single, double in zip(
        ev.pullback(rule, rule.derivative, np.ones_like(y), y, args, {}),
        ev.pullback(rule, rule.derivative, np.ones(3), rule.fn(*wide), wide, {}),
        strict=True,
    ):
        if single is not None:
            np.testing.assert_allclose(single, double, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("rule", [r for r in RULES if r.singular], ids=[r.name for r in RULES if r.singular])
def test_zero_cotangent_gives_zero(rule: Elementwise) -> None:
    """At every corner of the function, where partial derivatives are infinite or do not exist."""
    for value in (0.0, 1.0, -1.0):
        scalars = not ev.takes_arrays(rule, ev.cases_of(rule, _rng(rule))[0][0])
        args = (value if scalars else np.full(2, value),) * rule.arity
        try:
            with np.errstate(all="ignore"):
                y = rule.fn(*args)
        except (ValueError, ZeroDivisionError):
            continue  # not in the domain
        bars = ev.pullback(rule, rule.derivative, 0.0 if scalars else np.zeros(2), y, args, {})
        for bar in bars:
            assert bar is None or not np.any(bar), (value, bar)


DEFINITIONS = [entry for entry in all_definitions() if not ev.is_of_messages(entry.means)]


def _told(value: Any) -> Any:
    """What is compared of the object that a solver returns."""
    if type(value).__name__ in ("OptimizeResult", "FitResult"):
        return value.x
    if type(value).__name__ in ("RootResults",):
        return value.root
    if hasattr(value, "pvalue"):
        return [value.statistic, value.pvalue]
    if type(value).__name__ == "BVPResult":
        return [value.x, value.y, value.yp]
    return [value.t, value.y] if type(value).__name__ == "OdeResult" else value


@pytest.mark.parametrize(
    "entry", DEFINITIONS, ids=[getattr(entry.fn, "__name__", "distribution") for entry in DEFINITIONS]
)
def test_definitions_compute_what_they_define(entry: Any) -> None:
    # in test_interpolators, test_scattered, test_distributions, test_statistical_tests, test_polynomial_objects,
    # and tests/scipy_calls
    homes = (
        "interpolators",
        "grids",
        "lines",
        "surfaces",
        "scattered",
        "neighbours",
        "moments",
        "kernels",
        "polynomials",
    )
    homes = (
        *homes,
        "hypotheses",
        "array_api",
        "resampling",
        "systems",
        "classes",
        "choices",
        "multivariate",
        "orthants",
        "smoothing",
    )
    elsewhere = entry.means.__module__.rpartition(".")[2] in homes or entry.fn in (np.poly1d, np.polynomial.Polynomial)
    refused = all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature(entry.means).parameters.values())
    assert entry.cases or entry.functional or entry.means.__name__ == "frozen" or elsewhere or refused
    rng = np.random.default_rng(0)
    # SciPy's covariances come from slopes by differences
    tolerance = 1e-6 if getattr(entry.fn, "__name__", "") == "curve_fit" else 1e-12
    if getattr(entry.fn, "__name__", "").startswith("kstat"):
        tolerance = 1e-9  # SciPy's sums of powers cancel
    if getattr(getattr(entry.fn, "__self__", None), "name", "") in ("kstwobign", "kstwo", "geninvgauss", "vonmises"):
        tolerance = 1e-8  # SciPy's series and integrals are as coarse
    for case in entry.cases:
        args = tuple(ev.realise(arg, rng) for arg in case.args)
        kwargs = {name: ev.realise(arg, rng) for name, arg in case.kwargs.items()}
        expected, got = map(_told, (entry.fn(*args, **kwargs), entry.means(*args, **kwargs)))
        if getattr(entry.fn, "__name__", "") in ("leastsq", "dblquad", "tplquad", "nquad", "fmin_l_bfgs_b", "fmin_tnc"):
            expected, got = expected[:1], got[:1]  # which flag of success, or what bound of errors, it ends with
        if isinstance(expected, (list, tuple)):
            assert len(expected) == len(got)
            for mine, theirs in zip(expected, got, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=1e-15)
        else:
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-15)  # logarithms of nearly one


# --- what derivatives are made of

STRUCTURE = (len, range, tuple, list, isinstance, enumerate, zip, sum, min, max, NotImplementedError, ValueError)


def _called(code: types.CodeType, scope: dict[str, Any]) -> list[Any]:
    """The functions that a piece of code names, nested code included."""
    found: list[Any] = []
    current: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            current = scope.get(instruction.argval, __builtins__.get(instruction.argval))  # type: ignore[attr-defined]
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(current, types.ModuleType):
            current = getattr(current, instruction.argval)
        elif instruction.opname not in ("PUSH_NULL", "PRECALL", "CACHE"):
            current = None
        if callable(current):
            found.append(current)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _called(constant, scope)
    return found


def _undeclared(function: Any, seen: set[Any]) -> list[str]:
    if function in seen:
        return []
    seen.add(function)
    missing = []
    for callee in _called(function.__code__, function.__globals__):
        if callee in STRUCTURE or rule_for(callee) is not None or definition_of(callee, [UNKNOWN], {}) is not None:
            continue
        if isinstance(callee, types.FunctionType) and callee.__module__.startswith("adjoint.rules"):
            missing += _undeclared(callee, seen)
        else:
            missing.append(getattr(callee, "__name__", repr(callee)))
    return missing


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_derivatives_can_be_differentiated(rule: Rule) -> None:
    functions = [rule.derivative, *rule.by_rank.values()]
    if isinstance(rule, General):
        functions.append(rule.jvp)
    for function in functions:
        assert not _undeclared(function, set()), rule.name


def test_kinds_are_covered() -> None:
    for kind in (Elementwise, Linear, Bilinear, General, Constant, NoDerivative):
        assert any(isinstance(rule, kind) for rule in all_rules())
