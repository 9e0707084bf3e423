"""Iterations of a loop side by side, where each would wait for itself.

An inner loop in which every step needs the one before takes as long as a chain of operations takes, while most of the
machine is idle. Where the iterations around it do not need each other, some of them take their steps together. What
they do with the outcome (whether it is the least so far) they may do one after the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.nonnegative import naturals_of
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array
from adjoint.ir.rebuild import map_blocks, rebuild, rebuild_terminator, substitute
from adjoint.ir.walk import operands, statements_in, targets_of, with_inner
from adjoint.native.costs import JAMMED, LONGEST_ABREAST, LONGEST_JAMMED
from adjoint.native.loops.allocation_hoisting import is_fact
from adjoint.native.loops.loop_reversal import Accesses, commutes
from adjoint.native.loops.reductions import in_free_order
from adjoint.native.loops.register_promotion import in_block
from adjoint.native.loops.vectorize import outer_loops
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime.arithmetic import fused_loops

Grouping = Callable[[ir.Var, tuple[ir.Var, ...]], ir.Block | None]
"""What makes the body for a group of iterations, given the number of the first one and what the groups add to."""

_BRIEF: tuple[Any, ...] = (abs, float, max, min, np.sign, np.abs, np.minimum, np.maximum)


def jammed(function: ir.Function) -> ir.Function:
    """The function with iterations side by side where their inner loops are chains."""
    if not any(isinstance(part, ir.Loop) and _has_chains(part) for part in statements_in(function.body)):
        return function
    naturals = None if outer_loops.has_bundles(function.body) else naturals_of(function)
    return ir.Function(function.name, function.params, _block(function.body, naturals), function.doc)


def _block(block: ir.Block, naturals: set[ir.Var] | None) -> ir.Block:
    """A block with its loops jammed; there are no bundles where it is not known which numbers are never negative."""

    def inner(part: ir.Block) -> ir.Block:
        return _block(part, naturals)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, inner)
        if isinstance(current, ir.Loop) and _has_chains(current) and _may_be_jammed(current):
            statements += _Jam(current).statements(naturals)
        else:
            statements.append(current)
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _has_chains(loop: ir.Loop) -> bool:
    """Whether an inner loop is a chain of arithmetic."""
    return any(map(_is_chain, _inner_loops(loop)))


def _is_short(loop: ir.Loop) -> bool:
    """Whether there are few statements in a loop, and all those of inner loops are brief."""
    inner = (statement for each in _inner_loops(loop) for statement in statements_in(each.body))
    return len(statements_in(loop.body)) <= LONGEST_JAMMED and all(map(_is_brief, inner))


def _inner_loops(loop: ir.Loop) -> list[ir.Loop]:
    return [statement for statement in loop.body.statements if isinstance(statement, ir.Loop)]


def _is_chain(loop: ir.Loop) -> bool:
    """Whether each iteration computes a number from that of the one before, other than by adding in any order."""
    return _carries_numbers(loop) or not _known_places(loop, ir.Load).isdisjoint(_known_places(loop, ir.Store))


def _known_places(loop: ir.Loop, kind: type[ir.Load | ir.Store]) -> set[tuple[ir.Atom, tuple[Any, ...]]]:
    """The places of arrays that each iteration reads, or writes."""
    found = set()
    for access in loop.body.statements:
        if isinstance(access, kind) and isinstance(access.key, ir.Subscript):
            items = access.key.items
            if all(isinstance(item, ir.Const) and type(item.value) is int for item in items):
                found.add((access.base, items))
    return found


def _carries_numbers(loop: ir.Loop) -> bool:
    end = loop.body.terminator
    free = {target for s in statements_in(loop.body) for target in targets_of(s) if _adds_in_any_order(s)}
    return isinstance(end, ir.Continue) and any(
        isinstance(param.type, ir.Scalar) and param.type.kind == "float" and value is not param and value not in free
        for param, value in zip(loop.params, end.values, strict=True)
    )


def _adds_in_any_order(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and statement.callee is fused_loops.plus


def _is_brief(statement: ir.Statement) -> bool:
    """Whether a statement is an instruction or two."""
    if not isinstance(statement, ir.Call):
        return isinstance(statement, (ir.Load, ir.Store))
    return getattr(statement.callee, "__module__", None) == "_operator" or statement.callee in _BRIEF


def _may_be_jammed(loop: ir.Loop) -> bool:
    """Whether statements of different iterations may take turns."""
    over, end = loop.over, loop.body.terminator
    if not isinstance(over, ir.Range) or over.step != ir.Const(1) or loop.index is None or loop.exit is not None:
        return False
    if not isinstance(end, ir.Continue):
        return False
    if not commutes(loop):
        return not over.backward and _ends_in_order(loop)
    sums = dict(zip(loop.params, end.values, strict=True))
    varying = _varying(loop)
    return all(_goes_along(statement, sums, varying) for statement in loop.body.statements)


def _ends_in_order(loop: ir.Loop) -> bool:
    """Whether all that an iteration needs of the one before it comes after its inner loops, and nothing is written."""
    found = Accesses(loop)
    if not found.known or any(access.writes for accesses in found.of.values() for access in accesses):
        return False
    head, tail = _head_and_tail(loop)
    varying = _varying(loop)
    carried: dict[ir.Var, ir.Atom] = dict.fromkeys(loop.params, ir.UNDEFINED)
    return all(_goes_along(statement, carried, varying) for statement in head) and all(map(_only_computes, tail))


def _head_and_tail(loop: ir.Loop) -> tuple[tuple[ir.Statement, ...], tuple[ir.Statement, ...]]:
    """The statements of a body up to its last inner loop, and those behind it."""
    statements = loop.body.statements
    last = max(place for place, statement in enumerate(statements) if isinstance(statement, ir.Loop))
    return statements[: last + 1], statements[last + 1 :]


def _only_computes(statement: ir.Statement) -> bool:
    """Whether a statement gives numbers and does nothing else; the ends of its blocks included."""
    match statement:
        case ir.Call(targets=targets):
            return effects_of(statement).pure and all(isinstance(target.type, ir.Scalar) for target in targets)
        case ir.Load(target=target):
            return isinstance(target.type, ir.Scalar)
        case ir.If(then=then, orelse=orelse):
            return all(
                all(map(_only_computes, block.statements)) and isinstance(block.terminator, ir.Yield)
                for block in (then, orelse)
            )
        case _:
            return False


def _goes_along(statement: ir.Statement, sums: Mapping[ir.Var, ir.Atom], own: set[ir.Var]) -> bool:
    """Whether a statement of a body may stand beside itself."""
    if isinstance(statement, ir.Call):
        return sums.keys().isdisjoint(operands(statement)) or any(
            sums.get(atom) in statement.targets for atom in operands(statement) if isinstance(atom, ir.Var)
        )
    reads = {*operands(statement), *(var for inner in with_inner(statement) for var in operands(inner))}
    if not sums.keys().isdisjoint(reads):
        return False
    if not isinstance(statement, ir.Loop):
        return not any(isinstance(inner, ir.Loop) for inner in with_inner(statement))
    over = statement.over
    if not isinstance(over, ir.Range) or not own.isdisjoint((over.start, over.stop, over.step)):
        return False
    return isinstance(statement.body.terminator, ir.Continue) and statement.exit is None


def _varying(loop: ir.Loop) -> set[ir.Var]:
    """What the statements of a body bind and iterations do not share."""
    own = {target for statement in loop.body.statements for target in targets_of(statement)}
    return own - _steady(loop)


def _steady(loop: ir.Loop) -> set[ir.Var]:
    """What each iteration computes alike: numbers, from what does not change."""
    changing: set[Any] = {loop.index, *loop.params}
    found: set[ir.Var] = set()
    for statement in loop.body.statements:
        if is_fact(statement, changing) or _is_steady(statement, changing):
            found.update(targets_of(statement))
        else:
            changing.update(targets_of(statement))
    return found


def _is_steady(statement: ir.Statement, changing: set[Any]) -> bool:
    """Whether a statement gives numbers that are the same in each iteration."""
    if not isinstance(statement, ir.Call) or not all(
        isinstance(target.type, ir.Scalar) for target in statement.targets
    ):
        return False
    found = effects_of(statement)
    numbers = found.reads == () or not any(map(is_array, operands(statement)))
    return found.pure and numbers and changing.isdisjoint(operands(statement))


class _Jam:
    """A loop as loops over groups of iterations, and one over those that are left."""

    def __init__(self, loop: ir.Loop) -> None:
        self.loop = loop
        self.steady = _steady(loop)
        self.own = Accesses(loop).own

    def statements(self, naturals: set[ir.Var] | None) -> list[ir.Statement]:
        """Loops over large groups, which are bundles, then over small ones, then over single iterations."""
        builder = Builder(type_of_call, self.loop.span)
        left = self.loop
        if naturals is not None and self.may_be_bundles(naturals):
            left = self.in_groups(left, outer_loops.TOGETHER, self.bundle, builder)
        if _is_short(left):
            left = self.in_groups(left, JAMMED, self.group, builder)
        builder.emit(left)
        return builder.statements

    def may_be_bundles(self, naturals: set[ir.Var]) -> bool:
        """Whether iterations, which are counted from a number that is not negative, may be run in any order."""
        assert isinstance(self.loop.over, ir.Range)
        start = self.loop.over.start
        is_natural = (
            start in naturals if isinstance(start, ir.Var) else isinstance(start, ir.Const) and start.value >= 0
        )
        return is_natural and len(statements_in(self.loop.body)) <= LONGEST_ABREAST and commutes(self.loop)

    def in_groups(self, loop: ir.Loop, size: int, body_of: Grouping, builder: Builder) -> ir.Loop:
        """Emits a loop over groups of iterations; returns the one over those that are left."""
        over, index = loop.over, loop.index
        assert isinstance(over, ir.Range) and index is not None
        first = ir.Var(index.hint, index.type, index.named)
        params = tuple(ir.Var(param.hint, param.type, param.named) for param in loop.params)
        body = body_of(first, params)
        if body is None:
            return loop
        count = (
            over.stop if over.start == ir.Const(0) else builder.call(operator.sub, over.stop, over.start, hint="count")
        )
        trips = builder.call(max, count, ir.Const(0), hint="count")
        rest = builder.call(operator.mod, trips, ir.Const(size), hint="rest")
        whole = builder.call(operator.sub, trips, rest, hint="whole")
        end = whole if over.start == ir.Const(0) else builder.call(operator.add, over.start, whole, hint="whole")
        between = tuple(ir.Var(target.hint, target.type, target.named) for target in loop.targets)
        left, free = loop.body, over.backward or over.free
        if free:  # backwards, only what commutes is jammed: what is carried are sums of cotangents
            body, left = in_free_order(body, params), in_free_order(left, loop.params)
        groups = ir.Range(over.start, end, ir.Const(size), free=free)
        builder.emit(ir.Loop(groups, first, params, loop.inits, body, between, None, loop.span))
        return replace(loop, over=ir.Range(end, over.stop, ir.Const(1), free=free), inits=between, body=left)

    def bundle(self, first: ir.Var, params: tuple[ir.Var, ...]) -> ir.Block | None:
        """The body for a bundle of iterations from ``first`` on."""
        assert self.loop.index is not None
        names: dict[ir.Var, ir.Atom] = {self.loop.index: first, **dict(zip(self.loop.params, params, strict=True))}
        body = in_block(_Copy(names, self.own).block(self.loop.body), first)
        return outer_loops.abreast(body, first, params)

    def group(self, first: ir.Var, params: tuple[ir.Var, ...]) -> ir.Block:
        """The body for some iterations from ``first`` on."""
        builder = Builder(type_of_call, self.loop.span)
        end = self.loop.body.terminator
        assert isinstance(end, ir.Continue) and self.loop.index is not None
        copies: list[_Copy] = []
        values: tuple[ir.Atom, ...] = params
        for place in range(JAMMED):
            index = first if place == 0 else builder.call(operator.add, first, ir.Const(place), hint=first.hint)
            names: dict[ir.Var, ir.Atom] = {self.loop.index: index}
            if copies:
                names |= {var: copies[0].name(var) for var in self.steady}
            copy = _Copy(names, self.own)
            copy.bind(var for s in self.loop.body.statements for var in targets_of(s) if var not in names)
            names |= dict(zip(self.loop.params, values, strict=True))
            values = tuple(copy.hand(value) for value in end.values)
            copies.append(copy)
        head, tail = _head_and_tail(self.loop)
        for statement in head:
            if isinstance(statement, ir.Loop):
                builder.emit(_side_by_side([copy.of(statement) for copy in copies]))
            elif _all_in(targets_of(statement), self.steady):
                builder.emit(copies[0].of(statement))
            else:
                for copy in copies:
                    builder.emit(copy.of(statement))
        for copy in copies:
            for statement in tail:
                if copy is copies[0] or not _all_in(targets_of(statement), self.steady):
                    builder.emit(copy.of(statement))
        return builder.block(ir.Continue(values))


def _all_in(targets: Iterable[ir.Var], known: set[ir.Var]) -> bool:
    found = list(targets)
    return bool(found) and known.issuperset(found)


class _Copy:
    """An iteration with names, and memory, of its own."""

    def __init__(self, names: dict[ir.Var, ir.Atom], own: set[ir.Storage]) -> None:
        self.names = names
        self.memory = {storage: ir.Storage(written=storage.written) for storage in own}

    def bind(self, variables: Iterable[ir.Var]) -> None:
        for var in variables:
            self.new(var)

    def new(self, var: ir.Var) -> ir.Var:
        new = self.names[var] = ir.Var(var.hint, self.type_of(var.type), var.named)
        return new

    def type_of(self, type_: ir.Type) -> ir.Type:
        if isinstance(type_, ir.Array) and type_.storage.find() in self.memory:
            return ir.Array(type_.dtype, type_.dims, self.memory[type_.storage.find()])
        return type_

    def name(self, var: ir.Var) -> ir.Atom:
        return self.names[var]

    def hand(self, atom: ir.Atom) -> ir.Atom:
        return self.names.get(atom, atom) if isinstance(atom, ir.Var) else atom

    def of(self, statement: ir.Statement) -> ir.Statement:
        """The statement as it stands in this iteration."""
        return rebuild(statement, self.hand, self.block, self.binder)

    def block(self, old: ir.Block) -> ir.Block:
        """The block as it stands in this iteration."""
        inside = tuple(map(self.of, old.statements))
        return ir.Block(inside, rebuild_terminator(old.terminator, self.hand, self.block))

    def binder(self, old: ir.Var) -> ir.Var:
        known = self.names.get(old)
        return known if isinstance(known, ir.Var) else self.new(old)


def _side_by_side(loops: list[ir.Statement]) -> ir.Loop:
    """Loops over one range as one."""
    first = loops[0]
    assert isinstance(first, ir.Loop)
    statements: list[ir.Statement] = []
    params: list[ir.Var] = []
    inits: list[ir.Atom] = []
    values: list[ir.Atom] = []
    targets: list[ir.Var] = []
    for loop in loops:
        assert isinstance(loop, ir.Loop)
        body = substitute(loop.body, {loop.index: first.index}) if loop.index and first.index else loop.body
        assert isinstance(body.terminator, ir.Continue)
        statements += body.statements
        params += loop.params
        inits += loop.inits
        values += body.terminator.values
        targets += loop.targets
    body = ir.Block(tuple(statements), ir.Continue(tuple(values)))
    return ir.Loop(first.over, first.index, tuple(params), tuple(inits), body, tuple(targets), None, first.span)


__all__ = ["jammed"]
