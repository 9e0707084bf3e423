"""What is refused inside of a library is told at the user's line that led there, once."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable

from adjoint.diagnostics import Diagnostic, Label, Span, calls_through
from adjoint.diagnostics.spans import OF_A_RESULT, called_text, is_of_a_result
from adjoint.records import replace
from adjoint.sources.library_folders import is_of_a_library


def at_users_places(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The problems, those of libraries at the calls of the user's; of several behind one call, the first."""
    found: dict[object, Diagnostic] = {}
    for problem in problems:
        moved = _moved(problem)
        key = problem if moved is problem else moved.span
        found.setdefault(key, moved)
    told = [problem for key, problem in found.items() if isinstance(key, Span)]
    return tuple(problem for problem in found.values() if problem.span is not None or not told)


def _moved(problem: Diagnostic) -> Diagnostic:
    span = problem.span
    if span is None or not is_of_a_library(span.file):
        return problem
    inside, caller = [span], span.caller
    while caller is not None and is_of_a_library(caller.file):
        inside.append(caller)
        caller = caller.caller
    if caller is None:
        return problem
    told = {*calls_through(span.caller)}
    text = problem.labels[0].text.removesuffix(" here")
    label = Label(caller, f"in what this calls, {text}" if text else "in what this calls")
    notes = (
        *(f"in {_shown(each)}" for each in inside),
        *calls_through(caller.caller),
        *(note for note in problem.notes if note not in told),
    )
    name = called_text(caller)
    helps = problem.helps
    if problem.code not in _MISTAKES and name is not None:
        helps = (f"declare the derivative of what you call: @ad.derivative_of({name})", _CONSTANT)
    elif problem.code not in _MISTAKES and is_of_a_result(caller):
        helps = (OF_A_RESULT, _CONSTANT)
    return replace(problem, labels=(label,), notes=notes, helps=helps)


_MISTAKES = ("AD0203", "AD0211", "AD0212", "AD0213")
"""What is wrong whoever wrote it: most likely what the library is handed."""
_CONSTANT = "or hand it ad.stop_gradient(x), if the result shall count as a constant"


def _shown(span: Span) -> str:
    """A place in a library, from the folder of its package on."""
    found = re.search(r"(?:site-packages|dist-packages|python\d\.\d+)[/\\](?!.*(?:site|dist)-packages)(.*)", span.file)
    file = found[1] if found is not None else os.path.basename(span.file)
    line = linecache.getline(span.file, span.line)
    end = span.end_column if span.end_line == span.line else None
    return f"{file}:{span.line}, {line[span.column : end].strip()}".rstrip(", ")
