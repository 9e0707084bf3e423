"""Supports that go from function to function: what a derivative that is called takes and gives beside cotangents."""

from __future__ import annotations

from typing import Protocol

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.records import dataclass
from adjoint.runtime.arithmetic.numbers import divide, selected, times
from adjoint.target import ALL_INLINED, Target

ASKING = (times, divide, selected)
"""Products that ask what was left out of a cotangent."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How many of the last arguments, and of the last results, of a derivative have supports, which follow them."""

    args: int
    results: int

    def given(self, call: ir.Call) -> tuple[ir.Var, ...]:
        """The variables among the arguments that have supports."""
        return tuple(arg for arg in call.args[len(call.args) - self.args :] if isinstance(arg, ir.Var))

    def made(self, call: ir.Call) -> tuple[ir.Var, ...]:
        return call.targets[len(call.targets) - self.results :]


class Callees(Protocol):
    """The derivatives that a derivative calls."""

    def carried(self, call: ir.Call) -> Carried | None:
        """What a call takes and gives of supports; None where they are not known across it."""

    def gives_computed_zeros(self, call: ir.Call) -> None:
        """Is told of calls that are given what may be zero by chance."""

    def asks_supports(self, call: ir.Call) -> None:
        """Is told of calls across which a support is needed that is not known."""

    def loses_supports(self, call: ir.Call) -> None:
        """Is told of calls to which a support has to be given that is not known."""


@dataclass(frozen=True, slots=True)
class Supported:
    """A block with the supports that it needs.

    Attributes
    ----------
    given
        The variables of the supports that it is given.
    lost
        Whether it should give what is not known.
    """

    block: ir.Block
    given: tuple[ir.Var, ...] = ()
    lost: bool = False


class SupportsLost(DifferentiationError):
    """What a selection left out is not known across a call, where it may matter: the function has to be inlined."""


def carries_supports(target: Target) -> bool:
    """Whether functions that are called tell what was left out: where no result is computed again."""
    return not target.recomputes


def refuse_lost_supports(target: Target) -> None:
    """Refuses calls across which that is not known, unless all is inlined that can be."""
    if carries_supports(target) and target.inlined != ALL_INLINED:
        raise SupportsLost(diagnostic("AD0901", None, "what a selection left out is not known across a call"))
