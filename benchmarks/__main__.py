"""``python -m benchmarks``: measures, prints, and writes ``benchmarks/results.md``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
SECTIONS = (
    "latency",
    "calls",
    "first_calls",
    "training",
    "exclusive_or",
    "memory_bound",
    "loops",
    "growth",
    "objects",
    "checkpoints",
)
RESULTS = Path(__file__).with_name("results.md")


def main() -> int:
    """Runs the benchmarks; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that everything runs")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the tables")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=f"measure these anew: {', '.join(SECTIONS)}"
    )
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)  # read by the libraries when they are imported

    from rich.console import Console

    from benchmarks.report import markdown, merged, show

    console = Console()
    tables = []
    try:
        for section in options.only or SECTIONS:
            with console.status(f"measuring: {section}"):
                tables.append(importlib.import_module(f"benchmarks.{section}").measure(options.quick))
            show(tables[-1], console)
    except KeyboardInterrupt:
        print("benchmarks: interrupted; nothing was written", file=sys.stderr)
        return 130
    command = "python -m benchmarks --quick" if options.quick else "python -m benchmarks"
    page = options.output.read_text(encoding="utf-8") if options.only and options.output.exists() else None
    text = markdown(tables, command) if page is None else merged(page, tables)
    options.output.write_text(text, encoding="utf-8")
    console.print(f"written: {options.output}", markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
