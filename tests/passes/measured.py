"""``python -m passes.measured NAME``: a benchmark that runs when it is asked to. ``ADJOINT_SKIP`` leaves passes out.

For each line that it reads it prints the seconds of one derivative, the best of some.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adjoint as ad

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)

from benchmarks.gradbench.build import Build  # noqa: E402
from benchmarks.gradbench.contestants import CASES, FUNCTIONS, arguments  # noqa: E402
from benchmarks.gradbench.evals import functions_of  # noqa: E402
from benchmarks.kernels.small import KERNELS  # noqa: E402

NAMES = (*CASES, *KERNELS)
AT_A_TIME = 0.15
"""Seconds for which a derivative is run again and again."""


def derivative(name: str) -> Callable[[], Any]:
    """The derivative of a benchmark at its arguments."""
    if name in KERNELS:
        kernel = KERNELS[name]
        run, args = ad.grad(kernel.function, kernel.wrt, native=True), kernel.given(kernel.large)
        return lambda: run(*args)
    function = functions_of(name, Build())[FUNCTIONS.get(name, ("primal", "gradient"))[1]]
    given = arguments(name, "S")
    return lambda: function.run(*given)


def _best(run: Callable[[], Any]) -> float:
    end = time.perf_counter() + AT_A_TIME
    best = float("inf")
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def _main() -> None:
    warnings.simplefilter("ignore")
    run = derivative(sys.argv[1])
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(_best(run), flush=True)


if __name__ == "__main__":
    _main()
