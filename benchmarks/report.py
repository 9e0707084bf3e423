"""Tables of results: on the terminal, and as Markdown."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

_PACKAGES = ("adjoint", "numpy", "numba", "autograd", "jax", "torch")


@dataclass
class Results:
    """One table: a title, what was measured, and rows of text."""

    title: str
    explanation: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def duration(seconds: float) -> str:
    """A time with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(value: float) -> str:
    """How many times as long."""
    return f"{value:.2f} ×" if value < 10 else f"{value:.0f} ×"


def show(results: Results, console: Console) -> None:
    """Prints a table."""
    table = Table(title=results.title, caption="\n".join(results.notes) or None, title_justify="left")
    for place, column in enumerate(results.columns):
        table.add_column(column, justify="left" if place == 0 else "right")
    for row in results.rows:
        table.add_row(*row)
    console.print(table)


def markdown(tables: Sequence[Results], command: str) -> str:
    """All tables as one Markdown document."""
    parts = ["# Benchmarks", f"Written by `{command}`; do not edit.", _machine()]
    parts.extend(map(_section, tables))
    return "\n\n".join(parts) + "\n"


def merged(page: str, tables: Sequence[Results]) -> str:
    """A document with these tables in the places of those of the same titles; new ones at the end."""
    head, *sections = re.split(r"^(?=## )", page, flags=re.M)
    known = {section.splitlines()[0].removeprefix("## "): section for section in sections}
    for results in tables:
        known[results.title] = f"{_section(results)}\n\n{_machine()}"
    return head + "\n\n".join(section.rstrip("\n") for section in known.values()) + "\n"


def _section(results: Results) -> str:
    return "\n\n".join((f"## {results.title}", results.explanation, _table(results), *results.notes))


def _table(results: Results) -> str:
    alignment = ["---", *(["---:"] * (len(results.columns) - 1))]
    lines = (results.columns, alignment, *results.rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _machine() -> str:
    packages = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)) is not None)
    load = f", load {os.getloadavg()[1]:.1f} over the last five minutes" if hasattr(os, "getloadavg") else ""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"Python {python}, {packages}. {_processor()}, {os.cpu_count()} cores, {platform.system()}{load}."


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        module = sys.modules.get(name)
        return getattr(module, "__version__", None)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
