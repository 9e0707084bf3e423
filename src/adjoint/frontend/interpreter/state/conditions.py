"""Conditions that were decided on the way to where the program is: ``if not a: raise``, then ``if a``.

The side of a branch knows how its condition came out, and what follows from that for those that it is made of. A
branch that asks once more goes to the one side that is left, so that the other leaves nothing behind: no None of a
chain of ``elif`` without an end.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class _Made:
    """What a condition is made of: ``not`` of one, ``and`` or ``or`` of two."""

    parts: tuple[ir.Atom, ...]
    is_and: bool


@dataclass(eq=False, slots=True)
class Conditions:
    """What is known of conditions, in which blocks and those behind them."""

    outcomes: dict[ir.Atom, list[tuple[Open, bool]]] = field(default_factory=dict)
    made: dict[ir.Atom, _Made] = field(default_factory=dict)
    one_of: dict[tuple[ir.Atom, bool], list[tuple[Open, ir.Atom, bool]]] = field(default_factory=dict)
    """Of an outcome: what else comes out how where this does."""

    def note_made(self, cond: ir.Atom, *parts: ir.Atom, is_and: bool = False) -> None:
        """Notes what a condition is made of."""
        if isinstance(cond, ir.Var):
            self.made[cond] = _Made(parts, is_and)

    def noted(self, block: Open, cond: ir.Atom, outcome: bool) -> Open:
        """The block, where a condition came out so, which is noted."""
        pending = [(cond, outcome)]
        for atom, holds in pending:
            if not isinstance(atom, ir.Var) or not isinstance(atom.type, ir.Scalar):
                continue  # what lies in memory may change
            if self.outcome(atom, block) is not None:
                continue
            self.outcomes.setdefault(atom, []).append((block, holds))
            others = self.one_of.get((atom, holds), ())
            pending += [(other, wanted) for at, other, wanted in others if _leads(at, block)]
            made = self.made.get(atom)
            if made is not None:
                pending += self._followed_by(block, made, holds)
        return block

    def _followed_by(self, block: Open, made: _Made, holds: bool) -> list[tuple[ir.Atom, bool]]:
        """What the outcome of a condition says of its parts, now or once one of them is known."""
        if len(made.parts) == 1:
            return [(made.parts[0], not holds)]
        if holds is made.is_and:
            return [(part, holds) for part in made.parts]
        found = []
        for part, other in (made.parts, made.parts[::-1]):
            atom, wanted = part, not holds
            while atom in self.made and len(self.made[atom].parts) == 1:
                atom, wanted = self.made[atom].parts[0], not wanted
            if self.outcome(atom, block) is wanted:
                found.append((other, holds))
            else:
                self.one_of.setdefault((atom, wanted), []).append((block, other, holds))
        return found

    def outcome(self, cond: ir.Atom, block: Open) -> bool | None:
        """How a condition comes out where a block runs; None where it is not known."""
        if isinstance(cond, ir.Const):
            return bool(cond.value)
        return next((holds for at, holds in self.outcomes.get(cond, ()) if _leads(at, block)), None)


def _leads(block: Open, here: Open | None) -> bool:
    """Whether a block runs wherever another one does."""
    while here is not None and here is not block:
        here = here.parent
    return here is block
