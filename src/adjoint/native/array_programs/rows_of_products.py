"""Rows of a product of which a loop reads one in each iteration are computed there, and never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.rebuild import map_blocks, map_body, rebuild_terminator, same_atom, substitute
from adjoint.ir.walk import statements_in, targets_of
from adjoint.native.costs import WIDEST_ROW
from adjoint.native.loops.uses import Uses
from adjoint.records import dataclass
from adjoint.runtime.arithmetic import bundles


def with_rows_of_products(function: ir.Function) -> ir.Function:
    """The function with products of numbers with bundles a row at a time, where that is how they are read."""
    rows = _Rows(function)
    return ir.Function(function.name, function.params, rows.block(function.body), function.doc)


@dataclass(frozen=True, slots=True)
class _Row:
    """How a loop reads a product.

    Attributes
    ----------
    loop
        The loop, which reads the row that is its index.
    loads
        What reads elements.
    width
        How many elements there are up to the last that is read.
    """

    loop: ir.Loop
    loads: tuple[ir.Load, ...]
    width: int


class _Rows:
    """The products of a function, and who reads them."""

    def __init__(self, function: ir.Function) -> None:
        self._uses = Uses(function.body)
        self._aliases = Aliases(function)

    def block(self, old: ir.Block) -> ir.Block:
        """A block with rows in place of products."""
        statements = [map_blocks(statement, self.block) for statement in old.statements]
        for place, statement in enumerate(statements):
            if isinstance(statement, ir.Call) and statement.callee is bundles.product_of_moving_bundles:
                row = self._row_of(statement, statements[place + 1 :])
                if row is not None:
                    ahead, loop = _by_rows(statement, row)
                    statements[place] = ahead
                    statements[statements.index(row.loop)] = loop
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def _row_of(self, product: ir.Call, later: Sequence[ir.Statement]) -> _Row | None:
        """How one of the statements that follow reads a product; None where that is not how it is read."""
        numbers, _, _, moves_left = product.args
        (target,) = product.targets
        if moves_left != ir.Const(False) or not isinstance(numbers, ir.Var) or self._aliases.is_written(numbers):
            return None
        loads = tuple(node for node in self._uses.of[target] if isinstance(node, ir.Load))
        if not loads or len(loads) != len(self._uses.of[target]):
            return None
        for loop in later:
            if isinstance(loop, ir.Loop) and _counts_upwards(loop):
                places = [_place_in_row(load, loop.index) for load in loads]
                known = [place for place in places if place is not None]
                if len(known) == len(places) and max(known) < WIDEST_ROW and _always_reads(loop, loads):
                    return _Row(loop, loads, 1 + max(known))
        return None


def _counts_upwards(loop: ir.Loop) -> bool:
    """Whether the index of a loop is never negative."""
    match loop.over:
        case ir.Range(start=ir.Const(value=int() as start), step=ir.Const(value=int() as step)):
            return start >= 0 and step > 0
        case _:
            return False


def _place_in_row(load: ir.Load, index: ir.Var | None) -> int | None:
    """Which element of the row at an index something reads; None where it may be another row, or any element."""
    match load.key:
        case ir.Subscript(items=(row, ir.Const(value=int() as place))) if row is index and place >= 0:
            return place
        case _:
            return None


def _always_reads(loop: ir.Loop, loads: Sequence[ir.Load]) -> bool:
    """Whether a loop reads in each iteration, and all that reads is in it."""
    inside = [statement for statement in statements_in(loop.body) if statement in loads]
    return len(inside) == len(loads) and any(statement in loads for statement in loop.body.statements)


def _by_rows(product: ir.Call, row: _Row) -> tuple[ir.Call, ir.Loop]:
    """What stands for a product, and for the loop that reads it."""
    numbers, moving, skips, _ = product.args
    assert row.loop.index is not None
    matrix = ir.Array(np.dtype(np.float64), ("many", "many"))
    kept = (
        ir.Var("places", ir.Array(np.dtype(np.int64), ("many",))),
        ir.Var("moving", matrix),
        ir.Var("whole", matrix),
    )
    width = ir.Const(row.width)
    ahead = ir.Call(kept, bundles.product_by_rows, (numbers, moving, skips, width), (), product.span)
    elements = tuple(ir.Var(product.targets[0].hint, ir.FLOAT) for _ in range(row.width))
    first = ir.Call(elements, bundles.row_of_product, (numbers, row.loop.index, *kept, width), (), product.span)
    body = _with_elements(row.loop.body, dict(_read(row, elements)))
    return ahead, map_body(row.loop, ir.Block((first, *body.statements), body.terminator))


def _read(row: _Row, elements: Sequence[ir.Var]) -> Iterator[tuple[ir.Var, ir.Atom]]:
    for load in row.loads:
        place = _place_in_row(load, row.loop.index)
        assert place is not None
        yield load.target, elements[place]


def _with_elements(block: ir.Block, read: dict[ir.Var, ir.Atom]) -> ir.Block:
    """A block without what reads elements, but these."""

    def without(old: ir.Block) -> ir.Block:
        statements = tuple(
            map_blocks(statement, without)
            for statement in old.statements
            if read.keys().isdisjoint(targets_of(statement))
        )
        return ir.Block(statements, rebuild_terminator(old.terminator, same_atom, without))

    return substitute(without(block), read)
