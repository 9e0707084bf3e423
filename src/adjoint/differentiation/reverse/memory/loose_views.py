"""Items of arrays of unknown rank, or at an index of which it is not known what it is: these may be views.

They count as values. So what they hold is copied where the reverse region reads it later, as of an array; and a program
that itself reads one after the memory was written is refused: it would read what the store put there if it is a view.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import joins
from adjoint.diagnostics import Span
from adjoint.differentiation.reverse.memory.gathers import copies
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, targets_of, terminators_in
from adjoint.records import dataclass

Loops = tuple[int, ...]
Event = tuple[float, Loops]
"""The number of a statement in the text, and the loops around it."""

LABEL = "this may be a view of an array that was written since; it is not known whether it is"
_ALWAYS: Event = (-1, ())


@dataclass(frozen=True, slots=True)
class LooseViews:
    """The memory that a value may be a view of, although it counts as a value, and since when.

    Attributes
    ----------
    found
        By variable: the memory, and where in the text the view was made.
    """

    found: dict[ir.Var, dict[ir.Storage, Event]]

    def memory_of(self, atom: ir.Atom) -> Iterator[ir.Storage]:
        """The memory that a value may be a view of."""
        return iter(self.found.get(atom, ())) if isinstance(atom, ir.Var) else iter(())

    def read_late(
        self,
        function: ir.Function,
        number: Callable[[ir.Statement], Event],
        writes: Callable[[ir.Storage], Sequence[Event]],
    ) -> Iterator[tuple[ir.Var, Span | None]]:
        """The values that are read after the memory was written, each where it is read."""
        for statement in statements_in(function.body):
            for atom in operands(statement):
                if isinstance(atom, ir.Var) and atom in self.found:
                    when = (math.inf, number(statement)[1]) if _keeps(statement) else number(statement)
                    if self._is_late(atom, when, writes):
                        yield atom, statement.span
        for end in terminators_in(function.body):
            for atom in operands(end) if isinstance(end, ir.Return) else ():
                if isinstance(atom, ir.Var) and atom in self.found and self._is_late(atom, (math.inf, ()), writes):
                    yield atom, end.span  # type: ignore[union-attr]

    def _is_late(self, var: ir.Var, read: Event, writes: Callable[[ir.Storage], Sequence[Event]]) -> bool:
        for storage, (made, around) in self.found[var].items():
            again = [loop for loop in read[1] if loop not in around]
            for place, loops in writes(storage):
                if made < place < read[0] or any(loop in loops for loop in again):
                    return True
        return False


def _keeps(statement: ir.Statement) -> bool:
    """Whether a statement may keep a view where others read it."""
    if isinstance(statement, ir.Call):
        found = effects_of(statement)
        return not found.known or found.hands_on
    return isinstance(statement, ir.Store) and not isinstance(type_of_atom(statement.base), ir.Array)


def loose_views(
    function: ir.Function, number: Callable[[ir.Statement], Event], may_write: Callable[[ir.Storage], bool]
) -> LooseViews:
    """The values of a function that may be views of memory which is written."""
    statements = statements_in(function.body)
    if not any(_is_loose(statement) for statement in statements):
        return LooseViews({})
    found: dict[ir.Var, dict[ir.Storage, Event]] = {}
    before: dict[ir.Var, dict[ir.Storage, Event]] | None = None
    while before != found:
        before = {var: dict(views) for var, views in found.items()}
        for statement in statements:
            if isinstance(statement, ir.Load) and _is_loose(statement) and may_write(_memory(statement)):
                _note(found, statement.target, {_memory(statement): number(statement)})
            base = _viewed(statement)
            if isinstance(base, ir.Var) and base in found:
                for target in targets_of(statement):
                    _note(found, target, found[base])
            if isinstance(statement, (ir.If, ir.Loop, ir.Guarded)):
                for source, target in joins(statement):
                    if isinstance(source, ir.Var) and source in found:
                        is_loop = isinstance(statement, ir.Loop)  # which may hand on what an earlier iteration made
                        _note(found, target, dict.fromkeys(found[source], _ALWAYS) if is_loop else found[source])
    return LooseViews(found)


def _note(found: dict[ir.Var, dict[ir.Storage, Event]], target: ir.Var, views: Mapping[ir.Storage, Event]) -> None:
    """Notes that a value may be a view of memory, since the earliest time that is possible."""
    if isinstance(target.type, ir.Scalar):
        return
    known = found.setdefault(target, {})
    for storage, (place, loops) in views.items():
        first, around = known.get(storage, (place, loops))
        known[storage] = min(place, first), tuple([loop for loop in loops if loop in around])


def _is_loose(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Load) or not isinstance(type_of_atom(statement.base), ir.Array):
        return False
    target = statement.target.type
    if isinstance(target, ir.Array):
        return ir.storage_of(target) is not _memory(statement) and copies(statement.key) is None
    return isinstance(target, ir.Number)


def _memory(load: ir.Load) -> ir.Storage:
    type_ = type_of_atom(load.base)
    assert isinstance(type_, ir.Array)
    return type_.storage.find()


def _viewed(statement: ir.Statement) -> ir.Atom | None:
    """What the result of a statement may be a view of."""
    if isinstance(statement, ir.Load):
        return statement.base
    if not isinstance(statement, ir.Call):
        return None
    place = effects_of(statement).view_of
    return statement.args[place] if place is not None and place < len(statement.args) else None
