"""Random programs that read and write through arrays of places and masks, which they change in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from texts import run_text

READS = (
    "total += np.sum(z[i] * x[i])",
    "total += np.sum(z[m] ** 2) * x[1]",
    "total += np.sum(np.take(z, i)) * x[0]",
    "total += np.sum(t[i, 0] * t[0, i])",
    "total += np.sum(t[m])",
    "a = z[i] * x[2]",
    "a = x[i]",
    "total += np.sum(a * z[i])",
    "total += z[i[1]] * x[i[0]]",
    "total += z[p[0]] * x[p[-1]] + np.sum(z[p])",
    "total += np.sum(np.where(m, z, x))",
    "total += np.sum(z * z, where=m)",
    "total += np.sum(np.compress(m, z) ** 2)",
    "total += np.sum(z.take(i) * x.take(i))",
    "total += np.sum(z[np.flatnonzero(m)] * x[np.flatnonzero(m)])",
    "total += np.sum(t[np.ix_(i, i)] ** 2)",
    "total += np.sum(np.take_along_axis(z, i, 0))",
    "total += np.sum(c * z) * x[0]",
    "total += np.max(z[i]) * np.min(x[j])",
    "total += z[i].dot(x[i])",
)
WRITES = (
    "z[i] = z[i] * x[i]",
    "z[i] += 0.5 * x[i]",
    "z[i] = a",
    "z[m] = np.sin(z[m])",
    "z[m] *= x[m]",
    "z[m] -= x[3]",
    "np.add.at(z, i, x[i] * 0.5)",
    "t[i] = z * 0.5",
    "t[:, i] *= 1.5",
    "t[m] = z[m][:, None] * x",
    "z[i[0]] = z[i[1]] * x[0]",
    "z[p] = z[p] * x[p]",
    "np.copyto(z, x * 1.1, where=m)",
    "np.putmask(z, m, x * 0.9)",
    "np.put(z, i, x[i] * 0.7)",
    "np.multiply(z, x, out=z, where=m)",
    "np.put_along_axis(z, i, x[i] * 0.5, 0)",
    "z *= c",
    "z = np.where(m, z * c, z)",
    "np.multiply.at(z, i, x[i])",
    "t[np.ix_(i, i)] *= 0.5",
)
CHANGES = (
    "i[0] = {c}",
    "i[{d}] = (i[{d}] + 1) % 5",
    "i[:] = i[::-1]",
    "i += 1; i %= 5",
    "i = (i + {c}) % 5",
    "j[0] = {c}",
    "m[{c}] = not m[{c}]",
    "m[:] = m[::-1]",
    "m[i] = True",
    "m[1:] = z[1:] > 0.61",
    "np.logical_not(m, m)",
    "m = z < 0.9",
    "p[0] = {c}",
    "p.append({c})",
    "p.reverse()",
    "c[{c}] = 0.5",
    "c += 0.25",
    "c[m] = 1.5",
    "c[i] *= 0.9",
)


def text_of(seed: int) -> str:
    """A function ``program(x)`` of a vector of five numbers; the same for the same seed."""
    rng = random.Random(seed)

    def some(indent: str, count: int, depth: int) -> list[str]:
        lines = []
        for _ in range(count):
            if depth and rng.random() < 0.25:
                lines.append(f"{indent}{rng.choice(('for k in range(3):', 'if total > 1.0:', 'for k in range(2):'))}")
                lines += some(indent + "    ", rng.randint(2, 4), depth - 1)
                continue
            statement = rng.choice(rng.choice((READS, WRITES, CHANGES)))
            lines += [indent + part for part in statement.format(c=rng.randrange(5), d=rng.randrange(3)).split("; ")]
        return lines

    body = some("    ", rng.randint(6, 10), 2)
    start = [
        "def program(x):",
        "    i = np.array([0, 3, 1]); j = i[1:]",
        "    m = x > 0.7",
        "    p = [0, 2]",
        "    c = np.ones(5)",
        "    z = x * 1.2",
        "    t = np.outer(x, x)",
        "    a = z[i]",
        "    total = 0.0",
    ]
    return "\n".join([*start, *body, "    return total + np.sum(z * x) + np.sum(t)"]) + "\n"


def program_of(seed: int) -> Callable[[Any], Any]:
    """The function of a seed, of which the text can be found."""
    text, name = text_of(seed), f"<changing indices {seed}>"
    space = run_text(text, name, {"np": np, "__name__": __name__})
    return space["program"]  # type: ignore[no-any-return]


X = np.array([0.9, 0.5, 1.1, 0.8, 0.6])


def differences(program: Callable[[Any], Any]) -> np.ndarray:
    """The gradient by differences; not a number where a condition may change."""
    found = [
        [(program(X + h * unit) - program(X - h * unit)) / (2 * h) for unit in np.eye(len(X))] for h in (1e-5, 1e-6)
    ]
    return np.where(np.isclose(*found, rtol=1e-3, atol=1e-4), found[1], np.nan)


def wrong(seed: int, native: bool = False) -> str | None:
    """What is wrong with the derivatives of a program; None if nothing is."""
    program = program_of(seed)
    try:
        expected, slopes = program(X), differences(program)
    except IndexError:
        return None
    if not np.isfinite(expected) or abs(expected) > 1e6:
        return None
    try:
        value, gradient = ad.value_and_grad(program, native=native)(X)
        forward = [ad.jvp(program, (X,), (unit,), native=native)[1] for unit in np.eye(len(X))]
    except ad.DifferentiationError as refusal:
        return None if refusal.diagnostics[0].code.startswith(("AD03", "AD04")) else str(refusal)
    known = np.isfinite(slopes)
    checks = {
        "value": np.isclose(value, expected, rtol=1e-9),
        "gradient": np.allclose(gradient[known], slopes[known], rtol=1e-4, atol=1e-4),
        "tangents": np.allclose(np.array(forward)[known], slopes[known], rtol=1e-4, atol=1e-4),
    }
    return ", ".join(name for name, holds in checks.items() if not holds) or None
