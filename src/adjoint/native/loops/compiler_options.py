"""What LLVM is told of loops.

Derivatives of small functions are full of loops of few iterations. What long vectors leave over of a loop is computed
by shorter ones, not one by one. LLVM does so by itself only where 16 numbers go into a vector. Of doubles there are 8
at most, and a loop of 14 whose last 6 iterations run one by one takes longer than it would without vectors.

Loops that copy stay loops: for a few numbers that were just computed, a call of ``memcpy`` takes several times as long.

A loop that adds up in the order of the program is vectorized, too: what it adds is computed by vectors, and added one
by one (an ordered reduction). Without that, one sum keeps a loop from it: the exponentials of a loop that fits a curve
take four times as long.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

_OPTIONS = (
    ("epilogue-vectorization-minimum-VF", "4", "16"),
    ("disable-loop-idiom-memcpy", "true", "false"),
    ("force-ordered-reductions", "true", "false"),
)
"""What is set, and what is usual."""
_FIRST_VERSION = 15
"""Before, LLVM complained of options that are set twice."""


@contextmanager
def loop_options() -> Iterator[None]:
    """Compiles what is inside with these options; nobody else's code, and nobody else compiles meanwhile."""
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
