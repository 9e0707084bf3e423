"""Random loops that change lists, dicts, objects and arrays: with few states kept as with all of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

X = np.array([0.8, 0.5, 1.1])
NUMBERS = (
    "x[0]",
    "x[1]",
    "x[2]",
    "y[0]",
    "y[1]",
    "s",
    "st['v']",
    "o.w",
    "items[-1]",
    "items[0]",
    "np.sum(a)",
    "a[i % 3]",
)
HEADS = ("for j in range(2):", "if i % 2:", "with suppress(KeyError):")


class Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def number(self, depth: int = 2) -> str:
        if depth == 0:
            return self.rng.choice(NUMBERS)
        one, other = self.number(depth - 1), self.number(depth - 1)
        forms = (
            f"np.sin({one})",
            f"0.5 * {one} * {other}",
            f"({one} + 0.3 * {other})",
            f"np.tanh({one})",
            f"{one} * 0.7",
        )
        return self.rng.choice(forms)

    def statement(self, depth: int = 1) -> list[str]:
        if depth and self.rng.random() < 0.45:
            body = [f"    {line}" for _ in range(self.rng.randint(1, 2)) for line in self.statement(depth - 1)]
            if self.rng.random() < 0.25:
                raising = f"    if {self.number(1)} > 0.5: raise ValueError"
                return ["try:", *body, raising, "except ValueError:", *(f"    {line}" for line in self.statement(0))]
            return [self.rng.choice((f"if {self.number(1)} > 0.3:", *HEADS)), *body]
        value, other = self.number(), self.number(1)
        forms = (
            *(f"s = {value}", f"s += {other}", f"st['v'] = {value}", f"o.w = {value}", f"items.append({other})"),
            *(f"items[-1] = {value}", f"a[i % 3] = {value}", f"a[:] = a * {other}", f"a = a + {other}"),
            *(f"y = y * np.cos({other})", f"y[i % 2] += {other}", f"a[::-1][0] += {other}", f"st = {{'v': {other}}}"),
            *(
                f"items = [{other}, *items[:1]]",
                f"o.k = {other}; s = s + o.k",
                "items.pop(0) if len(items) > 2 else None",
            ),
        )
        return [self.rng.choice(forms)]

    def text(self) -> str:
        rng = self.rng
        body = [line for _ in range(rng.randint(2, 4)) for line in self.statement()]
        leaving = [f"if {self.number(1)} > {limit}: {how}" for limit, how in ((1.5, "break"), (2.5, "return s * x[0]"))]
        for line in leaving:
            if rng.random() < 0.25:
                body.insert(rng.choice((0, len(body))), line)
        lines = "".join(f"        {line}\n" for line in body)
        head = f"for i in steps({rng.choice((1, 3, 5))}):"
        return (
            "class Box: pass\n\ndef f(x):\n    s, st, items = x[0] * x[1], {'v': x[2]}, [x[0], x[1]]\n"
            f"    a, y, o = x * 1.0, x[:2] * 0.9, Box()\n    o.w, o.k = x[1], 0.0\n    {head}\n{lines}"
            "    return s + st['v'] + sum(items) + np.sum(a) * np.sum(y) + o.w * o.k\n"
        )


def differences(function: Callable[[Any], Any]) -> np.ndarray:
    return np.array([(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)])


@pytest.mark.parametrize("seed", range(16))
def test_as_with_all_states(seed: int) -> None:
    text = Writer(seed).text()
    names = {"np": np, "ad": ad, "suppress": suppress}
    plain = run_text(text, f"<all states {seed}>", {**names, "steps": range})["f"]
    few = text.replace("steps(", "ad.checkpointed(range(").replace("):\n        ", "), snapshots=2):\n        ", 1)
    kept = run_text(few, f"<few states {seed}>", names)["f"]
    expected = differences(plain)
    try:
        np.testing.assert_allclose(ad.jacobian(kept, mode="forward")(X.copy()), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ad.grad(kept)(X.copy()), expected, rtol=1e-4, atol=1e-5)
    except ad.DifferentiationError as refusal:
        codes = {problem.code for problem in refusal.diagnostics}
        assert codes <= {"AD0308", "AD0309", "AD0401"}, f"{text}\n{refusal}"
        pytest.skip(f"refused: {sorted(codes)}")
