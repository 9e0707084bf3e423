"""``python -m benchmarks.gradbench.probe CONTESTANT EVAL SIZE``: what needs a process of its own.

Prints the seconds of the processor for the first derivative, compilation included, and the bytes that a later one
needs at its peak.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.__main__ import ONE_THREAD

_IMPORTED_BEFORE = {
    "Adjoint": "numba",
    "Adjoint, fastmath": "numba",
    "JAX": "benchmarks.gradbench.peers.with_jax",
    "PyTorch": "benchmarks.gradbench.peers.with_torch",
    "autograd": "benchmarks.gradbench.peers.with_autograd",
}


@dataclass(frozen=True)
class Probe:
    """What a process found; the peak is None where the system does not tell."""

    first: float
    peak: int | None


def probe(name: str, eval_name: str, size: str, cache: str) -> Probe:
    """Runs a process whose machine code is kept in a directory."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.gradbench.probe", name, eval_name, size],
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_THREAD, "ADJOINT_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""},
        cwd=Path(__file__).parents[2],
        check=True,
    )
    return Probe(**json.loads(process.stdout.splitlines()[-1]))


def cold_and_again(name: str, eval_name: str, size: str) -> tuple[Probe, Probe]:
    """Two processes, one after the other: with nothing kept, and with what the first one kept."""
    _write_bytecode(name)
    with tempfile.TemporaryDirectory() as cache:
        return probe(name, eval_name, size, cache), probe(name, eval_name, size, cache)


@functools.cache
def _write_bytecode(name: str) -> None:
    """Runs a contestant once, so that the bytecode of its modules is there, as after installation."""
    with tempfile.TemporaryDirectory() as cache:
        probe(name, "lse", "S", cache)


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(field)


def _peak(run: object) -> int | None:
    assert callable(run)
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak is that of from now on
        before = _resident("VmRSS")
        run()
        return max(0, _resident("VmHWM") - before)
    except (OSError, AttributeError):
        return None


def _main() -> None:
    name, eval_name, size = sys.argv[1:]
    from benchmarks.gradbench.contestants import arguments, peer

    importlib.import_module(_IMPORTED_BEFORE.get(name, "json"))
    args = arguments(eval_name, size)
    start = time.process_time()
    gradient = peer(name, eval_name, args).gradient
    gradient()
    first = time.process_time() - start
    print(json.dumps({"first": first, "peak": _peak(gradient)}))


if __name__ == "__main__":
    _main()
