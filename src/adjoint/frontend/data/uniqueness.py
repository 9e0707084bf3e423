"""Uniqueness: a variable that alone owns its memory may be written in place, as if the name was bound anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import parts_of
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of, terminators_in
from adjoint.records import dataclass

Path = tuple[Sequence[ir.Statement], ...]
"""The statements that ran before, block by block, outermost first."""

_NUMBERS = (bool, int, float, complex, np.generic)


def is_sole_owner(lo: Lowerer, value: ir.Var, cell: Cell) -> bool:
    """Whether a variable alone has what it holds: an operation made it, and so far it was only read."""
    return _holders(lo.store, value) == [cell] and _is_owned(lo, lo.open, value, lo.run_data.boxes.get(cell, ()))


def starts_alone(lo: Lowerer, store: Mapping[Any, Value], block: Open, cell: Cell) -> bool:
    """Whether what a variable holds at the end of a block is a number, or an array that it alone has."""
    value = store.get(cell, ir.UNDEFINED)
    if not isinstance(value, ir.Var):
        return isinstance(value, (ir.Const, ir.Undefined)) and _is_number(value)
    return _is_number(value) or (_holders(store, value) == [cell] and _is_owned(lo, block, value))


def names_of_object(lo: Lowerer, value: ir.Var) -> list[Cell] | None:
    """The variables of this call that hold an array; None where something else may hold the same object, not a view."""
    frame = lo.frame
    own = () if frame is None else tuple(frame.cells.values())
    holders = _holders(lo.store, value)
    if not all(key in own and lo.store[key] is value for key in holders):
        return None
    for statement in reversed(lo.open.statements):
        if value in targets_of(statement):
            return holders if _is_new_object(statement) else None
        if not all(_keeps_no_object(part, value) for part in _with_inner(statement)):
            return None
    return None


def _is_new_object(statement: ir.Statement) -> bool:
    match statement:
        case ir.Call():
            facts = effects_of(statement)
            return facts.known and facts.view_of is None and not facts.hands_on
        case ir.Load(base=ir.Var(type=ir.Array()), key=ir.Subscript()):
            return True
        case _:
            return False


def _keeps_no_object(part: ir.Statement | ir.Terminator, value: ir.Var) -> bool:
    match part:
        case _ if value not in operands(part):
            return True
        case ir.If() | ir.Branch():
            return True  # its condition
        case ir.Load(key=ir.Subscript()):
            return True
        case ir.Store(value=stored):
            return stored is not value
        case ir.Call():
            facts = effects_of(part)
            return facts.known and facts.view_of is None and not facts.hands_on
        case _:
            return False


def _holders(store: Mapping[Any, Value], value: ir.Var) -> list[Any]:
    return [key for key, held in store.items() if _has(held, value)]


def _is_owned(lo: Lowerer, block: Open, value: ir.Var, boxes: Collection[ir.Var] = ()) -> bool:
    held = frozenset(each for each in lo.store.values() if isinstance(each, ir.Var))
    owned = _Owned(lo.run_data.alone, _root(block), _path_to(block), set(), boxes, held)
    if owned.is_made(owned.path, value):
        lo.run_data.relied_on.update(owned.relied_on)
        return True
    if owned.known.get(value) is not owned.root or list(owned.keepers(value)):
        return False
    lo.run_data.relied_on.add(value)
    return True


def _root(block: Open) -> Open:
    return block if block.parent is None else _root(block.parent)


def _has(held: Value, value: ir.Var) -> bool:
    return held is value or any(_has(part, value) for part in parts_of(held))


def _path_to(block: Open) -> Path:
    found: list[Sequence[ir.Statement]] = []
    opened: Open | None = block
    while opened is not None:
        found.append(opened.statements)
        opened = opened.parent
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Owned:
    """What is known to be held by one variable alone.

    Attributes
    ----------
    known
        Variables of loops that alone have what may be an array: parameters, with the body, and what is left behind.
    root
        The body that is being looked at.
    path
        What ran before.
    relied_on
        The parameters of which that was made use of.
    boxes
        The lists that stand for the variable itself where exceptions are handled.
    held
        What variables hold.
    """

    known: Mapping[ir.Var, Open | None]
    root: Open
    path: Path
    relied_on: set[ir.Var]
    boxes: Collection[ir.Var]
    held: Collection[ir.Var]

    def is_made(self, path: Path, value: ir.Var) -> bool:
        """Whether an operation made what a variable holds, and so far it was only read."""
        for depth in reversed(range(len(path))):
            for place in reversed(range(len(path[depth]))):
                statement = path[depth][place]
                if value in targets_of(statement):
                    return self._makes(statement, value, (*path[:depth], path[depth][:place]))
                if not all(self.only_reads(part, value) for part in _with_inner(statement)):
                    return False
        return False

    def only_reads(self, part: ir.Statement | ir.Terminator, value: ir.Var) -> bool:
        """Whether a statement leaves the value alone: it keeps no part of it, and does not write it."""
        match part:
            case _ if value not in operands(part):
                return True
            case ir.If() | ir.Branch():
                return True  # its condition
            case ir.Load(target=view, base=base, key=ir.Subscript()) if base is value:
                return self._is_passing(view)
            case ir.Call(targets=(box,)) if box in self.boxes:
                return True
            case ir.Store(base=base, value=stored) if base in self.boxes or (base is value and stored is not value):
                return True
            case ir.Call(targets=targets):
                facts = effects_of(part)
                if not facts.known or facts.writes or facts.hands_on:
                    return False
                return facts.view_of is None or all(self._is_passing(target) for target in targets)
            case _:
                return False

    def _is_passing(self, view: ir.Var) -> bool:
        """Whether nothing has a view of the value."""
        if view in self.held:
            return False
        return all(self._leaves_alone(each, view) for statements in self.path for each in statements)

    def _leaves_alone(self, statement: ir.Statement, view: ir.Var) -> bool:
        return all(self.only_reads(part, view) for part in _with_inner(statement))

    def keepers(self, value: ir.Var) -> Iterator[ir.Statement | ir.Terminator]:
        """What did more than read it."""
        for statements in self.path:
            for each in statements:
                yield from (part for part in _with_inner(each) if not self.only_reads(part, value))

    def _makes(self, statement: ir.Statement, value: ir.Var, before: Path) -> bool:
        match statement:
            case ir.Call():
                facts = effects_of(statement)
                return facts.known and facts.view_of is None and not facts.hands_on
            case ir.If(then=then, orelse=orelse, targets=targets):
                place = targets.index(value)
                return all(self._gives_own(before, block, place, statement) for block in (then, orelse))
            case ir.Guarded(body=body, handlers=handlers, targets=targets):
                place, torn = targets.index(value), (*before, tuple(statements_in(body)))
                return self._gives_own(before, body, place, statement) and all(
                    self._gives_own(torn, handler.body, place, statement) for handler in handlers
                )
            case ir.Loop():
                return value in self.known
            case _:
                return False

    def _gives_own(self, path: Path, block: ir.Block, place: int, branch: ir.If | ir.Guarded) -> bool:
        path = (*path, block.statements)
        match block.terminator:
            case ir.Yield(values=values):
                atom = values[place]
                if _is_number(atom) or not isinstance(atom, ir.Var):
                    return _is_number(atom)
                if values.count(atom) > 1 or atom in self.held:
                    return False
                return self.is_made(path, atom) or self._is_passed_on(atom, place, branch)
            case ir.Branch(then=then, orelse=orelse):
                return all(self._gives_own(path, side, place, branch) for side in (then, orelse))
            case terminator:
                return isinstance(terminator, ir.Raise)

    def _is_passed_on(self, param: ir.Var, place: int, branch: ir.If | ir.Guarded) -> bool:
        """Whether a branch only gives what a loop alone had another name, and nothing else did more than read it."""
        if self.known.get(param) is not self.root or not isinstance(branch, ir.If):
            return False
        ends = [end for block in (branch.then, branch.orelse) for end in leaves(block)]
        own = [end for end in ends if isinstance(end, ir.Yield) and end.values[place] is param]
        if any(end.values.count(param) > 1 for end in own):
            return False
        if not all(any(keeper is end for end in own) for keeper in self.keepers(param)):
            return False
        self.relied_on.add(param)
        return True


def _is_number(atom: ir.Atom) -> bool:
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, _NUMBERS)
    return isinstance(atom, ir.Undefined) or isinstance(atom.type, ir.Scalar)


def _with_inner(statement: ir.Statement) -> Iterator[ir.Statement | ir.Terminator]:
    yield statement
    for block in blocks_of(statement):
        yield from statements_in(block)
        yield from terminators_in(block)
