"""``python -m fuzz.call_forms``: checks spelled calls until stopped, and goes on where it stopped.

Under the folder (``.fuzz/call_forms`` by default): ``results.jsonl`` has a line for each range of seeds with the counts
of what came of it; ``failures/`` has each failing call under its seed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz.call_forms import check, generate

CHUNK = 500


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.call_forms", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seed", type=int, nargs="?", help="check the call of one seed, and print it")
    parser.add_argument("-j", "--workers", type=int, default=1, help="processes side by side")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz/call_forms"), help="where progress is kept")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--calls", type=int, default=0, help="stop after so many; 0: never")
    parser.add_argument("--summary", action="store_true", help="print what is known already, and stop")
    given = parser.parse_args()
    if given.seed is not None:
        return _one(given.seed)
    (given.folder / "failures").mkdir(parents=True, exist_ok=True)
    results = given.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line["counts"])
    if not given.summary:
        _many(given, results, {line["start"] for line in lines}, total)
    print("\n".join(f"{count:7d}  {key}" for key, count in sorted(total.items(), key=lambda item: -item[1])))
    return int(total["outcome failed"] > 0)


def _one(seed: int) -> int:
    outcome = check(seed)
    if outcome.kind != "skipped" or not outcome.key.endswith("that NumPy takes"):
        print(generate(seed).text)
    print(f"seed {seed}: {outcome.kind} {outcome.key}\n{outcome.message}")
    return int(outcome.kind == "failed")


def _many(given: argparse.Namespace, results: Path, done: set[int], total: Counter[str]) -> None:
    began, calls = time.monotonic(), 0
    tasks = ((start, given.folder / "failures") for start in _starts(given) if start not in done)
    with multiprocessing.Pool(given.workers, maxtasksperchild=4) as pool, results.open("a") as out:
        try:
            for start, counts in pool.imap_unordered(_chunk, tasks):
                out.write(json.dumps({"start": start, "counts": counts}) + "\n")
                out.flush()
                total.update(counts)
                calls += CHUNK
                print(_progress(total, calls / (time.monotonic() - began)), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()


def _progress(total: Counter[str], speed: float) -> str:
    kinds = [f"{kind} {total[f'outcome {kind}']}" for kind in ("ok", "refused", "skipped", "failed")]
    return f"{speed:5.1f} calls/s  {'  '.join(kinds)}"


def _starts(given: argparse.Namespace) -> Iterator[int]:
    first = given.start - given.start % CHUNK
    last = first + given.calls if given.calls else 1 << 40
    yield from range(first, last, CHUNK)


def _chunk(task: tuple[int, Path]) -> tuple[int, dict[str, int]]:
    start, failures = task
    counts: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        outcome = check(seed)
        counts[f"outcome {outcome.kind}"] += 1
        if outcome.kind in ("refused", "failed"):
            counts[f"{outcome.kind} {outcome.key}"] += 1
        if outcome.kind == "failed":
            message = "".join(f"# {line}\n" for line in [outcome.key, *outcome.message.splitlines()])
            (failures / f"{seed}.py").write_text(message + generate(seed).text, encoding="utf-8")
    return start, dict(counts)


if __name__ == "__main__":
    sys.exit(main())
