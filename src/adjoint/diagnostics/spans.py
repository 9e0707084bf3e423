"""Places in a user's source."""

from __future__ import annotations

import os

from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text; lines and columns as Python counts them (lines from 1, columns from 0)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


def place(span: Span) -> str:
    """A place in words, ``train.py:30:9``: the path relative to the working directory where it is below it."""
    return f"{shown_path(span.file)}:{span.line}:{span.column + 1}"


def shown_path(file: str) -> str:
    """The path to print for a file."""
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive; the working directory is gone
        return file
    return file if relative.startswith(os.pardir) else relative
