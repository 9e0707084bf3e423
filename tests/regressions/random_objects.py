"""Random methods that write their objects, and functions that take the gradients of these."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import adjoint as ad
from texts import run_module

FIELDS = {
    "a": "np.array([1.0, 2.0, 0.5])",
    "s": "0.7",
    "n": "0",
    "items": "[0.1, 0.2, 0.3]",
    "pair": "(1.5, 2.5)",
    "inner": "Inner()",
    "named": "{'k': 0.4}",
}
WRITES = (
    "self.n += 1",
    "self.a[1] = 0.5 * self.a[0]",
    "self.a *= 1.1",
    "self.a = self.a + 0.1",
    "self.s = self.s * 1.2",
    "self.items[0] = self.items[1] + 0.1",
    "self.items.append(0.5)",
    "self.inner.c = self.inner.c * 1.3",
    "self.inner.v[0] = 2.0",
    "self.named['k'] = 0.9",
)
READS = (
    "np.sum(self.a * x * x)",
    "self.s * x[0] * x[1]",
    "self.items[0] * x[2] ** 2",
    "self.pair[1] * x[0] ** 2",
    "self.inner.c * x[1] ** 3",
    "np.sum(self.inner.v) * x[0] * x[2]",
    "self.named['k'] * x[1] * x[2]",
    "self.n * x[0]",
    "len(self.items) * x[1]",
)
USES = (
    "ad.grad(thing.f)(x)",
    "ad.grad(thing.f)(x) * thing.s + thing.a[:3]",
    "ad.grad(thing.f)(x) + ad.grad(thing.f)(x * 1.5)",
)


def source_of(seed: int) -> str:
    """A class with a method that writes its object, and a function of the gradient of that method."""
    rng = random.Random(seed)
    body = [
        f"y = y + {rng.choice(READS)}" if rng.random() < 0.6 else rng.choice(WRITES) for _ in range(rng.randint(2, 5))
    ]
    if rng.random() < 0.4:
        body.insert(rng.randint(0, len(body)), "y = y + self.g(x)")
    lines = [
        "class Inner:",
        "    def __init__(self):",
        "        self.c = 0.3",
        "        self.v = np.array([1.0, 3.0])",
        "class Thing:",
        "    def __init__(self):",
        *(f"        self.{name} = {value}" for name, value in FIELDS.items()),
        "    def g(self, x):",
        f"        {rng.choice(WRITES)}",
        f"        return {rng.choice(READS)}",
        "    def f(self, x):",
        "        y = 0.0 * x[0]",
        *(f"        {line}" for line in body),
        f"        return y + {rng.choice(READS)}",
        "thing = Thing()",
        "def gradients(x):",
        f"    return {rng.choice(USES)}",
    ]
    return "\n".join(lines) + "\n"


def outcome(seed: int) -> str:
    """Compares the derivatives of the function with differences, and what the object holds after each."""
    text = source_of(seed)
    module = run_module(text, f"random_objects_{seed}", np=np, ad=ad)

    def anew(call: Any) -> tuple[Any, str]:
        module.thing = module.Thing()
        found = call(module.gradients)
        return found, repr(vars(module.thing) | {"inner": vars(module.thing.inner)})

    x, v, w = np.array([0.3, 0.7, -0.4]), np.array([1.0, -0.5, 2.0]), np.array([0.2, 0.5, -1.0])
    try:
        value, state = anew(lambda f: f(x))
        (forward, tangent), after = anew(lambda f: ad.jvp(f, (x,), (v,)))
        (back, pullback), last = anew(lambda f: ad.vjp(f, x))
        bar = pullback(w)[0]
    except ad.DifferentiationError as error:
        return f"refused: {error.diagnostics[0].code}"
    step = 1e-6
    rate = (anew(lambda f: f(x + step * v))[0] - anew(lambda f: f(x - step * v))[0]) / (2 * step)
    close = np.allclose(tangent, rate, rtol=1e-5, atol=1e-6) and np.isclose(bar @ v, w @ rate, rtol=1e-5, atol=1e-6)
    same = np.allclose(forward, value) and np.allclose(back, value) and after == state and last == state
    return "right" if close and same else f"wrong:\n{text}"
