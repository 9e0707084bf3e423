"""Which results of a function are memory of their own: not that of its arguments, of constants, or of other results.

Coarse, as it does not ask in which order things happen: what may share memory anywhere in the function is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from adjoint import ir
from adjoint.analysis.joins import caught, joins
from adjoint.analysis.known_effects import Effects
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.rules.kinds import Bilinear, Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime.array_functions.arrays import spread

FactsOf = Callable[[ir.Call], Effects]


def makes_memory(call: ir.Call, place: int, facts: Effects) -> bool:
    """Whether a result of a call is surely memory that nobody else has."""
    if not facts.known or facts.view_of is not None:
        return False
    if place in facts.own or facts.fresh or call.callee is np.sum or call.callee is spread:
        return True
    rule = rule_for(call.callee)
    if isinstance(rule, (Elementwise, Bilinear)):
        return all(map(_is_number, call.args))
    return rule is None and not facts.hands_on


def results_of_their_own(function: ir.Function, facts_of: FactsOf) -> tuple[int, ...]:
    """The places of the arrays that a function returns, and that it makes itself on all paths."""
    ends = [end.values for end in leaves(function.body) if isinstance(end, ir.Return)]
    places = [place for place in range(len(ends[0])) if _may_be_array(ends[0][place])] if ends else []
    if not places:
        return ()
    memory = _Memory(function, facts_of)
    classes = [[memory.find(value) for value in values if _refers(value)] for values in ends]
    counts = [Counter(found) for found in classes]
    return tuple(
        place
        for place in places
        if all(
            memory.is_made_here(values[place]) and count[memory.find(values[place])] == 1
            for values, count in zip(ends, counts, strict=True)
        )
    )


class _Memory:
    """The classes of what may share memory, None for that of others."""

    def __init__(self, function: ir.Function, facts_of: FactsOf) -> None:
        self.parents: dict[ir.Atom | None, ir.Atom | None] = {}
        self.facts_of = facts_of
        self.unite((None, *function.params))
        for statement in statements_in(function.body):
            self.statement(statement)

    def find(self, atom: ir.Atom | None) -> ir.Atom | None:
        while (parent := self.parents.get(atom, atom)) is not atom:
            atom = parent
        return atom

    def is_made_here(self, atom: ir.Atom) -> bool:
        return not _refers(atom) or (isinstance(atom, ir.Var) and self.find(atom) is not self.find(None))

    def unite(self, atoms: Iterable[ir.Atom | None]) -> None:
        """Notes that values may share memory; a constant is memory of others."""
        roots = [self.find(None if isinstance(atom, ir.Const) else atom) for atom in atoms if _refers(atom)]
        for root in roots[1:]:
            self.parents[root] = self.find(roots[0])

    def statement(self, statement: ir.Statement) -> None:
        for source, target in (*joins(statement), *caught(statement)):
            self.unite((source, target))
        match statement:
            case ir.Call():
                self.call(statement)
            case ir.Load(target=target, base=base):
                self.unite((target, base) if _refers(target) else ())
            case ir.Store(base=base, value=value) if not isinstance(type_of_atom(base), ir.Array):
                self.unite((base, value))
            case ir.Loop(over=ir.Items(iterable=iterable), index=ir.Var() as index):
                self.unite((index, iterable) if _refers(index) else ())

    def call(self, call: ir.Call) -> None:
        facts = self.facts_of(call)
        loose = [target for place, target in enumerate(call.targets) if not makes_memory(call, place, facts)]
        if facts.hands_on or any(map(_refers, loose)):
            made = call.targets if facts.fresh else loose  # a new container holds what it is given
            self.unite((*made, *operands(call), *(() if facts.known else (None,))))


_NUMBERS = (ir.Scalar, ir.Number, ir.Array)
_HARMLESS = (bool, int, float, complex, str, bytes, type(None), type, np.dtype, np.generic, range, type(Ellipsis))


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), _NUMBERS)


def _may_be_array(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), (ir.Array, ir.Number))


def _refers(atom: ir.Atom | None) -> bool:
    """Whether a value may be memory that others have, too; None stands for such memory."""
    match atom:
        case ir.Const(value=value):
            return not _is_harmless(value)
        case ir.Var(type=type_):
            return not isinstance(type_, ir.Scalar)
        case ir.Undefined():
            return False
        case _:
            return True


def _is_harmless(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_harmless, value))
    return isinstance(value, _HARMLESS)
