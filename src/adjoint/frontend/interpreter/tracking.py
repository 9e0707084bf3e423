"""A store that takes down what is written to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Watcher = tuple[dict[Any, int], Callable[[], int]]
"""A log, by key of the store, of what the clock said when it was first written."""


class Tracked(dict[Any, Any]):
    """A store that is watched, as its copies are."""

    __slots__ = ("watchers",)

    def __init__(self, store: dict[Any, Any], watcher: Watcher) -> None:
        super().__init__(store)
        self.watchers: tuple[Watcher, ...] = (*getattr(store, "watchers", ()), watcher)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.get(key) is not value:
            for log, clock in self.watchers:
                log.setdefault(key, clock())
        super().__setitem__(key, value)

    def copy(self) -> Tracked:
        found = Tracked.__new__(Tracked)
        dict.update(found, self)
        found.watchers = self.watchers
        return found


set_unseen = dict.__setitem__
"""Puts into a store what is known there under another name, or was written before."""
