"""``python -m native.campaign``: compiled derivatives against interpreted ones, for all programs, until it is through.

Every program runs in all modes and with all kinds of arrays, or with ``--in-turn`` with one kind each; ``--fuzz`` runs
random programs without end. Compiling takes most of the time: days rather than minutes where all is asked for. With
``--journal FILE`` a run goes on where the one before ended, and passes over the program that ended it.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.check import module_of
from fuzz.programs import generate
from native.agreement import MODES, VARIANTS, compare, has_arrays
from native.array_programs import time_steppers
from native.rule_programs import programs as rule_programs
from programs.registry import collect


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m native.campaign", description=__doc__)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--in-turn", action="store_true", help="the programs take turns with the kinds of arrays")
    parser.add_argument("--part", default="0/1", help="2/5: the third of five parts")
    parser.add_argument("--rules", action="store_true", help="example calls of all rules, instead")
    parser.add_argument("--fuzz", type=int, default=-1, help="random programs from this seed on, instead")
    parser.add_argument("--steppers", type=int, default=-1, help="programs that step arrays in time from this seed on")
    parser.add_argument("--journal", type=Path, help="a file that keeps what was found")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds after which a comparison ends the run")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    source = _random(options.fuzz) if options.fuzz >= 0 else _programs(options.only)
    if options.steppers >= 0:
        source = _steppers(options.steppers)
    if options.rules:
        source = (program for program in rule_programs() if options.only in program[0])
    journal = Journal(options.journal)
    for number, (name, function, args) in enumerate(source):
        if number % parts != part:
            continue
        kinds = options.variants.split(",") if has_arrays(args) else ["plain"]
        if options.in_turn:
            kinds = [kinds[number // parts % len(kinds)]]
        for mode, variant in itertools.product(options.modes.split(","), kinds):
            title = f"{name} {mode} {variant}"
            if title in journal.entries:
                continue
            journal.write(title, "unfinished")
            faulthandler.dump_traceback_later(options.patience, exit=True)
            outcome = compare(function, args, mode, variant)
            faulthandler.cancel_dump_traceback_later()
            journal.write(title, f"{outcome.kind}: {_line(outcome.message)}")
            if outcome.kind != "same":
                print(f"{title}: {journal.entries[title]}", flush=True)
    counts = Counter(entry.partition(":")[0] for entry in journal.entries.values())
    print(dict(counts), file=sys.stderr)
    return int(counts["differs"] + counts["unfinished"] > 0)


class Journal:
    """What came of each comparison, by title; in a file, too, if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.entries = dict(line.split("\t", 1) for line in lines)

    def write(self, title: str, entry: str) -> None:
        self.entries[title] = entry
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(f"{title}\t{entry}\n")


def _line(message: str) -> str:
    telling = [line.strip() for line in message.splitlines() if "^" in line or "note: " in line]
    return " | ".join(telling)[:400] or message.splitlines()[0][:400] if message else ""


def _programs(only: str) -> Iterator[tuple[str, Any, Any]]:
    for case in collect():
        if only in case.name:
            yield case.name, case.function, case.arguments()


def _random(seed: int) -> Iterator[tuple[str, Any, Any]]:
    for number in itertools.count(seed):
        with module_of(generate(number).text) as module:
            yield f"seed {number}", module.f, module.arguments()


def _steppers(seed: int) -> Iterator[tuple[str, Any, Any]]:
    for number in itertools.count(seed):
        yield f"stepper {number}", time_steppers.program(number), time_steppers.arguments(number)


if __name__ == "__main__":
    sys.exit(main())
