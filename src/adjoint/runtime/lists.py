"""Lists and iterators in compiled code: lists for items of a certain type, orders of lists, the next item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adjoint.diagnostics import error

_NO_ITEM = object()


def no_items(sample: Any) -> list[Any]:
    """An empty list for values like ``sample``.

    >>> no_items(1.0)
    []
    """
    return []


def any_layout(array: Any) -> Any:
    """The array; to a compiler, one of which nothing is known about where its elements lie."""
    return array[::1]


def order_of_items(keys: Sequence[Any], reverse: bool = False) -> list[int]:
    """The places of the items in the order in which ``sorted`` puts them.

    >>> order_of_items([3.0, 1.0, 2.0])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=lambda place: keys[place], reverse=reverse)


def first_of_same(items: Sequence[Any]) -> list[int]:
    """The place at which each item, as an object, stands first.

    >>> row = [1.0]
    >>> first_of_same([row, [1.0], row])
    [0, 1, 0]
    """
    places: dict[int, int] = {}
    return [places.setdefault(id(item), place) for place, item in enumerate(items)]


def next_item(iterator: Iterator[Any], otherwise: Any) -> tuple[bool, Any]:
    """Whether there is another item, and the item, or something else.

    >>> items = iter([5])
    >>> next_item(items, 0), next_item(items, 0)
    ((True, 5), (False, 0))
    """
    item = next(iterator, _NO_ITEM)
    return (False, otherwise) if item is _NO_ITEM else (True, item)


def check_items(items: Any) -> None:
    """Refuses a list without items, of which NumPy makes other arrays than of those that it has elsewhere.

    Raises
    ------
    DifferentiationError
        AD0402.

    >>> check_items([[1, 2]])
    """
    if len(items) == 0:
        label = "in this call the list is empty: NumPy makes a vector of floats of it, whose dtype or rank is asked for"
        raise error("AD0402", None, label, helps=("give the array its dtype and shape: np.zeros((0, 2), dtype=int)",))
