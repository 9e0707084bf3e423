"""Why Numba does not compile a text, in a few words, and where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from adjoint.codegen.texts import Emitted
from adjoint.diagnostics import Span


def summary(failure: Exception) -> str:
    """The first thing that a message of Numba says, and the types that it was about."""
    lines = [line.strip() for line in message_of(failure).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in nopython mode", "- Resolution"))]
    first = said[0] if said else ""
    missing = re.match(r"Unknown attribute '(\w+)' of type Module\(<module 'adjoint.runtime", first)
    if missing is not None:
        return f"'{missing[1]}' has no form for machine code, and the kind of what it gives is known only when it runs"
    untyped = re.match(r"Untyped global name '(\w+)'", first)
    if untyped is not None:
        return f"'{untyped[1]}' has no form for machine code"
    if " " not in first:  # of a failure inside of Numba
        return f"Numba: {type(failure).__name__}{f' of {first}' if first else ''}"
    types_ = next((line[4:] for line in said if line.startswith(">>> ")), "")
    return f"Numba: {first}{' ' + types_ if types_ and first.endswith(':') else ''}"


def message_of(failure: Exception) -> str:
    """What an exception says, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(failure))


def line_of(failure: Exception, name: str) -> int | None:
    """The line of a file that a failure is about; failures inside of Numba know what they were at."""
    found = re.search(rf'File "[^"]*{re.escape(name)}[^"]*", line (\d+)', message_of(failure))
    if found is not None:
        return int(found[1])
    places = [place for place in _places(failure.__traceback__) if name in place.filename]
    return places[-1].line if places else None


def _places(traceback: TracebackType | None) -> Iterator[Any]:
    while traceback is not None:
        place = getattr(traceback.tb_frame.f_locals.get("self"), "loc", None)
        if hasattr(place, "filename") and hasattr(place, "line"):
            yield place
        traceback = traceback.tb_next


def place_in_source(emitted: Emitted, number: int | None) -> Span | None:
    """The user's place of a line of a text; of one that has none, where what it is about is first used."""
    if number is None:
        return None
    if number in emitted.lines:
        return emitted.lines[number]
    text = emitted.text.splitlines()[number - 1].strip()
    names = re.findall(r"[^\W\d]\w*", text)
    found = (first_use(emitted, name) for name in reversed(names))
    return next((span for span in found if span is not None), None)


def first_use(emitted: Emitted, name: str) -> Span | None:
    """The user's place of the first line that reads a name."""
    nodes = [node for node in ast.walk(ast.parse(emitted.text)) if isinstance(node, ast.Name) and node.id == name]
    numbers = sorted({node.lineno for node in nodes if isinstance(node.ctx, ast.Load)})
    return next((emitted.lines[number] for number in numbers if number in emitted.lines), None)
