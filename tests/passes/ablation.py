"""``make ablate``: what each pass buys on the benchmarks, and where in the corpus it fires; writes docs/passes.md anew.

A pass is left out where it can be and changes the text of a benchmark. Two processes, one with it and one without, run
the derivative by turns, and then two others; what counts is the median of the ratios.
``python -m passes.ablation --only heat,ode`` measures some benchmarks, ``--passes fuse-loops`` some passes; what was
measured before stays.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

from adjoint import ir
from adjoint.passes import DRIVERS, PASSES
from golden.native_programs import KERNELS, text_of_eval, text_of_kernel
from passes import document
from passes.firing import MODES, fired, shown, watched
from passes.measured import NAMES, ROOT
from programs.registry import collect

PAIRS, ROUNDS = 3, 4
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Runner:
    """A process that runs a benchmark when it is asked to."""

    def __init__(self, name: str, skipped: str) -> None:
        environment = {**os.environ, **_ENVIRONMENT, "ADJOINT_SKIP": skipped, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "passes.measured", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a benchmark ended")
        return line

    def seconds(self) -> float:
        """The time of one derivative now."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self._line())

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def changing(name: str) -> list[str]:
    """The passes without which the text of a benchmark is another."""

    def text(skipped: frozenset[str]) -> str:
        found: set[str] = set()
        with watched(lambda step, *_: found.add(step), skipped):
            made = text_of_kernel(KERNELS[name]) if name in KERNELS else text_of_eval(name)
        fires.update(found)
        return made

    fires: set[str] = set()
    usual = text(frozenset())
    optional = [step for step in PASSES if step in fires and not PASSES[step].needed and step not in DRIVERS]
    found = []
    for step in optional:
        try:
            if text(frozenset({step})) != usual:
                found.append(step)
        except Exception:  # a later pass relies on this one
            continue
    return found


def gain(name: str, step: str) -> float | None:
    """How many times as long a benchmark takes without a pass; None if it does not run without it.

    Processes differ by where their memory happens to lie: there are several of both kinds.
    """
    ratios = []
    for _ in range(PAIRS):
        runners: list[Runner] = []
        try:
            runners += [Runner(name, step), Runner(name, "")]
            without, usual = runners
            ratios += [without.seconds() / usual.seconds() for _ in range(ROUNDS)]
        except RuntimeError:
            return None
        finally:
            for runner in runners:
                runner.end()
    return statistics.median(ratios)


def measure(names: list[str], steps: list[str]) -> None:
    """Measures, and keeps what is found as it is found."""
    for name in names:
        optional = [step for step in PASSES if not PASSES[step].needed and step not in DRIVERS]
        chosen = [step for step in optional if not steps or step in steps]
        results = document.results()
        document.keep(results | {"gains": {step: {} for step in chosen} | results["gains"]})
        for step in changing(name):
            if step not in chosen:
                continue
            results = document.results()
            results["gains"].setdefault(step, {})[name] = gain(name, step)
            document.keep(results)
            print(name, step, results["gains"][step][name], flush=True)


def count() -> None:
    """Counts where in the corpus each pass fires, and picks the programs that show it in the fewest lines."""
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for mode in MODES:
        for case in collect():
            sizes: dict[str, int] = {}

            def told(step: str, before: ir.Function, after: ir.Function, sizes: dict[str, int] = sizes) -> None:
                sizes.setdefault(step, len(list(shown(before, after))))

            fired(case, mode, told)
            for step, size in sizes.items():
                found.setdefault(step, {}).setdefault(case.name, (size, mode))
        print(mode, {step: len(cases) for step, cases in found.items()}, flush=True)
    results = document.results()
    results["counts"] = {step: len(found.get(step, ())) for step in PASSES}
    results["witnesses"] = {
        step: [[cases[name][1], name] for name in sorted(cases, key=lambda name: (cases[name][0], name))[:2]]
        for step, cases in found.items()
    }
    document.keep(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--passes", default="")
    parser.add_argument("--count", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--measure", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    if options.count:
        count()
    if options.measure:
        measure(options.only.split(","), [step for step in options.passes.split(",") if step])
    document.write()


if __name__ == "__main__":
    main()
