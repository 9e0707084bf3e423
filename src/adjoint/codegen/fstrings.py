"""Text of f-strings that each version of Python reads: from 3.12 on, `ast.unparse` reuses quotes inside of fields."""

from __future__ import annotations

import ast
from collections.abc import Callable

_QUOTES = ("'", '"', '"""', "'''")


def text_of(node: ast.JoinedStr, write: Callable[[ast.expr], str]) -> str | None:
    """The text of an f-string whose expressions are written by ``write``; None if their quotes cannot be nested."""
    fields: list[str] = []
    texts: list[tuple[str, bool]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            field = _field(part, write)
            if field is None:
                return None
            fields.append(field)
            texts.append((field, True))
        else:
            assert isinstance(part, ast.Constant)
            texts.append(("".join(map(_escaped, str(part.value))), False))
    fitting = [quotes for quotes in _QUOTES if not any(quotes in field for field in fields)]
    text = "".join(text for text, _ in texts)
    for quotes in fitting:
        if quotes not in text and not text.endswith(quotes[0]):
            return f"f{quotes}{text}{quotes}"
    if not fitting:
        return None
    quotes, mark = fitting[0], fitting[0][0]
    text = "".join(text if is_field else text.replace(mark, f"\\{mark}") for text, is_field in texts)
    return f"f{quotes}{text}{quotes}"


def _field(part: ast.FormattedValue, write: Callable[[ast.expr], str]) -> str | None:
    text = write(part.value)
    conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
    spec = ""
    if isinstance(part.format_spec, ast.JoinedStr):
        if not all(isinstance(piece, ast.Constant) for piece in part.format_spec.values):
            return None
        spec = "".join(str(piece.value) for piece in part.format_spec.values if isinstance(piece, ast.Constant))
        if any(letter in "{}'\"" or not letter.isprintable() for letter in spec):
            return None
        spec = f":{spec}"
    gap = " " if text.startswith("{") else ""
    found = f"{{{gap}{text}{conversion}{spec}}}"
    return None if "\\" in found or "\n" in found else found


def _escaped(letter: str) -> str:
    if letter in "{}":
        return 2 * letter
    return letter.encode("unicode_escape").decode("ascii") if letter == "\\" or not letter.isprintable() else letter
