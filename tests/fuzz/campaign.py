"""Seeds checked range by range, by several processes, until stopped; what was done is kept in a folder.

There, ``results.jsonl`` has a line for each range with the counts of what came of it, and ``failures/`` what failed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

KINDS = ("ok", "refused", "skipped", "failed")


def parser_of(name: str, doc: str | None, noun: str) -> argparse.ArgumentParser:
    """The options that all have; ``noun`` is what a seed gives, in the plural."""
    parser = argparse.ArgumentParser(
        prog=f"python -m fuzz.{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seed", type=int, nargs="?", help="check this seed alone, and print what it gives")
    parser.add_argument("-j", "--workers", type=int, default=1, help="processes side by side")
    parser.add_argument("--folder", type=Path, default=Path(f".fuzz/{name}"), help="where progress is kept")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument(f"--{noun}", dest="most", type=int, default=0, help="stop after so many; 0: never")
    parser.add_argument("--summary", action="store_true", help="print what is known already, and stop")
    return parser


def failures_in(folder: Path) -> Path:
    """Where failures are kept."""
    failures = folder / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    return failures.resolve()


def go_on(
    given: argparse.Namespace,
    chunk: int,
    check: Callable[[int], dict[str, int]],
    told: Callable[[Counter[str]], str] = lambda total: "",
    ranges_each: int = 4,
) -> Counter[str]:
    """Checks ranges of ``chunk`` seeds that are not done yet: ``check`` is told where one starts.

    After each, progress is printed, with what ``told`` adds; a process checks ``ranges_each`` of them.
    """
    results = given.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line["counts"])
    if given.summary:
        return total
    done = {line["start"] for line in lines}
    began, ranges = time.monotonic(), 0
    tasks = ((check, start) for start in _starts(given, chunk) if start not in done)
    with multiprocessing.Pool(given.workers, maxtasksperchild=ranges_each) as pool, results.open("a") as out:
        try:
            for start, counts in pool.imap_unordered(_checked, tasks):
                out.write(json.dumps({"start": start, "counts": counts}) + "\n")
                out.flush()
                total.update(counts)
                ranges += 1
                speed = ranges * chunk / (time.monotonic() - began)
                kinds = "  ".join(f"{kind} {total[f'outcome {kind}']}" for kind in KINDS)
                print(f"{speed:5.1f}/s  to {start + chunk}  {kinds}  {told(total)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()
    return total


def finish(total: Counter[str], unlisted: str = "\n") -> int:
    """Prints what came of all seeds, without counts whose names start with ``unlisted``; gives the exit status."""
    rows = sorted((item for item in total.items() if not item[0].startswith(unlisted)), key=lambda item: -item[1])
    print("\n".join(f"{count:7d}  {key}" for key, count in rows))
    return int(total["outcome failed"] > 0)


def commented(message: str) -> str:
    return "".join(f"# {line}\n" for line in message.splitlines())


def _checked(task: tuple[Callable[[int], dict[str, int]], int]) -> tuple[int, dict[str, int]]:
    check, start = task
    return start, check(start)


def _starts(given: argparse.Namespace, chunk: int) -> Iterator[int]:
    first = given.start - given.start % chunk
    return iter(range(first, first + given.most if given.most else 1 << 40, chunk))
