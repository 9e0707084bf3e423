"""How diagnostics look: plain text, or the same text in colour on a terminal.

Everything is first laid out as lines of pieces, each a text and a style; plain text drops the styles.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from adjoint.diagnostics.spans import Span, place
from adjoint.records import dataclass

if TYPE_CHECKING:
    from typing import TextIO

    from rich.text import Text

    from adjoint.diagnostics.diagnostic import Diagnostic, Label

Line = list[tuple[str, str]]

_STYLES = {"error": "bold red", "warning": "bold yellow"}
_GUTTER = "bold blue"
_TAB = "    "
_SHOWN_LINES = 4  # of a span that covers many lines


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics as plain text, without a newline at the end."""
    return "\n".join("".join(text for text, _ in line) for line in _layout(tuple(diagnostics)))


def render_rich(diagnostics: Iterable[Diagnostic]) -> Text:
    """The same text, styled for a terminal."""
    from rich.text import Text  # lazy

    lines = _layout(tuple(diagnostics))
    return Text("\n").join(Text.assemble(*line) if line else Text() for line in lines)


def show(diagnostics: Iterable[Diagnostic], file: TextIO | None = None) -> None:
    """Prints diagnostics, by default to standard error; in colour where that is a terminal."""
    if "NO_COLOR" in os.environ:
        print(render(diagnostics), file=file or sys.stderr)
        return
    from rich.console import Console  # lazy

    console = Console(file=file, stderr=file is None, soft_wrap=True, highlight=False, markup=False, emoji=False)
    console.print(render_rich(diagnostics))


def _layout(diagnostics: Sequence[Diagnostic]) -> list[Line]:
    lines: list[Line] = []
    for diagnostic in diagnostics:
        if lines:
            lines.append([])
        lines.extend(_one(diagnostic))
    if len(diagnostics) > 1:
        lines += [[], [(_count(diagnostics), "bold")]]
    return lines


def _count(diagnostics: Iterable[Diagnostic]) -> str:
    numbers = Counter(diagnostic.severity for diagnostic in diagnostics)
    return ", ".join(f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in sorted(numbers.items()))


def _one(diagnostic: Diagnostic) -> Iterator[Line]:
    style = _STYLES[diagnostic.severity]
    yield [(f"{diagnostic.severity}[{diagnostic.code}]", style), (f": {diagnostic.title}", "bold")]
    width = len(str(max((label.span.end_line for label in diagnostic.labels), default=1)))
    by_file: dict[str, list[Label]] = {}
    for label in diagnostic.labels:
        by_file.setdefault(label.span.file, []).append(label)
    for number, (file, labels) in enumerate(by_file.items()):
        if number:
            yield _gutter(width)
        yield [(" " * width + ("::: " if number else "--> "), _GUTTER), (place(labels[0].span), "")]
        yield _gutter(width)
        yield from _excerpt(file, _marks(file, labels, diagnostic.labels[0], style), width)
    facts = [("note", text) for text in diagnostic.notes] + [("help", text) for text in diagnostic.helps]
    if facts and diagnostic.labels:
        yield _gutter(width)
    for kind, text in facts:
        yield from _fact(kind, text, width)


def _fact(kind: str, text: str, width: int) -> Iterator[Line]:
    head = " " * (width + 1) + "= "
    first, *rest = text.split("\n")
    yield [(head, _GUTTER), (f"{kind}: ", "bold"), (first, "")]
    for line in rest:
        yield [(" " * len(f"{head}{kind}: ") + line, "")]


def _gutter(width: int, number: int | None = None) -> Line:
    return [(f"{'' if number is None else number:>{width}} |", _GUTTER)]


@dataclass(frozen=True)
class _Mark:
    """Carets under a part of one line, and the text beside them."""

    start: int
    end: int
    text: str
    caret: str
    style: str


def _marks(file: str, labels: Iterable[Label], primary: Label, style: str) -> dict[int, list[_Mark]]:
    """The marks of each line that is to be shown."""
    marks: dict[int, list[_Mark]] = {}
    for label in labels:
        caret, colour = ("^", style) if label is primary else ("-", _GUTTER)
        span = label.span
        for number in _shown_lines(span):
            source = _source_line(file, number)
            start = span.column if number == span.line else len(source) - len(source.lstrip())
            end = span.end_column if number == span.end_line else len(source)
            text = label.text if number == span.end_line else ""
            marks.setdefault(number, []).append(_Mark(start, end, text, caret, colour))
    return dict(sorted(marks.items()))


def _shown_lines(span: Span) -> list[int]:
    numbers = list(range(span.line, span.end_line + 1))
    if len(numbers) <= _SHOWN_LINES:
        return numbers
    return [*numbers[: _SHOWN_LINES // 2], numbers[-1]]


def _excerpt(file: str, marks: dict[int, list[_Mark]], width: int) -> Iterator[Line]:
    previous = None
    for number, of_line in marks.items():
        if previous is not None and number == previous + 2:
            yield _numbered(number - 1, _source_line(file, number - 1), width)
        elif previous is not None and number > previous + 2:
            yield [("...", _GUTTER)]
        source = _source_line(file, number)
        if source:
            yield _numbered(number, source, width)
        for mark in of_line:
            yield from _marked(source, mark, width)
        previous = number


def _numbered(number: int, source: str, width: int) -> Line:
    text = source.replace("\t", _TAB)
    return [*_gutter(width, number), (f" {text}" if text else "", "")]


def _marked(source: str, mark: _Mark, width: int) -> Iterator[Line]:
    indent = " " * (1 + _columns(source[: mark.start]))
    carets = mark.caret * max(1, _columns(source[mark.start : mark.end])) if source else ""
    first, *rest = mark.text.split("\n")
    if not carets and not first:
        return
    yield [*_gutter(width), (indent, ""), (" ".join(filter(None, (carets, first))), mark.style)]
    for line in rest:
        yield [*_gutter(width), (indent + " " * (len(carets) + 1), ""), (line, mark.style)]


def _source_line(file: str, number: int) -> str:
    return linecache.getline(file, number).rstrip()


def _columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text) + (len(_TAB) - 1) * text.count("\t")
    import unicodedata  # lazy

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text.replace("\t", _TAB)
    )
