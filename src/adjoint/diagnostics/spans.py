"""Places in a user's source."""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections.abc import Callable, Iterator

from adjoint.records import dataclass, field, replace


def character_column(line: str, byte_offset: int) -> int:
    """The column, in characters, of a byte offset into the line's UTF-8 text.

    >>> character_column("α = β + 1", 5)
    4
    """
    if line.isascii():
        return byte_offset
    return len(line.encode()[:byte_offset].decode(errors="ignore"))


def span_of(
    node: ast.AST, file: str, line_text: Callable[[int], str] | None = None, caller: Span | None = None
) -> Span:
    """The span of a node of a tree whose line numbers are those of the file.

    Parameters
    ----------
    node
        A node with a position. One without (``arguments``, an operator) takes that of its first child.
    file
        The file's name, as the code object has it.
    line_text
        Gives the text of a line by its number, from 1; by default ``linecache`` does.
    caller
        The call that led to the function that the node belongs to.
    """
    get = line_text or (lambda number: linecache.getline(file, number))
    place = _positioned(node)
    if place is None:
        return Span(file, 1, 0, 1, 0, caller)
    line, column, end_line, end_column = place
    first, last = character_column(get(line), column), character_column(get(end_line), end_column)
    return Span(file, line, first, end_line, last, caller)


def _positioned(node: ast.AST) -> tuple[int, int, int, int] | None:
    line = getattr(node, "lineno", None)
    if line is None:
        children = (_positioned(child) for child in ast.iter_child_nodes(node))
        return next((place for place in children if place is not None), None)
    column = getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    end_column = getattr(node, "end_col_offset", None)
    return line, column, end_line, column + 1 if end_column is None else end_column


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
        if not caller.file.startswith(_MACHINERY):
            yield f"called from {place(caller)}, {_text(caller)}".rstrip(" ,")
        caller = caller.caller


_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_MACHINERY = tuple([os.path.join(_PACKAGE, name, "") for name in ("api", "frontend", "runtime")])
"""Where functions of this package lie that stand between those of users."""


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
    name, arguments = _name_and_arguments(span)
    return None if name is None or _goes_on(arguments) else name


def is_of_a_result(span: Span) -> bool:
    """Whether the user called a method of what another call gives, which has no name: ``make(x).method(y)``."""
    name, arguments = _name_and_arguments(span)
    return name is not None and _goes_on(arguments)


OF_A_RESULT = "put the call into a function of its own, and declare its derivative: @ad.derivative_of(fn)"
"""The way out for what has no name that could be declared."""


def _name_and_arguments(span: Span) -> tuple[str | None, str]:
    """The name with which a call begins, and what follows it."""
    lines = [linecache.getline(span.file, line) for line in range(span.line, span.end_line + 1)]
    if not lines:
        return None, ""
    lines[-1] = lines[-1][: span.end_column]
    text = "".join([lines[0][span.column :], *lines[1:]])
    found = re.match(r"[A-Za-z_][\w.]*(?=\()", text)
    return (None, "") if found is None else (found[0], text[found.end() :])


def _goes_on(arguments: str) -> bool:
    """Whether something follows the parenthesis that closes the one at the beginning: ``(1).method(2)``."""
    try:
        call = ast.parse(f"f{arguments}", mode="eval").body
    except SyntaxError:
        return False
    return not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name))


def shown_path(file: str) -> str:
    """The path to print for a file."""
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive; the working directory is gone
        return file
    return file if relative.startswith(os.pardir) else relative
