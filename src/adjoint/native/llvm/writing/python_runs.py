"""Statements that run as Python, one after another, as one call.

A call of Python out of machine code costs as much as a few of its statements: objects are made for what it takes, and
what it gives is checked. So what stands in a row is one call, of which all that nobody else reads stays Python's. A
loop or a choice in which most is left to Python is left to Python as a whole, but where arrays that it gives would be
objects then: machine code would read each of their elements by a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.joins import flows, reached
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_branch
from adjoint.ir.walk import blocks_of, operands, read_counts, statements_in, targets_of
from adjoint.native.legalize.as_python import by_python_together
from adjoint.native.llvm.writing.emission import LeftAlone
from adjoint.rules.registry import rule_for


def with_runs_joined(function: ir.Function, left: Sequence[LeftAlone]) -> ir.Function:
    """The function with one call for what runs as Python in a row; ``left``: its statements that do."""
    joining = _Joining({id(each.statement): each for each in left}, read_counts(function.body))
    body = joining.block(function.body)
    return ir.Function(function.name, function.params, body, function.doc) if joining.joined else function


class _Joining:
    def __init__(self, left: Mapping[int, LeftAlone], read: Counter[ir.Var]) -> None:
        self.left, self.read, self.joined = left, read, False

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        run: list[ir.Statement] = []
        for statement in block.statements:
            if self.is_left(statement):
                run.append(statement)
                continue
            statements += self.together(run)
            run = []
            statements.append(map_blocks(statement, self.block) if blocks_of(statement) else statement)
        statements += self.together(run)
        end = block.terminator
        return ir.Block(tuple(statements), map_branch(end, self.block) if isinstance(end, ir.Branch) else end)

    def is_left(self, statement: ir.Statement) -> bool:
        """Whether a statement runs as Python; whether most of a loop or a choice does, and nothing else is long."""
        if not blocks_of(statement):
            return id(statement) in self.left
        if isinstance(statement, ir.Guarded):
            return False
        simple = [each for block in blocks_of(statement) for each in statements_in(block) if not blocks_of(each)]
        count = sum(id(each) in self.left for each in simple)
        rest = [each for each in simple if id(each) not in self.left]
        is_mostly = count > 0 and len(rest) <= count and all(map(_is_arithmetic, rest))
        return is_mostly and not self._has_guards(statement) and self.arrays_of(statement) is not None

    def _has_guards(self, statement: ir.Statement) -> bool:
        return any(isinstance(each, ir.Guarded) for block in blocks_of(statement) for each in statements_in(block))

    def arrays_of(self, statement: ir.Statement) -> set[ir.Var] | None:
        """The results of a statement that surely are arrays; None if Python would make objects of others that are."""
        inside = statements_in(ir.Block((statement,), ir.Yield()))
        left = [self.left[id(each)] for each in inside if id(each) in self.left]
        arrays = {target for each in left for target in each.arrays}
        objects = {target for each in left for target in targets_of(each.statement)} - arrays
        sources: dict[ir.Atom, list[ir.Atom]] = {}
        for source, target in (pair for each in inside for pair in flows(each)):
            if not isinstance(source, ir.Undefined):
                sources.setdefault(target, []).append(source)
        found = set()
        for target in targets_of(statement) if blocks_of(statement) else ():
            if isinstance(target.type, ir.Array) and target.type.dims is not None:
                made_of = {atom for atom in reached([target], sources) if atom not in sources}
                if made_of <= arrays:
                    found.add(target)
                elif made_of.isdisjoint(objects):
                    return None
        return found | arrays

    def together(self, run: Sequence[ir.Statement]) -> Iterator[ir.Statement]:
        """One call for a run; statements that are alone stay themselves."""
        if len(run) < 2 and not any(map(blocks_of, run)):
            yield from run
            return
        self.joined = True
        block = ir.Block(tuple(run), ir.Yield())
        inside = read_counts(block)
        given = [target for statement in run for target in targets_of(statement)]
        targets = tuple([target for target in given if self.read[target] > inside[target]])
        asks = any(self.left[id(each)].asks for each in statements_in(block) if id(each) in self.left)
        arrays = frozenset[ir.Var]().union(*filter(None, map(self.arrays_of, run)))
        yield by_python_together(run, targets, asks, arrays)


def _is_arithmetic(statement: ir.Statement) -> bool:
    """Whether a statement computes a number of numbers, which is as fast in Python as to hand it over."""
    if not isinstance(statement, ir.Call) or statement.kwargs or rule_for(statement.callee) is None:
        return False
    return all(isinstance(type_of_atom(atom), ir.Scalar) for atom in (*operands(statement), *statement.targets))


__all__ = ["with_runs_joined"]
