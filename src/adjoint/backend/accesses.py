"""What a computation does to memory, which limits the places to which it can move.

Memory that a function makes itself and hands to nobody is *private*: what happens to it has nothing to do with any
other memory. The arrays and lists in which a derivative keeps values are of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from adjoint.backend.expressions import BINARY, COMPARISON, UNARY, lookup
from adjoint.ir.effects import effects_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Call,
    Const,
    Function,
    Guarded,
    Items,
    Load,
    Loop,
    Return,
    Statement,
    Store,
    Terminator,
    Var,
)
from adjoint.ir.types import Array, Dict, List, Number, Scalar, Tuple
from adjoint.ir.walk import blocks_of, operands, statements_in


class Effect(IntEnum):
    """What happens to memory."""

    PURE = 0
    READS = 1
    WRITES = 2


class Access(NamedTuple):
    """What happens to some private memory; or to all other memory and the world, where ``memory`` is None."""

    effect: Effect
    memory: Var | None = None


Accesses = frozenset[Access]
NOTHING: Accesses = frozenset()
WRITES_ANYTHING: Accesses = frozenset((Access(Effect.WRITES),))

_SIZES = (len, np.shape, np.size, np.ndim)  # of a list they change
_FACTS = ("shape", "size", "ndim", "dtype")
_LIST_METHODS = (list.append, list.pop)


def conflict(one: Iterable[Access], other: Iterable[Access]) -> bool:
    """Whether two computations may not change their order."""
    theirs = tuple(other)
    return any(
        mine.memory is their.memory and Effect.WRITES in (mine.effect, their.effect) for mine in one for their in theirs
    )


def strongest(accesses: Iterable[Access]) -> Effect:
    return max((access.effect for access in accesses), default=Effect.PURE)


def effect_of(statement: Statement) -> Effect:
    """The strongest effect of a statement without its blocks."""
    match statement:
        case Store():
            return Effect.WRITES
        case Load(base=base, key=key):
            fact = isinstance(key, Attribute) and key.name in _FACTS and isinstance(type_of_atom(base), Array)
            return Effect.PURE if fact or isinstance(type_of_atom(base), Tuple) else Effect.READS
        case Call():
            return _effect_of_call(statement)
        case Guarded(context=Var() | Const()):
            return Effect.WRITES
        case Loop(over=Items(iterable=iterable)):
            known = isinstance(type_of_atom(iterable), (Array, List, Dict, Tuple))
            return Effect.READS if known else Effect.WRITES
        case _:
            return Effect.PURE


def _effect_of_call(call: Call) -> Effect:
    found = effects_of(call)
    if not found.pure or not call.targets:  # without a target, somebody wants it to happen there
        return Effect.WRITES
    args = (*call.args, *(value for _, value in call.kwargs))
    if call.callee in _SIZES:
        return Effect.PURE if all(isinstance(type_of_atom(arg), (Array, Tuple)) for arg in args) else Effect.READS
    read = args if found.reads is None else [args[position] for position in found.reads if position < len(args)]
    return Effect.PURE if all(map(_holds_no_memory, read)) else Effect.READS


def _holds_no_memory(atom: Atom) -> bool:
    if isinstance(atom, Const):
        return isinstance(atom.value, (bool, int, float, complex, str, bytes, type(None), type))
    return isinstance(type_of_atom(atom), (Scalar, Number))


class Memory:
    """The private memory of a function, and what its statements access."""

    def __init__(self, function: Function) -> None:
        self.private: set[Var] = set()
        self._find(function.body)

    def of(self, statement: Statement) -> Accesses:
        """What a statement accesses, its blocks included."""
        found = set(self._own(statement))
        for block in blocks_of(statement):
            for part in statements_in(block):
                found.update(self._own(part))
        return frozenset(found)

    def _own(self, statement: Statement) -> Iterator[Access]:
        effect = effect_of(statement)
        private = [atom for atom in operands(statement) if isinstance(atom, Var) and atom in self.private]
        if effect is Effect.PURE and not private:
            return
        if not private:
            yield Access(effect)
            return
        for var in private:
            if _hands_on(statement, var):
                yield Access(Effect.WRITES, var)
            elif effect is not Effect.PURE:
                yield Access(effect, var)
        if effect is not Effect.PURE and not _keeps_to(statement, private):
            yield Access(effect)

    # Which memory is private

    def _find(self, block: Block) -> None:
        for position, statement in enumerate(block.statements):
            if isinstance(statement, Call) and _makes_memory(statement):
                (var,) = statement.targets
                if _is_private(var, block, position + 1):
                    self.private.add(var)
            for inner in blocks_of(statement):
                self._find(inner)
        for inner in blocks_of(block.terminator):
            self._find(inner)


def _makes_memory(call: Call) -> bool:
    """Whether a call makes an array or a list that nobody else has."""
    if len(call.targets) != 1 or not isinstance(call.targets[0].type, (Array, List)):
        return False
    found = effects_of(call)
    return found.fresh and (not found.hands_on or isinstance(call.targets[0].type, List))


def _is_private(var: Var, block: Block, start: int) -> bool:
    """Whether all that happens to a variable's memory happens before it is handed on, if it ever is."""
    last_access, first_handed_on = -1, len(block.statements) + 1
    parts: list[Statement | Terminator] = [*block.statements[start:], block.terminator]
    for position, part in enumerate(parts, start):
        for node in _nodes_in(part):
            if var not in operands(node):
                continue
            if _hands_on(node, var):
                first_handed_on = min(first_handed_on, position)
            elif not isinstance(node, Return):
                last_access = position
    return last_access < first_handed_on


def _nodes_in(node: Statement | Terminator) -> Iterator[Statement | Terminator]:
    yield node
    for block in blocks_of(node):
        for part in (*block.statements, block.terminator):
            yield from _nodes_in(part)


def _hands_on(node: Statement | Terminator, var: Var) -> bool:
    """Whether a variable's memory may have another name after this, or be changed by somebody else."""
    match node:
        case Load(target=target, base=base):
            return base is not var or not (isinstance(base.type, List) or isinstance(target.type, Scalar))
        case Store(base=base):
            return base is not var or any(atom is var for atom in operands(node)[1:])
        case Call():
            return not _only_uses(node, var)
        case Loop(over=Items(iterable=iterable), inits=inits):
            return not isinstance(var.type, List) or iterable is not var or var in inits
        case Return():
            return False
        case _:
            return True


def _only_uses(call: Call, var: Var) -> bool:
    """Whether a call computes something new from a variable, or is a method of its list."""
    if call.callee in _SIZES:
        return True
    if call.callee in _LIST_METHODS and call.args[0] is var:
        return not any(atom is var for atom in operands(call)[1:])
    found = effects_of(call)
    if not found.pure:
        return False
    callee = call.callee
    computes = isinstance(callee, np.ufunc) or any(lookup(table, callee) for table in (BINARY, COMPARISON, UNARY))
    new = found.fresh and not found.hands_on
    return computes or new or all(isinstance(target.type, Scalar) for target in call.targets)


def _keeps_to(statement: Statement, private: list[Var]) -> bool:
    """Whether a statement that accesses private memory accesses no other."""
    match statement:
        case Load(base=base):
            return base in private
        case Store(base=base, mode=mode):
            return base in private and (mode == "set" or isinstance(type_of_atom(base), Array))
        case Call(callee=callee, args=args):
            if callee in _LIST_METHODS:
                return args[0] in private
            held = (atom for atom in operands(statement) if not _holds_no_memory(atom))
            return effect_of(statement) is Effect.READS and all(atom in private for atom in held)
        case Loop():
            return True
        case _:
            return False
