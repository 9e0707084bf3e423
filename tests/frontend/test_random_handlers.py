"""Random functions with handlers, whose variables may not be bound yet: they do as Python does, and as differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

X = np.array([0.8, 0.5, 1.1])
NAMES = "abc"
KINDS = ("ValueError", "(KeyError, ValueError)", "Exception", "ZeroDivisionError", "IndexError", "LookupError")
CONDITIONS = ("x[0] > 0.3", "x[1] > 0.7", "i > 0", "s > 0.8")
RAISING = (
    *("raise ValueError", "if x[0] > 0.6: raise KeyError", "if x[1] > 0.6: raise ValueError"),
    *("if i > 0: raise ValueError", "s = s + x[i + 2]", "s = s + 1 // i", "{}['k']", "if s > 1.0: raise KeyError"),
)


class Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def number(self, depth: int = 1) -> str:
        if depth == 0 or self.rng.random() < 0.3:
            return self.rng.choice((*NAMES, *NAMES, "x[0]", "x[1]", "x[2]", "s"))
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.rng.choice((f"{one} * {other}", f"({one} + 0.3 * {other})", f"np.sin({one})", f"0.7 * {one}"))

    def simple(self) -> str:
        chance = self.rng.random()
        if chance < 0.8:
            return f"{self.rng.choice(NAMES) if chance < 0.6 else 's'} = {self.number()}"
        return self.rng.choice(RAISING)

    def block(self, depth: int, count: int | None = None) -> list[str]:
        count = count or self.rng.randint(1, 3)
        return [f"    {line}" for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        chance = self.rng.random()
        if depth == 0 or chance < 0.3:
            return [self.simple()]
        if chance < 0.7:
            lines = ["try:", *self.block(depth - 1), f"except {self.rng.choice(KINDS)}:", *self.block(0, 1)]
            if self.rng.random() < 0.3:
                lines.append("    " + self.rng.choice(("break", "continue", "return s + 0.5", "pass")))
            if self.rng.random() < 0.2:
                lines += ["else:", *self.block(0, 1)]
            if self.rng.random() < 0.25:
                lines += ["finally:", *self.block(0, 1)]
            return lines
        head = f"for i in range({self.rng.randint(1, 3)}):" if chance < 0.85 else f"if {self.rng.choice(CONDITIONS)}:"
        return [head, *self.block(depth - 1)]

    def text(self) -> str:
        body = [f"    {line}" for _ in range(self.rng.randint(1, 2)) for line in self.statement(2)]
        bound = [f"{name} = {value}" for name, value in zip(NAMES, ("x[1]", "0.5 * x[2]", "x[0]"), strict=True)]
        bound = [line for line in bound if self.rng.random() < 0.6]
        lines = ["s, i = 0.1 * x[0], 0", *bound, "for i in range(2):", *body, f"return s + {self.number()}"]
        return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def outcome(run: Callable[[], Any]) -> Any:
    """What a run gives, or the class of what it raises."""
    try:
        return float(run())
    except ad.DifferentiationError:
        raise
    except Exception as raised:
        return type(raised)


@pytest.mark.parametrize("seed", range(48))
def test_as_python_and_as_differences(seed: int) -> None:
    function = run_text(Writer(seed).text(), f"<handlers {seed}>", {"np": np})["f"]
    expected = outcome(lambda: function(X))
    try:
        found = outcome(lambda: ad.value_and_grad(function)(X)[0])
        if isinstance(expected, type):
            assert found is expected
            return
        assert found == pytest.approx(expected, rel=1e-12)
        slope = [(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(ad.grad(function)(X), slope, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ad.jacobian(function, mode="forward")(X), slope, rtol=1e-4, atol=1e-6)
    except ad.DifferentiationError as refusal:
        codes = {problem.code for problem in refusal.diagnostics}
        assert codes <= {"AD0304", "AD0308", "AD0310", "AD0407"}, refusal  # what no path binds, or nothing returns
