"""What calls become: one table, to which the modules of rules add their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.native.llvm.values import Unsupported

Rule = Callable[..., Any]
_Written = TypeVar("_Written", bound=Rule)
RULES: dict[Any, Rule] = {}
"""By what is called: takes the emission of the function that calls it and the values of the arguments, and gives what
the call gives."""


def applied(callee: Any, write: Rule, e: Any, /, *values: Any, **named: Any) -> Any:
    """What a call becomes by a rule; no form where that knows no such arguments."""
    try:
        return write(e, *values, **named)
    except TypeError as problem:
        if problem.__traceback__ is not None and problem.__traceback__.tb_next is not None:
            raise
        raise Unsupported(f"a call of {getattr(callee, '__qualname__', callee)} with these options") from None


def rule(*callees: Any) -> Callable[[_Written], _Written]:
    """Declares what calls of functions become."""

    def declare(write: _Written) -> _Written:
        RULES.update(dict.fromkeys(callees, write))
        return write

    return declare
