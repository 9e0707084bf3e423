"""Loops of few iterations: what long vectors leave over of them is computed by shorter ones, not one by one.

LLVM does so by itself only where 16 numbers go into a vector. Of doubles there are 8 at most, and a loop of 14 whose
last 6 iterations run one by one takes longer than it would without vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_OPTION = "-epilogue-vectorization-minimum-VF"
_WIDTH, _USUAL_WIDTH = 4, 16
_FIRST_VERSION = 15
"""Before, LLVM complained of options that are set twice."""


@contextmanager
def short_vectors_for_the_rest() -> Iterator[None]:
    """Compiles what is inside that way; nobody else's code, and nobody else compiles meanwhile."""
    from llvmlite import binding  # type: ignore[import-untyped]
    from numba.core.compiler_lock import global_compiler_lock

    if binding.llvm_version_info[0] < _FIRST_VERSION:
        yield
        return
    with global_compiler_lock:
        binding.set_option("", f"{_OPTION}={_WIDTH}")
        try:
            yield
        finally:
            binding.set_option("", f"{_OPTION}={_USUAL_WIDTH}")
