"""Tables and a plot of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.contestants import AUTOGRAD, C_FAST, JAX, NAMES, OURS, OURS_FAST, TORCH, C, missing
from benchmarks.gradbench.evals import functions_of
from benchmarks.gradbench.probe import cold_and_again, probe
from benchmarks.report import Results, duration, ratio

if TYPE_CHECKING:
    from benchmarks.gradbench.measuring import Case, Measured, Outcome

MODES = ("rr", "rf", "fr", "ff")


def ours(outcome: Outcome, outcomes: Sequence[Outcome]) -> Results:
    """Adjoint's derivatives beside its programs and beside the others; ``outcomes`` has those of each process."""
    results = Results(
        "GradBench: derivatives beside programs",
        "Processor time, the fastest turn in any process; in each process contestants take turns, each in one thread; "
        "freed memory stays with the process. Less than 1 × is faster than the other. C that may change the order of "
        "sums is the rival of `fastmath`, C that may not that of the default. Where times lie far apart between "
        "processes, the ratios within each tell.",
        (
            *("case", "program", "derivative", "beside the program", "beside JAX", "within each process"),
            *("best of Python", "beside C", "within each process"),
        ),
    )
    for case, measured in outcome.items():
        for name, rival in ((OURS, C), (OURS_FAST, C_FAST)):
            if name not in measured:
                continue
            found = measured[name]
            pythons = [measured[other].gradient for other in (JAX, TORCH, AUTOGRAD) if other in measured]
            results.rows.append(
                (
                    f"{' '.join(case)}{', fastmath' if name == OURS_FAST else ''}",
                    duration(found.primal),
                    duration(found.gradient),
                    ratio(found.gradient / found.primal),
                    _beside(found, measured.get(JAX)),
                    _spread([run[case] for run in outcomes], name, JAX),
                    ratio(found.gradient / min(pythons)) if pythons else "",
                    _beside(found, measured.get(rival)),
                    _spread([run[case] for run in outcomes], name, rival),
                )
            )
    results.notes += [f"Not installed: {name}." for name in NAMES if missing(name)]
    return results


def _beside(found: Measured, other: Measured | None) -> str:
    return "" if other is None else ratio(found.gradient / other.gradient)


def _spread(runs: Sequence[Mapping[str, Measured]], name: str, rival: str) -> str:
    """From the least to the greatest ratio within a process."""
    ratios = sorted(run[name].gradient / run[rival].gradient for run in runs if rival in run)
    return f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else ""


def gradients(outcome: Outcome) -> Results:
    """All contestants' derivatives."""
    names = [name for name in NAMES if any(name in measured for measured in outcome.values())]
    results = Results(
        "GradBench: derivatives of all",
        "In brackets: beside the contestant's own program.",
        ("case", *names),
    )
    for case, measured in outcome.items():
        cells = [_cell(measured.get(name)) for name in names]
        results.rows.append((" ".join(case), *cells))
    return results


def _cell(found: Measured | None) -> str:
    return "" if found is None else f"{duration(found.gradient)} ({found.gradient / found.primal:.1f})"


def nested(rounds: int) -> Results:
    """The evals that take derivatives of derivatives."""
    from benchmarks.gradbench.measuring import fastest

    results = Results(
        "GradBench: derivatives inside derivatives",
        "A whole descent. The first letter is the mode of the outer derivative, the second that of the inner one: "
        "reverse or forward.",
        ("", *MODES),
    )
    for title, build in (("", Build()), (", interpreted", Build(native=False))):
        for name, given in (("saddle", {"start": [1.0, 1.0]}), ("particle", {"w": 0.0})):
            functions = functions_of(name, build)
            runs = {modes: partial(functions[modes].run, *functions[modes].prepare(given)) for modes in MODES}
            for run in runs.values():
                run()
            times = fastest(runs, rounds)
            results.rows.append((name + title, *(duration(times[modes]) for modes in MODES)))
    return results


def first_calls(evals: Sequence[str]) -> Results:
    """How long the first derivative takes in a new process, compilation included."""
    results = Results(
        "GradBench: first calls",
        "Processor time of the first derivative in a new process, on the small case, once the libraries are imported.",
        ("eval", "Adjoint, cold", "Adjoint, from the cache", "JAX"),
    )
    for name in evals:
        cold, again = cold_and_again(OURS_FAST, name, "S")
        jax = "" if missing(JAX) else duration(probe(JAX, name, "S", "").first)
        results.rows.append((name, duration(cold.first), duration(again.first), jax))
    return results


def memory(cases: Sequence[Case]) -> Results:
    """What a derivative needs at its peak, results included."""
    names = [name for name in (OURS_FAST, JAX, TORCH, AUTOGRAD, C_FAST) if not missing(name)]
    results = Results(
        "GradBench: memory",
        "Megabytes by which the process grows at the peak of one derivative, its result included; it has run once.",
        ("case", *names),
    )
    for case in dict(cases).items():  # the last of each eval: its largest
        peaks = [probe(name, *case, cache="").peak for name in names]
        results.rows.append((" ".join(case), *("" if peak is None else f"{peak / 1e6:.1f}" for peak in peaks)))
    return results


def plot(outcome: Outcome, path: Path) -> None:
    """Draws how long each derivative takes, beside that of Adjoint."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cases = list(outcome)
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(cases) + 1.5), layout="constrained")
    marks = {OURS: "|", JAX: "o", TORCH: "s", AUTOGRAD: "^", C_FAST: "x"}
    for name, mark in marks.items():
        known = [
            (i, outcome[case]) for i, case in enumerate(cases) if name in outcome[case] and OURS_FAST in outcome[case]
        ]
        sizes = [measured[name].gradient / measured[OURS_FAST].gradient for _, measured in known]
        axes.plot(sizes, [i for i, _ in known], mark, label=name, markersize=6, linestyle="none")
    axes.axvline(1.0, color="black", linewidth=1, label=OURS_FAST)
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), [" ".join(case) for case in cases])
    axes.invert_yaxis()
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel("time of the derivative, beside Adjoint with fastmath (to the right: slower than Adjoint)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=6, frameon=False, fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
