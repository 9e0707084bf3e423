"""``python -m benchmarks.back_ends``: which gradients are machine code, why others are not, and what runs as Python."""

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


def stage_of(function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> tuple[str, int]:
    """Why a gradient is no machine code, if it is none; how many statements run as Python."""
    import adjoint as ad

    title, _, text = ad.stages(ad.grad(function, wrt), *args, native=True).rpartition("\n-- ")[2].partition("\n")
    if title != "llvm":
        return text.strip() or title, 0
    return "", text.count("call ptr @call_python(ptr @python_")


def measure() -> Results:
    """Looks at each gradient; nothing is run."""
    results = Results(
        "Back ends",
        "Whether the gradient is machine code, and how many of its statements run as Python.",
        ("", "machine code", "statements by Python", "why not"),
    )
    for name, function, args, wrt in programs():
        reason, count = stage_of(function, args, wrt)
        results.rows.append((name, "" if reason else "yes", str(count or ""), reason))
    own = sum(row[1] == "yes" for row in results.rows)
    results.rows.append((f"{own} of {len(results.rows)}", "", "", ""))
    return results


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.report import show

    show(measure(), Console())
