"""Orders of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def order_of(keys: Sequence[Any], reverse: bool = False) -> list[int]:
    """The places of the items in the order in which ``sorted`` puts them.

    >>> order_of([3.0, 1.0, 2.0])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=lambda place: keys[place], reverse=reverse)
