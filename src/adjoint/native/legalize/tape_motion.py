"""Motion of pushes and pops: what is kept goes on its tape at the end of a block, and comes off at the start.

Between them array statements stand in one piece then, which is fused as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.shapes.tapes import tapes_of
from adjoint.ir.rebuild import map_blocks, map_branch
from adjoint.ir.walk import blocks_of, operands, vars_used


def with_tapes_moved(function: ir.Function) -> ir.Function:
    """The function with pushes as late and pops as early in their blocks as tapes allow."""
    tapes = set(tapes_of(function.body))
    if not tapes:
        return function
    body = _Motion(tapes).block(function.body)
    return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)


class _Motion:
    def __init__(self, tapes: set[ir.Var]) -> None:
        self._tapes = tapes

    def block(self, block: ir.Block) -> ir.Block:
        statements = [map_blocks(each, self.block) for each in block.statements]
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = map_branch(end, self.block)
        late = self._moved(statements, list.append)
        early = self._moved(late[::-1], list.pop)[::-1]
        if end is block.terminator and all(a is b for a, b in zip(early, block.statements, strict=True)):
            return block
        return ir.Block(tuple(early), end)

    def _moved(self, statements: Sequence[ir.Statement], callee: object) -> list[ir.Statement]:
        """Statements with calls of a method of tapes behind all others, if those do nothing with the same tapes."""
        found: list[ir.Statement] = []
        held: list[ir.Statement] = []
        busy: set[ir.Var] = set()
        for statement in statements:
            touched = self._touched(statement)
            if busy & touched:
                found += held
                held, busy = [], set()
            if isinstance(statement, ir.Call) and statement.callee is callee and touched:
                held.append(statement)
                busy |= touched
            else:
                found.append(statement)
        return found + held

    def _touched(self, statement: ir.Statement) -> set[ir.Var]:
        inner = [var for block in blocks_of(statement) for var in vars_used(block)]
        return self._tapes.intersection((*operands(statement), *inner))
