"""How long one waits: for the import, for the first derivative, and at every call."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.fresh import ARGUMENTS, PROGRAM, WRT, program
from benchmarks.report import Results, duration
from benchmarks.timing import race

PROBE = Path(__file__).with_name("fresh.py")
GOALS = {"import adjoint": 0.150, "first derivative, fresh process": 0.100}


def measure(quick: bool) -> Results:
    """Measures the latencies; slow machines and busy ones show, so the fastest is given beside the median."""
    import adjoint as ad

    with tempfile.TemporaryDirectory() as bytecode:
        _in_fresh_process(bytecode)  # as after installation: the modules' bytecode is there
        samples = [_in_fresh_process(bytecode) for _ in range(3 if quick else 11)]
    lines = len(Path(PROGRAM).read_text().splitlines())
    results = Results(
        "Latency",
        f"The function is `benchmarks/vehicle.py`, {lines} lines with loops, branches and calls. A first derivative is "
        "the time from `ad.grad(f)` to its first result: reading the source, the analysis, writing and compiling the "
        "derivative, and running it; in a fresh process also importing the compiler.",
        ("", "fastest", "median", "goal"),
    )
    kinds = {
        "import": "import adjoint",
        "numpy": "import numpy, after it",
        "cold": "first derivative, fresh process",
        "warm": "first derivative, compiler in use",
    }
    for key, title in kinds.items():
        times = [sample[key] for sample in samples]
        goal = duration(GOALS[title]) if title in GOALS else ""
        results.rows.append((title, duration(min(times)), duration(statistics.median(times)), goal))

    module = program("vehicle_calls")
    derivative = ad.value_and_grad(module.lap_cost, WRT)
    small = ad.grad(_square)
    times = race(
        {
            "one run of the function": lambda: module.lap_cost(*ARGUMENTS),
            "one run of its value and derivative": lambda: derivative(*ARGUMENTS),
            "one call of the derivative of `x * x`": lambda: small(3.0),
        },
        rounds=5 if quick else 50,
    )
    for title, found in times.items():
        results.rows.append((title, duration(found.best), duration(found.median), ""))
    return results


def _square(x: float) -> float:
    return x * x


def _in_fresh_process(bytecode: str) -> dict[str, float]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    settings = {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    run = subprocess.run(
        [sys.executable, str(PROBE)],
        env={**os.environ, **settings},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found
