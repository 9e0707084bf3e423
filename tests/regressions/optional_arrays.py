"""Random programs whose variables hold an array, or something with arrays, or None, in loops that may be left."""

from __future__ import annotations

import random

import numpy as np

import adjoint as ad
from texts import run_module

A = np.array([[1.0, 0.2, 0.1], [0.3, 1.0, 0.2], [0.1, 0.5, 0.7]])
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
HELD = {
    "array": ("{array}", "{x}"),
    "tuple": ("({array}, u[1])", "{x}[0]"),
    "list": ("[{array}, u * 2.0]", "{x}[0]"),
    "dict": ("{{'v': {array}, 's': u[0]}}", "{x}['v']"),
    "object": ("Box({array}, u[2])", "{x}.v"),
}
"""How a variable holds an array, and how that is read."""
STATEMENTS = (
    "if {cond}: {x} = {made}",
    "if {cond}: {x} = {made}",
    "if {x} is not None: total += 0.3 * {read}",
    "if {x} is not None and {cond}: u = u * 0.9 + 0.1 * {held}",
    "if {x} is None: {x} = {made}",
    "if {x} is not None and {y} is not None and {cond}: total += {read}",
    "{x} = {y}",
    "{x}, {y} = {y}, {x}",
    "if {cond}: {x} = None",
    "if {x} is None: break",
    "if {x} is None and {cond}: continue",
    "{x} = pick({y}, u, k)",
    "if {x} is not None and {cond}: {held}[0] += u[1]",
)


def source_of(seed: int) -> str:
    """A function of a vector."""
    rng = random.Random(seed)
    make, access = HELD[rng.choice(("array", "array", *HELD))]
    usual = STATEMENTS if access == "{x}" else [each for each in STATEMENTS if "pick" not in each]

    def read(x: str) -> str:
        return rng.choice(READS).replace("{}", access.format(x=x))

    def filled(statement: str) -> str:
        x, y = rng.sample(("best", "other"), 2)
        made = make.format(array=rng.choice(ARRAYS))
        return statement.format(cond=rng.choice(CONDITIONS), x=x, y=y, made=made, read=read(x), held=access.format(x=x))

    body = [f"        {filled(rng.choice(usual))}" for _ in range(rng.randint(3, 7))]
    first = rng.choice(("None", make.format(array="x * 2.0")))
    lines = [
        "class Box:",
        "    def __init__(self, v, s):",
        "        self.v = v",
        "        self.s = s",
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
        f"    other = {first}",
        "    total = 0.0",
        rng.choice(("    for k in range(4):", "    k = -1\n    while k < 3:\n        k += 1")),
        *body,
        "    if best is not None:",
        f"        total += {read('best')}",
        "    if other is not None:",
        f"        total += np.sum({access.format(x='other')})",
        "    return total + np.sum(u * u)",
    ]
    return "\n".join(lines) + "\n"


def outcome(seed: int, *, native: bool = False) -> str:
    """Compares derivatives with differences."""
    text = source_of(seed)
    module = run_module(text, f"optional_arrays_{seed}", np=np, A=A)
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
