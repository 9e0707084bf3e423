"""Lists that compiled code makes for items of a certain type."""

from __future__ import annotations

from typing import Any


def no_items(sample: Any) -> list[Any]:
    """An empty list for values like ``sample``.

    >>> no_items(1.0)
    []
    """
    return []


def any_layout(array: Any) -> Any:
    """The array; to a compiler, one of which nothing is known about where its elements lie."""
    return array[::1]
