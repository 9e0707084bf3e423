"""``python -m benchmarks.back_ends``: which gradients are machine code of Adjoint's own, and why others are Numba's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.report import Results


def programs() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[int, ...]]]:
    """Programs with arguments, and by which of these they are differentiated."""
    from benchmarks.array_programs import PROGRAMS
    from benchmarks.kernels.programs import PROGRAMS as KERNELS

    for name, (function, args, wrt) in PROGRAMS.items():
        yield name, function, args, wrt
    for kernel in KERNELS:
        args = kernel.arguments(np.random.default_rng(0))
        yield kernel.function.__name__, kernel.function, args, kernel.wrt or tuple(range(len(args)))


def left_to_numba(function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> str:
    """What Numba has to compile the gradient for; nothing where Adjoint does itself."""
    import adjoint as ad

    title, _, text = ad.stages(ad.grad(function, wrt), *args, native=True).rpartition("\n-- ")[2].partition("\n")
    if title == "llvm" and "is compiled by Numba" not in text:
        return ""
    return text.strip().partition("by Numba: ")[2].removesuffix(" has no form in LLVM IR") or title


def measure() -> Results:
    """Looks at each gradient; nothing is run."""
    results = Results(
        "Back ends",
        "Whether the gradient is machine code of Adjoint's own, or what Numba has to compile it for.",
        ("", "Adjoint", "left to Numba for"),
    )
    for name, function, args, wrt in programs():
        reason = left_to_numba(function, args, wrt)
        results.rows.append((name, "" if reason else "yes", reason))
    own = sum(row[1] == "yes" for row in results.rows)
    results.rows.append((f"{own} of {len(results.rows)}", "", ""))
    return results


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.report import show

    show(measure(), Console())
