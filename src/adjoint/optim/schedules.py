"""Learning rates that change with the number of updates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Schedule = Callable[[int], float]
"""What gives a learning rate for the number of updates that were made before."""

Rate = float | Schedule


def rate_at(rate: Rate, updates: int) -> float:
    """The learning rate after so many updates."""
    if callable(rate):
        return float(rate(updates))
    return rate


@dataclass(frozen=True)
class Constant:
    """The same rate at all times."""

    rate: float

    def __call__(self, updates: int) -> float:
        return self.rate


@dataclass(frozen=True)
class Linear:
    """From one rate to another in equal steps, and constant from then on.

    Examples
    --------
    >>> import adjoint as ad
    >>> rate = ad.optim.Linear(1.0, 0.0, updates=4)
    >>> [rate(n) for n in (0, 1, 4, 9)]
    [1.0, 0.75, 0.0, 0.0]
    """

    first: float
    last: float
    updates: int

    def __call__(self, updates: int) -> float:
        part = min(updates / self.updates, 1.0)
        return self.first + part * (self.last - self.first)


@dataclass(frozen=True)
class Exponential:
    """A rate that is multiplied by a factor at each update, or every so many.

    Examples
    --------
    >>> import adjoint as ad
    >>> rate = ad.optim.Exponential(1.0, factor=0.5, every=2)
    >>> rate(2), rate(4)
    (0.5, 0.25)
    """

    first: float
    factor: float
    every: int = 1

    def __call__(self, updates: int) -> float:
        return float(self.first * self.factor ** (updates / self.every))


@dataclass(frozen=True)
class Cosine:
    """Half a wave of a cosine, from one rate down to another, and constant from then on.

    Examples
    --------
    >>> import adjoint as ad
    >>> rate = ad.optim.Cosine(1.0, updates=100)
    >>> rate(0), round(rate(50), 6), rate(100)
    (1.0, 0.5, 0.0)
    """

    first: float
    updates: int
    last: float = 0.0

    def __call__(self, updates: int) -> float:
        part = min(updates / self.updates, 1.0)
        return self.last + (self.first - self.last) * 0.5 * (1.0 + math.cos(math.pi * part))


@dataclass(frozen=True)
class Steps:
    """A rate that is multiplied by a factor at certain numbers of updates.

    Examples
    --------
    >>> import adjoint as ad
    >>> rate = ad.optim.Steps(1.0, {10: 0.5, 20: 0.1})
    >>> rate(9), rate(10), rate(20)
    (1.0, 0.5, 0.05)
    """

    first: float
    factors: dict[int, float]

    def __call__(self, updates: int) -> float:
        return math.prod((factor for start, factor in self.factors.items() if updates >= start), start=self.first)


@dataclass(frozen=True)
class Warmup:
    """Grows in equal steps to the first rate of another schedule, and follows it from then on.

    Examples
    --------
    >>> import adjoint as ad
    >>> rate = ad.optim.Warmup(ad.optim.Constant(0.1), updates=4)
    >>> rate(0), rate(1), rate(4)
    (0.025, 0.05, 0.1)
    """

    then: Rate
    updates: int

    def __call__(self, updates: int) -> float:
        if updates < self.updates:
            return rate_at(self.then, 0) * (updates + 1) / self.updates
        return rate_at(self.then, updates - self.updates)
