"""Loops over scalars, where tapes cost most: the derivative beside the program itself, and beside autograd."""

from __future__ import annotations

import importlib.util
import inspect
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration, ratio
from benchmarks.timing import Times, race


def lorenz(x, y, z, steps):
    """The Lorenz system by the classical Runge-Kutta method."""
    dt = 0.001
    for _ in range(steps):
        ax, ay, az = slope(x, y, z)
        bx, by, bz = slope(x + 0.5 * dt * ax, y + 0.5 * dt * ay, z + 0.5 * dt * az)
        cx, cy, cz = slope(x + 0.5 * dt * bx, y + 0.5 * dt * by, z + 0.5 * dt * bz)
        dx, dy, dz = slope(x + dt * cx, y + dt * cy, z + dt * cz)
        x += dt / 6.0 * (ax + 2.0 * bx + 2.0 * cx + dx)
        y += dt / 6.0 * (ay + 2.0 * by + 2.0 * cy + dy)
        z += dt / 6.0 * (az + 2.0 * bz + 2.0 * cz + dz)
    return x + y + z


def slope(x, y, z):
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


def logistic(rate, x, steps):
    """The logistic map."""
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def horner(x, coefficients):
    """A polynomial, by Horner's rule."""
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


@dataclass(frozen=True)
class Loop:
    """A program, its arguments, and those that are differentiated."""

    title: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    wrt: int | tuple[int, ...]


def programs(steps: int) -> tuple[Loop, ...]:
    """The programs, with loops of so many steps."""
    coefficients = np.random.default_rng(0).normal(size=steps)
    return (
        Loop(f"Lorenz, Runge-Kutta, {steps:,} steps", lorenz, (1.0, 1.0, 1.0, steps), (0, 1, 2)),
        Loop(f"logistic map, {steps:,} steps", logistic, (2.9, 0.4, steps), (0, 1)),
        Loop(f"Horner's rule, {steps:,} coefficients", horner, (0.999, coefficients), 0),
    )


NATIVE = "native" in inspect.signature(ad.value_and_grad).parameters and importlib.util.find_spec("numba") is not None


def measure(quick: bool) -> Results:
    """Times each program, its derivative, and what else computes one."""
    results = Results(
        "Loops over scalars",
        "Value and gradient together, beside one run of the program in the same form: interpreted by Python, or "
        "compiled by Numba. What takes more than a second is run once.",
        ("", "fastest", "median", "fastest, beside the program"),
    )
    for loop in programs(1_000 if quick else 10_000):
        _add_rows(results, f"{loop.title}: program", _interpreted(loop, rounds=3 if quick else 15))
        if NATIVE:
            _add_rows(results, f"{loop.title}: program, Numba", _compiled(loop, rounds=3 if quick else 50))
    if not NATIVE:
        results.notes.append("Native code was not measured: this installation has none.")
    return results


def _add_rows(results: Results, title: str, times: dict[str, Times]) -> None:
    """The program, then its derivatives."""
    program, *derivatives = times
    unit = times[program]
    results.rows.append((title, duration(unit.best), duration(unit.median), ""))
    for name in derivatives:
        found = times[name]
        median = duration(found.median) if len(found.turns) > 1 else ""
        results.rows.append((name, duration(found.best), median, ratio(found.best / unit.best)))


def _interpreted(loop: Loop, rounds: int) -> dict[str, Times]:
    derivative = ad.value_and_grad(loop.function, loop.wrt)
    contestants = {
        "program": lambda: loop.function(*loop.arguments),
        "Adjoint": lambda: derivative(*loop.arguments),
    }
    times = race(contestants, rounds)
    if importlib.util.find_spec("autograd") is not None:
        taped = _autograd(loop)
        start = time.perf_counter()
        found = taped()
        once = Times((time.perf_counter() - start,))
        times["autograd"] = once if once.best > 1.0 else race({"autograd": taped}, min(rounds, 3))["autograd"]
        _check(loop, "autograd", found, derivative(*loop.arguments))
    return times


def _autograd(loop: Loop) -> Callable[[], Any]:
    autograd = importlib.import_module("autograd")
    single = isinstance(loop.wrt, int)
    derivative = autograd.value_and_grad(loop.function, loop.wrt if single else list(loop.wrt))
    return lambda: derivative(*loop.arguments)


def _compiled(loop: Loop, rounds: int) -> dict[str, Times]:
    numba = importlib.import_module("numba")
    native = ad.value_and_grad(loop.function, loop.wrt, native=True)
    code, names = loop.function.__code__, loop.function.__globals__
    program = numba.njit(types.FunctionType(code, {**names, "slope": numba.njit(slope)}))
    _check(loop, "native", native(*loop.arguments), ad.value_and_grad(loop.function, loop.wrt)(*loop.arguments))
    contestants = {
        "program": lambda: program(*loop.arguments),
        "Adjoint, native": lambda: native(*loop.arguments),
    }
    return race(contestants, rounds)


def _check(loop: Loop, name: str, found: Any, expected: Any) -> None:
    """Both must compute the same, or their times mean nothing."""
    for ours, theirs in zip(expected, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-8, err_msg=f"{loop.title}: {name}")
