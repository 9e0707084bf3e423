"""What the compiler has to say about a program, as data; how it looks is the business of ``render``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from adjoint.diagnostics.spans import Span, calls_through, place
from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.diagnostics.entry import Entry, Severity


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what is to be said about it; the first label of a diagnostic is the place of the problem."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: its code and title, the places it is about, further facts, and ways out."""

    code: str
    title: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        return _entry(self.code).severity

    @property
    def span(self) -> Span | None:
        """The place of the problem, where it has one."""
        return self.labels[0].span if self.labels else None

    def placed_at(self, span: Span) -> Diagnostic:
        """The same problem at this place, where it has none; what was its first note is said there."""
        if self.labels or not self.notes or self.code in _WITHOUT_PLACE:
            return self
        first, *notes = self.notes
        notes = [note for note in notes if not note.startswith(f"differentiated from {place(span)},")]
        return Diagnostic(self.code, self.title, (Label(span, first),), tuple(notes), self.helps)

    def with_notes(self, *notes: str) -> Diagnostic:
        """The same problem with more facts, as where the function was differentiated."""
        return Diagnostic(self.code, self.title, self.labels, (*self.notes, *notes), self.helps)


_WITHOUT_PLACE = ("AD0901", "AD0902")
"""What is not about the user's code."""


def diagnostic(
    code: str,
    span: Span | None,
    label: str = "",
    *,
    notes: Iterable[str] = (),
    helps: Iterable[str] | None = None,
    others: Iterable[tuple[Span, str]] = (),
    **fields: object,
) -> Diagnostic:
    """Makes a diagnostic in the words of the catalogue.

    Parameters
    ----------
    code
        One of the codes of :mod:`adjoint.diagnostics.codes`.
    span
        Where the problem is. None where there is no source to show; the label is then the first note.
    label
        What is wrong at that place, in a few words.
    notes, helps
        Further facts, and ways out. Without ``helps`` the catalogue's own are taken.
    others
        Further places that explain the problem, each with a text.
    **fields
        Values for the fields of the catalogue's title. A field that is not given reads as its default.

    Examples
    --------
    >>> diagnostic("AD0103", None, "it is a float", name="3.0").title
    "cannot differentiate '3.0': it is not a function"
    """
    entry = _entry(code)
    labels = [Label(place, text) for place, text in others]
    facts = list(notes)
    if span is not None:
        labels.insert(0, Label(span, label))
        facts += calls_through(span.caller)
    elif label:
        facts.insert(0, label)
    ways_out = entry.helps if helps is None else tuple(helps)
    return Diagnostic(code, entry.title_for(fields), tuple(labels), tuple(facts), ways_out)


def _entry(code: str) -> Entry:
    from adjoint.diagnostics.codes import lookup  # lazy

    return lookup(code)
