"""Memory that derivatives free is kept for their next call, unless the C library was told otherwise."""

import os
import platform
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import resource

    import numpy as np

    import adjoint as ad

    def f(x):
        for _ in range(12):
            x = np.sin(x) * x
        return np.sum(x)

    derivative, x = ad.grad(f), np.ones(250_000)
    for _ in range(3):
        derivative(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    derivative(x)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**told: str) -> int:
    environment = {name: value for name, value in os.environ.items() if "MALLOC" not in name and "GLIBC" not in name}
    code = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    done = subprocess.run(code, env=environment | told, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator is that of glibc")
def test_a_derivative_by_numpy_takes_its_memory_from_the_call_before() -> None:
    assert faults() < 1000
    assert faults(MALLOC_TRIM_THRESHOLD_="131072") > 5000
    assert faults(GLIBC_TUNABLES="glibc.malloc.trim_threshold=131072") > 5000
