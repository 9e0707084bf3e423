"""Loops over n elements: time and memory of the gradient grow like n."""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration, ratio

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK = (1_000, 10_000)
BINS = 64


def stepping(y, n):
    """A pendulum, step by step: every step needs the one before."""
    v = 0.0
    for _ in range(n):
        v -= 1e-3 * math.sin(y)
        y += 1e-3 * v
    return y


def scatter(x, where):
    """A weighted histogram, written in place."""
    bins = np.zeros(BINS)
    for i in range(len(x)):
        bins[where[i]] += x[i] * x[i]
    return np.sum(bins**2)


def gather(x, where):
    """Reads by element, in any order."""
    total = 0.0
    for i in range(len(where)):
        total += x[where[i]] * x[i]
    return total


def recurrence(x, n):
    """A sequence that is filled in place."""
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] * y[i - 1] + x[i]
    return y[n - 1]


def halves(x, low, high):
    """A sum by halves: a function that calls itself, and reads one element."""
    if high - low == 1:
        return math.sin(x[low])
    middle = (low + high) // 2
    return halves(x, low, middle) + 0.999 * halves(x, middle, high)


def queue(x):
    """First in, first out: some of what is taken is put back."""
    waiting = deque(x)
    total = 0.0
    while waiting:
        value = waiting.popleft()
        total = 0.99 * total + value * value
        if value > 0.1:
            waiting.append(0.5 * value)
    return total


def _arguments(n: int) -> dict[Callable[..., Any], tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.3, 0.3, n)
    return {
        stepping: (1.0, n),
        scatter: (x, rng.integers(0, BINS, n)),
        gather: (x, rng.integers(0, n, n)),
        recurrence: (x, n),
        halves: (x, 0, n),
        queue: (x,),
    }


def measure(quick: bool = False) -> Results:
    """Times each gradient once for each size, in the interpreted form, and then weighs it."""
    results = Results(
        "Growth",
        "The gradient of loops over n elements, interpreted: time beside the program's own, memory at its peak, and "
        "both per element. The exponent is that of the growth of the time over the last decade: 1 is linear.",
        ("program", "n", "program itself", "gradient", "ratio", "per element", "exponent", "memory", "per element"),
    )
    sizes = QUICK if quick else SIZES
    for f in _arguments(1):
        before = None
        for n in sizes:
            args = _arguments(n)[f]
            gradient = ad.grad(f)
            gradient(*args)
            primal, taken = _time(f, args), _time(gradient, args)
            memory = _peak(gradient, args)
            exponent = "" if before is None else f"{math.log10(taken / before):.2f}"
            before = taken
            row = (f.__name__, f"{n:,}", duration(primal), duration(taken), ratio(taken / primal), duration(taken / n))
            results.rows.append((*row, exponent, _size(memory), f"{memory / n:.0f} bytes"))
    return results


def _time(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The best of some calls."""
    best = math.inf
    for _ in range(3):
        gc.collect()
        start = time.perf_counter()
        f(*args)
        best = min(best, time.perf_counter() - start)
    return best


def _peak(f: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """The most memory that a call holds at once, its result included."""
    gc.collect()
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
