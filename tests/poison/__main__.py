"""``python -m poison``: watches the memory of derivatives of all programs; with ``--fragments``, of random ones."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import islice

from poison import WATCHES, random_trials, trials


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m poison", description=__doc__)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--watch", choices=WATCHES, help="one way alone")
    parser.add_argument("--part", default="0/1", help="2/5: the third of five parts")
    parser.add_argument("--fragments", type=int, default=-1, help="random programs from this seed on, instead")
    parser.add_argument("--trials", type=int, help="stop after so many")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    source = random_trials(given.fragments) if given.fragments >= 0 else trials(given.only)
    counts: Counter[str] = Counter()
    for number, trial in enumerate(islice(source, given.trials)):
        if number % parts != part or given.watch not in (None, trial.watch):
            continue
        outcome = trial.run()
        counts[outcome.partition(":")[0]] += 1
        if outcome.startswith(("poisoned", "failed")):
            print(f"{trial.title}: {outcome}", flush=True)
    print("\n".join(f"{count:7d}  {key}" for key, count in counts.most_common()))
    return int(counts["poisoned"] + counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
