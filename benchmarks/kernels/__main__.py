"""``python -m benchmarks.kernels``: gradients of programs on arrays beside JAX's; writes ``results.md`` here."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.__main__ import ONE_THREAD

RESULTS = Path(__file__).with_name("results.md")
PICTURE = "![Gradients of programs on arrays](results.svg)"


def main() -> int:
    """Measures; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--only", default="", help="names of programs, with commas between them: nothing is written")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the table")
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)  # read by the libraries when they are imported

    from rich.console import Console

    from benchmarks.beside_jax import measured, table
    from benchmarks.kernels.picture import plot
    from benchmarks.kernels.programs import subjects
    from benchmarks.report import markdown, show

    console = Console(width=None if sys.stdout.isatty() else 240)
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ADJOINT_CACHE_DIR"] = folder  # in which nothing is kept
        for subject in subjects(set(filter(None, options.only.split(",")))):
            findings.append(measured(subject, interpreted=True))
            console.print("  ".join(findings[-1].row()), markup=False, highlight=False, soft_wrap=True)
    results = table(
        "Gradients of programs on arrays",
        "CPU time of one thread; ratios below 1 are faster. The program is compiled by Numba; interpreted derivatives "
        "stand beside the program as NumPy runs it, too. First calls are those of machine code that nobody has kept, "
        "and of JAX, both after their imports and start-up; peak memory is what a call needs beyond what the process "
        "holds already, for JAX results and temporaries as XLA plans them.",
        findings,
    )
    show(results, console)
    if not options.only:
        text = markdown([results], "python -m benchmarks.kernels")
        options.output.write_text(f"{text}\n{PICTURE}\n", encoding="utf-8")
        plot(findings, options.output.with_name("results.svg"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
