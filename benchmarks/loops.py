"""Loops over scalars, where tapes cost most: the derivative beside the program itself, and beside autograd."""

from __future__ import annotations

import importlib.util
import inspect
import time
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
        "Value and gradient together; a ratio is the time beside one run of the program itself in the same form, "
        "interpreted by Python, or compiled by Numba. Fastest turns.",
        ("", "program", "Adjoint", "ratio", "autograd", "ratio", "program, Numba", "Adjoint, native", "ratio"),
    )
    for loop in programs(1_000 if quick else 10_000):
        interpreted = _interpreted(loop, rounds=3 if quick else 15)
        results.rows.append((loop.title, *_row(interpreted), *_row(_compiled(loop, results, 3 if quick else 50))))
    return results


def _row(times: dict[str, Times | None]) -> list[str]:
    """The program's time, then for each derivative its time and ratio."""
    program, *derivatives = times.values()
    cells = ["" if program is None else duration(program.best)]
    for found in derivatives:
        known = found is not None and program is not None
        cells.extend((duration(found.best), ratio(found.best / program.best)) if known else ("", ""))
    return cells


def _interpreted(loop: Loop, rounds: int) -> dict[str, Times | None]:
    derivative = ad.value_and_grad(loop.function, loop.wrt)
    contestants = {
        "program": lambda: loop.function(*loop.arguments),
        "Adjoint": lambda: derivative(*loop.arguments),
    }
    times: dict[str, Times | None] = {**race(contestants, rounds), "autograd": None}
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


def _compiled(loop: Loop, results: Results, rounds: int) -> dict[str, Times | None]:
    """The program under Numba and its native derivative, where this installation has them."""
    times: dict[str, Times | None] = {"program": None, "Adjoint, native": None}
    if not NATIVE:
        if not results.notes:
            results.notes.append("Native code was not measured: this installation has none.")
        return times
    numba = importlib.import_module("numba")
    native = ad.value_and_grad(loop.function, loop.wrt, native=True)
    helpers = {"slope": numba.njit(slope)}
    source = loop.function
    program = numba.njit(type(source)(source.__code__, {**source.__globals__, **helpers}))
    _check(loop, "native", native(*loop.arguments), ad.value_and_grad(loop.function, loop.wrt)(*loop.arguments))
    contestants = {
        "program": lambda: program(*loop.arguments),
        "Adjoint, native": lambda: native(*loop.arguments),
    }
    return dict(race(contestants, rounds))


def _check(loop: Loop, name: str, found: Any, expected: Any) -> None:
    """Both must compute the same, or their times mean nothing."""
    for ours, theirs in zip(expected, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-8, err_msg=f"{loop.title}: {name}")
