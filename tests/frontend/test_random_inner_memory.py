"""Random functions that change lists, dicts, objects and arrays around them, differentiated inside: as differences."""

from __future__ import annotations

import random

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

X = np.array([0.8, 0.5, 1.1])
NUMBERS = ("st['v']", "o.w", "items[-1]", "items[0]", "np.sum(a)", "a[i % 3]", "p.u.w")
OF_INNER = (*NUMBERS, "q", "q", "q * x[0]", "t", "t")
OF_OUTER = (*NUMBERS, "s", "x[1]")
DERIVATIVES = (
    "g = ad.grad(inner)(s)",
    "_, g = ad.value_and_grad(inner)(s)",
    "g = ad.grad(lambda z: inner(z) * o.w)(s)",
    "_, g = ad.jvp(inner, (s,), (s * 0.3,))",
    "g = ad.jacobian(inner)(s)",
)


class Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names: tuple[str, ...] = OF_INNER

    def number(self, depth: int = 2) -> str:
        if depth == 0:
            return self.rng.choice(self.names)
        one, other = self.number(depth - 1), self.number(depth - 1)
        both = f"0.5 * {one} * {other}", f"({one} + 0.3 * {other})"
        return self.rng.choice((*both, f"np.sin({one})", f"np.tanh({one})", f"{one} * 0.7"))

    def statement(self, depth: int = 1) -> list[str]:
        if depth and self.rng.random() < 0.4:
            body = [f"    {line}" for _ in range(self.rng.randint(1, 2)) for line in self.statement(depth - 1)]
            if self.rng.random() < 0.3:
                raising = f"    if {self.number(1)} > 0.5: raise ValueError"
                return ["try:", *body, raising, "except ValueError:", *(f"    {line}" for line in self.statement(0))]
            return [self.rng.choice((f"if {self.number(1)} > 0.3:", "for j in range(2):")), *body]
        value, other = self.number(), self.number(1)
        forms = (
            *(f"st['v'] = {value}", f"o.w = {value}", f"items.append({other})", f"items[-1] = {value}"),
            *(f"a[i % 3] = {value}", f"a[:] = a * {other}", f"a *= {other}", f"p.u.w = {other}"),
            *(f"o.late = {other}; o.w = o.w + o.late", f"st['n'] = {other}", "p.u = o"),
            f"o.rows = a * {other}; o.w = o.w + np.sum(o.rows)",
        )
        return [self.rng.choice(forms)]

    def text(self) -> str:
        rng = self.rng
        inner = [line for _ in range(rng.randint(1, 3)) for line in self.statement()]
        found = self.number()
        self.names = OF_OUTER
        after = [rng.choice(DERIVATIVES), f"s = s + 0.1 * g * {self.number(1)}", *self.statement(0)]
        head = rng.choice(("for i in range(2):", "for i in range(1, 3):", "if x[0] > 0.1:"))
        indented = ["".join(f"        {line}\n" for line in lines) for lines in (inner, after)]
        return (
            "class Box: pass\n\ndef f(x):\n    st, items, a = {'v': x[2]}, [x[0], x[1]], x * 1.0\n"
            "    o, p, i, s = Box(), Box(), 0, x[0] * x[1]\n    o.w, p.u = x[1], Box()\n    p.u.w = x[0] * 0.5\n"
            f"    def inner(q):\n        t = 0.5 * q\n{indented[0]}        return {found} + q**3\n"
            f"    {head}\n{indented[1]}"
            "    return s + sum(st.values()) + sum(items) + np.sum(a) + o.w + p.u.w\n"
        )


@pytest.mark.parametrize("seed", range(16))
def test_as_differences(seed: int) -> None:
    text = Writer(seed).text()
    function = run_text(text, f"<inner memory {seed}>", {"np": np, "ad": ad})["f"]
    try:
        expected = [(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(ad.jacobian(function, mode="forward")(X.copy()), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ad.grad(function)(X.copy()), expected, rtol=1e-4, atol=1e-5)
    except ad.DifferentiationError as refusal:
        codes = {problem.code for problem in refusal.diagnostics}
        assert codes & {"AD0303", "AD0304", "AD0402"}, f"{text}\n{refusal}"
        pytest.skip(f"refused: {sorted(codes)}")
