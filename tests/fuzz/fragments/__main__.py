"""``python -m fuzz.fragments``: checks programs made of everyday code until stopped, and goes on where it stopped.

Under the folder (``.fuzz/fragments`` by default): ``results.jsonl`` has a line for each range of seeds with the counts
of what came of it; ``failures/`` has each failing program, made small, under its seed.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuzz.check import Outcome
from fuzz.fragments.check import NATIVE_EVERY, SECOND_EVERY, check
from fuzz.fragments.compose import Program, generate
from fuzz.fragments.draft import AROUND, FRAGMENTS
from fuzz.shrink import shrink

CHUNK = 100
SHRINK_SECONDS = 40.0
COLLECT_EVERY = 25
"""After how many programs garbage is searched for: after each compilation, as usual, is a tenth of all time."""
MOST_SMALL = 2
"""How many failures of one kind are made small."""
ARGUMENTS = "\n\n\ndef arguments():"


@dataclass(frozen=True)
class Options:
    """What a worker is told."""

    failures: Path
    second: int
    native: int


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.fragments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seed", type=int, nargs="?", help="check the program of one seed, make it small, print it")
    parser.add_argument("-j", "--workers", type=int, default=1, help="processes side by side")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz/fragments"), help="where progress is kept")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--programs", type=int, default=0, help="stop after so many; 0: never")
    parser.add_argument(
        "--second-every", type=int, default=SECOND_EVERY, help="second order for one of so many; 0: none"
    )
    parser.add_argument(
        "--native-every", type=int, default=NATIVE_EVERY, help="machine code for one of so many; 0: none"
    )
    parser.add_argument("--summary", action="store_true", help="print what is known already, and stop")
    given = parser.parse_args()
    failures = given.folder / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    options = Options(failures.resolve(), given.second_every, given.native_every)
    if given.seed is not None:
        return _one(given.seed, options)
    results = given.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line["counts"])
    if not given.summary:
        _many(given, options, results, {line["start"] for line in lines}, total)
    print(_summary(total))
    return int(total["outcome failed"] > 0)


def _one(seed: int, options: Options) -> int:
    program = generate(seed)
    outcome = _checked(program.text, seed, options)
    text = program.text
    if outcome.kind == "failed":
        text = smaller(program, outcome, options)
        outcome = replace(outcome, message=_checked(text, seed, options).message)
    print(text)
    print(f"seed {seed}: {outcome.kind} {outcome.key}\n{outcome.message}\n{outcome.refusals} {outcome.notes}")
    return int(outcome.kind == "failed")


def _many(given: Any, options: Options, results: Path, done: set[int], total: Counter[str]) -> None:
    tasks = ((start, options) for start in _starts(given.start, given.programs) if start not in done)
    began, programs = time.monotonic(), 0
    with multiprocessing.Pool(given.workers, maxtasksperchild=20) as pool, results.open("a") as out:
        try:
            for start, counts in pool.imap_unordered(_chunk, tasks):
                out.write(json.dumps({"start": start, "counts": counts}) + "\n")
                out.flush()
                total.update(counts)
                programs += CHUNK
                speed = programs / (time.monotonic() - began)
                print(_progress(total, start, speed), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()


def _starts(first: int, programs: int) -> Iterator[int]:
    first -= first % CHUNK
    return iter(range(first, first + programs if programs else 1 << 40, CHUNK))


def _progress(total: Counter[str], start: int, speed: float) -> str:
    kinds = "  ".join(f"{kind} {total[f'outcome {kind}']}" for kind in ("ok", "refused", "skipped", "failed"))
    names = (*FRAGMENTS, *AROUND)
    covered = sum(total[f"fragment {name}"] > 0 for name in names)
    return f"{speed:5.1f} programs/s  to {start + CHUNK}  {kinds}  fragments {covered}/{len(names)}"


def _summary(total: Counter[str]) -> str:
    rows = sorted((item for item in total.items() if not item[0].startswith("fragment ")), key=lambda item: -item[1])
    return "\n".join(f"{count:7d}  {key}" for key, count in rows)


def _chunk(task: tuple[int, Options]) -> tuple[int, dict[str, int]]:
    start, options = task
    counts: Counter[str] = Counter()
    gc.disable()
    for seed in range(start, start + CHUNK):
        if seed % COLLECT_EVERY == 0:
            gc.collect()
            if seed > start and not gc.get_freeze_count():
                gc.freeze()  # the compiler is loaded
        program = generate(seed)
        outcome = _checked(program.text, seed, options)
        counts.update(f"fragment {name}" for name in program.features)
        counts[f"outcome {outcome.kind}"] += 1
        if outcome.kind in ("failed", "skipped"):
            counts[f"{outcome.kind} {outcome.key}"] += 1
        counts.update(f"refused {refusal}" for refusal in outcome.refusals)
        counts.update(f"note {note}" for note in outcome.notes)
        if outcome.kind == "failed":
            _keep(program, outcome, options)
    return start, dict(counts)


def _checked(text: str, seed: int, options: Options) -> Outcome:
    second, native = (every > 0 and seed % every == 0 for every in (options.second, options.native))
    return check(text, seed, second, native)


def _keep(program: Program, outcome: Outcome, options: Options) -> None:
    """Writes a failing program, made small unless there are enough of its kind."""
    kind = f"# {outcome.key}\n"
    text = program.text
    known = sum(path.read_text().startswith(kind) for path in options.failures.glob("*.py"))
    if known < MOST_SMALL:
        text = smaller(program, outcome, options)
        outcome = replace(outcome, message=_checked(text, program.seed, options).message)
    message = "".join(f"# {line}\n" for line in outcome.message.splitlines())
    (options.failures / f"{program.seed}.py").write_text(kind + message + text, encoding="utf-8")


def smaller(program: Program, outcome: Outcome, options: Options) -> str:
    """A small program that fails in the same way: with fewer fragments, then with less in each."""

    def fails(text: str) -> bool:
        again = _checked(text, program.seed, options)
        return again.kind == "failed" and again.key == outcome.key

    without: frozenset[int] = frozenset()
    for number in program.steps:
        if fails(generate(program.seed, without | {number}).text):
            without |= {number}
    text, _, arguments = generate(program.seed, without).text.partition(ARGUMENTS)
    arguments = ARGUMENTS + arguments
    return shrink(text, lambda candidate: fails(candidate + arguments), SHRINK_SECONDS) + arguments.lstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
