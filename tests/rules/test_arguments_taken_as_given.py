"""What a rule takes as given is refused where it varies, in every mode; zero is said, never left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev

import adjoint as ad
from adjoint.rules.kinds import Bilinear, Constant, Elementwise, General, Linear, NoDerivative, Rule
from adjoint.rules.registry import all_rules

RULES = [rule for rule in all_rules() if not isinstance(rule, (Constant, NoDerivative))]
NAMED = [rule for rule in RULES if not rule.is_of_the_runtime]
FIXED = [(rule, place) for rule in NAMED for place in rule.fixed]
MODES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, t: ad.grad(f)(t),
    "vjp": lambda f, t: ad.vjp(f, t),
    "jvp": lambda f, t: ad.jvp(f, (t,), (t,)),
    "hessian": lambda f, t: ad.hessian(f)(t),
    "native": lambda f, t: ad.grad(f, native=True)(t),
    "inside": lambda f, t: ad.grad(lambda u: ad.grad(f)(u))(t),
}


def _varying(rule: Rule, place: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    fn, before, after = rule.fn, args[:place], args[place + 1 :]
    return lambda t: np.sum(fn(*before, t, *after, **kwargs))


def _also_both(rule: Rule, place: int, args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Where another argument varies too, a part of the derivative would be silently left out."""
    fn, after = rule.fn, args[place + 1 :]
    return (
        (lambda t: np.sum(fn(t, t, *after[1:]))) if place == 0 and len(after) == 1 else _varying(rule, place, args, {})
    )


def _refused(mode: str, f: Callable[[Any], Any], t: Any) -> bool:
    try:
        MODES[mode](f, t)
    except ad.DifferentiationError as refusal:
        return all(problem.code != "AD0901" for problem in refusal.diagnostics)
    return False


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("rule", "place"), FIXED, ids=[f"{rule.name}-{place}" for rule, place in FIXED])
def test_fixed_arguments_that_vary_are_refused(rule: Rule, place: int, mode: str) -> None:
    args, kwargs = next(call for call in ev.cases_of(rule, np.random.default_rng(0)) if len(call[0]) > place)
    for t in (0.8, np.array([0.8]), np.float64(0.8)):
        assert _refused(mode, _varying(rule, place, args, kwargs), t), (t, mode)
        assert _refused(mode, _also_both(rule, place, args), t), (t, mode)


def _floats(args: tuple[Any, ...]) -> Iterator[int]:
    for place, arg in enumerate(args):
        if isinstance(arg, (float, complex)) or (isinstance(arg, np.ndarray) and arg.dtype.kind in "fc"):
            yield place


PARTIAL = [rule for rule in NAMED if isinstance(rule, (Elementwise, General))]


@pytest.mark.parametrize("rule", PARTIAL, ids=[rule.name for rule in PARTIAL])
def test_rules_say_none_only_of_what_they_take_as_given(rule: Rule) -> None:
    rng = np.random.default_rng(0)
    for args, kwargs in ev.cases_of(rule, rng):
        y = rule.fn(*args, **kwargs)
        y = tuple(y) if rule.results > 1 else y
        bars = ev.pullback(rule, rule.derivative, ev.seed_like(y, rng), y, args, kwargs)
        given = dict(rule.settings(len(args)))
        for place in _floats(args):
            assert (bars[place] is None) == (place in given), (args, kwargs, place)


TRANSPOSED = [rule for rule in NAMED if isinstance(rule, Bilinear) or (isinstance(rule, Linear) and rule.wrt)]


@pytest.mark.parametrize("rule", TRANSPOSED, ids=[rule.name for rule in TRANSPOSED])
def test_linear_rules_take_as_given_what_changes_their_results(rule: Rule) -> None:
    """What is left out of a transpose is no number that the result depends on, or a call where it varies is refused."""
    linear_in = (0, 1) if isinstance(rule, Bilinear) else rule.wrt or ()
    for args, kwargs in ev.cases_of(rule, np.random.default_rng(0)):
        given = dict(rule.settings(len(args)))
        for place in _floats(args):
            if place in linear_in or place in rule.fixed or place in given:
                continue
            moved = [arg + 1e-4 if k == place else arg for k, arg in enumerate(args)]
            np.testing.assert_array_equal(rule.fn(*moved, **kwargs), rule.fn(*args, **kwargs), err_msg=f"{place}")


def scaled(x: Any, k: Any) -> Any:
    return x * k


def test_what_declarations_of_users_leave_out_is_refused() -> None:
    """A factor of a linear function, a third argument of a bilinear one, a partial derivative that is not known."""

    def with_linear(x: Any, k: Any) -> Any:
        return scaled(x, k)

    def of_three(x: Any, y: Any, k: Any) -> Any:
        return x * y * k

    def elementwise(x: Any, k: Any) -> Any:
        return x * k

    def general(x: Any, k: Any) -> Any:
        return x * k

    ad.rules.linear(with_linear, lambda ct, x, k: ct * k)
    ad.rules.bilinear(of_three, lambda ct, x, y, k: (ct * y * k, ct * x * k))
    ad.rules.elementwise(elementwise, lambda x, k, y: (k, None))
    ad.rules.general(general, lambda dots, y, x, k: dots[0] * k, lambda ct, y, x, k: (ct * k, None))
    programs: tuple[Callable[[Any], Any], ...] = (
        lambda t: with_linear(2.0, t),
        lambda t: with_linear(t, t),
        lambda t: of_three(2.0, 3.0, t),
        lambda t: of_three(t, 3.0, t),
        lambda t: elementwise(2.0, t),
        lambda t: elementwise(t, t),
        lambda t: general(2.0, t),
        lambda t: general(t, t),
    )
    for f in programs:
        for mode in ("grad", "vjp"):
            assert _refused(mode, f, 0.8), mode
    for f in programs[:6]:
        assert _refused("jvp", f, 0.8)
    assert ad.grad(lambda t: with_linear(t, 3.0) + elementwise(t, 3.0) + general(t, 3.0))(0.8) == 9.0
