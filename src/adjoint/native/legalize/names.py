"""Names of variables that a compiler does not take for each other.

Numba numbers the values that a variable has one after the other, and in expressions of arrays calls the second value
of ``t`` by the name ``t_1``: which may be a variable of its own.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from adjoint.codegen.texts import Emitted
from adjoint.records import replace

_NUMBERED = re.compile(r"(.*)_(\d+)$")


def with_names_apart(emitted: Emitted) -> Emitted:
    """A text in which no variable has a name that ends with a number behind an underscore."""
    own = {name for name in _variables(emitted.text) if _NUMBERED.match(name)}
    if not own:
        return emitted
    return replace(emitted, text=_renamed(emitted.text, {name: _apart(name, own) for name in own}))


def _apart(name: str, taken: set[str]) -> str:
    found = _NUMBERED.sub(r"\1_v\2", name)
    while found in taken:
        found = found.replace("_v", "_vv")
    return found


def _variables(text: str) -> set[str]:
    """The names of the variables and parameters of the functions of a text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def _renamed(text: str, names: dict[str, str]) -> str:
    """A text with names replaced: its lines stay what they are."""
    lines = text.splitlines(keepends=True)
    previous = ""
    found: list[tuple[int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and previous != ".":
            found.append((*token.start, token.string))
        previous = token.string
    for row, column, name in reversed(found):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + names[name] + line[column + len(name) :]
    return "".join(lines)
