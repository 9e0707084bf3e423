"""docs/passes.md: by hand, but for what stands between markers, which is made of what was counted and measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjoint import ir
from adjoint.passes import DRIVERS, PASSES
from passes.firing import fired, shown
from programs.registry import collect

FILE = Path(__file__).parents[2] / "docs" / "passes.md"
RESULTS = Path(__file__).parent / "results.json"
MOST_LINES = 24
"""Of an example; more is cut off."""
NOTICEABLE = 0.02
"""Gains and losses from which on a benchmark is named."""


def results() -> dict[str, Any]:
    """What was counted and measured last."""
    if not RESULTS.exists():
        return {"counts": {}, "witnesses": {}, "gains": {}}
    found: dict[str, Any] = json.loads(RESULTS.read_text())
    return found


def keep(found: dict[str, Any]) -> None:
    """Keeps what was counted and measured."""
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def headings() -> list[str]:
    """The names that have a paragraph."""
    return re.findall(r"^### (.+)$", FILE.read_text(), re.M)


def write() -> None:
    """Writes what stands between markers anew."""
    found = results()
    text = FILE.read_text()
    text = _between(text, "table", "\n".join(_table(found)))
    for step in PASSES:
        if f"<!-- example {step} -->" in text:
            text = _between(text, f"example {step}", "\n".join(_example(step, found)))
    FILE.write_text(text)


def _between(text: str, marker: str, inside: str) -> str:
    start = text.index(f"<!-- {marker} -->") + len(f"<!-- {marker} -->")
    return f"{text[:start]}\n{inside}\n{text[text.index('<!-- end -->', start) :]}"


def _table(found: dict[str, Any]) -> Iterator[str]:
    yield "How many programs of the corpus a pass changes, and how many times as long derivatives of benchmarks take"
    yield "without it. Benchmarks that it changes, but not by 2 % in time, are counted."
    yield ""
    yield "| pass | programs | time without it |"
    yield "|---|---:|---|"
    for name, step in PASSES.items():
        if name not in DRIVERS:
            gains = {bench: gain for bench, gain in found["gains"].get(name, {}).items() if gain is not None}
            unknown = "no benchmark has it" if name in found["gains"] else "not measured"
            told = "needed" if step.needed else ", ".join(_told(gains)) or unknown
            yield f"| [{name}](#{name}) | {found['counts'].get(name, 0)} | {told} |"


def _told(gains: dict[str, float]) -> Iterator[str]:
    loud = {bench: gain for bench, gain in gains.items() if abs(gain - 1) >= NOTICEABLE}
    for bench, gain in sorted(loud.items(), key=lambda item: -item[1]):
        yield f"{bench} {gain:.2f}"
    if len(gains) > len(loud):
        yield f"{len(gains) - len(loud)} unchanged"


def _buys(step: str, found: dict[str, Any]) -> str:
    """What a pass buys, in a sentence."""
    if PASSES[step].needed:
        return "*Needed.*"
    if step not in found["gains"]:
        return "*What it buys was not measured yet.*"
    gains = {bench: gain for bench, gain in found["gains"][step].items() if gain is not None}
    if not gains:
        return "*It changes no benchmark that was measured.*"
    return f"*Time without it: {', '.join(_told(gains))}.*"


def _example(step: str, found: dict[str, Any]) -> Iterator[str]:
    yield _buys(step, found)
    for mode, name in found["witnesses"].get(step, ()):
        case = next(case for case in collect() if case.name == name)
        changes: list[list[str]] = []

        def told(other: str, before: ir.Function, after: ir.Function, changes: list[list[str]] = changes) -> None:
            if other == step:
                changes.append(list(shown(before, after)))

        fired(case, mode, told)
        if changes:
            lines = min(changes, key=len)
            yield ""
            yield f"In `{name}`:"
            yield ""
            yield "```diff"
            yield from lines[:MOST_LINES]
            if len(lines) > MOST_LINES:
                yield f"  ... and {len(lines) - MOST_LINES} lines more"
            yield "```"
            return
