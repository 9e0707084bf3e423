"""How often a declared derivative is followed inside itself, and which of two declared ones runs first.

One that calls the function that it is the derivative of calls that as it stands. Where a derivative flows through that
call, which is so for second derivatives, the declaration has to be followed there once more: lowering starts again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from adjoint.diagnostics import DifferentiationError
from adjoint.records import dataclass

T = TypeVar("T")

_MOST = 4


@dataclass(eq=False, slots=True)
class Levels:
    """How often a declaration may be followed inside itself, and whether more was asked for.

    Where both a pullback and a differential are declared, ``forward`` says whose value counts.
    """

    allowed: int = 1
    were_reached: bool = False
    forward: bool = False


_levels: ContextVar[Levels | None] = ContextVar("levels", default=None)


def levels_now() -> Levels:
    """Those of the compilation that is under way."""
    return _levels.get() or Levels()


def as_deep_as_needed(make: Callable[[], T], forward: bool = False) -> T:
    """What ``make`` compiles, with declarations followed inside themselves as often as it needs."""
    levels = Levels(forward=forward)
    while True:
        token = _levels.set(levels)
        try:
            return make()
        except DifferentiationError:
            if not levels.were_reached or levels.allowed == _MOST:
                raise
            levels = Levels(levels.allowed + 1, forward=forward)
        finally:
            _levels.reset(token)
