"""A long loop over a large state in little memory: a million steps of a megabyte with a hundred snapshots.

The derivative runs in a process of its own. What it takes beyond that process is the largest resident memory while it
runs, less that before, after a short run that has compiled everything.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration

STATE = 125_000
"""The numbers in a state: a megabyte."""
SNAPSHOTS = 100
ROOM = 110.0
"""Megabytes that the derivative may take."""


def growth(u, rate, steps, snapshots):
    """Logistic growth everywhere, by Euler's method."""
    v = u * 1.0
    for _ in ad.checkpointed(range(steps), snapshots=snapshots):
        for k in range(len(v)):
            v[k] += rate * v[k] * (1.0 - v[k])
    return np.sum(v)


def measure(quick: bool) -> Results:
    """Runs the loop at full size, or a part of it."""
    steps = 2_000 if quick else 10**6
    found = in_a_process_of_its_own(steps)
    report = Results(
        "A long loop in little memory",
        f"The gradient of {steps:,} steps of a state of 1 MB with {SNAPSHOTS} snapshots, compiled by Numba; a step is "
        "run forwards so many times for each, besides once with its reverse.",
        ("", "time", "memory beyond the process", "steps for each"),
    )
    memory = f"{found['megabytes']:.0f} MB"
    report.rows.append((f"{steps:,} steps", duration(found["seconds"]), memory, f"{found['again']:.2f}"))
    if found["megabytes"] > ROOM:
        report.notes.append(f"More than the {ROOM:.0f} MB that it may take.")
    return report


def in_a_process_of_its_own(steps: int) -> dict[str, Any]:
    """The time and the memory of a derivative."""
    command = [sys.executable, "-m", "benchmarks.checkpoints", "--steps", str(steps)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(steps: int) -> dict[str, Any]:
    u = np.linspace(0.01, 0.02, STATE)
    derivative = ad.grad(growth, native=True)
    rate = 1.0 / steps
    derivative(u, rate, 3, 2)
    before = _resident()
    start = time.perf_counter()
    gradient = derivative(u, rate, steps, SNAPSHOTS)
    seconds = time.perf_counter() - start
    _check(u, gradient)
    again = ad.tape_report(ad.grad(growth), u, rate, steps, SNAPSHOTS).checkpoints[0].run_again
    return {"seconds": seconds, "megabytes": (_peak() - before) / 1e6, "again": again / steps}


def _check(u: np.ndarray, gradient: np.ndarray) -> None:
    """The steps together are nearly the flow of the logistic equation, whose derivative is known."""
    grown = np.exp(1.0) / (1.0 + u * (np.exp(1.0) - 1.0)) ** 2
    np.testing.assert_allclose(gradient, grown, rtol=1e-2)


def _resident() -> float:
    """The memory of this process, in bytes."""
    return _status("VmRSS")


def _peak() -> float:
    """The most that it has been."""
    return _status("VmHWM")


def _status(name: str) -> float:
    """What Linux tells of this process; other systems do not."""
    if not Path("/proc/self/status").exists():
        return float("nan")
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def main() -> int:
    """One run; the result is printed as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description=__doc__)
    parser.add_argument("--steps", type=int, default=10**6)
    found = _run(parser.parse_args().steps)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
