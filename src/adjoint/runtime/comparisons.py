"""Comparisons of containers where numbers are objects made anew: of two NaN it is not told whether they are one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.diagnostics import Diagnostic, DifferentiationError
from adjoint.diagnostics.diagnostic import diagnostic

__all__ = ["UnknownItems", "by_key", "compared", "ordered"]

_CONTAINERS = (list, tuple, set, frozenset, deque)


class UnknownItems(DifferentiationError):
    """A container is asked for an item that is equal to nothing, or only to the object that it is.

    Examples
    --------
    >>> UnknownItems().diagnostics[0].code
    'AD0301'
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*(diagnostics or (_problem(),)))


def compared(compare: Callable[..., Any], *operands: Any) -> Any:
    """What a comparison, or a search, says of containers.

    Raises
    ------
    UnknownItems
        If that depends on which objects the items are.

    Examples
    --------
    >>> import operator
    >>> compared(operator.eq, [1.0, 2.0], [1.0, 2.0])
    True
    >>> compared(operator.eq, [float("nan")], [float("nan")])
    Traceback (most recent call last):
    ...
    adjoint.runtime.comparisons.UnknownItems: error[AD0301]: ...
    """
    if not any(isinstance(operand, (*_CONTAINERS, dict)) for operand in operands):
        return compare(*operands)  # arrays and numbers themselves are not asked which object they are
    sides = operands[0] if len(operands) == 1 and isinstance(operands[0], _CONTAINERS) else operands
    if sum(map(_holds_unequal, sides)) > 1:
        raise UnknownItems
    return compare(*operands)


def ordered(order: Callable[..., Any], items: Any, *others: Any, **options: Any) -> Any:
    """What a function says that orders items.

    Raises
    ------
    UnknownItems
        If that depends on which objects the items of tuples are.

    Examples
    --------
    >>> ordered(sorted, [(2.0, 1), (1.0, 2)])
    [(1.0, 2), (2.0, 1)]
    """
    inner = [each for each in (*(items if isinstance(items, list) else ()), items, *others) if isinstance(each, tuple)]
    if sum(map(_holds_unequal, inner)) > 1:
        raise UnknownItems
    return order(items, *others, **options)


def by_key(function: Callable[..., Any], items: dict[Any, Any], key: Any, *others: Any) -> Any:
    """What a function gives that asks a dict for a key.

    Raises
    ------
    UnknownItems
        If that depends on which object the key is.

    Examples
    --------
    >>> import operator
    >>> by_key(operator.getitem, {1.5: "a"}, 1.5)
    'a'
    """
    if _holds_unequal(key) and any(map(_holds_unequal, items)):
        raise UnknownItems
    return function(items, key, *others)


def _holds_unequal(value: Any) -> bool:
    """Whether a value is, or holds, what may be equal only as an object: NaN, or an array."""
    if isinstance(value, (float, complex, np.inexact)):
        return bool(value != value)
    if isinstance(value, dict):
        return any(map(_holds_unequal, value.values()))
    return isinstance(value, np.ndarray) or (isinstance(value, _CONTAINERS) and any(map(_holds_unequal, value)))


def _problem() -> Diagnostic:
    label = "whether two items that are not equal to themselves (NaN, or arrays) are one object is known to Python only"
    return diagnostic("AD0301", None, label, helps=("leave out native=True", "ask whether it is one: math.isnan(x)"))
