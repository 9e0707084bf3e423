"""Outer products that loops add to matrices become rank-one updates, in place or delayed.

``w_bar += np.outer(t, x)`` makes a matrix to add it to another one. :mod:`adjoint.runtime.array_functions.rank_one`
does without. Where a loop only adds to a matrix, :mod:`adjoint.runtime.array_functions.delayed_updates` adds some
products at a time. Outside of loops the sum stays as people write it. All that is legal where nothing between the
product and the sum may write to the factors; delays also need that nobody sees the matrix if the loop raises.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.accumulators import is_only_added_to
from adjoint.analysis.memory.alias import Aliases
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.views import rank_of_part
from adjoint.ir.walk import defined_by, read_counts
from adjoint.runtime.array_functions.delayed_updates import (
    DTYPES,
    DelayedUpdates,
    apply_updates,
    delay_downdate,
    delay_update,
    delayed_updates,
)
from adjoint.runtime.array_functions.rank_one import rank_one_downdate, rank_one_update

_UPDATES = {"add": (rank_one_update, delay_update), "sub": (rank_one_downdate, delay_downdate)}
"""What is called at once, and what where the update is delayed."""


def with_rank_one_updates(function: ir.Function) -> ir.Function:
    """The function with outer products added to matrices in place, where that is done again and again."""
    updates = _Updates(function)
    body = updates.block(function.body)
    return ir.Function(function.name, function.params, body, function.doc) if updates.changed else function


class _Loop:
    """A loop that is being rewritten, with the matrices whose updates are delayed until its end."""

    def __init__(self, loop: ir.Loop) -> None:
        self.loop = loop
        self.bound = defined_by(loop)
        self.delayed: dict[ir.Var, ir.Var] = {}

    def around(self, loop: ir.Loop) -> list[ir.Statement]:
        """The rewritten loop, with what makes room for updates before it and what applies them behind."""
        made = [ir.Call((kept,), delayed_updates, (matrix,), (), loop.span) for matrix, kept in self.delayed.items()]
        applied = [ir.Call((), apply_updates, (kept, matrix), (), loop.span) for matrix, kept in self.delayed.items()]
        return [*made, loop, *applied]


class _Updates:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.counts = read_counts(function.body)
        self.loops: list[_Loop] = []
        self.handlers = 0
        """How many of the loops lie around the innermost statement whose exceptions are handled."""
        self.changed = False

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.function)

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.function)

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            if isinstance(statement, ir.Loop):
                statements += self.loop(statement)
            elif isinstance(statement, ir.Guarded):
                before, self.handlers = self.handlers, len(self.loops)
                statements.append(map_blocks(statement, self.block))
                self.handlers = before
            else:
                statement = map_blocks(statement, self.block)
                if not (self.loops and isinstance(statement, ir.Store) and self.update(statement, statements)):
                    statements.append(statement)
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def loop(self, loop: ir.Loop) -> list[ir.Statement]:
        self.loops.append(_Loop(loop))
        rewritten = map_blocks(loop, self.block)
        assert isinstance(rewritten, ir.Loop)
        return self.loops.pop().around(rewritten)

    def update(self, store: ir.Store, before: list[ir.Statement]) -> bool:
        """Whether a rank-one update now stands for an outer product among the statements before, and its sum."""
        place = self.product(store.value, before) if store.mode in _UPDATES else None
        matrix = None if place is None else _matrix(store)
        if place is None or matrix is None:
            return False
        product = before.pop(place)
        assert isinstance(product, ir.Call)
        at_once, later = _UPDATES[store.mode]
        kept = self.kept(matrix) if matrix is store.base else None
        if kept is not None:
            before.append(ir.Call((), later, (kept, *product.args), (), product.span))
        else:
            if matrix is not store.base:
                assert store.key is not None
                before.append(ir.Load(matrix, store.base, store.key, store.span))
            before.append(ir.Call((), at_once, (matrix, *product.args), (), product.span))
        self.changed = True
        return True

    def kept(self, matrix: ir.Var) -> ir.Var | None:
        """What keeps updates until the end of the outermost loop that does nothing else with a matrix."""
        for around in self.loops[self.handlers :]:
            if matrix in around.delayed:
                return around.delayed[matrix]
            if matrix not in around.bound and is_only_added_to(matrix, around.loop, self.function, self.aliases):
                return around.delayed.setdefault(matrix, ir.Var(f"{matrix.hint}_updates", ir.Opaque(DelayedUpdates)))
        return None

    def product(self, value: ir.Atom, before: list[ir.Statement]) -> int | None:
        """Where an outer product of vectors stands that nobody else reads, and whose factors are not written since."""
        if not isinstance(value, ir.Var) or self.counts[value] != 1:
            return None
        written: list[ir.Atom] = []
        for place in range(len(before) - 1, -1, -1):
            statement = before[place]
            if isinstance(statement, ir.Call):
                if statement.targets == (value,):
                    return place if self.is_settled_product(statement, written) else None
                if not effects_of(statement).pure:
                    return None
            elif isinstance(statement, ir.Store):
                written.append(statement.base)
            elif not isinstance(statement, ir.Load):
                return None
        return None

    def is_settled_product(self, call: ir.Call, written: list[ir.Atom]) -> bool:
        """Whether a call is an outer product of vectors that do not share memory with what is written behind it."""
        ranks = {ir.rank_of(type_of_atom(arg)) for arg in call.args}
        if call.callee is not np.outer or call.kwargs or ranks != {1}:
            return False
        return not any(self.memory.may_share(base, arg) for base in written for arg in call.args)


def _matrix(store: ir.Store) -> ir.Var | None:
    """The matrix that a sum goes to: an array itself, or a view of it; None where the sum is spread over more axes."""
    base, value = store.base, store.value
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not isinstance(value, ir.Var):
        return None
    dtype = getattr(value.type, "dtype", None)
    if base.type.dtype not in DTYPES or dtype is None or not ir.same_dtype(dtype, base.type.dtype):
        return None
    if store.key is None or store.key == ir.WHOLE:
        return base if ir.rank_of(type_of_atom(base)) == 2 else None
    if not isinstance(store.key, ir.Subscript) or rank_of_part(base, store.key) != 2:
        return None
    return ir.Var(base.hint, ir.Array(base.type.dtype, ("any", "any"), base.type.storage))
