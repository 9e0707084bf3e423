"""What a fresh process measures of itself: imports and first derivatives. It imports nothing else before."""

import importlib.util
import json
import os
import sys
import time
from types import ModuleType
from typing import Any

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vehicle.py")
ARGUMENTS = (0.3, 1.0)
WRT = (0, 1)


def program(name: str) -> ModuleType:
    """A copy of the program: a function that the compiler has not seen."""
    spec = importlib.util.spec_from_file_location(name, PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def probe() -> dict[str, float]:
    """Times in seconds."""
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
    sys.stdout.write(json.dumps(probe()))
