"""``python -m benchmarks.first_calls``: how long the first call of a derivative takes that is machine code.

Each program runs in processes of its own: once with nothing kept, then with what the first one kept.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import Results, duration

GOALS = {"lse": 0.4, "heat": 0.6, "Gram-Schmidt": 0.9, "gmm": 1.1, "ht": 2.0, "cavity": 4.0}
GOAL_FROM_CACHE = 0.1
NAMES = ("lse", "covariance", "heat", "Gram-Schmidt", "gmm", "ht", "cavity")
_GRADBENCH = ("lse", "gmm", "ht")
OURS, JAX = "Adjoint", "JAX"


def measure(quick: bool) -> Results:
    """Measures the first calls; the fastest of a few."""
    with_jax = importlib.util.find_spec("jax") is not None
    results = Results(
        "First calls",
        "Seconds of the processor for the first call of a gradient with `native=True`, in a fresh process after the "
        "imports of NumPy and llvmlite; import of Adjoint, analysis and compilation included. `cold`: with nothing "
        "kept; `from the cache`: in a later process. JAX: the first call of `jit(grad)`, after the import of JAX. "
        "`lse`, `gmm` and `ht` are those of GradBench, which are `@njit` functions (after the import of Numba), the "
        "others those of `benchmarks/array_programs.py`.",
        ("", "cold", "goal", "JAX", "from the cache", "goal"),
    )
    with tempfile.TemporaryDirectory() as bytecode:
        _fresh("covariance", bytecode, bytecode)
        for name in NAMES[:3] if quick else NAMES:
            colds, others, agains = [], [], []
            for _ in range(1 if quick else 3):
                with tempfile.TemporaryDirectory() as kept:
                    colds.append(_fresh(name, kept, bytecode))
                    agains += [_fresh(name, kept, bytecode) for _ in range(2)]
                if with_jax:
                    others.append(_fresh(name, bytecode, bytecode, JAX))
            goal = duration(GOALS[name]) if name in GOALS else ""
            cold, again = (duration(min(found)) for found in (colds, agains))
            other = duration(min(others)) if others else ""
            results.rows.append((name, cold, goal, other, again, duration(GOAL_FROM_CACHE)))
    return results


def _fresh(name: str, kept: str, bytecode: str, system: str = OURS) -> float:
    from benchmarks.__main__ import ONE_THREAD

    path = os.pathsep.join(entry for entry in sys.path if entry)
    places = {"ADJOINT_CACHE_DIR": kept, "PYTHONPYCACHEPREFIX": bytecode}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.first_calls", name, system],
        env={**os.environ, **ONE_THREAD, **places, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(run.stdout.splitlines()[-1]))


def first_call(name: str, system: str) -> Callable[[], object]:
    """What makes a gradient and calls it."""
    if name in _GRADBENCH:
        from benchmarks.gradbench.contestants import arguments, peer

        given = arguments(name, "S")
        return lambda: peer(system, name, given).gradient()
    from benchmarks.array_programs import PROGRAMS

    function, args, wrt = PROGRAMS[name]
    if system == JAX:
        from benchmarks import array_programs_in_jax

        return lambda: array_programs_in_jax.gradient(name, args, wrt)

    def run() -> object:
        import adjoint as ad

        return ad.grad(function, wrt, native="strict")(*args)

    return run


def _main(name: str, system: str) -> None:
    import numpy as np  # noqa: F401

    if system == JAX:
        import benchmarks.gradbench.peers.with_jax  # noqa: F401
    else:
        import llvmlite.binding  # noqa: F401

        if name in _GRADBENCH:  # these programs are functions of Numba
            import numba  # noqa: F401
    run = first_call(name, system)
    start = time.process_time()
    run()
    print(json.dumps(time.process_time() - start))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _main(*sys.argv[1:])
    else:
        from rich.console import Console

        from benchmarks.report import show

        show(measure(quick=False), Console())
