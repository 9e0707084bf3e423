"""How long one waits: for the import, for the first derivative, and at every call.

What a fresh process does is measured in fresh processes, by this module's own command line.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.report import Results, duration
from benchmarks.timing import race

PROGRAM = Path(__file__).with_name("vehicle.py")
ARGUMENTS = (0.3, 1.0)
WRT = (0, 1)
GOALS = {"import adjoint": 0.150, "first derivative, fresh process": 0.100}


def measure(quick: bool) -> Results:
    """Measures the latencies; slow machines and busy ones show, so the fastest is given beside the median."""
    import adjoint as ad

    with tempfile.TemporaryDirectory() as bytecode:
        _in_fresh_process(bytecode)  # as after installation: the modules' bytecode is there
        samples = [_in_fresh_process(bytecode) for _ in range(3 if quick else 11)]
    lines = len(PROGRAM.read_text().splitlines())
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


def program(name: str) -> ModuleType:
    """A copy of the program: a function that the compiler has not seen."""
    spec = importlib.util.spec_from_file_location(name, PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _in_fresh_process(bytecode: str) -> dict[str, float]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    settings = {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.latency"],
        env={**os.environ, **settings},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found


def _probe() -> dict[str, float]:
    start = time.perf_counter()
    import adjoint as ad

    imported = time.perf_counter()
    import numpy  # noqa: F401

    numpy_imported = time.perf_counter()

    def first(function: Any) -> float:
        begin = time.perf_counter()
        ad.grad(function, WRT)(*ARGUMENTS)
        return time.perf_counter() - begin

    cold = first(program("vehicle_cold").lap_cost)
    warm = min(first(program(f"vehicle_warm_{place}").lap_cost) for place in range(3))
    return {"import": imported - start, "numpy": numpy_imported - imported, "cold": cold, "warm": warm}


if __name__ == "__main__":
    print(json.dumps(_probe()))
