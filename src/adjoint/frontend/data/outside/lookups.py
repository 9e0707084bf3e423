"""What functions that stay functions look up outside of themselves, taken down while they are lowered.

A function is lowered once for all calls that find the same there. What it captures can be told before; what it finds
by global names, in classes and modules, and in what the functions that it calls capture, shows only on the way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.frontend.interpreter.values import Cell, Closure, Value
from adjoint.records import dataclass, field

if TYPE_CHECKING:
    from adjoint.frontend.data.outside.captures import Surroundings
    from adjoint.frontend.interpreter.core import Lowerer

LookedUp = Cell | Value
"""A variable, or what was found by a name that nobody assigns."""


@dataclass(eq=False, slots=True)
class Lookups:
    """What was looked up while one function was lowered.

    Attributes
    ----------
    found
        Variables and values, by identity.
    closures
        The functions that were called.
    own
        The variables of the function itself, and of those that were inlined in it.
    unfinished
        Functions that were called while they were being lowered themselves.
    """

    found: dict[int, LookedUp] = field(default_factory=dict)
    closures: dict[Closure, None] = field(default_factory=dict)
    own: set[Cell] = field(default_factory=set)
    unfinished: dict[Any, None] = field(default_factory=dict)

    def outside(self, known: Surroundings) -> tuple[LookedUp, ...]:
        """What is outside of the function, besides what is known to be."""
        found = [each for each in self.found.values() if not (isinstance(each, Cell) and each in known.cells)]
        others = [
            each
            for each in self.closures
            if _finds_something(each) and each not in known.objects and self.own.isdisjoint(each.cells.values())
        ]
        return (*(each for each in found if not (isinstance(each, Cell) and each in self.own)), *others)


def _finds_something(closure: Closure) -> bool:
    return bool(closure.cells or closure.defaults or closure.kw_defaults or closure.attributes)


def note(lo: Lowerer, found: LookedUp | None) -> None:
    """Takes down what was looked up, if a function is being lowered that stays one."""
    lookups = lo.run_data.lookups
    if lookups and found is not None and not isinstance(found, ir.Const):
        lookups[-1].found[id(found)] = found


def note_all(lo: Lowerer, found: Iterable[LookedUp]) -> None:
    """The same for what a function looks up that is called."""
    for each in found:
        note(lo, each)
