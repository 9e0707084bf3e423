import os
import platform
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")

PROGRAM = """
import resource
import numpy as np
import adjoint as ad

def f(x, steps):
    y = np.zeros(len(x))
    for _ in range(steps):
        y = x - y * y
    return np.sum(y)

gradient, x = ad.grad(f, native="strict"), np.full(10_000, 0.1)

def faults():
    for _ in range(10):
        gradient(x, 50)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

print(faults(), faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_memory_of_one_call_serves_the_next(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    settings = {**os.environ, "ADJOINT_CACHE_DIR": str(tmp_path / "cache")}
    for _ in ("compiles", "finds machine code"):
        run = subprocess.run([sys.executable, str(path)], env=settings, capture_output=True, text=True, check=True)
    first, second = map(int, run.stdout.split())
    pages_of_one_call = 50 * 10_000 * 8 // 4096
    assert second - first < pages_of_one_call
