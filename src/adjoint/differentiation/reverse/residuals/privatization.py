"""Work arrays are made where they are used: in the loop of which each iteration fills them anew.

Whoever writes a loop makes its work arrays once, before it. To the derivative that looks like memory through which the
iterations hand something on. Where each iteration overwrites all of an array before it reads any of it, and nobody
reads it later, the array may as well be made in the iteration.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.analysis.extents import Extents
from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Call,
    Const,
    Continue,
    Function,
    Load,
    Loop,
    Range,
    Slice,
    Statement,
    Store,
    Subscript,
    Terminator,
    Var,
)
from adjoint.ir.rebuild import map_blocks, map_body
from adjoint.ir.types import Array, Scalar, Storage
from adjoint.ir.walk import mentions, operands, statements_in, targets_of

_WHOLE = Slice(Const(None), Const(None), Const(None))
_UNFILLED: dict[Any, Any] = {np.empty: np.empty, np.zeros: np.empty, np.ones: np.empty}
_UNFILLED |= dict.fromkeys((np.empty_like, np.zeros_like, np.ones_like, np.copy), np.empty_like)
"""What makes the same array without putting anything into it."""


def sink_work_arrays(function: Function) -> Function:
    """The function with its work arrays made in the innermost loop in which they are used."""
    return Function(function.name, function.params, _Sinking(function).block(function.body), function.doc)


class _Sinking:
    def __init__(self, function: Function) -> None:
        self.extents = Extents(function)
        names: defaultdict[Storage, set[Var]] = defaultdict(set)
        for var in _bound(function):
            if isinstance(var.type, Array) and var.type.storage.written:
                names[var.type.storage.find()].add(var)
        self.alone = {var for group in names.values() if len(group) == 1 for var in group}

    def block(self, block: Block) -> Block:
        statements = list(block.statements)
        place = len(statements) - 1
        while place >= 0:
            statement = statements[place]
            user = self.only_user(statement, statements[place + 1 :], block.terminator)
            if user is not None and isinstance(statement, Call):
                at = statements.index(user)
                made = Call(
                    statement.targets, _unfilled(statement.callee), statement.args, statement.kwargs, statement.span
                )
                statements[at] = _with_first(user, made)
                del statements[place]
            place -= 1
        return Block(tuple(map_blocks(statement, self.block) for statement in statements), block.terminator)

    def only_user(self, statement: Statement, after: Sequence[Statement], end: Terminator) -> Loop | None:
        """The loop in which alone an array is used that a statement makes, if each iteration fills it anew."""
        if not isinstance(statement, Call) or _unfilled(statement.callee) is None:
            return None
        (array,) = statement.targets
        if array not in self.alone or mentions(end, array):
            return None
        users = [other for other in after if mentions(other, array)]
        if len(users) != 1 or not isinstance(users[0], Loop) or array in operands(users[0]):
            return None
        return users[0] if self.reads_nothing_old(users[0].body, array) else None

    def reads_nothing_old(self, block: Block, array: Var) -> bool:
        """Whether a block reads nothing of an array that was in it before."""
        for statement in block.statements:
            if not mentions(statement, array):
                continue
            if self.fills(statement, array, ()):
                return True
            match statement:
                case Store(base=base, value=value, mode="set") if base is array and value is not array:
                    pass
                case Load(base=base, key=Attribute()) if base is array:
                    pass
                case Loop(body=body) if array not in operands(statement) and self.reads_nothing_old(body, array):
                    pass
                case _:
                    return False
        return not mentions(block.terminator, array)

    def fills(self, statement: Statement, array: Var, loops: tuple[Loop, ...]) -> bool:
        """Whether a statement inside of ``loops`` overwrites, with them, all of an array before it reads any of it."""
        match statement:
            case Store(base=base, key=Subscript(items=items), value=value, mode="set") if base is array:
                return value is not array and self.covers(items, array, loops)
            case Loop(over=Range(start=Const(value=0), step=Const(value=1)), body=body) if isinstance(
                body.terminator, Continue
            ):
                users = [inner for inner in body.statements if mentions(inner, array)]
                if (
                    not users
                    or array in operands(body.terminator)
                    or not self.fills(users[0], array, (*loops, statement))
                ):
                    return False
                return all(_reads_only(user, array, users[0]) for user in users[1:])
            case _:
                return False

    def covers(self, items: Sequence[Atom | Slice], array: Var, loops: tuple[Loop, ...]) -> bool:
        """Whether an index, over all iterations of some loops, names all places of an array."""
        if items == (Const(Ellipsis),):
            return True
        shape = self.extents.of(array)
        if shape is None or len(items) != len(shape):
            return False
        own = {loop.index: loop for loop in loops}
        used: list[Loop] = []
        for axis, item in enumerate(items):
            if item == _WHOLE:
                continue
            loop = own.get(item) if isinstance(item, Var) else None
            if loop is None or loop in used or not isinstance(loop.over, Range):
                return False
            if self.extents.number(loop.over.stop) != shape[axis]:
                return False
            used.append(loop)
        return True


def _unfilled(callee: Any) -> Any:
    try:
        return _UNFILLED.get(callee)
    except TypeError:  # not hashable
        return None


def _bound(function: Function) -> Iterator[Var]:
    yield from function.params
    for statement in statements_in(function.body):
        yield from targets_of(statement)
        if isinstance(statement, Loop):
            yield from statement.params


def _reads_only(user: Statement, array: Var, store: Statement) -> bool:
    """Whether a statement reads no other place of an array than the one that was just filled, or asks for its shape."""
    if isinstance(user, Load) and user.base is array and isinstance(user.key, Attribute):
        return True
    return (
        isinstance(user, Load)
        and isinstance(store, Store)
        and user.base is array
        and isinstance(user.target.type, Scalar)
        and user.key == store.key
    )


def _with_first(loop: Loop, call: Call) -> Loop:
    """The loop with a statement before all others of its body."""
    return map_body(loop, Block((call, *loop.body.statements), loop.body.terminator))
