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

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.shape_arguments import asks_about_array
from adjoint.ir.rebuild import map_blocks, map_body
from adjoint.ir.walk import mentions, operands, statements_in, targets_of
from adjoint.records import replace
from adjoint.types.classes.safe_lookups import found_in

_UNFILLED: dict[Any, Any] = {np.empty: np.empty, np.zeros: np.empty, np.ones: np.empty}
_UNFILLED |= dict.fromkeys((np.empty_like, np.zeros_like, np.ones_like, np.copy), np.empty_like)
"""What makes the same array without putting anything into it."""


def sink_work_arrays(function: ir.Function) -> ir.Function:
    """The function with its work arrays made in the innermost loop in which they are used."""
    return ir.Function(function.name, function.params, _Sinking(function).block(function.body), function.doc)


class _Sinking:
    def __init__(self, function: ir.Function) -> None:
        self.extents = Extents(function)
        names: defaultdict[ir.Storage, set[ir.Var]] = defaultdict(set)
        for var in _bound(function):
            if isinstance(var.type, ir.Array) and var.type.storage.written:
                names[var.type.storage.find()].add(var)
        self.alone = {var for group in names.values() if len(group) == 1 for var in group}

    def block(self, block: ir.Block) -> ir.Block:
        statements = list(block.statements)
        place = len(statements) - 1
        while place >= 0:
            statement = statements[place]
            user = self.only_user(statement, statements[place + 1 :], block.terminator)
            if user is not None and isinstance(statement, ir.Call):
                at = statements.index(user)
                statements[at] = _with_first(user, replace(statement, callee=found_in(_UNFILLED, statement.callee)))
                del statements[place]
            place -= 1
        return ir.Block(tuple(map_blocks(statement, self.block) for statement in statements), block.terminator)

    def only_user(self, statement: ir.Statement, after: Sequence[ir.Statement], end: ir.Terminator) -> ir.Loop | None:
        """The loop in which alone an array is used that a statement makes, if each iteration fills it anew."""
        if not isinstance(statement, ir.Call) or found_in(_UNFILLED, statement.callee) is None:
            return None
        (array,) = statement.targets
        if array not in self.alone or mentions(end, array):
            return None
        users = [other for other in after if mentions(other, array)]
        if len(users) != 1 or not isinstance(users[0], ir.Loop) or array in operands(users[0]):
            return None
        return users[0] if self.reads_nothing_old(users[0].body, array) else None

    def reads_nothing_old(self, block: ir.Block, array: ir.Var) -> bool:
        """Whether a block reads nothing of an array that was in it before."""
        for statement in block.statements:
            if not mentions(statement, array):
                continue
            if self.fills(statement, array, ()):
                return True
            match statement:
                case ir.Store(base=base, value=value, mode="set") if base is array and value is not array:
                    pass
                case _ if asks_about_array(statement):
                    pass
                case ir.Loop(body=body) if array not in operands(statement) and self.reads_nothing_old(body, array):
                    pass
                case _:
                    return False
        return not mentions(block.terminator, array)

    def fills(self, statement: ir.Statement, array: ir.Var, loops: tuple[ir.Loop, ...]) -> bool:
        """Whether a statement inside of ``loops`` overwrites, with them, all of an array before it reads any of it."""
        match statement:
            case ir.Store(base=base, key=ir.Subscript(items=items), value=value, mode="set") if base is array:
                return value is not array and self.covers(items, array, loops)
            case ir.Loop(over=ir.Range(start=ir.Const(value=0), step=ir.Const(value=1)), body=body) if isinstance(
                body.terminator, ir.Continue
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

    def covers(self, items: Sequence[ir.Atom | ir.Slice], array: ir.Var, loops: tuple[ir.Loop, ...]) -> bool:
        """Whether an index, over all iterations of some loops, names all places of an array."""
        if items == (ir.Const(Ellipsis),):
            return True
        shape = self.extents.of(array)
        if shape is None or len(items) != len(shape):
            return False
        own = {loop.index: loop for loop in loops}
        used: list[ir.Loop] = []
        for axis, item in enumerate(items):
            if item == ir.WHOLE_AXIS:
                continue
            loop = own.get(item) if isinstance(item, ir.Var) else None
            if loop is None or loop in used or not isinstance(loop.over, ir.Range):
                return False
            if self.extents.number(loop.over.stop) != shape[axis]:
                return False
            used.append(loop)
        return True


def _bound(function: ir.Function) -> Iterator[ir.Var]:
    yield from function.params
    for statement in statements_in(function.body):
        yield from targets_of(statement)
        if isinstance(statement, ir.Loop):
            yield from statement.params


def _reads_only(user: ir.Statement, array: ir.Var, store: ir.Statement) -> bool:
    """Whether a statement reads no other place of an array than the one that was just filled, or asks for its shape."""
    return asks_about_array(user) or (
        isinstance(user, ir.Load)
        and isinstance(store, ir.Store)
        and user.base is array
        and isinstance(user.target.type, ir.Scalar)
        and user.key == store.key
    )


def _with_first(loop: ir.Loop, call: ir.Call) -> ir.Loop:
    """The loop with a statement before all others of its body."""
    return map_body(loop, ir.Block((call, *loop.body.statements), loop.body.terminator))
