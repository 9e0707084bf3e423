"""Timing that is fair on a busy machine: contestants take turns, and the fastest turn counts as well as the median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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


def race(contestants: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Times]:
    """Times each contestant once per round, in turn; a first call each is not counted."""
    repeats = {name: _repeats(run) for name, run in contestants.items()}
    turns: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            turns[name].append(_turn(run, repeats[name]))
    return {name: Times(tuple(found)) for name, found in turns.items()}


def _repeats(run: Callable[[], Any]) -> int:
    run()
    return max(1, int(_LEAST_TURN / max(_turn(run, 1), 1e-9)))


def _turn(run: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats
