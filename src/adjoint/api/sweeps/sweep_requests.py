"""What is asked of a derivative that takes several directions at a time, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.dispatch.specialize import Specialization
from adjoint.records import dataclass

FEWEST_APART = 3
"""Sweeps from which on what they have in common is compiled as a function of its own."""


@dataclass(frozen=True, slots=True)
class Sweeps:
    """A compiled derivative of several directions.

    Attributes
    ----------
    before
        Takes the inputs for one direction; gives the value of the function, then what ``sweep`` needs besides. None
        where sweeps do all by themselves.
    sweep
        Takes the inputs for one direction, what was computed before, and what stands for the direction in each
        further one; gives the result for each. If ``is_bundled``, it takes all directions in place of the one, and
        gives results with one more axis, the last, for them.
    width
        The number of directions that it takes.
    places
        The inputs that are the direction.
    is_bundled
        Whether it has a bundle of numbers for what depends on the direction.
    """

    before: Callable[..., Any] | None
    sweep: Callable[..., Any]
    width: int
    places: tuple[int, ...]
    is_bundled: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a derivative."""

    of_adjoint: bool
    places: tuple[int, ...]
    width: int
    is_apart: bool

    @property
    def gives_value(self) -> bool:
        """Whether sweeps give the value of the function beside its derivatives."""
        return not self.of_adjoint

    def half(self, compiled: Specialization) -> ir.Function:
        """The half of a derivative that takes a direction."""
        found = compiled.exact.adjoint_function if self.of_adjoint else compiled.exact.function
        assert found is not None
        return found
