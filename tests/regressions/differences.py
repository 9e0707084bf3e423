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

    Some are left out unless everything is asked for: `_compared` says which.
    """
    options = {"native": True} if native else {}
    compared = _compared(f, modes, native)
    for direction in _directions(args[wrt]):
        expected = _differences(f, args, wrt, direction)
        if "value_and_grad" in compared:
            slope = ad.value_and_grad(f, wrt, **options)(*_copies(args))[1]
            _close(np.sum(slope * direction), expected)
        if "grad" in compared:
            _close(np.sum(ad.grad(f, wrt, **options)(*_copies(args)) * direction), expected)
        if "vjp" in compared:
            value, pullback = ad.vjp(f, *_copies(args), **options)
            seed = type(value)(1.0) if isinstance(value, float) else np.ones_like(value)
            first = np.sum(pullback(seed)[wrt] * direction)
            _close(first, expected)
            np.testing.assert_array_equal(np.sum(pullback(seed)[wrt] * direction), first)
        if "jvp" in compared:
            tangents = tuple(_tangent(a, direction) if i == wrt else None for i, a in enumerate(args))
            _close(ad.jvp(f, _copies(args), tangents)[1], expected)
    if "value" in modes:
        operator = ad.value_and_grad(f, wrt, **options) if "value_and_grad" in compared else None
        value, _ = operator(*_copies(args)) if operator else ad.vjp(f, *_copies(args), **options)
        np.testing.assert_allclose(value, f(*_copies(args)), rtol=1e-12)


def _compared(f: Callable[..., Any], modes: tuple[str, ...], native: bool) -> set[str]:
    """Which operators a run compares; where all modes are asked for, two of them, by the name of the function.

    The gradient comes with the value where it is machine code, and of half of the functions: that of the gradient
    alone is a part of it.
    """
    name = getattr(f, "__qualname__", "")
    compared = {*modes} - {"value"}
    if "grad" in modes:
        compared.add("vjp")
    if {"grad", "value"} <= {*modes}:
        compared.add("value_and_grad")
        if not THOROUGH or native:
            compared.remove("grad" if native or is_chosen(name[::-1], 2) else "value_and_grad")
    if {"vjp", "jvp"} <= compared and not THOROUGH:
        in_reverse = {"vjp"} if native else {"grad", "value_and_grad"}
        compared -= in_reverse if is_chosen(name, 2) else {"jvp"}
    return compared


def second(f: Callable[[Any], Any], x: Any) -> None:
    """Checks the Hessian (of a number: the second derivative) of ``f`` against differences of its gradient.

    Of half of the functions each time.
    """
    if not is_chosen(f"second {getattr(f, '__qualname__', '')}", 2):
        return
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
