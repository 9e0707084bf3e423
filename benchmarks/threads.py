"""``python -m benchmarks.threads``: large derivatives in one thread and in several; writes ``threads.md``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).with_name("threads.md")


@dataclass(frozen=True)
class Problem:
    """A program, its arguments, and those that are differentiated."""

    title: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    wrt: int | tuple[int, ...]


def problems(scale: float) -> list[Problem]:
    """The programs; a smaller ``scale`` makes them smaller."""
    from benchmarks.gradbench import gmm, lse

    draw = np.random.default_rng(0)
    points, dimensions, parts = int(10_000 * scale), 10, 25
    mixture = (
        draw.normal(size=parts),
        draw.normal(size=(parts, dimensions)),
        draw.normal(size=(parts, dimensions)),
        draw.normal(size=(parts, dimensions * (dimensions - 1) // 2)),
        draw.normal(size=(points, dimensions)),
        1.0,
        0,
    )
    values = int(2_000_000 * scale)
    return [
        Problem(f"gmm: {points:,} points, {parts} Gaussians", gmm.objective, mixture, (0, 1, 2, 3)),
        Problem(f"lse: {values:,} numbers", lse.primal, (draw.normal(size=values),), 0),
    ]


def measure(quick: bool) -> Any:
    """The table."""
    import adjoint as ad
    from benchmarks.report import Results, duration, ratio
    from benchmarks.timing import keep_freed_memory, race

    keep_freed_memory()
    counts = [count for count in (1, 2, 4, 8, 16) if count <= max(2, os.cpu_count() or 1)]
    explanation = (
        "Values and gradients, compiled; the fastest of several turns. The gain is how many times as fast it is as in "
        "one thread; the difference is that of the gradients, relative to the largest number in them. What waits for "
        "memory, as the sum of exponentials of an array does, gains little."
    )
    table = Results("Threads", explanation, ("derivative", "threads", "fastest", "median", "gain", "difference"))
    for problem in problems(0.1 if quick else 1.0):
        slopes = {
            count: ad.value_and_grad(problem.function, problem.wrt, native="strict", threads=count) for count in counts
        }
        expected = _flat(slopes[1](*problem.arguments))
        times = race({n: _call(slope, problem.arguments) for n, slope in slopes.items()}, 3 if quick else 15)
        for count, slope in slopes.items():
            found = _flat(slope(*problem.arguments))
            difference = float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
            gain = ratio(times[1].best / times[count].best)
            title = problem.title if count == 1 else ""
            spent = duration(times[count].best), duration(times[count].median)
            table.rows.append((title, str(count), *spent, gain, f"{difference:.1e}"))
    return table


def _call(slope: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[[], Any]:
    return lambda: slope(*arguments)


def _flat(found: Any) -> np.ndarray:
    parts = found[1] if isinstance(found[1], tuple) else (found[1],)
    return np.concatenate([np.ravel(part) for part in parts])


def main() -> int:
    """Runs the benchmark; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller problems: to see that everything runs")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the table")
    options = parser.parse_args()

    from rich.console import Console

    from benchmarks.report import markdown, show

    table = measure(options.quick)
    show(table, Console())
    command = "python -m benchmarks.threads --quick" if options.quick else "python -m benchmarks.threads"
    options.output.write_text(markdown([table], command), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
