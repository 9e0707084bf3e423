"""Displays, calls and context managers, so that the intermediate representation needs no nodes for them.

The printer of the Python back end writes each of them as the syntax it stands for: ``make_list(a, b)`` as
``[a, b]``, ``call(f, x)`` as ``f(x)``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any


def make_list(*items: Any) -> list[Any]:
    """``[*items]``"""
    return list(items)


def make_tuple(*items: Any, cls: Any = tuple) -> tuple[Any, ...]:
    """``(*items,)``, or ``cls(*items)`` of the class of a named tuple."""
    return items if cls is tuple else cls(*items)


def unpack(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """``a, b = items``"""
    return items


def make_set(*items: Any) -> set[Any]:
    """``{*items}``"""
    return set(items)


def make_dict(*keys_and_values: Any) -> dict[Any, Any]:
    """``{k1: v1, ...}`` from keys and values in turn."""
    return dict(zip(keys_and_values[::2], keys_and_values[1::2], strict=True))


def keys_of(table: dict[Any, Any]) -> list[Any]:
    """``list(table)``"""
    return list(table)


def last_key(table: dict[Any, Any]) -> Any:
    """The key that was put in last, of a dict that is not empty.

    >>> last_key({"a": 1, "b": 2})
    'b'
    """
    return next(reversed(table))


def print_all(*containers: Any, **options: Any) -> None:
    """``print(*first, *second)``"""
    print(*(item for items in containers for item in items), **options)


PRINTS = (print, print_all)
"""Functions of which a program notices nothing, whether they are called or not."""


def make_slice(lower: Any, upper: Any, step: Any) -> slice:
    """``slice(lower, upper, step)``"""
    return slice(lower, upper, step)


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, for a function that is known only at run time."""
    return function(*args, **kwargs)


def draw(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a generator of random numbers draws: a number, or a new array by rows that nobody else has."""
    return method(*args, **kwargs)


def raise_made(exception: Callable[..., BaseException], *args: Any, **kwargs: Any) -> None:
    """``raise exception(*args, **kwargs)``"""
    raise exception(*args, **kwargs)


def raise_given(exception: BaseException) -> None:
    """``raise exception``"""
    raise exception


_CONVERSIONS: dict[Any, Callable[[Any], Any]] = {"s": str, "r": repr, "a": ascii, 115: str, 114: repr, 97: ascii}


def format_value(value: Any, conversion: str | int | None = None, spec: str | None = None) -> str:
    """One field of an f-string.

    Parameters
    ----------
    value
        What is formatted.
    conversion
        ``"s"``, ``"r"`` or ``"a"``, or the numbers that `ast.FormattedValue` uses for them; anything else: none.
    spec
        The format specification.
    """
    convert = _CONVERSIONS.get(conversion)
    return format(value if convert is None else convert(value), spec or "")


def join_string(*parts: Any) -> str:
    """An f-string: its literal parts and formatted fields put together."""
    return "".join(format(part) for part in parts)


class letting_through:
    """A context manager that must let exceptions through.

    If the one inside handles an exception, the derivative does not know how far the block came: better no result than
    a wrong one.

    >>> from contextlib import nullcontext
    >>> with letting_through(nullcontext(1.0)) as x:
    ...     print(x)
    1.0
    """

    def __init__(self, context: Any) -> None:
        self.context = context

    def __enter__(self) -> Any:
        return self.context.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.context.__exit__(kind, problem, traceback) and problem is not None:
            name = type(self.context).__name__
            raise RuntimeError(f"the context manager {name!r} handles exceptions, and is differentiated") from problem
