"""``python -m benchmarks.gradbench.compare``: the evals beside other systems, in turn, in several processes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.__main__ import ONE_THREAD
from benchmarks.gradbench.measuring import Case, Outcome, fastest_of, in_a_process, measure

RESULTS = Path(__file__).with_name("results.md")
PLOT = Path(__file__).with_name("results.svg")


def main() -> int:
    """Compares; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench.compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, small cases: to see that everything runs")
    parser.add_argument("--evals", nargs="+", metavar="EVAL", help="only these")
    parser.add_argument("--sizes", nargs="+", default=["S", "M"], choices=["S", "M", "L"])
    parser.add_argument("--processes", type=int, default=3, metavar="N", help="measure in so many (default: 3)")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the tables")
    parser.add_argument("--plot", type=Path, default=PLOT, metavar="PATH", help="where to draw the plot")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error("--processes must be at least 1")
    os.environ.update(ONE_THREAD)  # read by the libraries when they are imported

    from benchmarks.gradbench import summary
    from benchmarks.gradbench.contestants import CASES
    from benchmarks.report import markdown, show
    from benchmarks.timing import keep_freed_memory

    keep_freed_memory()
    console = Console()
    evals = options.evals or list(CASES)
    sizes = ["S"] if options.quick else options.sizes
    cases = [(name, size) for name in evals for size in sizes]
    if options.quick:
        outcomes = [{case: measure(*case, rounds=3) for case in cases}]
    else:
        outcomes = [_measured(cases, turn, options.processes, console) for turn in range(options.processes)]
    outcome = fastest_of(outcomes)
    summary.plot(outcome, options.plot)
    stages = [
        lambda: summary.ours(outcome, outcomes),
        lambda: summary.gradients(outcome),
        lambda: summary.nested(rounds=1 if options.quick else 5),
    ]
    if not options.quick:
        stages += [lambda: summary.first_calls(evals), lambda: summary.memory(list(outcome))]
    command = f"python -m benchmarks.gradbench.compare{' --quick' if options.quick else ''}"
    picture = f"\n![Gradients beside those of Adjoint]({os.path.relpath(options.plot, options.output.parent)})\n"
    tables = []
    for stage in stages:  # written after each: the last ones take long
        with console.status("measuring"):
            tables.append(stage())
        show(tables[-1], console)
        options.output.write_text(markdown(tables, command) + picture, encoding="utf-8")
    console.print(f"written: {options.output}, {options.plot}", markup=False, highlight=False, soft_wrap=True)
    return 0


def _measured(cases: list[Case], turn: int, processes: int, console: Console) -> Outcome:
    outcome: Outcome = {}
    with console.status("") as status:
        status.update(f"process {turn + 1} of {processes}: {' '.join(cases[0])}")
        for case, found in in_a_process(cases, rounds=15):
            outcome[case] = found
            console.print(*case, {name: f"{times.gradient * 1e3:.3g} ms" for name, times in found.items()})
            if len(outcome) < len(cases):
                status.update(f"process {turn + 1} of {processes}: {' '.join(cases[len(outcome)])}")
    return outcome


if __name__ == "__main__":
    sys.exit(main())
