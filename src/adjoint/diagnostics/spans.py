"""Places in a user's source."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterator

from adjoint.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text; lines and columns as Python counts them (lines from 1, columns from 0).

    ``caller`` is the call that led there, where the text is that of a function that was called: it does not count when
    places are compared. ``is_one_of_many`` says of a call that the function stays one, which other calls reach, too.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    caller: Span | None = field(default=None, compare=False, repr=False)
    is_one_of_many: bool = field(default=False, compare=False, repr=False)


def place(span: Span) -> str:
    """A place in words, ``train.py:30:9``: the path relative to the working directory where it is below it."""
    return f"{shown_path(span.file)}:{span.line}:{span.column + 1}"


def calls_through(caller: Span | None) -> Iterator[str]:
    """A call and those that led to it, innermost first: ``called from train.py:30:9, inner(x)``."""
    while caller is not None:
        yield f"called from {place(caller)}, {_text(caller)}".rstrip(" ,")
        caller = caller.caller


def at_run_time(span: Span) -> Span:
    """The place without the calls that are but one way to it: of a function that stays one, any call may have run."""
    caller = span.caller
    if caller is None:
        return span
    return replace(span, caller=None if caller.is_one_of_many else at_run_time(caller))


def _text(span: Span) -> str:
    line = linecache.getline(span.file, span.line)
    return (
        line[span.column : span.end_column].strip()
        if span.line == span.end_line
        else f"{line[span.column :].strip()} ..."
    )


def called_text(span: Span) -> str | None:
    """What the user wrote for the function of a call, where that is a name or a path of names."""
    found = re.match(r"[A-Za-z_][\w.]*(?=\()", linecache.getline(span.file, span.line)[span.column :])
    return None if found is None else found[0]


def shown_path(file: str) -> str:
    """The path to print for a file."""
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive; the working directory is gone
        return file
    return file if relative.startswith(os.pardir) else relative
