"""``python -m benchmarks.gradbench``: speaks the protocol of GradBench on standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.__main__ import ONE_THREAD

TOLERANCE = 1e-9


def main() -> int:
    """Serves, or checks; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench", description=__doc__)
    parser.add_argument("--interpreted", action="store_true", help="run Python, not machine code")
    parser.add_argument("--fastmath", action="store_true", help="let the compiler change the order of sums")
    parser.add_argument(
        "--check",
        type=Path,
        metavar="FOLDER",
        help="compare with NAME_SIZE.npz and NAME_SIZE_ref.npz, and print a table",
    )
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)

    from benchmarks.gradbench.build import Build
    from benchmarks.gradbench.protocol import serve
    from benchmarks.timing import keep_freed_memory

    keep_freed_memory()
    build = Build(native=not options.interpreted, fastmath=options.fastmath)
    if options.check is not None:
        return check(options.check, build)
    serve(sys.stdin, sys.stdout, build)
    return 0


def check(folder: Path, build: object) -> int:
    """Prints a table of differences; the result is 1 if one of them is too large."""
    from rich.console import Console

    from benchmarks.gradbench.check import comparisons
    from benchmarks.report import Results, duration, show

    console = Console()
    results = Results(
        f"GradBench, against {folder}", "", ("case", "function", "difference", "first call", "second call")
    )
    agree = True
    for found in comparisons(folder, build):
        row = (found.case, found.function, f"{found.difference:.1e}", duration(found.first), duration(found.second))
        console.print(*row)
        results.rows.append(row)
        agree = agree and found.difference <= TOLERANCE
    show(results, console)
    return 0 if agree and results.rows else 1


if __name__ == "__main__":
    sys.exit(main())
