"""What is known on one side of a choice because an earlier choice on the same condition took that side, too.

While such a side is rewritten, the variables that the earlier choice bound are called what they are on its side, so
that what was computed there is found again. Afterwards they have their own names back, and the earlier choice hands
out what it did not hand out before.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import islice

from adjoint import ir
from adjoint.ir.rebuild import map_leaves, substitute
from adjoint.ir.walk import leaves, targets_of, vars_used
from adjoint.records import dataclass, field

Seen = dict[Hashable, tuple[ir.Var, ...]]


@dataclass(eq=False, slots=True)
class Place:
    """Where a choice stands in a list of statements that is still being written; and how deep that is."""

    statements: list[ir.Statement]
    position: int
    depth: int

    @property
    def choice(self) -> ir.If:
        found = self.statements[self.position]
        assert isinstance(found, ir.If)
        return found


@dataclass(eq=False, slots=True)
class Side:
    """What choices on one condition computed on one of their sides.

    Attributes
    ----------
    seen
        Numbers by what computes them.
    called
        What a variable that one of the choices binds is on this side.
    owners
        The choices on whose side a variable is bound.
    handed
        The variable by which one that is bound on this side is known outside.
    """

    seen: Seen = field(default_factory=dict)
    called: dict[ir.Var, ir.Var] = field(default_factory=dict)
    owners: dict[ir.Var, Place] = field(default_factory=dict)
    handed: dict[ir.Var, ir.Var] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RewrittenSide:
    """One side of a choice, with the names that variables have there; and what was seen at its end and before it."""

    block: ir.Block
    seen: Seen
    seen_before: int

    def numbers(self) -> Seen:
        """The numbers that it computes."""
        added = islice(self.seen.items(), self.seen_before, None)
        return {key: found for key, found in added if all(isinstance(var.type, ir.Scalar) for var in found)}


Rewritten = Mapping[bool, RewrittenSide]


class SameChoices:
    """The choices on one condition so far, as far as what they bind can be read where the next one stands.

    Most conditions have one choice only: what that computes is taken down when there is another.
    """

    def __init__(self) -> None:
        self._sides = {True: Side(), False: Side()}
        self._pairs: dict[tuple[ir.Atom, ir.Atom], ir.Var] = {}
        self._latest: tuple[Place, Rewritten, list[int]] | None = None

    @property
    def sides(self) -> dict[bool, Side]:
        if self._latest is not None:
            latest, self._latest = self._latest, None
            self._take_down(*latest)
        return self._sides

    def with_choice(self, place: Place, rewritten: Rewritten, kept: list[int]) -> SameChoices:
        """These and one that was rewritten, and still hands out what is in the positions ``kept``."""
        other = SameChoices()
        for which, side in self.sides.items():
            other._sides[which] = Side(dict(side.seen), dict(side.called), dict(side.owners), dict(side.handed))
        other._pairs = dict(self._pairs)
        other._latest = place, rewritten, kept
        return other

    def _take_down(self, place: Place, rewritten: Rewritten, kept: list[int]) -> None:
        for which, side in self._sides.items():
            side.seen.update(rewritten[which].numbers())
            side.owners.update(
                (var, place) for statement in rewritten[which].block.statements for var in targets_of(statement)
            )
        yielded = {which: _only_yield(side.block) for which, side in rewritten.items()}
        for position, target in zip(kept, place.choice.targets, strict=True):
            then, orelse = (None if values is None else values[position] for values in yielded.values())
            self._name(target, then, orelse)

    def _name(self, target: ir.Var, then: ir.Atom | None, orelse: ir.Atom | None) -> None:
        if then is not None and orelse is not None and _may_be_another(target, then, orelse):
            self._pairs.setdefault((then, orelse), target)
        for which, atom in ((True, then), (False, orelse)):
            side = self.sides[which]
            if isinstance(atom, ir.Var) and atom in side.owners and atom.type == target.type:
                if isinstance(atom.type, ir.Scalar):
                    side.called[target] = atom
                side.handed.setdefault(atom, target)

    def outside(
        self, rewritten: Rewritten, targets: tuple[ir.Var, ...] | None
    ) -> tuple[dict[bool, ir.Block], list[tuple[ir.Var, ir.Var, Place]]]:
        """The sides of a choice that binds ``targets``, with names that are known outside.

        Then the variables that are new, with what they are on their side and the choice that now hands them out.
        """
        made: list[tuple[ir.Var, ir.Var, Place]] = []
        inner = {which: side.block for which, side in rewritten.items()}
        sides = inner if targets is None else self._with_pairs(inner, targets)
        for which, block in sides.items():
            side = self.sides[which]
            names: dict[ir.Var, ir.Atom] = {}
            for var in vars_used(block):
                if var in side.owners:
                    if var not in side.handed:
                        made.append((self._hand_out(var, which), var, side.owners[var]))
                    names[var] = side.handed[var]
            sides[which] = substitute(block, names)
        return sides, made

    def _with_pairs(self, inner: dict[bool, ir.Block], targets: tuple[ir.Var, ...]) -> dict[bool, ir.Block]:
        """The sides of a choice, which hand out as one what an earlier choice handed out as one."""
        then, orelse = (_only_yield(inner[which]) for which in (True, False))
        if then is None or orelse is None:
            return inner
        known = [
            self._pairs.get((yes, no)) if _may_be_another(target, yes, no) else None
            for target, yes, no in zip(targets, then, orelse, strict=True)
        ]

        def leaf(terminator: ir.Terminator) -> ir.Terminator:
            if not isinstance(terminator, ir.Yield):
                return terminator
            values = zip(known, targets, terminator.values, strict=True)
            return ir.Yield(tuple([old if new is None or new.type != var.type else new for new, var, old in values]))

        return {which: map_leaves(block, leaf) for which, block in inner.items()}

    def _hand_out(self, var: ir.Var, which: bool) -> ir.Var:
        """A variable bound by the choice that computes ``var`` on one side; on the other side nobody reads it."""
        target = ir.Var(var.hint, var.type, var.named)
        place = self.sides[which].owners[var]
        old = place.choice
        then, orelse = (
            _also(old.then, var if which else ir.UNDEFINED),
            _also(old.orelse, ir.UNDEFINED if which else var),
        )
        place.statements[place.position] = ir.If(old.cond, then, orelse, (*old.targets, target), old.span)
        self._name(target, *((var, ir.UNDEFINED) if which else (ir.UNDEFINED, var)))
        return target


def _may_be_another(target: ir.Var, then: ir.Atom, orelse: ir.Atom) -> bool:
    """Whether another variable may stand for one of the two; not where it may be a variable that is not bound."""
    return not (target.named and ir.UNDEFINED in (then, orelse)) and then != orelse


def _only_yield(block: ir.Block) -> tuple[ir.Atom, ...] | None:
    ends = [leaf for leaf in leaves(block) if not isinstance(leaf, ir.Raise)]
    return ends[0].values if len(ends) == 1 and isinstance(ends[0], ir.Yield) else None


def _also(block: ir.Block, atom: ir.Atom) -> ir.Block:
    return map_leaves(block, lambda end: ir.Yield((*end.values, atom)) if isinstance(end, ir.Yield) else end)
