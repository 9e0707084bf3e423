"""Lists that are made of None or of [None], and whose places are filled one after another: what is there in the end."""

from __future__ import annotations

from typing import Any


def all_there(items: Any, message: Any) -> Any:
    result = []
    for item in items:
        if item is None:
            raise TypeError(message)
        result.append(item)
    return result


def no_lists_there(items: Any, message: Any) -> Any:
    result = []
    for item in items:
        if item is None or isinstance(item, list):
            raise TypeError(message)
        result.append(item)
    return result
