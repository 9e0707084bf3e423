"""``python -m benchmarks.gradbench.measuring ROUNDS EVAL/SIZE...``: times all contestants on cases, in one process.

Prints a line of JSON for each case. Where memory lies and how threads take turns is settled when a process starts, and
some contestants are twice as fast in one process as in another: what is compared is measured in several.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.__main__ import ONE_THREAD

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


def in_a_process(cases: Sequence[Case], rounds: int) -> Iterator[tuple[Case, dict[str, Measured]]]:
    """Measures in a process of its own; gives each case when it is done."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.gradbench.measuring", str(rounds)]
    with subprocess.Popen(
        [*command, *map("/".join, cases)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD},
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        for case, line in zip(cases, process.stdout, strict=False):
            yield case, {name: Measured(**times) for name, times in json.loads(line).items()}
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def fastest_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The fastest turns in any of several processes."""
    return {
        case: {name: _fastest([run[case][name] for run in outcomes]) for name in outcomes[0][case]}
        for case in outcomes[0]
    }


def _fastest(found: Sequence[Measured]) -> Measured:
    return Measured(min(times.primal for times in found), min(times.gradient for times in found))


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


def _main() -> None:
    from benchmarks.timing import keep_freed_memory

    keep_freed_memory()
    rounds, *cases = sys.argv[1:]
    for eval_name, size in (case.split("/") for case in cases):
        found = measure(eval_name, size, int(rounds))
        print(json.dumps({name: asdict(times) for name, times in found.items()}), flush=True)


if __name__ == "__main__":
    _main()
