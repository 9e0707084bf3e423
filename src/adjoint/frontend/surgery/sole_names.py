"""Surgery on arrays that are written: whether the memory goes by one name from there on.

Behind ``y = with_derivative(x, fn)`` only what uses ``y`` gives the cotangent that ``fn`` takes. Where ``x`` is written
at any time its cotangents lie in memory, which belongs to all its names. So either no other name is used later, or
``y`` is a copy, which is no different as long as nobody writes either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import written_args
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import binders_of, blocks_of, operands, targets_of
from adjoint.records import dataclass, field, replace

Path = tuple[tuple[int, int], ...]
"""The blocks around a place: the node that each belongs to, and which of its blocks it is."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something stands: its number in the text, and the blocks around."""

    number: int
    path: Path
    loops: tuple[int, ...]

    def may_follow(self, other: _Place) -> bool:
        """Whether this may be reached from another place in the same iteration of all loops around."""
        for (node, block), (own, mine) in zip(other.path, self.path, strict=False):
            if node != own:
                break
            if block != mine and node >= 0:
                return False
        return self.number > other.number


_ENTRY = _Place(-1, (), ())


@dataclass(eq=False, slots=True)
class _Text:
    """What a function's text says of memory: where names are bound and used, and where it is written."""

    bound: dict[ir.Var, _Place] = field(default_factory=dict)
    uses: list[tuple[ir.Atom, _Place, ir.Statement | ir.Terminator]] = field(default_factory=list)
    writes: list[tuple[ir.Storage, _Place, ir.Statement]] = field(default_factory=list)
    surgery: list[tuple[ir.Call, _Place]] = field(default_factory=list)
    count: int = 0

    def block(self, block: ir.Block, path: Path, loops: tuple[int, ...]) -> None:
        for statement in block.statements:
            here = self.place(path, loops)
            self.uses += ((atom, here, statement) for atom in operands(statement))
            self.writes += ((storage, here, statement) for storage in written_by(statement))
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Surgery):
                self.surgery.append((statement, here))
            inner = (*loops, id(statement)) if isinstance(statement, ir.Loop) else loops
            node = -id(statement) if isinstance(statement, ir.Guarded) else id(statement)  # handlers follow the body
            bound = self.place((*path, (node, 0)), inner) if isinstance(statement, ir.Loop) else here
            self.bound.update(dict.fromkeys(binders_of(statement), bound))
            for number, nested in enumerate(blocks_of(statement)):
                self.block(nested, (*path, (node, number)), inner)
            self.bound.update(dict.fromkeys(targets_of(statement), self.place(path, loops)))
        here = self.place(path, loops)
        self.uses += ((atom, here, block.terminator) for atom in operands(block.terminator))
        for number, nested in enumerate(blocks_of(block.terminator)):
            self.block(nested, (*path, (id(block.terminator), number)), loops)

    def place(self, path: Path, loops: tuple[int, ...]) -> _Place:
        self.count += 1
        return _Place(self.count, path, loops)

    def is_used_later(self, call: ir.Call, here: _Place, storage: ir.Storage) -> bool:
        """Whether memory is used by a name that it had before."""
        for atom, place, user in self.uses:
            if not isinstance(atom, ir.Var) or user is call or storage not in reached_by(atom):
                continue
            bound = self.bound.get(atom, _ENTRY)
            again = not set(here.loops) & set(place.loops) <= set(bound.loops)
            later = bound.number < here.number and place.may_follow(here)
            if atom not in call.targets and (again or later):
                return True
        return False

    def is_written_later(self, here: _Place, storage: ir.Storage) -> bool:
        return any(
            written.find() is storage and (place.number > here.number or set(place.loops) & set(here.loops))
            for written, place, _ in self.writes
        )


def with_memory_settled(block: ir.Block) -> ir.Block:
    """A function's body in which surgery on arrays knows whether their memory goes by one name from there on."""
    text = _Text()
    text.block(block, (), ())
    settled: dict[int, tuple[ir.Call, ...]] = {}
    for call, here in text.surgery:
        arrays = {place: own for place, target in enumerate(call.targets) if (own := _own(target)) is not None}
        used = {place: own for place, own in arrays.items() if text.is_used_later(call, here, own)}
        if not used:
            settled[id(call)] = (_called(call, replace(call.callee, sole=True), call.args),)
        elif not any(own.written and text.is_written_later(here, own) for own in used.values()):
            settled[id(call)] = _of_copies(call, [place for place, own in used.items() if own.written])
    return _rewritten(block, settled)


def _of_copies(call: ir.Call, places: Sequence[int]) -> tuple[ir.Call, ...]:
    """Surgery on copies of the arrays at some places."""
    surgery: ir.Surgery = call.callee
    args = list(call.args)
    copies = []
    for place in places:
        value = args[place]
        assert isinstance(value, ir.Var)
        copy = ir.Var(value.hint, value.type, value.named)
        copies.append(ir.Call((copy,), np.copy, (value,), (("order", ir.Const("K")),), call.span))
        args[place] = args[place + surgery.arguments] = copy
    return (*copies, _called(call, replace(surgery, sole=True), tuple(args)))


def _called(call: ir.Call, surgery: ir.Surgery, args: tuple[ir.Atom, ...]) -> ir.Call:
    return ir.Call(call.targets, surgery, args, call.kwargs, call.span)


def _rewritten(block: ir.Block, settled: Mapping[int, tuple[ir.Call, ...]]) -> ir.Block:
    def inner(old: ir.Block) -> ir.Block:
        return _rewritten(old, settled)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        statements += settled.get(id(statement)) or (map_blocks(statement, inner),)
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = rebuild_terminator(end, same_atom, inner)
    return ir.Block(tuple(statements), end)


def _own(var: ir.Var) -> ir.Storage | None:
    return var.type.storage.find() if isinstance(var.type, ir.Array) else None


def reached_by(atom: ir.Atom) -> set[ir.Storage]:
    return {storage.find() for storage in ir.storages(type_of_atom(atom))}


def written_by(statement: ir.Statement) -> set[ir.Storage]:
    """The memory that a statement may write."""
    if isinstance(statement, ir.Store):
        return reached_by(statement.base)
    if not isinstance(statement, ir.Call):
        return set()
    return set[ir.Storage]().union(*map(reached_by, written_args(statement)))
