"""Loops of few iterations, as derivatives of small functions are full of them, in machine code.

What long vectors leave over of a loop is computed by shorter ones, not one by one. LLVM does so by itself only where 16
numbers go into a vector. Of doubles there are 8 at most, and a loop of 14 whose last 6 iterations run one by one takes
longer than it would without vectors.

Loops that copy stay loops: for a few numbers that were just computed, a call of ``memcpy`` takes several times as long.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

_OPTIONS = (("epilogue-vectorization-minimum-VF", "4", "16"), ("disable-loop-idiom-memcpy", "true", "false"))
"""What is set, and what is usual."""
_FIRST_VERSION = 15
"""Before, LLVM complained of options that are set twice."""


@contextmanager
def made_for_short_loops() -> Iterator[None]:
    """Compiles what is inside that way; nobody else's code, and nobody else compiles meanwhile."""
    from llvmlite import binding  # type: ignore[import-untyped]  # lazy

    if binding.llvm_version_info[0] < _FIRST_VERSION:
        yield
        return
    with _lock, _lock_of_numba():
        for name, chosen, _ in _OPTIONS:
            binding.set_option("", f"-{name}={chosen}")
        try:
            yield
        finally:
            for name, _, usual in _OPTIONS:
                binding.set_option("", f"-{name}={usual}")


_lock = threading.RLock()


def _lock_of_numba() -> AbstractContextManager[object]:
    """That under which Numba compiles, if it is there: LLVM's options are those of the process."""
    module = sys.modules.get("numba.core.compiler_lock")
    return nullcontext() if module is None else module.global_compiler_lock
