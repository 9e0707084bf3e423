"""Exceptions of derivatives tell the user's line beside the generated one."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from types import TracebackType

from adjoint.diagnostics.spans import Span, at_run_time, calls_through, place

GENERATED = "<adjoint "
Calls = dict[int, list[tuple[str, Span]]]


def tell_users_line(failure: BaseException) -> None:
    """Adds a note to an exception that was raised in generated code: which line of the user's it comes from.

    It costs nothing where nothing is raised. An exception that tells it already stays as it is.
    """
    notes = getattr(failure, "__notes__", [])
    for span in _spans(failure.__traceback__):
        note = "\n".join([f"in the derivative of {place(span)}, {_text(span)}", *calls_through(span.caller)])
        if note not in notes:
            failure.add_note(note)


def _spans(traceback: TracebackType | None) -> Iterator[Span]:
    """The user's places of the lines of generated code that an exception passed."""
    backend = sys.modules.get("adjoint.codegen.texts")
    origins: dict[str, tuple[dict[int, Span], Calls]] = getattr(backend, "origins", {})
    while traceback is not None:
        lines, calls = origins.get(traceback.tb_frame.f_code.co_filename, ({}, {}))
        span = _called(calls, traceback) or lines.get(traceback.tb_lineno)
        if span is not None:
            yield at_run_time(span)
        traceback = traceback.tb_next


def _called(calls: Calls, traceback: TracebackType) -> Span | None:
    """Where the call comes from in which the exception was raised, if its function is called once in the line."""
    if traceback.tb_next is None:
        return None
    name = traceback.tb_next.tb_frame.f_code.co_name
    found = [span for called, span in calls.get(traceback.tb_lineno, ()) if called == name]
    return found[0] if len(found) == 1 else None


def _text(span: Span) -> str:
    line = linecache.getline(span.file, span.line)
    end = span.end_column if span.line == span.end_line else None
    return line[span.column : end].strip()
