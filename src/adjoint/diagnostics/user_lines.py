"""Exceptions of derivatives tell the user's lines: beside the generated ones in the traceback, and in a note."""

from __future__ import annotations

import dis
import itertools
import linecache
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType

from adjoint.diagnostics.spans import Span, at_run_time, calls_through, place

GENERATED = "<adjoint "
RAISE = dis.opmap["RAISE_VARARGS"]
Parts = dict[int, list[tuple[str, Span]]]


def tell_users_line(failure: BaseException) -> Span | None:
    """Has a traceback show which lines of the user's generated code comes from, and adds a note with these.

    The result is the place that raised the exception, None where that is in no generated code.

    The note begins with the line that raised the exception, and goes on with the calls that led there. Nothing of this
    costs anything where nothing is raised. An exception that tells it already stays as it is.
    """
    passed = list(_passed(failure.__traceback__))
    if not passed:
        return None
    for traceback, span in passed:
        _write_beside(traceback, span)
    (_, raised), *calls = reversed(passed)
    lines = [f"in the derivative of {place(raised)}, {_text(raised)}", *calls_through(raised.caller)]
    for _, span in calls:
        lines += calls_through(span)
    note = "\n".join(_without_repetitions(lines))
    notes: list[str] = getattr(failure, "__notes__", [])
    before = next((known for known in notes if note.startswith(known)), None)
    if before is not None:  # it was raised inside of another derivative, and goes on
        notes[notes.index(before)] = note
    elif not any(note in known for known in notes):
        failure.add_note(note)
    return raised


def _passed(traceback: TracebackType | None) -> Iterator[tuple[TracebackType, Span]]:
    """The generated lines that an exception passed, outermost first, and the user's places that they come from."""
    backend = sys.modules.get("adjoint.codegen.texts")
    origins: dict[str, tuple[dict[int, Span], Parts]] = getattr(backend, "origins", {})
    while traceback is not None:
        lines, parts = origins.get(traceback.tb_frame.f_code.co_filename, ({}, {}))
        span = _of_part(parts, traceback) or lines.get(traceback.tb_lineno)
        if span is not None:
            yield traceback, at_run_time(span)
        traceback = traceback.tb_next


def _of_part(parts: Parts, traceback: TracebackType) -> Span | None:
    """Where the expression of a line comes from that was being evaluated, where that is not the place of the line."""
    found = parts.get(traceback.tb_lineno)
    if found is None:
        return None
    code = traceback.tb_frame.f_code
    if code.co_code[traceback.tb_lasti] == RAISE:
        return None
    positions = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None), None)
    if positions is None or positions[2] is None or positions[3] is None:
        return None
    line = linecache.getline(code.co_filename, traceback.tb_lineno).encode()
    evaluated = line[positions[2] : positions[3]].decode()
    places = {span for text, span in found if text == evaluated}
    return places.pop() if len(places) == 1 else None


def _write_beside(traceback: TracebackType, span: Span) -> None:
    """Has tools show the user's line behind a line of generated code: tracebacks, debuggers, notebooks."""
    file, at = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno - 1
    lines = linecache.getlines(file)
    if at >= len(lines):
        return
    line = _as_generated.setdefault((file, at), lines[at].rstrip("\n"))
    beside = f"{line}  # {place(span)}, {_text(span)}\n"
    if lines[at] != beside:
        lines = [*lines[:at], beside, *lines[at + 1 :]]
        linecache.cache[file] = sum(map(len, lines)), None, lines, file


_as_generated: dict[tuple[str, int], str] = {}
"""The lines of generated code behind which the user's are shown, without these."""


def _without_repetitions(lines: Sequence[str]) -> Iterator[str]:
    """The lines, of recursive calls each once, with how often it came in a row."""
    for line, repeated in itertools.groupby(lines):
        count = len(list(repeated))
        yield line if count == 1 else f"{line} ({count} times)"


def _text(span: Span) -> str:
    line = linecache.getline(span.file, span.line)
    end = span.end_column if span.line == span.end_line else None
    return line[span.column : end].strip()
