"""Derivatives against central differences of several steps; a program is right, or it is refused with a code."""

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from sampling import THOROUGH, is_chosen

STEPS = (1e-3, 1e-4, 1e-5, 1e-6)


def right(
    f: Callable[..., Any],
    *args: Any,
    wrt: int = 0,
    native: bool = False,
    modes: tuple[str, ...] = ("grad", "jvp", "value"),
) -> None:
    """Checks grad, vjp, jvp and the value of ``f`` along two directions of argument ``wrt``.

    The gradient comes with the value where both are checked as machine code, and of half of the functions: that of the
    gradient alone is a part of it. `make thorough` makes both.
    """
    options = {"native": True} if native else {}
    has_both = {"grad", "value"} <= set(modes)
    is_together = native or THOROUGH or not has_both or is_chosen(getattr(f, "__qualname__", ""), 2)
    together = "value" in modes and is_together
    alone = "grad" in modes and (not together or (THOROUGH and not native))
    for direction in _directions(args[wrt]):
        expected = _differences(f, args, wrt, direction)
        if together and (native or has_both):
            slope = ad.value_and_grad(f, wrt, **options)(*_copies(args))[1]
            _close(np.sum(slope * direction), expected)
        if alone:
            _close(np.sum(ad.grad(f, wrt, **options)(*_copies(args)) * direction), expected)
        if "grad" in modes:
            value, pullback = ad.vjp(f, *_copies(args), **options)
            seed = type(value)(1.0) if isinstance(value, float) else np.ones_like(value)
            first = np.sum(pullback(seed)[wrt] * direction)
            _close(first, expected)
            np.testing.assert_array_equal(np.sum(pullback(seed)[wrt] * direction), first)
        if "jvp" in modes:
            tangents = tuple(_tangent(a, direction) if i == wrt else None for i, a in enumerate(args))
            _close(ad.jvp(f, _copies(args), tangents)[1], expected)
    if "value" in modes:
        given = _copies(args)
        value, _ = ad.value_and_grad(f, wrt, **options)(*given) if together else ad.vjp(f, *given, **options)
        np.testing.assert_allclose(value, f(*_copies(args)), rtol=1e-12)


def second(f: Callable[[Any], Any], x: Any) -> None:
    """Checks the Hessian (of a number: the second derivative) of ``f`` against differences of its gradient."""
    gradient = ad.grad(f)
    for direction in _directions(x):
        expected = _differences(gradient, (x,), 0, direction)
        found = ad.hessian(f)(x.copy()) @ direction if np.shape(x) else ad.grad(gradient)(x) * direction
        _close(found, expected, 1e-3)


def refused(run: Callable[[], Any]) -> ad.DifferentiationError:
    """Checks that ``run`` is refused with a code that is not AD0901, and gives the refusal."""
    try:
        result = run()
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        return refusal
    raise AssertionError(f"accepted: {result!r}")


def either(check: Callable[..., None], *args: Any, **options: Any) -> bool:
    """Whether ``check`` holds; False where the program is refused with a code that is not AD0901."""
    try:
        check(*args, **options)
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        return False
    return True


def _copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.copy(a, order="K", subok=True) if isinstance(a, np.ndarray) else a for a in args)


def _tangent(primal: Any, direction: Any) -> Any:
    return np.asarray(direction) if isinstance(primal, np.ndarray) else direction


def _directions(x: Any) -> list[Any]:
    rng = np.random.default_rng(7)
    return [rng.normal(size=np.shape(x)) if np.shape(x) else 1.0 for _ in range(2)]


def _differences(f: Callable[..., Any], args: tuple[Any, ...], wrt: int, direction: Any) -> list[Any]:
    """Central differences along ``direction``; arguments are moved in place, since their layout counts."""
    found = []
    for step in STEPS:
        ahead, behind = list(_copies(args)), list(_copies(args))
        ahead[wrt] += step * direction
        behind[wrt] -= step * direction
        found.append((np.asarray(f(*ahead)) - np.asarray(f(*behind))) / (2 * step))
    return found


def _close(got: Any, expected: list[Any], tolerance: float = 2e-5) -> None:
    got = np.asarray(got, float)
    assert any(
        got.shape == np.shape(want) and np.allclose(got, want, rtol=tolerance, atol=tolerance) for want in expected
    ), f"{got!r}, differences {expected[1]!r}"
