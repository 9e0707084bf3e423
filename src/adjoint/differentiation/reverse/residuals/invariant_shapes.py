"""What loops keep only for its shape is kept once, where the shape is the same in each iteration.

Then the last array does for all: loops hand it on, and no list holds the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from adjoint import ir
from adjoint.differentiation.reverse.residuals.shape_only_results import tapes_of_one_shape
from adjoint.ir.rebuild import map_blocks, map_branch, map_statements, substitute, with_values
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of
from adjoint.records import replace


def without_equal_shapes(function: ir.Function) -> ir.Function:
    """The function with one array in place of each tape of arrays of one shape of which nothing else is asked."""
    taken: dict[ir.Var, ir.Atom] = {}
    body = function.body
    for tape in tapes_of_one_shape(function):
        body = _Last(tape, taken).in_block(body)
    if not taken:
        return function
    return ir.Function(function.name, function.params, substitute(body, taken), function.doc)


class _Last:
    """Hands on what was put on a tape last; ``taken`` takes down what stands for what was taken from the tape."""

    def __init__(self, tape: ir.Var, taken: dict[ir.Var, ir.Atom]) -> None:
        self.tape = tape
        self.taken = taken

    def in_block(self, block: ir.Block) -> ir.Block:
        """The block without the tape, which is made in the block or inside of one of its statements."""
        if not any(self.tape in targets_of(statement) for statement in block.statements):
            return map_statements(block, lambda statement: map_blocks(statement, self.in_block))
        places = [place for place, statement in enumerate(block.statements) if self.fills(statement)]
        if len(places) != 1 or not self.is_handed_on(block.statements[places[0]]):
            return block
        before, after = block.statements[: places[0]], block.statements[places[0] + 1 :]
        statements: list[ir.Statement] = [statement for statement in before if self.tape not in targets_of(statement)]
        last = self.handing_on(block.statements[places[0]], ir.UNDEFINED, statements)
        rest = self.without_takes(ir.Block(after, block.terminator), last)
        return ir.Block((*statements, *rest.statements), rest.terminator)

    def fills(self, statement: ir.Statement) -> bool:
        """Whether a statement puts something on the tape, or one inside of it does."""
        return self.is_fill(statement) or any(map(self.is_fill, _inside(statement)))

    def is_fill(self, statement: ir.Statement) -> bool:
        return isinstance(statement, ir.Call) and statement.callee is list.append and statement.args[0] is self.tape

    def is_handed_on(self, statement: ir.Statement) -> bool:
        """Whether only loops and branches are around what fills the tape, and nothing is taken there."""
        if any(map(self.takes, _inside(statement))):
            return False
        around = [each for each in (statement, *_inside(statement)) if not self.is_fill(each) and self.fills(each)]
        return all(isinstance(each, (ir.If, ir.Loop)) for each in around)

    def takes(self, statement: ir.Statement) -> bool:
        """Whether a statement takes something from the tape."""
        if isinstance(statement, ir.Load):
            return statement.base is self.tape
        return isinstance(statement, ir.Call) and statement.callee is list.pop and operands(statement)[0] is self.tape

    def handing_on(self, statement: ir.Statement, last: ir.Atom, statements: list[ir.Statement]) -> ir.Atom:
        """Adds the statement without the tape to others; gives the last array after it."""
        if isinstance(statement, ir.Call):
            return statement.args[1]
        assert isinstance(statement, (ir.If, ir.Loop))
        slot = len(statement.params if isinstance(statement, ir.Loop) else statement.targets)
        if isinstance(statement, ir.Loop):
            param = self.name(statement)
            loop = replace(statement, params=(*statement.params, param), inits=(*statement.inits, last))
            mapped: ir.If | ir.Loop = replace(loop, body=self.ending(statement.body, param, slot))
        else:
            then, orelse = (self.ending(block, last, slot) for block in (statement.then, statement.orelse))
            mapped = replace(statement, then=then, orelse=orelse)
        target = self.name(statement)
        targets = (*statement.targets[:slot], target, *statement.targets[slot:])
        statements.append(replace(mapped, targets=targets))
        return target

    def name(self, statement: ir.If | ir.Loop) -> ir.Var:
        fill = next(inner for inner in _inside(statement) if self.is_fill(inner))
        assert isinstance(fill, ir.Call) and isinstance(fill.args[1], ir.Var)
        kept = fill.args[1]
        return ir.Var(kept.hint, kept.type, kept.named)

    def ending(self, block: ir.Block, last: ir.Atom, slot: int) -> ir.Block:
        """The block whose ends hand out the last array, too."""
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if self.fills(statement):
                last = self.handing_on(statement, last, statements)
            else:
                statements.append(statement)
        end: ir.Terminator = block.terminator
        if isinstance(end, ir.Branch):
            end = map_branch(end, lambda side: self.ending(side, last, slot))
        elif isinstance(end, (ir.Yield, ir.Continue, ir.Exit)):
            end = with_values(end, (*end.values[:slot], last, *end.values[slot:]))
        return ir.Block(tuple(statements), end)

    def without_takes(self, block: ir.Block, last: ir.Atom) -> ir.Block:
        kept: list[ir.Statement] = []
        for statement in block.statements:
            if self.takes(statement):
                self.taken[targets_of(statement)[0]] = last
            else:
                kept.append(map_blocks(statement, lambda inner: self.without_takes(inner, last)))
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = map_branch(end, lambda side: self.without_takes(side, last))
        return ir.Block(tuple(kept), end)


def _inside(statement: ir.Statement) -> Iterator[ir.Statement]:
    return (inner for block in blocks_of(statement) for inner in statements_in(block))
