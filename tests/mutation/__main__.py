"""``python -m mutation``: breaks rules and transforms on purpose, and counts what the tests notice.

Of the mutants that change a result the share that is noticed is printed, with every one that is not. All places of all
rules are tried (a minute or two); of the transforms a sample (a few seconds for each).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transforms", type=int, default=100, metavar="N", help="mutants of transforms (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="which of them (default 1)")
    parser.add_argument("--rules", type=int, default=None, metavar="N", help="stop after N parts of rules; 0 for none")
    parser.add_argument("--least", type=float, default=98.0, metavar="PERCENT", help="the share that must be noticed")
    options = parser.parse_args()
    shares = []
    if options.transforms:  # first: these processes must not have imported the compiler
        shares.append(_report("transforms", _of_transforms(options.transforms, options.seed), options.transforms))
    if options.rules != 0:
        shares.append(_report("rules", _of_rules(options.rules), None))
    return int(any(share < options.least for share in shares))


def _of_transforms(count: int, seed: int) -> Iterator[tuple[str, str]]:
    from mutation import transforms

    transforms.preload()
    for change in transforms.sampled(count, seed):
        result = transforms.tried(change)
        yield result.fate, f"{change.module}: {result.what}; {result.by}"


def _of_rules(most: int | None) -> Iterator[tuple[str, str]]:
    from mutation import rules

    for part in rules.parts(rules.RULES)[:most]:
        for result in rules.tried(part):
            home = part.function.__module__
            what = f"{result.mutant.kind} in {part.function.__qualname__}, line {result.mutant.line}"
            yield result.fate, f"{home}: {what}, of {part.rules[0].name}"


def _report(kind: str, results: Iterable[tuple[str, str]], total: int | None) -> float:
    """Prints how it goes, and the share of mutants that change a result that was noticed, in per cent."""
    counts: Counter[str] = Counter()
    for number, (fate, what) in enumerate(results, 1):
        counts[fate] += 1
        if fate == "survived":
            print(f"survived  {what}", flush=True)
        if sys.stderr.isatty():
            of = "" if total is None else f" of {total}"
            print(f"\r{kind}: {number}{of}, {counts['survived']} survived ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    changed = counts["killed"] + counts["survived"]
    share = 100.0 * counts["killed"] / max(changed, 1)
    print(f"{kind}: {changed} mutants change a result, {counts['killed']} are noticed: {share:.2f} %")
    print(f"{kind}: {counts['same']} more change none")
    return share


if __name__ == "__main__":
    sys.exit(main())
