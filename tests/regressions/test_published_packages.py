"""What functions of published packages do, as they stand."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad


def check(f: Any, x: float) -> None:
    step = 1e-5
    slope = (f(x + step) - f(x - step)) / (2 * step)
    assert ad.value_and_grad(f)(x) == pytest.approx((f(x), slope), rel=1e-7)
    assert ad.jvp(f, (x,), (1.0,)) == pytest.approx((f(x), slope), rel=1e-7)
    first = ad.grad(f)
    assert ad.grad(first)(x) == pytest.approx((first(x + step) - first(x - step)) / (2 * step), rel=1e-6, abs=1e-7)


def test_vectorize_with_names_and_several_results() -> None:
    def pair(x: float, y: float, k: float = 2.0) -> tuple[float, float]:
        return x * x * y, k * x

    def f(x: float) -> float:
        a, b = np.vectorize(pair)(np.array([x, 2 * x]), x, k=x)
        return a.sum() * b[1]

    check(f, 1.3)
    check(
        lambda x: np.vectorize(lambda x, y, k=1.0: x * y**k)(np.array([x, 2 * x]), x, k=np.array([x, 1.0])).sum(), 1.3
    )


def test_newton_takes_a_list_of_arguments_one_by_one() -> None:
    def f(x: float) -> float:
        first, *args = x, x * x, 2.0
        return first * optimize.newton(lambda y, a, b: y * y - a * b, 1.0, args=args)

    check(f, 1.3)


def test_none_on_some_paths() -> None:
    def root(x: float) -> float | None:
        return x**0.5 if x > 0 else None

    check(lambda x: root(x), 1.3)
    assert ad.grad(root, native=True)(4.0) == pytest.approx(0.25)
    with pytest.raises(TypeError, match="'root' returns None here, which has no derivative"):
        ad.grad(root)(-1.0)


@pytest.mark.parametrize("kind", ["pair", "list", "array"])
def test_a_loop_over_one_of_several_structures(kind: str) -> None:
    def chosen(x: float, kind: str) -> Any:
        if kind == "pair":
            return x, x * x
        return [x, 2 * x, x**3] if kind == "list" else np.array([x, x * x])

    def total(x: float, items: Any, flag: float) -> float:
        result = 0.0
        for part in items if flag > 0.0 else (x,):
            if part > 100.0:
                return part
            result = result * x + part
        return result

    check(lambda x: total(x, chosen(x, kind), x), 1.3)
    check(lambda x: total(x, chosen(x, kind), -x), 1.3)
    with pytest.raises(TypeError, match="iterated over"):
        ad.grad(lambda x: total(x, None, x))(1.3)


def test_modules_that_are_not_there() -> None:
    def guarded(x: float) -> float:
        if "no_such_module" in sys.modules:
            import no_such_module

            return no_such_module.f(x)
        return x * x

    def tried(x: float) -> float:
        try:
            from math import no_such_function
        except ImportError:
            return x**3
        return no_such_function(x)

    check(guarded, 1.2)
    check(tried, 1.2)


def test_arrays_as_they_are_asked_for() -> None:
    def f(x: float) -> float:
        a = np.require(np.array([x, x * x]), dtype=float, requirements=["C", "W"])
        b = np.array(a, dtype=None, order="A", copy=None, subok=True)
        b[0] = 2.0 * x  # the same memory
        return a.sum() * np.asanyarray(b, order=None)[1] + np.median(a, overwrite_input=False)

    check(f, 1.2)
    assert ad.grad(lambda a: np.unique(a).sum())(np.array([3.0, 1.0, 3.0])).sum() == 2.0


def boom(x: float) -> float:
    raise ValueError("no")


def test_calls_that_always_raise_inside_expressions() -> None:
    def tried(x: float) -> float:
        y = x
        try:
            y = x * x
            y = boom(x) - boom(x)
        except ValueError:
            y = y + x
        finally:
            x = x * 2
        return y * x

    def suppressed(x: float) -> float:
        y = x
        with contextlib.suppress(ValueError):
            y = x * x
            y = 1.0 + boom(x)
        return y * x

    def on_a_path(x: float) -> float:
        return x * x if x > 0 else 1.0 + boom(x)

    for f in (tried, suppressed, on_a_path):
        check(f, 1.3)
    with pytest.raises(ValueError, match="no"):
        ad.grad(on_a_path)(-1.0)


def test_a_switch_where_a_function_may_stand() -> None:
    def newton(f: Any, x: float, slope: Any) -> float:
        both = slope is True
        for _ in range(20):
            value, rate = f(x) if both else (f(x), slope(x))
            if abs(value) < 1e-14:
                break
            x = x - value / rate
        return x

    check(lambda a: newton(lambda y: (y * y - a**3, 2 * y), 1.0, True), 1.3)
    check(lambda a: newton(lambda y: y * y - a**3, 1.0, lambda y: 2 * y), 1.3)

    def otherwise(x: float, scale: Any = None) -> float:
        try:
            return scale(x)  # type: ignore[no-any-return]
        except TypeError:
            return x**3

    check(lambda x: otherwise(x), 1.3)
