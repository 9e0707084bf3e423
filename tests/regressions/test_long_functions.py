"""Functions with many branches and many statements: compiling them once took time exponential in their number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from texts import run_text


def defined(lines: list[str]) -> Callable[..., Any]:
    """The function ``f`` of these lines, whose source can be found."""
    text = "\n".join(lines) + "\n"
    filename = f"<long function of {len(lines)} lines>"
    function: Callable[..., Any] = run_text(text, filename, {"math": math})["f"]
    return function


def early_returns(count: int) -> list[str]:
    parts = [f"    if s > {1.5 + i}: return s * {i}\n    s = math.sin(s) * y + 0.5" for i in range(count)]
    return ["def f(x, y):", "    s = x", *parts, "    return s"]


def nested_branches(count: int) -> list[str]:
    parts = ["    " + "  " * i + f"if s > -{i}:" for i in range(count)]
    return ["def f(x, y):", "    s = x", *parts, "    " + "  " * count + "s = s * y", "    return s"]


@pytest.mark.parametrize("lines", [early_returns(40), nested_branches(40)], ids=["early returns", "nested"])
def test_many_branches(lines: list[str]) -> None:
    f = defined(lines)
    value, slopes = ad.value_and_grad(f, wrt=(0, 1))(0.3, 0.8)
    assert value == pytest.approx(f(0.3, 0.8), rel=1e-14)
    step = 1e-6
    assert slopes[0] == pytest.approx((f(0.3 + step, 0.8) - f(0.3 - step, 0.8)) / (2 * step), rel=1e-7, abs=1e-9)
    assert slopes[1] == pytest.approx((f(0.3, 0.8 + step) - f(0.3, 0.8 - step)) / (2 * step), rel=1e-7, abs=1e-9)
