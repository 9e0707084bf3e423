"""``python -m fuzz.call_forms``: checks spelled calls until stopped, and goes on where it stopped.

Under the folder (``.fuzz/call_forms`` by default): ``results.jsonl`` has a line for each range of seeds with the counts
of what came of it; ``failures/`` has each failing call under its seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path

from fuzz.call_forms import check, generate
from fuzz.campaign import commented, failures_in, finish, go_on, parser_of

CHUNK = 500


def main() -> int:
    given = parser_of("call_forms", __doc__, "calls").parse_args()
    if given.seed is not None:
        return _one(given.seed)
    return finish(go_on(given, CHUNK, partial(_chunk, failures_in(given.folder))))


def _one(seed: int) -> int:
    outcome = check(seed)
    if outcome.kind != "skipped" or not outcome.key.endswith("that NumPy takes"):
        print(generate(seed).text)
    print(f"seed {seed}: {outcome.kind} {outcome.key}\n{outcome.message}")
    return int(outcome.kind == "failed")


def _chunk(failures: Path, start: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        outcome = check(seed)
        counts[f"outcome {outcome.kind}"] += 1
        if outcome.kind in ("refused", "failed"):
            counts[f"{outcome.kind} {outcome.key}"] += 1
        if outcome.kind == "failed":
            message = commented(f"{outcome.key}\n{outcome.message}")
            (failures / f"{seed}.py").write_text(message + generate(seed).text, encoding="utf-8")
    return dict(counts)


if __name__ == "__main__":
    sys.exit(main())
