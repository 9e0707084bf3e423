"""``python -m fuzz.fragments``: checks programs made of everyday code until stopped, and goes on where it stopped.

Under the folder (``.fuzz/fragments`` by default): ``results.jsonl`` has a line for each range of seeds with the counts
of what came of it; ``failures/`` has each failing program, made small, under its seed.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from fuzz.campaign import commented, failures_in, finish, go_on, parser_of
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
    parser = parser_of("fragments", __doc__, "programs")
    parser.add_argument(
        "--second-every", type=int, default=SECOND_EVERY, help="second order for one of so many; 0: none"
    )
    parser.add_argument(
        "--native-every", type=int, default=NATIVE_EVERY, help="machine code for one of so many; 0: none"
    )
    given = parser.parse_args()
    options = Options(failures_in(given.folder), given.second_every, given.native_every)
    if given.seed is not None:
        return _one(given.seed, options)
    return finish(go_on(given, CHUNK, partial(_chunk, options), _covered, ranges_each=20), "fragment ")


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


def _covered(total: Counter[str]) -> str:
    names = (*FRAGMENTS, *AROUND)
    return f"fragments {sum(total[f'fragment {name}'] > 0 for name in names)}/{len(names)}"


def _chunk(options: Options, start: int) -> dict[str, int]:
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
    return dict(counts)


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
    (options.failures / f"{program.seed}.py").write_text(kind + commented(outcome.message) + text, encoding="utf-8")


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
