"""What of a derivative depends on its direction, a tangent or a cotangent, and what is the same in all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of, written_places
from adjoint.analysis.joins import joins
from adjoint.analysis.known_effects import Effects
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.join import reads_metadata, type_of_atom
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of
from adjoint.runtime.arithmetic import bundles
from adjoint.runtime.array_functions import arrays

_NOT_DIRECTED = (
    *(len, np.shape, np.ndim, np.size, bundles.bundle_total, bundles.bundle_any),
    *(bundles.put_bundle, bundles.put_bundle_down, bundles.put_bundle_across),
)
"""Calls that ask for a shape, make one number of all directions, or store what each has to a place of its own."""

_ZEROS = (arrays.zeros_like, arrays.zeros_in_memory)
"""Calls that give new memory, or a number."""


class Inseparable(Exception):
    """A statement depends on a direction that can only be run once."""


class Directed:
    """What of a function depends on a direction."""

    def __init__(self, function: ir.Function, seeds: Sequence[ir.Var]) -> None:
        self._aliases = Aliases(function)
        self._facts = {
            load.target for load in statements_in(function.body) if isinstance(load, ir.Load) and reads_metadata(load)
        }
        self._vars: set[ir.Atom] = set()
        self._memory: set[Hashable] = set()
        self._kept: set[ir.Atom] = set()
        self._joined = [pair for statement in statements_in(function.body) for pair in joins(statement)]
        self._made = {
            target
            for call in statements_in(function.body)
            if isinstance(call, ir.Call) and (call.callee in _ZEROS or facts_of(call).fresh)
            for target in call.targets
            if isinstance(target.type, ir.Number)
        }
        self._mark(seeds)
        before = -1
        while before != self._size():
            before = self._size()
            self._block(function.body)
        if any(map(self.depends, set(function.params).difference(seeds))):
            raise Inseparable

    def _size(self) -> int:
        return len(self._vars) + len(self._memory)

    def depends(self, atom: ir.Atom) -> bool:
        """Whether a value, or what memory holds, is another one in another direction."""
        if atom in self._facts:
            return False
        return atom in self._vars or (self._is_shared(atom) and self._aliases.of(atom) in self._memory)

    def is_repeated(self, statement: ir.Statement) -> bool:
        """Whether a statement without blocks is run for each direction."""
        match statement:
            case ir.Store(base=base):
                return self.depends(base)
            case ir.Call(targets=targets):
                return self._any([*targets, *_written(statement, facts_of(statement))])
            case _:
                return self._any(targets_of(statement))

    def _is_shared(self, atom: ir.Atom) -> bool:
        """Whether others may see what is written to the memory of a value."""
        if not isinstance(atom, ir.Var):
            return False
        if isinstance(atom.type, ir.Array):
            return self._aliases.is_written(atom)
        return isinstance(atom.type, (ir.List, ir.Tuple, ir.Dict, ir.Instance, ir.Opaque))

    def _mark(self, atoms: Iterable[ir.Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, ir.Var):
                self._vars.add(atom)
                if self._is_shared(atom):
                    self._memory.add(self._aliases.of(atom))

    def _mark_kept(self, atoms: Iterable[ir.Atom]) -> None:
        """Marks new memory in containers of each direction, of what is a number or an array: each writes its own."""
        for atom in set(atoms):
            if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Number) and atom not in self._kept:
                self._kept.add(atom)
                if atom in self._made:
                    self._vars.add(atom)
                self._mark_kept(value for value, var in self._joined if var == atom)

    def _any(self, atoms: Iterable[ir.Atom]) -> bool:
        return any(map(self.depends, atoms))

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self._statement(statement)
        if isinstance(block.terminator, ir.Branch):
            self._refuse([block.terminator.cond])
            self._block(block.terminator.then)
            self._block(block.terminator.orelse)

    def _statement(self, statement: ir.Statement) -> None:
        for block in blocks_of(statement):
            self._block(block)
        match statement:
            case ir.Call():
                self._call(statement)
            case ir.Load(target=target):
                if self._any(operands(statement)):
                    self._mark([target])
            case ir.Store(base=base, value=value):
                if self._any(operands(statement)):
                    self._mark([base])
                if not isinstance(type_of_atom(base), ir.Array) and self.depends(base):
                    self._mark_kept([value])
            case ir.If(cond=cond):
                self._refuse([cond])
            case ir.Loop(over=ir.Range(start=start, stop=stop, step=step)):
                self._refuse([start, stop, step])
            case ir.Loop(over=ir.Items(iterable=iterable)):
                self._refuse([iterable])
            case ir.Guarded(context=context):
                self._refuse([] if context is None else [context])
        for value, var in joins(statement):
            if self.depends(value):
                self._mark([var])

    def _call(self, call: ir.Call) -> None:
        facts = facts_of(call)
        written = _written(call, facts)
        if self._any(_looked_at(call, facts)):
            self._mark([*call.targets, *written])
            self._require(facts.known)
        if self._any([*call.targets, *written]):
            self._require(facts.known and facts.confined and all(map(self.depends, written)))
        if facts.hands_on and self._any([*call.targets, *written]):
            self._mark_kept(call.args)

    def _refuse(self, atoms: Iterable[ir.Atom]) -> None:
        self._require(not self._any(atoms))

    def _require(self, condition: bool) -> None:
        if not condition:
            raise Inseparable


def facts_of(call: ir.Call) -> Effects:
    """The effects of a call; those of a function of the IR are told by all that is in it."""
    if not isinstance(call.callee, ir.Definition) or call.callee.function is None:
        return effects_of(call)
    return Effects(
        pure=False,
        writes=written_places(call.callee.function),
        known=_is_confined(call.callee.function, {call.callee}),
        fresh=True,
        hands_on=True,
    )


def _is_confined(function: ir.Function, seen: set[ir.Definition]) -> bool:
    """Whether nothing in a function does more than to compute, to write to memory, and to raise exceptions."""
    for statement in statements_in(function.body):
        if not isinstance(statement, ir.Call):
            continue
        callee = statement.callee
        if not isinstance(callee, ir.Definition):
            facts = effects_of(statement)
            if not (facts.known and facts.confined):
                return False
        elif callee not in seen:
            seen.add(callee)
            if callee.function is None or not _is_confined(callee.function, seen):
                return False
    return True


def _written(call: ir.Call, facts: Effects) -> list[ir.Atom]:
    """The arguments to the memory of which a call writes."""
    return facts.written(call.args)


def _looked_at(call: ir.Call, facts: Effects) -> list[ir.Atom]:
    """The operands on whose values a call depends: not those of which it only asks the shape, or makes one of all."""
    atoms = list(operands(call))
    if call.callee in _NOT_DIRECTED:
        return []
    if facts.reads is None:
        return atoms
    return [
        atom
        for atom in atoms
        if not (isinstance(atom, ir.Var) and isinstance(atom.type, (ir.Array, ir.List, ir.Tuple, ir.Dict)))
    ]
