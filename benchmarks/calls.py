"""How the text of a derivative, and the time to it, grow with calls."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.dispatch import specialize
from benchmarks.report import Results, duration, ratio
from benchmarks.timing import race


def rhs(u, s, r, b, out):
    out[0] = s * (u[1] - u[0])
    out[1] = u[0] * (r - u[2]) - u[1]
    out[2] = u[0] * u[1] - b * u[2]


def lorenz(s, r, b):
    """Four stages of a Runge-Kutta method, with a right-hand side that writes its result."""
    state = np.array([1.0, 1.0, 1.0])
    k = np.zeros((4, 3))
    for _ in range(50):
        rhs(state, s, r, b, k[0])
        rhs(state + 0.005 * k[0], s, r, b, k[1])
        rhs(state + 0.005 * k[1], s, r, b, k[2])
        rhs(state + 0.01 * k[2], s, r, b, k[3])
        state = state + 0.01 / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(state)


def piece(x, y):
    if x < 0.1:
        r = x * y
    elif x < 0.2:
        r = x + math.sin(y)
    elif x < 0.3:
        r = x * x - y
    elif x < 0.4:
        r = x * math.exp(y)
    elif x < 0.5:
        r = x / (1 + y * y)
    elif x < 0.6:
        r = x * math.cos(y)
    elif x < 0.7:
        r = math.sqrt(x) * y
    elif x < 0.8:
        r = math.log(x) + y
    elif x < 0.9:
        r = x**3 + y
    else:
        r = x - y * y
    return r


def chain(depth: int) -> Callable[..., Any]:
    """Functions of which each calls the one before twice."""
    lines = ["def f0(x):", "    return math.sin(x) * x"]
    for i in range(1, depth + 1):
        lines += [f"def f{i}(x):", f"    return f{i - 1}(x * 1.1) * 0.5 + f{i - 1}(x + 0.1)"]
    return _defined(lines, f"f{depth}", {"math": math})


def calls(count: int) -> Callable[..., Any]:
    """Calls of one function of ten branches."""
    lines = [f"    t += piece(x * {0.1 * i + 0.05:.3f}, y + {i}.0)" for i in range(count)]
    return _defined(["def total(x, y):", "    t = 0.0", *lines, "    return t"], "total", {"piece": piece})


def _defined(lines: list[str], name: str, names: dict[str, Any]) -> Callable[..., Any]:
    import linecache

    text, file = "\n".join(lines) + "\n", f"<benchmark {name} {len(lines)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    function: Callable[..., Any] = names[name]
    return function


PROGRAMS: tuple[tuple[str, Callable[[], Callable[..., Any]], tuple[Any, ...], str, str], ...] = (
    ("chain of depth 8", lambda: chain(8), (0.3,), "", ""),
    ("chain of depth 12", lambda: chain(12), (0.3,), "150", "80 ms"),
    ("chain of depth 20", lambda: chain(20), (0.3,), "250", "250 ms"),
    ("16 calls", lambda: calls(16), (0.5, 0.3), "220", "150 ms"),
    ("64 calls", lambda: calls(64), (0.5, 0.3), "400", "300 ms"),
    ("Lorenz", lambda: lorenz, (10.0, 28.0, 8 / 3), "75", ""),
)


def measure(quick: bool = False) -> Results:
    """Counts lines, and times the way to the text and a call of the gradient beside one of the program."""
    results = Results(
        "Calls",
        "Gradients of programs in which functions are called often. `lines`: of the text; `text`: the processor's time "
        "to it, where something was derived before, the fastest of a few; `gradient`: a call of it beside one of the "
        "program.",
        ("", "lines", "goal", "text", "goal", "gradient"),
    )
    for name, make, args, most, longest in PROGRAMS:
        function = make()
        derivative = ad.grad(function, wrt=tuple(range(len(args))))
        text, seconds = "", []
        for _ in range(2 if quick else 5):
            specialize.forget()
            start = time.process_time()
            text = ad.source(derivative, *args)
            seconds.append(time.process_time() - start)
        beside = "" if "20" in name else ratio(_beside(derivative, function, args, quick))
        results.rows.append((name, str(len(text.splitlines())), most, duration(min(seconds)), longest, beside))
    return results


def _beside(derivative: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...], quick: bool) -> float:
    """How many times as long a call of the one takes as a call of the other."""
    contestants = {"derivative": lambda: derivative(*args), "function": lambda: function(*args)}
    times = race(contestants, 3 if quick else 20, time.process_time)
    return times["derivative"].best / times["function"].best
