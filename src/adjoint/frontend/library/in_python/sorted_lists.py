"""What `heapq` and `bisect` do to lists, in Python; equal items end up where they do there."""

from __future__ import annotations

import bisect
from typing import Any

from adjoint.frontend.library.python_functions import put_in


def push(heap: Any, item: Any) -> None:
    heap.append(item)
    towards_root(heap, 0, len(heap) - 1)


def pop(heap: Any) -> Any:
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    through_leaf(heap, 0)
    return first


def replace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    through_leaf(heap, 0)
    return first


def push_and_pop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        return replace(heap, item)
    return item


def arrange(heap: Any) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        through_leaf(heap, place)


def towards_root(heap: Any, root: Any, place: Any) -> None:
    """Moves an item up until the one above it is not greater."""
    item = heap[place]
    while place > root:
        above = (place - 1) // 2
        if not item < heap[above]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def through_leaf(heap: Any, root: Any) -> None:
    """Moves an item down to a leaf, past the smaller of two each time, and up again from there."""
    item = heap[root]
    place = root
    below = 2 * place + 1
    while below < len(heap):
        if below + 1 < len(heap) and not heap[below] < heap[below + 1]:
            below = below + 1
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    towards_root(heap, root, place)


def insert_right(items: Any, item: Any) -> None:
    put_in(items, bisect.bisect_right(items, item), item)


def insert_left(items: Any, item: Any) -> None:
    put_in(items, bisect.bisect_left(items, item), item)


def least(count: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key)[: max(count, 0)]


def greatest(count: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key, reverse=True)[: max(count, 0)]
