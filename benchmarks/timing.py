"""Timing that is fair on a busy machine: contestants take turns, and the fastest turn counts as well as the median."""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Name = TypeVar("Name")

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
_LEAST_TURN = 2e-3  # seconds; shorter calls are repeated within a turn


@dataclass(frozen=True)
class Times:
    """Seconds per call, over the turns of one contestant."""

    turns: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest turn."""
        return min(self.turns)

    @property
    def median(self) -> float:
        """The turn in the middle."""
        return statistics.median(self.turns)


def race(
    contestants: Mapping[Name, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[Name, Times]:
    """Times each contestant once per round, in turn; a first call each is not counted."""
    repeats = {name: _repeats(run, clock) for name, run in contestants.items()}
    turns: dict[Name, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            turns[name].append(_turn(run, repeats[name], clock))
    return {name: Times(tuple(found)) for name, found in turns.items()}


def _repeats(run: Callable[[], Any], clock: Callable[[], float]) -> int:
    run()
    return max(1, int(_LEAST_TURN / max(_turn(run, 1, clock), 1e-9)))


def _turn(run: Callable[[], Any], repeats: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(repeats):
        run()
    return (clock() - start) / repeats


def give_back_freed_memory() -> None:
    """Has the allocator of C give back to the system what is freed, where it can be told to."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def keep_freed_memory() -> None:
    """Has the allocator of C keep memory that is freed, where it can be told to.

    Otherwise each call of a function that returns large arrays pays for new pages, whoever wrote it.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, 1 << 30)
    mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)
