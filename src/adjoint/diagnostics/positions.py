"""From positions in a syntax tree (UTF-8 bytes) to spans (characters)."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable

from adjoint.diagnostics.spans import Span


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
