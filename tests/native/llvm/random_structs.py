"""Random programs that make objects in loops and write them: machine code against interpreted derivatives."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from texts import run_module

CLASSES = """
class Inner:
    def __init__(self, c, v):
        self.c = c
        self.v = v

    def scaled(self, k):
        return Inner(self.c * k, self.v * k)


class Thing:
    def __init__(self, x, i):
        self.s = x[i] * (i + 1)
        self.n = i
        self.a = x[:3] * (i + 0.5)
        self.b = np.zeros(3)
        self.items = [x[i], 0.3 * x[0]]
        self.inner = Inner(x[i] + 1.0, x[1:3] * 2.0)
        self.other = None
        self.kind = "odd" if i % 2 else "even"

    def rate(self, k):
        self.n += 1
        return self.s * k + np.sum(self.a) * 0.1
"""
WRITES = (
    "p.s = p.s * 1.1 + q.s * 0.2",
    "p.s += x[k % 3]",
    "p.n += k",
    "p.a[k % 3] += q.s * q.s",
    "p.a = p.a + q.a * 0.3",
    "p.a *= 1.2",
    "p.b, q.b = q.b + x[:3], p.b",
    "p.b = q.a",
    "p.items.append(q.s)",
    "p.items[0] = p.items[-1] * q.items[0]",
    "p.items = q.items[:3]",
    "p.inner = q.inner",
    "p.inner = q.inner.scaled(0.9)",
    "p.inner.c += p.s",
    "p.inner.v[0] = q.inner.v[1] * p.s",
    "p.other = x[0] * k",
    "p.s, q.s = q.s, p.s",
    "things[k % 3] = p",
    "things.append(Thing(x * 0.5, k % 3))",
    "made.append(q.inner.scaled(x[1]))",
    "total += p.rate(x[k % 3])",
    "total += p.a @ q.b",
    "total += np.sum(p.inner.v) * q.inner.c",
)
GUARDS = ("", "", "", "if p is not q: ", "if k % 2: ", "if p.s > q.s: ", "if p.kind == q.kind: ")
ENDS = (
    "total += sum(t.s * t.s + t.n for t in things)",
    "total += sum(sum(t.items) + np.sum(t.a * t.b) for t in things)",
    "total += sum(t.inner.c * np.sum(t.inner.v) for t in things)",
    "total += sum(m.c ** 2 for m in made)",
    "total += sum(t.other * 2.0 for t in things if t.other is not None)",
)


def source_of(seed: int) -> str:
    """Classes, and a function of a vector that makes their objects and writes them."""
    rng = random.Random(seed)
    writes = [f"        {rng.choice(GUARDS)}{rng.choice(WRITES)}" for _ in range(rng.randint(2, 5))]
    lines = [
        "def program(x):",
        "    things = [Thing(x, i) for i in range(3)]",
        "    made = []",
        "    total = 0.0",
        f"    for k in range({rng.randint(2, 4)}):",
        f"        p, q = things[k % 3], things[{rng.choice(('(k + 1) % 3', '-1', '0'))}]",
        *writes,
        *(f"    {line}" for line in rng.sample(ENDS, rng.randint(2, 4))),
        "    return total",
    ]
    return CLASSES + "\n".join(lines) + "\n"


def outcome(seed: int) -> str:
    """Compares compiled derivatives with interpreted ones, and these with differences."""
    text = source_of(seed)
    module = run_module(text, f"random_structs_{seed}", np=np)
    f: Callable[[Any], Any] = module.program
    x, v = np.array([0.7, -0.4, 1.3]), np.array([0.3, -1.0, 0.5])
    try:
        found = [_derivatives(f, x, v, native=native) for native in (False, True)]
    except ad.DifferentiationError as error:
        return f"refused: {error.diagnostics[0].code}"
    step = 1e-6
    rate = (f(x + step * v) - f(x - step * v)) / (2 * step)
    interpreted = found[0]
    scale = 1 + max(float(np.abs(each).max()) for each in interpreted)
    if abs(interpreted[1] @ v - rate) > 1e-4 * scale:
        return f"wrong against differences:\n{text}"
    if not all(np.allclose(one, other, rtol=1e-9, atol=1e-12 * scale) for one, other in zip(*found, strict=True)):
        return f"wrong natively:\n{text}"
    return "right"


def _derivatives(f: Callable[[Any], Any], x: Any, v: Any, *, native: bool) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)
        value, gradient = ad.value_and_grad(f, native=native)(x)
        _, along = ad.jvp(f, (x,), (v,), native=native)
        product = ad.hvp(f, (x,), (v,), native=native)[0]
    return [np.asarray(each) for each in (value, gradient, along, product)]
