"""A dict or list from outside that is empty when a derivative is made holds what the function was seen to put there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def test_a_memo_in_a_global_dict() -> None:
    cache: dict[str, float] = {}

    def f(x: float) -> float:
        if "scale" not in cache:
            cache["scale"] = 2.0
        return cache["scale"] * x * x

    gradient = ad.grad(f)
    assert gradient(3.0) == 12.0 and cache == {"scale": 2.0}
    cache["scale"] = 5.0
    assert gradient(3.0) == 30.0
    assert ad.jvp(f, (3.0,), (1.0,)) == (45.0, 30.0)
    assert ad.hvp(f, (3.0,), (1.0,)) == (10.0,)


def test_a_memo_of_an_object() -> None:
    class Grid:
        def __init__(self) -> None:
            self.known: dict[int, Any] = {}

        def weights(self, n: int) -> Any:
            if n not in self.known:
                self.known[n] = np.linspace(0.0, 1.0, n)
            return self.known[n]

        def energy(self, x: float) -> float:
            return float(np.sum(self.weights(3) * x * x))

    grid = Grid()
    for _ in range(2):
        assert ad.grad(grid.energy)(2.0) == pytest.approx(6.0)
    assert list(grid.known) == [3]


def test_a_list_that_grows() -> None:
    seen: list[float] = []

    def f(x: float) -> float:
        seen.append(2.0)
        return seen[-1] * x

    assert [ad.grad(f)(3.0) for _ in range(2)] == [2.0, 2.0]
    assert seen == [2.0, 2.0]


def test_what_varies_is_a_constant_of_the_next_call() -> None:
    cache: dict[str, float] = {}

    def f(x: float) -> float:
        if "square" not in cache:
            cache["square"] = x * x
        return cache["square"]

    assert ad.grad(f)(3.0) == 6.0
    assert cache == {"square": 9.0}
    with pytest.warns(ad.DifferentiationWarning, match="AD0501"):
        assert ad.grad(f)(3.0) == 0.0
