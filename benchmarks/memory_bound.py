"""Adam on ten million parameters: nothing but memory, beside what the memory can do.

The bound is a loop that touches the same memory in the same order and computes next to nothing: it reads parameters,
gradients and two moments, and writes all but the gradients.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration, ratio
from benchmarks.timing import race

PARAMETERS = 10_000_000
BYTES = 7 * 4  # read four numbers, write three
CHECKED_STEPS = 3

Step = Callable[[], None]


def _problem(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=count).astype(np.float32), rng.uniform(0.5, 1.5, count).astype(np.float32)


def _adjoint(count: int, native: bool) -> tuple[Step, Callable[[], np.ndarray]]:
    parameters, gradient = _problem(count)
    optimizer = ad.optim.Adam(native=native)
    return lambda: optimizer.update(parameters, along=gradient), lambda: parameters


def _torch(count: int) -> tuple[Step, Callable[[], np.ndarray]]:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    start, gradient = _problem(count)
    parameters = torch.tensor(start, requires_grad=True)
    parameters.grad = torch.tensor(gradient)
    optimizer = torch.optim.Adam([parameters], fused=True)
    return optimizer.step, lambda: parameters.detach().numpy()


def bound(count: int) -> Step:
    """Touches the same memory as a step does."""
    numba = importlib.import_module("numba")
    p, g = _problem(count)
    m, v = np.zeros_like(p), np.zeros_like(p)

    @numba.njit
    def touch(p, g, m, v):
        for i in range(p.size):
            d = g[i]
            m[i] += d
            v[i] -= d
            p[i] += d

    return lambda: touch(p, g, m, v)


def measure(quick: bool) -> Results:
    """Times one update of each, in turn, beside the bound."""
    count = PARAMETERS // 100 if quick else PARAMETERS
    results = Results(
        "Adam on many parameters",
        f"One update of {count:,} parameters in 32-bit floats, one thread. The bound is a compiled loop that reads and "
        "writes the same memory and computes next to nothing.",
        ("", "fastest", "median", "GB/s", "fastest, beside the bound"),
    )
    contestants: dict[str, Step] = {}
    found: dict[str, Callable[[], np.ndarray]] = {}
    if importlib.util.find_spec("numba") is None:
        results.notes.append("Native code was not measured: Numba is not installed.")
        return results
    contestants["bound: memory alone"] = bound(count)
    contestants["Adjoint, native"], found["Adjoint, native"] = _adjoint(count, native=True)
    contestants["Adjoint, interpreted"], found["Adjoint, interpreted"] = _adjoint(count, native=False)
    if importlib.util.find_spec("torch") is None:
        results.notes.append("Not installed: torch.")
    else:
        contestants["PyTorch, fused"], found["PyTorch, fused"] = _torch(count)
    check(contestants, found)
    times = race(contestants, rounds=3 if quick else 15)
    unit = times["bound: memory alone"].best
    for name, taken in times.items():
        speed = f"{count * BYTES / taken.best / 1e9:.1f}"
        results.rows.append((name, duration(taken.best), duration(taken.median), speed, ratio(taken.best / unit)))
    return results


def check(steps: dict[str, Step], found: dict[str, Callable[[], np.ndarray]]) -> None:
    """All must compute the same, or their times mean nothing."""
    for name in found:
        for _ in range(CHECKED_STEPS):
            steps[name]()
    expected = found["Adjoint, interpreted"]()
    for name, parameters in found.items():
        np.testing.assert_allclose(parameters(), expected, rtol=1e-5, atol=1e-5, err_msg=name)
