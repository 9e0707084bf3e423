"""Joins neighbouring choices on one condition, so that what was decided once is not decided again.

``if c: a = ...`` and, right after it, ``if c: a_bar = ...`` become one ``if``. Statements between the two may be
passed over where nothing can tell the difference.
"""

from __future__ import annotations

from functools import cached_property

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.rebuild import map_blocks, map_leaves, rebuild_terminator, substitute
from adjoint.ir.walk import blocks_of, free_vars, leaves, operands, statements_in, targets_of, vars_used
from adjoint.optimize.dead_code import load_is_pure


def merge_choices(function: ir.Function) -> tuple[ir.Function, bool]:
    """The function with neighbouring choices joined, and whether there were any."""
    if not _has_candidates(function.body):
        return function, False
    merger = _Merger(function)
    body = merger.block(function.body)
    if not merger.changed:
        return function, False
    return ir.Function(function.name, function.params, body, function.doc), True


def _has_candidates(block: ir.Block) -> bool:
    """Whether two choices of one block, at any depth, have the same condition."""
    conditions = []
    for node in (*block.statements, block.terminator):
        if type(node) is ir.If or type(node) is ir.Branch:
            conditions.append(node.cond)
        if any(map(_has_candidates, blocks_of(node))):
            return True
    return len(set(conditions)) < len(conditions)


class _Merger:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.changed = False

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.function)

    def written(self, atom: ir.Atom) -> bool:
        """Whether some statement may write memory that a value refers to."""
        if not isinstance(atom, ir.Var) or isinstance(atom.type, ir.Scalar):
            return False
        return self.memory.written(atom)

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        for old in block.statements:
            statement = map_blocks(old, self.block)
            if not isinstance(statement, ir.If) or not self.join(out, statement):
                out.append(statement)
        terminator = block.terminator
        if isinstance(terminator, ir.Branch):
            if out and isinstance(out[-1], ir.If):
                terminator = self.into_branch(out, out[-1], terminator)
            terminator = rebuild_terminator(terminator, lambda atom: atom, self.block)
        return ir.Block(tuple(out), terminator)

    def join(self, out: list[ir.Statement], second: ir.If) -> bool:
        """Joins an ``If`` with an earlier one at the end of ``out``, if there is one that it can reach."""
        if not _is_steady(second.cond):
            return False
        position = len(out) - 1
        while position >= 0:
            first = out[position]
            if isinstance(first, ir.If):
                break
            if not isinstance(first, (ir.Call, ir.Load)):
                return False
            position -= 1
        else:
            return False
        if first.cond != second.cond:
            return False
        between = out[position + 1 :]
        place = self.meeting_place(first, between, second)
        if place is None:
            return False
        joined = _joined(first, second)
        if joined is None:
            return False
        self.changed = True
        del out[position:]
        out += [joined, *between] if place == "first" else [*between, joined]
        return True

    def meeting_place(self, first: ir.If, between: list[ir.Statement], second: ir.If) -> str | None:
        """Where both can be one: in the place of the first, of the second, or nowhere."""
        if not between:
            return "first"
        if not all(self.passable(statement) for statement in between):
            return None
        bound = {target for statement in between for target in targets_of(statement)}
        if not _raises(second) and not any(bound.intersection(free_vars(block)) for block in blocks_of(second)):
            return "first"
        used = {atom for statement in between for atom in operands(statement)}
        if not _raises(first) and not used.intersection(first.targets):
            return "second"
        return None

    def passable(self, statement: ir.Statement) -> bool:
        """Whether a statement is the same before and after any other that it does not depend on."""
        match statement:
            case ir.Call():
                found = effects_of(statement)
                return found.pure and (found.reads == () or not any(map(self.written, operands(statement))))
            case ir.Load():
                return load_is_pure(statement) and self.memory.same_again(statement)
            case _:
                return False

    def into_branch(self, out: list[ir.Statement], last: ir.If, branch: ir.Branch) -> ir.Branch:
        """Moves a choice at the end of a block into the branch on the same condition that ends the block."""
        if last.cond != branch.cond or not _is_steady(last.cond):
            return branch
        then, orelse = _chained(last.then, branch.then, last), _chained(last.orelse, branch.orelse, last)
        if then is None or orelse is None:
            return branch
        self.changed = True
        out.pop()
        return ir.Branch(branch.cond, then, orelse, branch.span)


def _is_steady(cond: ir.Atom) -> bool:
    return isinstance(cond, ir.Var) and isinstance(cond.type, ir.Scalar)


def _raises(statement: ir.If) -> bool:
    blocks = list(blocks_of(statement))
    blocks += [inner for block in blocks for nested in statements_in(block) for inner in blocks_of(nested)]
    return any(isinstance(leaf, ir.Raise) for block in blocks for leaf in leaves(block))


def _joined(first: ir.If, second: ir.If) -> ir.If | None:
    then = _chained(first.then, second.then, first, keep=True)
    orelse = _chained(first.orelse, second.orelse, first, keep=True)
    if then is None or orelse is None:
        return None
    return ir.If(first.cond, then, orelse, first.targets + second.targets, first.span or second.span)


def _chained(one: ir.Block, other: ir.Block, first: ir.If, *, keep: bool = False) -> ir.Block | None:
    """A side of the first choice and then the same side of the second; None where that can not be said.

    With ``keep``, what the first side yields is yielded too.
    """
    match one.terminator:
        case ir.Raise():
            return one
        case ir.Yield(values):
            names: dict[ir.Var, ir.Atom] = dict(zip(first.targets, values, strict=True))
        case _:
            return None
    if ir.UNDEFINED in values and any(names.get(var) == ir.UNDEFINED for var in vars_used(other)):
        return None
    other = substitute(other, names)

    def leaf(terminator: ir.Terminator) -> ir.Terminator:
        return ir.Yield(values + terminator.values) if isinstance(terminator, ir.Yield) else terminator

    if keep:
        other = map_leaves(other, leaf)
    return ir.Block(one.statements + other.statements, other.terminator)
