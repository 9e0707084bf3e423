"""What calls become: one table, to which the modules of rules add their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Rule = Callable[..., Any]
_Written = TypeVar("_Written", bound=Rule)
RULES: dict[Any, Rule] = {}
"""By what is called: takes the emission of the function that calls it and the values of the arguments, and gives what
the call gives."""


def rule(*callees: Any) -> Callable[[_Written], _Written]:
    """Declares what calls of functions become."""

    def declare(write: _Written) -> _Written:
        RULES.update(dict.fromkeys(callees, write))
        return write

    return declare
