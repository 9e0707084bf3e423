"""What loops over iterators ask in machine code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NO_ITEM = object()


def next_item(iterator: Iterator[Any], otherwise: Any) -> tuple[bool, Any]:
    """Whether there is another item, and the item, or something else.

    >>> items = iter([5])
    >>> next_item(items, 0), next_item(items, 0)
    ((True, 5), (False, 0))
    """
    item = next(iterator, _NO_ITEM)
    return (False, otherwise) if item is _NO_ITEM else (True, item)
