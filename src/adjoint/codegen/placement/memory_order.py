"""What a computation does to memory, which limits the places to which it can move.

Memory that a function makes itself and hands to nobody is *private*: what happens to it has nothing to do with any
other memory. The arrays and lists in which a derivative keeps values are of this kind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import Effects
from adjoint.codegen.expressions import BINARY, COMPARISON, UNARY
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, is_view, operands
from adjoint.records import dataclass
from adjoint.types.classes.safe_lookups import found_in

Effect = Literal[0, 1, 2]
"""What happens to memory: nothing, somebody reads it, somebody writes it."""
PURE: Effect = 0
READS: Effect = 1
WRITES: Effect = 2


@dataclass(frozen=True, slots=True)
class Access:
    """What happens to some private memory; or to all other memory and the world, where ``memory`` is None."""

    effect: Effect
    memory: ir.Var | None = None


Accesses = frozenset[Access]
NOTHING: Accesses = frozenset()
WRITES_ANYTHING: Accesses = frozenset((Access(WRITES),))

_SIZES = (len, np.shape, np.size, np.ndim)  # of a list they change
_LIST_METHODS = (list.append, list.insert, list.pop)


def conflict(one: Iterable[Access], other: Iterable[Access]) -> bool:
    """Whether two computations may not change their order."""
    theirs = tuple(other)
    for mine in one:
        for their in theirs:
            if mine.memory is their.memory and (mine.effect == WRITES or their.effect == WRITES):
                return True
    return False


def strongest(accesses: Iterable[Access]) -> Effect:
    return max((access.effect for access in accesses), default=PURE)


def effect_of(statement: ir.Statement) -> Effect:
    """The strongest effect of a statement without its blocks."""
    match statement:
        case ir.Store():
            return WRITES
        case ir.Load(base=base, key=key):
            fact = key == ir.Attribute("dtype") and isinstance(type_of_atom(base), ir.Array)
            return PURE if fact or isinstance(type_of_atom(base), ir.Tuple) or _is_view(statement) else READS
        case ir.Call():
            return _effect_of_call(statement)
        case ir.Guarded(context=ir.Var() | ir.Const()):
            return WRITES
        case ir.Loop(over=ir.Items(iterable=iterable)):
            known = isinstance(type_of_atom(iterable), (ir.Array, ir.List, ir.Dict, ir.Tuple))
            return READS if known else WRITES
        case _:
            return PURE


def _is_view(load: ir.Load) -> bool:
    """Whether a load tells where part of an array is, and reads nothing of it."""
    if not isinstance(load.target.type, ir.Array) or not isinstance(type_of_atom(load.base), ir.Array):
        return False
    return is_view(load.key)


def _effect_of_call(call: ir.Call) -> Effect:
    found = effects_of(call)
    if not found.pure or not call.targets:  # without a target, somebody wants it to happen there
        return WRITES
    args = (*call.args, *(value for _, value in call.kwargs))
    if call.callee in _SIZES:
        return PURE if all(isinstance(type_of_atom(arg), (ir.Array, ir.Tuple)) for arg in args) else READS
    read = args if found.reads is None else [args[position] for position in found.reads if position < len(args)]
    return PURE if all(map(_holds_no_memory, read)) else READS


def _holds_no_memory(atom: ir.Atom) -> bool:
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, (bool, int, float, complex, str, bytes, type(None), type))
    return isinstance(type_of_atom(atom), ir.Scalar)


def _is_arithmetic(call: ir.Call) -> bool:
    """Whether a call computes a number of numbers and does nothing else."""
    for arg in call.args:
        if type(arg) is ir.Var:
            if type(arg.type) is not ir.Scalar:
                return False
        elif type(arg) is not ir.Const or type(arg.value) not in (float, int, bool):
            return False
    return not call.kwargs and effects_of(call).pure


@dataclass(slots=True)
class _Made:
    """Memory that a function makes: the block that makes it, and places in that block."""

    block: ir.Block
    last_access: int = -1
    first_handed_on: int = sys.maxsize


class Memory:
    """The private memory of a function, and what its statements access."""

    def __init__(self, function: ir.Function) -> None:
        self._places: dict[int, int] = {}
        self._made: dict[ir.Var, _Made] = {}
        self._find(function.body)
        self.private = {var for var, own in self._made.items() if own.last_access < own.first_handed_on}
        self._known: dict[int, tuple[ir.Statement, Accesses]] = {}  # the statement keeps its identity valid

    def of(self, statement: ir.Statement) -> Accesses:
        """What a statement accesses, its blocks included."""
        if type(statement) is ir.Call and statement.targets and _is_arithmetic(statement):
            return NOTHING
        known = self._known.get(id(statement))
        if known is None:
            found = frozenset(self._own(statement))
            for block in blocks_of(statement):
                found |= self._of_block(block)
            known = self._known[id(statement)] = (statement, found)
        return known[1]

    def _of_block(self, block: ir.Block) -> Accesses:
        inside = [self.of(statement) for statement in block.statements]
        inside += map(self._of_block, blocks_of(block.terminator))
        return NOTHING.union(*inside)

    def _own(self, statement: ir.Statement) -> Iterator[Access]:
        effect = effect_of(statement)
        private = [atom for atom in operands(statement) if type(atom) is ir.Var and atom in self.private]
        if effect == PURE and not private:
            return
        if not private:
            yield Access(effect)
            return
        for var in private:
            if _hands_on(statement, var):
                yield Access(WRITES, var)
            elif effect != PURE:
                yield Access(effect, var)
        if effect != PURE and not _keeps_to(statement, private):
            yield Access(READS if _writes_only_to(statement, private) else effect)

    # Which memory is private: all that happens to it happens before it is handed on, if it ever is

    def _find(self, block: ir.Block) -> None:
        for place, statement in enumerate(block.statements):
            self._places[id(block)] = place
            if self._made:
                self._note(statement)
            if type(statement) is not ir.Call:
                for inner in blocks_of(statement):
                    self._find(inner)
            elif _makes_memory(statement):
                self._made[statement.targets[0]] = _Made(block)
        self._places[id(block)] = len(block.statements)
        self._note(block.terminator)
        for inner in blocks_of(block.terminator):
            self._find(inner)

    def _note(self, node: ir.Statement | ir.Terminator) -> None:
        """Notes what a node does to memory that the function made."""
        for atom in operands(node):
            own = self._made.get(atom) if type(atom) is ir.Var else None
            if own is None:
                continue
            assert isinstance(atom, ir.Var)
            if _hands_on(node, atom):
                own.first_handed_on = min(own.first_handed_on, self._places[id(own.block)])
            elif not isinstance(node, ir.Return):
                own.last_access = self._places[id(own.block)]


def _makes_memory(call: ir.Call) -> bool:
    """Whether a call makes an array or a list that nobody else has."""
    if len(call.targets) != 1 or not isinstance(call.targets[0].type, (ir.Array, ir.List)):
        return False
    found = effects_of(call)
    return found.fresh and (not found.hands_on or isinstance(call.targets[0].type, ir.List))


def _hands_on(node: ir.Statement | ir.Terminator, var: ir.Var) -> bool:
    """Whether a variable's memory may have another name after this, or be changed by somebody else."""
    match node:
        case ir.Load(target=target, base=base):
            return base is not var or not (isinstance(base.type, ir.List) or isinstance(target.type, ir.Scalar))
        case ir.Store(base=base):
            return base is not var or any(atom is var for atom in operands(node)[1:])
        case ir.Call():
            return not _only_uses(node, var)
        case ir.Loop(over=ir.Items(iterable=iterable), inits=inits):
            return not isinstance(var.type, ir.List) or iterable is not var or var in inits
        case ir.Return():
            return False
        case _:
            return True


def _only_uses(call: ir.Call, var: ir.Var) -> bool:
    """Whether a call computes something new from a variable, or is a method of its list."""
    if call.callee in _SIZES:
        return True
    if call.callee in _LIST_METHODS and call.args[0] is var:
        return not any(atom is var for atom in operands(call)[1:])
    found = effects_of(call)
    if not found.pure:
        return _only_writes(call, found)
    callee = call.callee
    computes = isinstance(callee, np.ufunc) or any(found_in(table, callee) for table in (BINARY, COMPARISON, UNARY))
    new = found.fresh and not found.hands_on
    return computes or new or all(isinstance(target.type, ir.Scalar) for target in call.targets)


def _only_writes(call: ir.Call, found: Effects) -> bool:
    """Whether a call does nothing but write to arguments, as it is told to: it gives nothing, and keeps nothing."""
    return found.known and found.confined and not found.hands_on and not call.targets and bool(found.writes)


def _writes_only_to(statement: ir.Statement, private: list[ir.Var]) -> bool:
    """Whether a statement writes what it computes of what it reads into private memory."""
    if isinstance(statement, ir.Call):
        found = effects_of(statement)
        return _only_writes(statement, found) and all(atom in private for atom in found.written(statement.args))
    return (
        isinstance(statement, ir.Store)
        and statement.base in private
        and isinstance(type_of_atom(statement.base), ir.Array)
    )


def _keeps_to(statement: ir.Statement, private: list[ir.Var]) -> bool:
    """Whether a statement that accesses private memory accesses no other."""
    match statement:
        case ir.Load(base=base):
            return base in private
        case ir.Store(base=base, mode=mode):
            if not isinstance(type_of_atom(base), ir.Array):
                return base in private and mode == "set"
            return base in private and all(_holds_no_memory(atom) or atom in private for atom in operands(statement))
        case ir.Call(callee=callee, args=args):
            if callee in _LIST_METHODS:
                return args[0] in private
            held = (atom for atom in operands(statement) if not _holds_no_memory(atom))
            return effect_of(statement) == READS and all(atom in private for atom in held)
        case ir.Loop():
            return True
        case _:
            return False
