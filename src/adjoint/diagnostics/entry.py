"""One entry of the catalogue of diagnostics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from adjoint.records import dataclass

Severity = Literal["error", "warning"]

_FIELD = re.compile(r"\{(\w+)\|([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of problem.

    Attributes
    ----------
    title
        One line. ``{name|this function}`` is a field: its value in quotes, or else the words after the bar.
    explanation
        What is refused, why, and what to write instead, with an example. Indented lines are code.
    helps
        Ways out that fit every case; shown where the compiler knows no better one.
    severity
        Whether it stops the differentiation.
    """

    title: str
    explanation: str
    helps: tuple[str, ...] = ()
    severity: Severity = "error"

    def title_for(self, fields: Mapping[str, object]) -> str:
        """The title with the values of its fields."""

        def value(match: re.Match[str]) -> str:
            name, default = match.groups()
            return f"'{fields[name]}'" if name in fields else default

        return _FIELD.sub(value, self.title)
