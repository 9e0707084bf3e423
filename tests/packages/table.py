"""What came of the functions of packages, as a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packages.checking import family
from packages.requirements import PACKAGES

HEAD = """# Published packages

The public functions of packages as they are on PyPI, unmodified, called with sampled arguments: floats, or arrays
where floats do not do. A call counts where it gives numbers that vary smoothly, so that differences at three steps
agree among themselves. It is *right* where value and gradient agree with those. What is refused is so with a message
that says why; *not a number* are gradients at a place where a step of the formula has an infinite slope; *failed* is
any other exception, and what takes more than a time limit. `make packages` installs the packages, counts again and
writes this page.

| package | functions called | right | refused | not a number | failed | wrong |
|---|---:|---:|---|---:|---:|---:|
"""


def outcomes(folder: Path, name: str) -> list[dict[str, Any]]:
    """The results of a package, those of functions that could be called."""
    file = folder / f"{name}.jsonl"
    lines = map(json.loads, file.read_text().splitlines()) if file.exists() else iter(())
    return [line for line in lines if line.get("kind") in ("right", "wrong", "nan", "refused", "failed")]


def rows(folder: Path, names: Sequence[str]) -> Iterator[str]:
    """A line of the table for each package."""
    for name in names:
        yield _row(name, outcomes(folder, name))


def _row(name: str, found: list[dict[str, Any]]) -> str:
    kinds = Counter(line["kind"] for line in found)
    codes = Counter(family(line["reason"]) for line in found if line["kind"] == "refused")
    refused = ", ".join(f"{count} {code}" for code, count in codes.most_common()) or "0"
    share = f"{kinds['right']} ({100 * kinds['right'] / max(len(found), 1):.0f} %)"
    return f"| {name} | {len(found)} | {share} | {refused} | {kinds['nan']} | {kinds['failed']} | {kinds['wrong']} |"


def document(folder: Path) -> str:
    """The whole page."""
    known = [name for name in PACKAGES if outcomes(folder, name)]
    everything = [line for name in known for line in outcomes(folder, name)]
    return "".join(
        (HEAD, *(f"{row}\n" for row in rows(folder, known)), _row("all", everything), "\n", _reasons(everything))
    )


def _reasons(found: list[dict[str, Any]]) -> str:
    """What most refusals are about."""
    said = Counter(_general(line["reason"]) for line in found if line["kind"] == "refused")
    lines = "".join(f"| {count} | {reason.replace('|', chr(92) + '|')} |\n" for reason, count in said.most_common(25))
    return f"\n## Most frequent refusals\n\n| functions | refusal |\n|---:|---|\n{lines}" if lines else ""


def _general(reason: str) -> str:
    return re.sub(r" \([^()]*:\d+\)$", "", reason).replace("in what this calls, ", "")
