"""Both sides of branches that floats choose: what either may do is done, so that one pattern holds for all floats.

A value that one of two gives is their sum here, what a side stores is added. Of a pattern that is a union; the values
are nobody's. A side that raises is left out: then there is no derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.sets.steering import FIXED, FLOATS, VARYING, Reason, Steering
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms, type_of_atom
from adjoint.ir.rebuild import Leaf, map_blocks, with_renamed
from adjoint.ir.walk import blocks_of, statements_in
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime.sets.functions import either

Levels = Sequence[tuple[int, int]]


def levels_of(params: Sequence[ir.Var], varying: int) -> list[tuple[int, int]]:
    """The level of each parameter, and that of its shape, where one varies."""
    return [
        (VARYING if place == varying else FLOATS if _has_floats(param.type) else FIXED, FIXED)
        for place, param in enumerate(params)
    ]


def united(function: ir.Function, levels: Levels) -> tuple[ir.Function, list[Reason]]:
    """The function with both sides of branches done, and what still decides on sets and is not the same in all calls.

    Where what floats choose decides on sets, that is left to them: only what depends on the argument has both sides.
    """
    first = Steering(function, levels)
    nodes = [node for node in _conditional(function.body) if first.value(node.cond) and _can_be_united(node)]
    reasons = first.reasons
    for least in (FLOATS, VARYING):
        chosen = frozenset([id(node) for node in nodes if first.value(node.cond) >= least])
        reasons = Steering(function, levels, chosen).reasons
        if not any(reason.level == VARYING for reason in reasons):
            return _Uniting(chosen).function(function) if chosen else function, reasons
    return function, reasons


def with_primals_united(function: ir.Function, levels: Levels) -> ir.Function:
    """The function with both sides done in those whose reverse derivatives it calls."""
    calls = [
        call
        for call in statements_in(function.body)
        if isinstance(call, ir.Call) and isinstance(call.callee, ir.Derived)
    ]
    if not calls:
        return function
    steering = Steering(function, levels)
    made: dict[int, ir.Derived] = {}
    for call in calls:
        inner = call.callee.function
        own = [(steering.value(arg), steering.shape(arg)) for arg in call.args[: len(inner.params)]]
        made[id(call)] = replace(call.callee, function=united(inner, own)[0])

    def changed(block: ir.Block) -> ir.Block:
        statements = [
            map_blocks(each, changed) if id(each) not in made else _calling(each, made) for each in block.statements
        ]
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = replace(end, then=changed(end.then), orelse=changed(end.orelse))
        return ir.Block(tuple(statements), end)

    return ir.Function(function.name, function.params, changed(function.body), function.doc)


def _calling(statement: ir.Statement, made: Mapping[int, ir.Derived]) -> ir.Statement:
    assert isinstance(statement, ir.Call)
    return replace(statement, callee=made[id(statement)])


def _has_floats(type_: ir.Type) -> bool:
    return ir.may_vary(type_) and not isinstance(type_, ir.Opaque)


def _conditional(block: ir.Block) -> list[ir.If | ir.Branch]:
    """The statements and branches with a condition."""
    found: list[ir.If | ir.Branch] = []
    for statement in block.statements:
        found += [statement] if isinstance(statement, ir.If) else []
        for inner in blocks_of(statement):
            found += _conditional(inner)
    end = block.terminator
    if isinstance(end, ir.Branch):
        found += [end, *_conditional(end.then), *_conditional(end.orelse)]
    return found


# What can be done on both sides


def _can_be_united(node: ir.If | ir.Branch) -> bool:
    leaves: list[Leaf] = []
    for block in (node.then, node.orelse):
        if not all(map(_is_plain, statements_in(block))):
            return False
        found = _leaves(block)
        if found is None:
            return False
        leaves += found
    if not leaves or len({(type(leaf), getattr(leaf, "kind", None)) for leaf in leaves}) > 1:
        return False
    return all(_can_be_either(values) for values in zip(*[leaf.values for leaf in leaves], strict=True))


def _leaves(block: ir.Block) -> list[Leaf] | None:
    """How a block ends, where it does not raise."""
    end = block.terminator
    if isinstance(end, ir.Branch):
        then, orelse = _leaves(end.then), _leaves(end.orelse)
        return None if then is None or orelse is None else then + orelse
    return [] if isinstance(end, ir.Raise) else [end]


def _can_be_either(values: Sequence[ir.Atom]) -> bool:
    """Whether a value that is one of these may stand for all of them: of memory only if it is one."""
    known = [value for value in values if not isinstance(value, ir.Undefined)]
    if all(value == known[0] for value in known[1:]):
        return True
    types = [type_of_atom(value) for value in known]
    return not any(ir.is_handle(type_) or (isinstance(type_, ir.Opaque) and ir.may_vary(type_)) for type_ in types)


def _is_plain(statement: ir.Statement) -> bool:
    """Whether a statement may be done where it would not be, with values that are nobody's."""
    match statement:
        case ir.Call(callee=callee):
            found = effects_of(statement)
            return (
                found.known
                and found.confined
                and not found.writes
                and not isinstance(callee, (ir.Function, ir.Definition))
            )
        case ir.Store(base=base):
            return isinstance(type_of_atom(base), ir.Array)
        case ir.Loop(over=over, body=body):
            return over is not None and not any(isinstance(end, (ir.Exit, ir.Return)) for end in _own_leaves(body))
        case ir.Guarded():
            return False
        case _:
            return True


def _own_leaves(block: ir.Block) -> list[ir.Terminator]:
    end = block.terminator
    return [*_own_leaves(end.then), *_own_leaves(end.orelse)] if isinstance(end, ir.Branch) else [end]


# Doing it


class _Uniting:
    """One walk; ``chosen`` are the branches and statements of which both sides are done."""

    def __init__(self, chosen: frozenset[int]) -> None:
        self.chosen = chosen
        self.renamed: dict[ir.Var, ir.Atom] = {}

    def function(self, function: ir.Function) -> ir.Function:
        body = self.block(function.body, added=False)
        return ir.Function(function.name, function.params, with_renamed(body, self.renamed), function.doc)

    def block(self, block: ir.Block, added: bool) -> ir.Block:
        builder = Builder(type_of_call)
        self.statements(block, builder, added)
        end = block.terminator
        if not isinstance(end, ir.Branch):
            return builder.block(end)
        if id(end) not in self.chosen:
            then, orelse = self.block(end.then, added), self.block(end.orelse, added)
            return builder.block(ir.Branch(end.cond, then, orelse, end.span))
        leaf = self.ending(end, builder)
        assert leaf is not None
        return builder.block(leaf)

    def statements(self, block: ir.Block, builder: Builder, added: bool) -> None:
        """Emits the statements of a block; ``added`` says that what they store is added to what is there."""
        for statement in block.statements:
            builder.span = statement.span
            if isinstance(statement, ir.If) and id(statement) in self.chosen:
                leaf = self.both(statement, builder)
                assert leaf is not None
                self.renamed.update(zip(statement.targets, leaf.values, strict=True))
            elif isinstance(statement, ir.Store):
                mode = "add" if added and statement.mode == "set" else statement.mode
                builder.emit(replace(statement, mode=mode))
            else:
                builder.emit(map_blocks(statement, lambda inner: self.block(inner, added)))

    def both(self, node: ir.If | ir.Branch, builder: Builder) -> Leaf | None:
        """Emits both sides; gives how they end together."""
        leaves = []
        for side in (node.then, node.orelse):
            self.statements(side, builder, added=True)
            leaves.append(self.ending(side.terminator, builder))
        one, other = leaves
        if one is None or other is None:
            return one or other
        pairs = zip(one.values, other.values, strict=True)
        return replace(one, values=tuple(self.either(builder, *pair) for pair in pairs))

    def ending(self, end: ir.Terminator, builder: Builder) -> Leaf | None:
        """How a side ends, as one leaf; None where it raises."""
        if isinstance(end, ir.Raise):
            return None
        if not isinstance(end, ir.Branch):
            return end
        if id(end) in self.chosen:
            return self.both(end, builder)
        blocks, leaves = [], []
        for side in (end.then, end.orelse):
            inner = builder.nested()
            self.statements(side, inner, added=True)
            leaf = self.ending(side.terminator, inner)
            blocks.append(inner.block(ir.Raise(None) if leaf is None else ir.Yield(leaf.values)))
            leaves += [] if leaf is None else [leaf]
        if not leaves:
            return None
        targets = tuple(
            ir.Var("y", join_atoms(values)) for values in zip(*[leaf.values for leaf in leaves], strict=True)
        )
        builder.emit(ir.If(end.cond, blocks[0], blocks[1], targets, end.span))
        return replace(leaves[0], values=targets)

    def either(self, builder: Builder, one: ir.Atom, other: ir.Atom) -> ir.Atom:
        if one == other or isinstance(other, ir.Undefined):
            return one
        if isinstance(one, ir.Undefined):
            return other
        if not ir.may_vary(type_of_atom(one)) and not ir.may_vary(type_of_atom(other)):
            return one
        target = ir.Var("either", join_atoms((one, other)))
        builder.emit(ir.Call((target,), either, (one, other), (), builder.span))
        return target
