"""``python -m fuzz``: checks programs until it is stopped, and goes on where it stopped.

Under the folder (``.fuzz`` by default): ``results.jsonl`` has a line for each chunk of seeds; ``failures/`` has each
failing program, made small, under its seed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzz.check import Outcome, check
from fuzz.programs import generate
from fuzz.shrink import shrink
from fuzz.writer import PRODUCTIONS

CHUNK = 20
PROCESSES_EVERY = 60
"""Of how many programs one is compiled in a second process too."""
SHRINK_SECONDS = 60.0
MOST_SMALL = 3
"""How many failures of one kind are made small."""


def main() -> int:
    os.environ.setdefault("ADJOINT_TRACEBACK", "full")  # failures are told by the place in the compiler
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="check the program of one seed, and print it")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--chunks", type=int, default=0, help="stop after so many; 0: never")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    if options.seed is not None:
        return _one(options.seed)
    return _many(options)


def _one(seed: int) -> int:
    program = generate(seed)
    outcome = check(program.text, seed, processes=True)
    print(program.text)
    print(f"seed {seed}: {outcome.kind} {outcome.key}\n{outcome.message}\n{outcome.refusals} {outcome.notes}")
    return int(outcome.kind == "failed")


def _many(options: Any) -> int:
    failures = options.folder / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    results = options.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {line["chunk"] for line in lines}
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line["counts"])
    first = options.start // CHUNK
    chunks = (
        chunk for chunk in range(first, first + options.chunks if options.chunks else 1 << 40) if chunk not in done
    )
    began, programs = time.monotonic(), 0
    with multiprocessing.Pool(options.workers, maxtasksperchild=10) as pool, results.open("a") as out:
        try:
            for chunk, counts in pool.imap_unordered(_chunk, ((chunk, failures) for chunk in chunks)):
                out.write(json.dumps({"chunk": chunk, "counts": counts}) + "\n")
                out.flush()
                total.update(counts)
                programs += CHUNK
                print(_progress(total, programs / (time.monotonic() - began)), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()
    print("\n".join(f"{count:7d}  {key}" for key, count in sorted(total.items(), key=lambda item: -item[1])))
    return int(total["outcome failed"] > 0)


def _progress(total: Counter[str], speed: float) -> str:
    kinds = [f"{kind} {total[f'outcome {kind}']}" for kind in ("ok", "refused", "skipped", "failed")]
    productions = {function.__name__ for group in PRODUCTIONS.values() for function, _ in group}
    covered = sum(total[f"feature {name}"] > 0 for name in productions)
    return f"{speed:5.1f} programs/s  {'  '.join(kinds)}  features {covered}/{len(productions)}"


def _chunk(task: tuple[int, Path]) -> tuple[int, dict[str, int]]:
    chunk, failures = task
    counts: Counter[str] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        program = generate(seed)
        outcome = check(program.text, seed, processes=seed % PROCESSES_EVERY == 0)
        counts.update(f"feature {name}" for name in program.features)
        counts[f"outcome {outcome.kind}"] += 1
        if outcome.kind in ("failed", "skipped"):
            counts[f"{outcome.kind} {outcome.key}"] += 1
        counts.update(f"refused {refusal}" for refusal in outcome.refusals)
        counts.update(f"note {note}" for note in outcome.notes)
        if outcome.kind == "failed":
            _keep(failures, seed, program.text, outcome)
    return chunk, dict(counts)


def _keep(failures: Path, seed: int, text: str, outcome: Outcome) -> None:
    """Writes a failing program, made small unless there are enough of its kind."""
    kind = f"# {outcome.key}\n"
    known = sum(path.read_text().startswith(kind) for path in failures.glob("*.py"))
    if known < MOST_SMALL:

        def fails(candidate: str) -> bool:
            again = check(candidate, seed, seconds=10)
            return again.kind == "failed" and again.key == outcome.key

        text = shrink(text, fails, SHRINK_SECONDS)
        outcome = replace(outcome, message=check(text, seed).message)
    message = "".join(f"# {line}\n" for line in outcome.message.splitlines())
    (failures / f"{seed}.py").write_text(kind + message + text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
