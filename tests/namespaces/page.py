"""What is known of the functions of namespaces, as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from namespaces.peers import SYSTEMS, count, lists
from namespaces.survey import NAMESPACES

HEAD = """# Functions of NumPy and SciPy

Every public function, distribution and class of functions of these namespaces. Of one with a *rule* it is said how it
is differentiated, and tests compare it with differences in all its forms; one that is *constant* has the derivative
zero wherever it has one; one that *works* is read as Python, and a call with sampled floats or arrays agrees with
differences; *refused* are calls that end with a message. What gives no number that varies smoothly with floats or
arrays of floats (it makes strings, takes functions or graphs, opens files) counts as *not called*, and not in the
shares. `make coverage` counts again and writes this page.

Beside the share stand those of two systems with NumPy's names: which of the same functions JAX {jax} has, and of
which autograd {autograd} has a derivative or knows that there is none. Neither reads NumPy's and SciPy's Python.

| namespace | functions | rule | works | constant | refused | share | JAX | autograd | not called |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
KINDS = ("rule", "works", "constant", "refused", "not called")


def outcomes(folder: Path, namespace: str) -> dict[str, str]:
    """By name, what is known of the functions of a namespace."""
    file = folder / f"{namespace}.jsonl"
    lines: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    found = {line["name"]: line["kind"] for line in lines if line.get("kind") not in (None, "end")}
    return {name: kind if kind in KINDS else "refused" for name, kind in found.items()}


def row(folder: Path, namespace: str) -> str:
    """The line of a namespace."""
    return _row(f"`{namespace}`", [namespace], folder)


def _row(name: str, namespaces: Sequence[str], folder: Path) -> str:
    kinds: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for namespace in namespaces:
        found = outcomes(folder, namespace)
        kinds.update(found.values())
        called = [name for name, kind in found.items() if kind != "not called"]
        theirs.update({system: count(lists(), system, namespace, called) for system in SYSTEMS})
    total = kinds.total() - kinds["not called"]
    shares = [f"{100 * each / max(total, 1):.0f} %" for each in (total - kinds["refused"], *map(theirs.get, SYSTEMS))]
    cells = [*map(kinds.get, KINDS[:4]), *shares, kinds["not called"]]
    return f"| {name} | {total} | {' | '.join(str(cell or 0) for cell in cells)} |"


def document(folder: Path) -> str:
    """The whole page."""
    known = [name for name in NAMESPACES if outcomes(folder, name)]
    rows = [row(folder, name) for name in known]
    head = HEAD.format(**{system: lists()[system]["version"] for system in SYSTEMS})
    return (
        head + "\n".join([*rows, _row("all", known, folder)]) + "\n" + "".join(_names(folder, name) for name in known)
    )


def _names(folder: Path, namespace: str) -> str:
    found = outcomes(folder, namespace)
    parts = [f"\n## {namespace}\n"]
    for kind in KINDS:
        names = [name for name, each in found.items() if each == kind]
        if names:
            parts.append(f"\n*{kind}*: {_wrapped(names, len(kind) + 4)}\n")
    return "".join(parts)


def _wrapped(names: Sequence[str], start: int) -> str:
    lines, length = [""], start
    for place, name in enumerate(names):
        word = f"`{name}`" + ("," if place < len(names) - 1 else "")
        if length + len(word) + 1 > 120:
            lines.append("")
            length = 0
        lines[-1] += f"{' ' if lines[-1] else ''}{word}"
        length += len(word) + 1
    return "\n".join(lines)
