"""``python -m benchmarks.gradbench.compare``: the evals beside other systems, in turn, in one process."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.__main__ import ONE_THREAD

RESULTS = Path(__file__).with_name("results.md")
PLOT = Path(__file__).with_name("results.svg")
_SLOW = 0.5
"""Seconds of a call from which on it is made only twice."""
_VERY_SLOW = 5.0
"""Seconds from which on it is made only once."""


@dataclass(frozen=True)
class Measured:
    """Seconds of a contestant on a case: the fastest turns."""

    primal: float
    gradient: float


Case = tuple[str, str]
Outcome = dict[Case, dict[str, Measured]]


def main() -> int:
    """Compares; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench.compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, small cases: to see that everything runs")
    parser.add_argument("--evals", nargs="+", metavar="EVAL", help="only these")
    parser.add_argument("--sizes", nargs="+", default=["S", "M"], choices=["S", "M", "L"])
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the tables")
    parser.add_argument("--plot", type=Path, default=PLOT, metavar="PATH", help="where to draw the plot")
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)  # read by the libraries when they are imported

    from rich.console import Console

    from benchmarks.gradbench import summary
    from benchmarks.gradbench.contestants import CASES
    from benchmarks.report import markdown, show
    from benchmarks.timing import keep_freed_memory

    keep_freed_memory()
    console = Console()
    evals = options.evals or list(CASES)
    sizes = ["S"] if options.quick else options.sizes
    outcome: Outcome = {}
    for case in ((name, size) for name in evals for size in sizes):
        with console.status(f"measuring: {' '.join(case)}"):
            outcome[case] = measure(*case, rounds=3 if options.quick else 15)
        console.print(*case, {name: f"{found.gradient * 1e3:.3g} ms" for name, found in outcome[case].items()})
    summary.plot(outcome, options.plot)
    stages = [
        lambda: summary.ours(outcome),
        lambda: summary.gradients(outcome),
        lambda: summary.nested(rounds=1 if options.quick else 5),
    ]
    if not options.quick:
        stages += [lambda: summary.first_calls(evals), lambda: summary.memory(list(outcome))]
    command = f"python -m benchmarks.gradbench.compare{' --quick' if options.quick else ''}"
    picture = f"\n![Gradients beside those of Adjoint]({os.path.relpath(options.plot, options.output.parent)})\n"
    tables = []
    for stage in stages:  # written after each: the last ones take long
        with console.status("measuring"):
            tables.append(stage())
        show(tables[-1], console)
        options.output.write_text(markdown(tables, command) + picture, encoding="utf-8")
    console.print(f"written: {options.output}, {options.plot}", markup=False, highlight=False, soft_wrap=True)
    return 0


def measure(eval_name: str, size: str, rounds: int) -> dict[str, Measured]:
    """Times all contestants on a case, in turn; they must agree."""
    from benchmarks.gradbench.contestants import NAMES, TOO_LARGE, arguments, missing, peer

    args = arguments(eval_name, size)
    runs: dict[tuple[str, str], Callable[[], Any]] = {}
    wanted: np.ndarray | None = None
    for name in NAMES:
        if missing(name) or name in TOO_LARGE.get((eval_name, size), ()):
            continue
        found = peer(name, eval_name, args)
        wanted = _checked(found.gradient(), wanted, f"{eval_name} {size}: {name}")
        found.primal()  # compiled before anything is timed
        runs[name, "primal"], runs[name, "gradient"] = found.primal, found.gradient
    times = fastest(runs, rounds)
    names = dict.fromkeys(name for name, _ in runs)
    return {name: Measured(times[name, "primal"], times[name, "gradient"]) for name in names}


def _checked(found: Any, wanted: np.ndarray | None, title: str) -> np.ndarray:
    """All must compute the same, or their times mean nothing."""
    from benchmarks.gradbench.peers.peer import numbers

    ours = numbers(found)
    if wanted is not None:
        tolerance = 1e-8 * float(np.max(np.abs(wanted)))
        np.testing.assert_allclose(ours, wanted, rtol=1e-8, atol=tolerance, err_msg=title)
        return wanted
    return ours


def fastest(runs: Mapping[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """The fastest turn of each, in seconds of the processor; what is slow has fewer turns."""
    from benchmarks.timing import race

    seconds: dict[Any, float] = {}
    for key, run in runs.items():
        for _ in range(2):
            start = time.process_time()
            run()
            seconds[key] = time.process_time() - start
            if seconds[key] > _VERY_SLOW:
                break
    quick = {key: run for key, run in runs.items() if seconds[key] < _SLOW}
    found = race(quick, rounds, time.process_time)
    return {**seconds, **{key: times.best for key, times in found.items()}}


if __name__ == "__main__":
    sys.exit(main())
