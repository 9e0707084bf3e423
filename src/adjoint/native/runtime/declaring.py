"""How functions of the runtime are declared to Numba, and which kinds of arguments they take."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numba import extending
from numba.core import types

_OVERLOADS: dict[Any, tuple[Callable[..., Any], bool]] = {}


def overload(function: Callable[..., Any], **options: Any) -> Any:
    """Declares what a function does with arguments of given types, as :func:`numba.extending.overload` does."""

    def declare(typed):
        _OVERLOADS[function] = (typed, options.get("prefer_literal", False))
        return extending.overload(function, **options)(typed)

    return declare


def declare_instruction(function: Callable[..., Any], typed: Callable[..., Any]) -> None:
    """Remembers the types that a function takes which Numba is told of in another way."""
    _OVERLOADS[function] = (typed, False)


def is_declared(callee: Any) -> bool:
    """Whether a function is declared here, for some types."""
    try:
        return callee in _OVERLOADS
    except TypeError:  # not hashable
        return False


def takes(callee: Any, args: Sequence[Any], named: Mapping[str, Any]) -> bool | None:
    """Whether a function takes arguments of these types; None for functions that are not declared here.

    Nothing is compiled to find out.
    """
    try:
        known = _OVERLOADS.get(callee)
    except TypeError:  # not hashable
        return None
    if known is None:
        return None
    typed, literal = known
    plain = [types.unliteral(arg) for arg in args]
    plain_named = {name: types.unliteral(arg) for name, arg in named.items()}
    attempts = [(plain, plain_named), (args, named)]
    return any(_applies(typed, *attempt) for attempt in (attempts[::-1] if literal else attempts))


def _applies(typed: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(typed).bind(*args, **named)
        return bool(typed(*args, **named))
    except Exception:  # of various kinds, for types that it does not expect
        return False
