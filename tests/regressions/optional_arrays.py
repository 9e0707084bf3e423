"""Random programs whose variables hold an array or None, in loops that may be left."""

from __future__ import annotations

import random
import sys
from types import ModuleType
from typing import Any

import numpy as np

import adjoint as ad
from texts import run_text

CONDITIONS = ("u[0] > 0.3", "k % 2 == 0", "k == 1", "np.sum(u * u) < 2.0", "total < 1.0", "k > 0")
ARRAYS = (
    "A @ u",
    "np.cumsum(u) * 0.3",
    "u[::-1] * u",
    "np.concatenate([u[1:], u[:1]])",
    "np.linalg.solve(A, u)",
    "u[np.array([2, 0, 1])]",
    "np.outer(u, u)[1]",
    "np.stack([u[0], u[1] * u[2], u[2]])",
    "np.sin(u) / 1.5",
    "np.array([u[0], 0.5, total])",
    "helper(u, k)",
    "np.where(u > 0.2, u * u, 0.1)",
)
READS = ("{} @ u", "np.sum({} * {})", "{}[1] * u[0]", "np.max({})", "helper({}, k)[0]", "(A @ {})[2]")
STATEMENTS = (
    "if {cond}: {x} = {array}",
    "if {cond}: {x} = {array}",
    "if {x} is not None: total += 0.3 * {read}",
    "if {x} is not None and {cond}: u = u * 0.9 + 0.1 * {x}",
    "if {x} is None: {x} = {array}",
    "{x} = {y}",
    "{x}, {y} = {y}, {x}",
    "if {cond}: {x} = None",
    "if {x} is None: break",
    "if {x} is None and {cond}: continue",
    "{x} = pick({y}, u, k)",
)


def source_of(seed: int) -> str:
    """A function of a vector."""
    rng = random.Random(seed)
    names = ("best", "other")

    def filled(statement: str) -> str:
        x, y = rng.sample(names, 2)
        read = rng.choice(READS).replace("{}", x)
        return statement.format(cond=rng.choice(CONDITIONS), x=x, y=y, array=rng.choice(ARRAYS), read=read)

    body = [f"        {filled(rng.choice(STATEMENTS))}" for _ in range(rng.randint(3, 7))]
    lines = [
        "def helper(v, k):",
        "    if k > 1:",
        "        return v * v[0]",
        "    return A.T @ v",
        "def pick(v, u, k):",
        "    if v is None or k == 1:",
        "        return None if k == 2 else u * 0.5",
        "    return v * u",
        "def program(x):",
        "    u = x * 1.0",
        "    best = None",
        f"    other = {rng.choice(('None', 'x * 2.0'))}",
        "    total = 0.0",
        rng.choice(("    for k in range(4):", "    k = -1\n    while k < 3:\n        k += 1")),
        *body,
        "    if best is not None:",
        f"        total += {rng.choice(READS).replace('{}', 'best')}",
        "    if other is not None:",
        "        total += np.sum(other)",
        "    return total + np.sum(u * u)",
    ]
    return "\n".join(lines) + "\n"


def outcome(seed: int, *, native: bool = False) -> str:
    """Compares derivatives with differences."""
    text = source_of(seed)
    module: Any = ModuleType(f"optional_arrays_{seed}")
    sys.modules[module.__name__] = module
    vars(module).update(np=np, A=np.array([[1.0, 0.2, 0.1], [0.3, 1.0, 0.2], [0.1, 0.5, 0.7]]), k=0)
    run_text(text, f"<optional arrays {seed}>", vars(module))
    f = module.program
    x, v = np.array([0.7, -0.4, 1.3]), np.array([0.3, -1.0, 0.5])
    rates = [(f(x + h * v) - f(x - h * v)) / (2 * h) for h in (1e-5, 1e-6)]
    if abs(rates[0] - rates[1]) > 1e-5 * (1 + abs(rates[1])):
        return "not smooth"
    try:
        value, gradient = ad.value_and_grad(f, native=native)(x)
        _, tangent = ad.jvp(f, (x,), (v,), native=native)
        product = ad.hvp(f, (x,), (v,), native=native)[0]
    except ad.DifferentiationError as error:
        return f"refused: {error.diagnostics[0].code}"
    gradients = [ad.grad(f)(x + h * v) for h in (1e-5, -1e-5)]
    bent = (gradients[0] - gradients[1]) / 2e-5
    scale = 1 + abs(rates[1]) + np.abs(bent).max()
    close = abs(gradient @ v - rates[1]) < 1e-4 * scale and abs(tangent - rates[1]) < 1e-4 * scale
    if not close or abs(value - f(x)) > 1e-9 * scale or np.abs(product - bent).max() > 1e-3 * scale:
        return f"wrong:\n{text}"
    return "right"
