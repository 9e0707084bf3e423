"""Neighbouring loops along the same arrays as one loop, in which each is level with the next, or a step ahead.

``a[i] = ...`` for all ``i``, and then ``b[i] = a[i - 1] ...`` for all ``i``: one loop may do both, as what the second
needs is there by then, and need not be read from memory. Where the second needs ``a[i + 1]``, one loop may do both
backwards. What only some of the loops do at the start of the arrays is done by itself, before or after; and what a
loop adds to places that another one has still to fill is added an iteration later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.native.costs import MOST_FUSED
from adjoint.native.loops.access import Distinct, Row, row_of, touches_of
from adjoint.native.loops.merging.alignment import Entry, Piece, Plan, aligned
from adjoint.native.loops.merging.scalar_replacement import carried
from adjoint.native.loops.uses import count_of_uses, own_arrays


def with_loops_in_step(function: ir.Function) -> ir.Function:
    """The function with those loops joined that hand on elements of arrays to each other."""
    return ir.Function(function.name, function.params, _InStep(function).block(function.body), function.doc)


class _InStep:
    def __init__(self, function: ir.Function) -> None:
        self.function = function

    @cached_property
    def extents(self) -> Extents:
        return Extents(self.function)

    @cached_property
    def own(self) -> dict[ir.Var, int]:
        return own_arrays(self.function)

    def block(self, block: ir.Block) -> ir.Block:
        statements = [map_blocks(statement, self.block) for statement in block.statements]
        if sum(isinstance(statement, ir.Loop) and not statement.params for statement in statements) > 1:
            statements = self.joined(statements, block)
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, same_atom, self.block))

    def joined(self, statements: list[ir.Statement], block: ir.Block) -> list[ir.Statement]:
        """The statements of a block with its loops joined."""

        def is_own(array: ir.Var) -> bool:
            return self.own.get(array) == sum(count_of_uses(statement, array) for statement in block.statements)

        found: list[ir.Statement] = []
        distinct = Distinct(statements)
        place = 0
        while place < len(statements):
            count, plan = self.longest(statements[place:], distinct)
            if plan is None:
                found.append(statements[place])
            else:
                others = [*statements[:place], *statements[place + count :]]
                found += carried(plan, others, is_own, self.extents)
            place += count
        return found

    def longest(self, statements: Sequence[ir.Statement], distinct: Distinct) -> tuple[int, Plan | None]:
        """How many statements, from the first on, become one loop and what is done before and behind it."""
        best: tuple[int, Plan | None] = 1, None
        entries: list[Entry] = []
        for count, statement in enumerate(statements, 1):
            row = row_of(statement, self.extents)
            if row is None:
                touches = None if isinstance(statement, ir.Loop) or not entries else touches_of(statement, self.extents)
                if touches is None:
                    break
                entries.append(Piece(statement, touches))
                continue
            entries.append(row)
            if len(entries) > 1:
                plan = aligned(entries, distinct) if _fit(entries) else None
                if plan is None:
                    break
                best = count, plan
        return best


def _fit(entries: Sequence[Entry]) -> bool:
    """Whether loops end where each other end, and do not come to too much."""
    rows = [entry for entry in entries if isinstance(entry, Row)]
    size = sum(len(row.loop.body.statements) for row in rows)
    return size <= MOST_FUSED and all(row.stop == rows[0].stop for row in rows)


__all__ = ["with_loops_in_step"]
