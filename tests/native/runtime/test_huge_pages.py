"""Large arrays of machine code: that the system was asked for huge pages is read of the process's own mappings."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")
MAPPINGS = Path("/proc/self/smaps")
KIND = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def cubes(x):
    return np.sum(x**3)


def is_advised(array):
    """Whether huge pages were asked for in the middle of an array."""
    address = array.ctypes.data + array.nbytes // 2
    inside = False
    for line in MAPPINGS.read_text().splitlines():
        bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if bounds is not None:
            inside = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return "hg" in line.split()
    raise AssertionError("the array lies nowhere")


@pytest.mark.skipif(sys.platform != "linux" or not KIND.exists(), reason="no huge pages here")
def test_large_arrays_lie_in_huge_pages():
    gradient = ad.grad(cubes, native="strict")
    for count in (1_000_000, 250_000, 400_001):
        x = np.linspace(0.0, 1.0, count)
        found = gradient(x)
        np.testing.assert_allclose(found, 3 * x * x)
        assert is_advised(found)
    small = np.linspace(0.0, 1.0, 1000)
    np.testing.assert_allclose(gradient(small), 3 * small * small)
