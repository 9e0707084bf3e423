"""The catalogue of diagnostics: what each code means."""

from __future__ import annotations

import inspect

from adjoint.diagnostics.catalogue import calls, internal, other, running, source, statements, surgery, training, types
from adjoint.diagnostics.entry import Entry, Severity

__all__ = ["CATALOGUE", "Entry", "Severity", "explain", "lookup"]

CATALOGUE: dict[str, Entry] = {
    **source.ENTRIES,
    **calls.ENTRIES,
    **surgery.ENTRIES,
    **statements.ENTRIES,
    **types.ENTRIES,
    **other.ENTRIES,
    **training.ENTRIES,
    **running.ENTRIES,
    **internal.ENTRIES,
}


def lookup(code: str) -> Entry:
    """The entry of a code such as ``"AD0201"``; KeyError if there is none."""
    return CATALOGUE[code]


def explain(code: str) -> str:
    """The long explanation of a code, as ``adjoint explain`` prints it."""
    entry = lookup(code)
    head = f"{entry.severity}[{code}]: {entry.title_for({})}"
    return f"{head}\n\n{inspect.cleandoc(entry.explanation)}"
