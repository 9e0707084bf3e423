"""Large arrays of machine code: that the system was asked for huge pages is read of the process's own mappings."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("numba")
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


@pytest.mark.skipif(sys.platform != "linux" or sys.maxsize < 2**32, reason="nothing is replaced")
def test_a_call_of_the_allocator_is_replaced():
    binding = pytest.importorskip("llvmlite.binding")
    from adjoint.native.runtime.huge_pages import with_huge_pages

    name = "NRT_MemInfo_alloc_safe_aligned"
    text = f"""
declare i8* @{name}(i64, i32)
define i8* @made() {{
  %made = call i8* @{name}(i64 80, i32 32)
  ret i8* %made
}}
"""
    module = binding.parse_assembly(text)
    with_huge_pages(module)
    module.verify()
    callers = {each.name for each in module.functions if not each.is_declaration and f"@{name}(" in str(each)}
    assert callers == {f"adjoint_{name}"}
    assert f"@adjoint_{name}(" in str(module.get_function("made"))


@pytest.mark.skipif(sys.platform != "linux" or sys.maxsize < 2**32, reason="nothing is replaced")
def test_what_is_linked_into_another_module_keeps_its_own():
    """Calls that were left without a function ended the process."""
    binding = pytest.importorskip("llvmlite.binding")
    from adjoint.native.runtime.huge_pages import with_huge_pages

    name = "NRT_MemInfo_alloc_aligned"
    one, other = (
        binding.parse_assembly(
            f"declare i8* @{name}(i64, i32)\n"
            f"define i8* @{made}() {{\n  %made = call i8* @{name}(i64 80, i32 32)\n  ret i8* %made\n}}"
        )
        for made in ("one", "other")
    )
    with_huge_pages(one)
    other.link_in(one)
    with_huge_pages(other)
    other.verify()
    assert {each.name for each in other.functions if each.is_declaration} == {name, "madvise"}
