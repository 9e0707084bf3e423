"""Local derivatives: of the numbers of an iteration by the elements that it reads, which no other number depends on.

A function is *local* if it reads numbers of its argument one by one, computes numbers of them, and sets elements of its
result, or adds to them. A number that it computes depends on the few elements that were read before in the same block,
which is known when the code is made. Where a number goes into the result, its derivative by each of them is an entry of
the Jacobian; those of a block are found together, by elimination. Two programs are made by the same walk: one takes
down where entries stand, one stores their values, or adds them up.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.diagnostics import DifferentiationError, error
from adjoint.diagnostics.spans import Span
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.local.linearized import ONE, Linearized, Read, Tangents
from adjoint.differentiation.local.parts import Parts
from adjoint.differentiation.memory.shadow_types import ShadowTypes
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.sets.steering import FIXED, Steering
from adjoint.differentiation.sets.united import levels_of
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_integer, type_of_atom
from adjoint.ir.walk import blocks_of, statements_in, vars_used
from adjoint.passes import Context
from adjoint.pipeline import run
from adjoint.records import dataclass
from adjoint.rules.kinds import Rule
from adjoint.rules.registry import rule_for
from adjoint.rules.typing import type_of_call
from adjoint.runtime.sets import entries
from adjoint.target import Target

Mode = Literal["places", "sums", "values"]
PLACES = np.dtype(np.int32)
"""What the places of entries are held in: half the memory that a sweep over all of them reads."""


def not_local(what: str, span: Span | None = None) -> DifferentiationError:
    """Why a function is not local."""
    return error("AD0412", span, what)


@dataclass(frozen=True, slots=True)
class _Entries:
    """A store to the result, of which the entries are not written yet."""

    row: ir.Atom
    value: ir.Atom
    mode: Literal["set", "add", "sub", "add_at"]
    span: Span | None


def with_entries(function: ir.Function, mode: Mode, target: Target) -> ir.Function:
    """The entries of the Jacobian of a function's result with respect to its first parameter.

    Parameters
    ----------
    mode
        ``"places"``: the function takes its parameters, and arrays for rows, columns, and the latest store of each
        result. ``"sums"``: its parameters, the data of the matrix, and the places of entries in that, to which they are
        added; the data are zero first. ``"values"``: the same where each place is that of one entry, which is stored
        there.

    Returns
    -------
    Function
        It returns how many entries there are.

    Raises
    ------
    DifferentiationError
        AD0412, with the reason, if the function is not local.
    """
    function = run(("expand-derivatives", "dead-code", "cleanup"), function, Context(target))
    levels = levels_of(function.params, 0)
    first = Steering(function, levels)
    walk = _Local(function, mode, first)
    made = walk.function(function)
    reasons = Steering(function, levels, walk.by_floats).reasons
    if reasons and reasons[0].level > FIXED:
        raise not_local(f"floats decide by {reasons[0].what}", reasons[0].span)
    return made


class _Local:
    def __init__(self, function: ir.Function, mode: Mode, steering: Steering) -> None:
        end = function.body.terminator
        if not isinstance(end, ir.Return):
            raise not_local("there is more than one way out")
        self.found = Dependence(function, (0,), (0,))
        if self.found.problems:
            raise not_local("it has no derivative")
        self.mode = mode
        self.x = function.params[0]
        self.result = end.values[0]
        assert isinstance(self.result, ir.Var)
        self.graph = Linearized()
        self.rules = TangentRules(self.found, ShadowTypes(self.found.memory), {}, lambda: ())
        whole = ir.Array(np.dtype(np.int64), ("any",))
        if mode == "places":
            names = ("rows", "cols", "last")
            self.params = tuple(
                [ir.Var(name, ir.Array(whole.dtype, whole.dims, ir.Storage(written=True))) for name in names]
            )
        else:
            data = ir.Var("data", ir.Array(np.dtype(float), ("any",), ir.Storage(written=True)))
            self.params = (data, ir.Var("pos", ir.Array(PLACES, whole.dims)))
        self.read, self.written = (Parts(whole, mode == "places") for whole in (self.x, self.result))
        self.base: ir.Atom = ir.Const(0)
        self.offset = 0
        self.block_number = 0
        self.blocks: list[int] = [0]
        self.waiting: list[_Entries] = []
        """What was stored in this block, and waits for its end: then derivatives are found together."""
        self.has_entries = False
        self.steering = steering
        self.by_floats: set[int] = set()
        """The statements of which floats choose a side, by identity."""
        self.may_leave_out = mode == "sums"
        """Whether the data have to be zero before: not every entry is stored."""
        self.check()

    def check(self) -> None:
        """Refuses arguments and results that are not arrays apart."""
        for var, what in ((self.x, "the argument"), (self.result, "the result")):
            type_ = type_of_atom(var)
            if not isinstance(type_, ir.Array) or type_.dims is None or len(type_.dims) not in (1, 2):
                raise not_local(f"{what} is no vector and no matrix")
            if type_.dtype is None or type_.dtype.kind != "f":
                raise not_local(f"{what} is no vector and no matrix")
        written = [ir.storage_of(type_of_atom(var)) for var in (self.x, self.result)]
        if written[0] is None or written[1] is None or written[0].written or not written[1].written:
            raise not_local("the argument is written, or the result is not stored element by element")

    def function(self, function: ir.Function) -> ir.Function:
        builder = Builder(type_of_call)
        self.statements(function.body, builder)
        self.write_entries(builder)
        body = builder.block(ir.Return((self.count(builder),)))
        if self.may_leave_out:
            cleared = ir.Store(self.params[0], ir.WHOLE, ir.Const(0.0))
            body = ir.Block((cleared, *body.statements), body.terminator)
        return ir.Function(f"{function.name}_{self.mode}", (*function.params, *self.params), body, function.doc)

    def count(self, builder: Builder, more: int = 0) -> ir.Atom:
        """The number of entries so far, and some."""
        offset = self.offset + more
        if isinstance(self.base, ir.Const):
            return ir.Const(self.base.value + offset)
        if not offset:
            return self.base
        target = ir.Var("at", ir.INT)
        builder.emit(ir.Call((target,), operator.add, (self.base, ir.Const(offset)), (), builder.span))
        return target

    # Blocks

    def inner(
        self, block: ir.Block, builder: Builder, leaf: Callable[[ir.Terminator, Builder], ir.Terminator]
    ) -> ir.Block:
        """A block inside another one, of which the reads last as long as it does."""
        self.block_number += 1
        self.blocks.append(self.block_number)
        base, offset, waiting = self.base, self.offset, self.waiting
        self.waiting = []
        self.statements(block, builder)
        self.write_entries(builder)
        end = block.terminator
        if isinstance(end, ir.Branch):
            if self.found.active(end.cond):
                raise not_local("a condition varies", end.span)
            then = self.inner(end.then, builder.nested(), leaf)
            orelse = self.inner(end.orelse, builder.nested(), leaf)
            made = builder.block(ir.Branch(end.cond, then, orelse, end.span))
        else:
            made = builder.block(leaf(end, builder))
        self.blocks.pop()
        self.base, self.offset, self.waiting = base, offset, waiting
        return made

    def statements(self, block: ir.Block, builder: Builder) -> None:
        for statement in block.statements:
            builder.span = statement.span
            match statement:
                case ir.Call():
                    self.call(statement, builder)
                case ir.Load():
                    self.load(statement, builder)
                case ir.Store():
                    self.store(statement, builder)
                case ir.If():
                    self.if_(statement, builder)
                case ir.Loop():
                    self.loop(statement, builder)
                case ir.Guarded():
                    raise not_local("a block that handles exceptions", statement.span)

    def write_out(self, statement: ir.If | ir.Loop, builder: Builder) -> None:
        """Writes the tangents of what is used inside a statement in front of it."""
        for block in blocks_of(statement):
            for var in vars_used(block):
                self.of(var, builder)

    def if_(self, statement: ir.If, builder: Builder) -> None:
        self.write_out(statement, builder)
        if not self.stores_nothing(statement):
            self.if_with_entries(statement, builder)
            return
        self.note(statement)
        joined: list[list[Tangents]] = [[] for _ in statement.targets]

        def look(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if isinstance(end, ir.Yield):
                for slot, value in enumerate(end.values):
                    joined[slot].append(self.of(value, inner))
            return end

        for side in (statement.then, statement.orelse):
            self.inner(side, builder.nested(), look)
        reads = [list(dict.fromkeys(read for each in tangents for read in each)) for tangents in joined]
        if any(read.block not in self.blocks for each in reads for read in each):
            raise not_local("an element that only one side of a branch reads", statement.span)

        def leaf(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if not isinstance(end, ir.Yield):
                return end
            dots = [
                ir.UNDEFINED if isinstance(value, ir.Undefined) else self.of(value, inner).get(read, ir.Const(0.0))
                for value, own in zip(end.values, reads, strict=True)
                for read in own
            ]
            return ir.Yield((*end.values, *dots))

        then, orelse = (self.inner(side, builder.nested(), leaf) for side in (statement.then, statement.orelse))
        dots = []
        for target, own in zip(statement.targets, reads, strict=True):
            if own and not isinstance(target.type, ir.Scalar):
                raise not_local("an array that varies", statement.span)
            tangents: Tangents = {read: ir.Var(f"{target.hint}_dot", target.type) for read in own}
            self.graph.set_tangents(target, tangents)
            dots += list(tangents.values())
        builder.emit(ir.If(statement.cond, then, orelse, (*statement.targets, *dots), statement.span))  # type: ignore[arg-type]

    def note(self, statement: ir.If) -> bool:
        """Whether floats choose a side."""
        if self.steering.value(statement.cond) == FIXED:
            return False
        self.by_floats.add(id(statement))
        return True

    def stores_nothing(self, statement: ir.If) -> bool:
        inside = [*statements_in(statement.then), *statements_in(statement.orelse)]
        return not any(
            isinstance(each, ir.Loop) or (isinstance(each, ir.Store) and self.is_entry(each)) or self.is_read(each)
            for each in inside
        )

    def is_read(self, statement: ir.Statement) -> bool:
        """Whether an element is read: of the argument, as others are refused."""
        return (
            isinstance(statement, ir.Load)
            and isinstance(statement.target.type, ir.Scalar)
            and self.found.active(statement.target)
        )

    def is_entry(self, store: ir.Store) -> bool:
        """Whether the result is written, or a part of it."""
        return store.base in self.written or self.found.active_slot(store.base, store.key)

    def if_with_entries(self, statement: ir.If, builder: Builder) -> None:
        """A choice that whole numbers make: the sides have as many entries as they have."""
        if any(map(self.found.active, statement.targets)):
            raise not_local("what one side of a branch reads goes on behind it", statement.span)
        self.write_entries(builder)
        if self.note(statement):
            self.if_by_floats(statement, builder)
            return

        def leaf(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            return ir.Yield((*end.values, self.count(inner))) if isinstance(end, ir.Yield) else end

        then, orelse = (self.inner(side, builder.nested(), leaf) for side in (statement.then, statement.orelse))
        at = ir.Var("at", ir.INT)
        builder.emit(ir.If(statement.cond, then, orelse, (*statement.targets, at), statement.span))
        self.base, self.offset = at, 0

    def if_by_floats(self, statement: ir.If, builder: Builder) -> None:
        """A choice that floats make: both sides have their entries, those of the side that is not taken are zero."""
        sides = (statement.then, statement.orelse)
        inside = [each for side in sides for each in statements_in(side)]
        if any(isinstance(each, (ir.If, ir.Loop)) for each in inside) or not all(
            isinstance(s.terminator, ir.Yield) for s in sides
        ):
            raise not_local("in a branch that floats choose, a branch or a loop with entries", statement.span)
        if any(isinstance(each, ir.Store) and self.is_entry(each) and each.mode == "set" for each in inside):
            raise not_local("in a branch that floats choose, an element of the result is set", statement.span)
        if self.mode == "places":
            for side in sides:
                self.statements(side, builder)
                self.write_entries(builder)
            then, orelse = (ir.Block((), side.terminator) for side in sides)
            builder.emit(ir.If(statement.cond, then, orelse, statement.targets, statement.span))
            return
        self.may_leave_out = True
        offset = self.offset

        def leaf(end: ir.Terminator, _: Builder) -> ir.Terminator:
            nonlocal offset
            offset = self.offset
            return end

        blocks = []
        for side in sides:
            self.offset = offset
            blocks.append(self.inner(side, builder.nested(), leaf))
        self.offset = offset
        builder.emit(ir.If(statement.cond, blocks[0], blocks[1], statement.targets, statement.span))

    def loop(self, loop: ir.Loop, builder: Builder) -> None:
        if any(map(self.found.active, (*loop.params, *loop.targets))):
            raise not_local("a number that varies and is carried from one iteration to the next", loop.span)
        self.write_out(loop, builder)
        self.write_entries(builder)
        count = len(loop.params)
        init = self.count(builder)
        param, target = ir.Var("at", ir.INT), ir.Var("at", ir.INT)

        def leaf(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if isinstance(end, ir.Continue):
                return ir.Continue((*end.values, self.count(inner)))
            if isinstance(end, ir.Exit):
                return ir.Exit(end.kind, (*end.values[:count], self.count(inner), *end.values[count:]))
            return end

        self.base, self.offset = param, 0
        body = self.inner(loop.body, builder.nested(), leaf)
        params, inits = (*loop.params, param), (*loop.inits, init)
        targets = (*loop.targets[:count], target, *loop.targets[count:])
        builder.emit(ir.Loop(loop.over, loop.index, params, inits, body, targets, loop.exit, loop.span))
        self.base, self.offset = target, 0

    # Statements

    def of(self, atom: ir.Atom, builder: Builder) -> Tangents:
        """The tangents of a number, written out."""
        return self.graph.tangents_of(atom, builder)

    def call(self, call: ir.Call, builder: Builder) -> None:
        builder.emit(call)
        if self.read.call(call) or self.written.call(call):
            return
        active = [target for target in call.targets if self.found.active(target)]
        args = (*call.args, *(value for _, value in call.kwargs))
        operands = [arg for arg in dict.fromkeys(args) if isinstance(arg, ir.Var) and self.graph.depends(arg)]
        if not active or effects_of(call).reads == ():
            return
        if any(
            isinstance(arg, ir.Var) and self.found.active(arg) and not isinstance(arg.type, ir.Scalar) for arg in args
        ):
            raise not_local("an array that varies is read as a whole", call.span)
        if not operands and all(isinstance(target.type, ir.Array) for target in active):
            return  # new memory
        rule = rule_for(call.callee)
        is_plain = isinstance(call.callee, (ir.Definition, ir.Function, ir.Declared, ir.Applied, ir.Derived))
        if is_plain or rule is None or not all(map(_is_real, active)):
            raise not_local("something that numbers have no derivatives of", call.span)
        self.linearize(call, rule, operands, active, builder)

    def linearize(
        self, call: ir.Call, rule: Rule, operands: list[ir.Var], active: list[ir.Var], builder: Builder
    ) -> None:
        """Takes down the derivatives of what a call computes: partial ones, or tangents where these may be infinite."""
        if _has_finite_partials(call, rule):
            partials = [(operand, self.products(call, rule, {operand: ONE}, active, builder)) for operand in operands]
            for number, target in enumerate(active):
                self.graph.set_partials(target, {operand: dots[number] for operand, dots in partials}, builder)
            return
        of = {operand: self.of(operand, builder) for operand in operands}
        tangents: list[Tangents] = [{} for _ in active]
        for read in dict.fromkeys(read for each in of.values() for read in each):
            own = {operand: each[read] for operand, each in of.items() if read in each}
            for found, dot in zip(tangents, self.products(call, rule, own, active, builder), strict=True):
                if dot != ir.Const(0.0):
                    found[read] = dot
        for target, found in zip(active, tangents, strict=True):
            self.graph.set_tangents(target, found)

    def products(
        self, call: ir.Call, rule: Rule, dots: dict[ir.Var, ir.Atom], active: list[ir.Var], builder: Builder
    ) -> list[ir.Atom]:
        """The tangents of what a call computes, of those of its arguments."""
        self.rules.dots.clear()
        self.rules.dots.update(dots)
        self.rules.apply(builder, call, rule, active)
        return [self.rules.dots.get(target, ir.Const(0.0)) for target in active]

    def load(self, load: ir.Load, builder: Builder) -> None:
        builder.emit(load)
        if not self.found.active(load.target):
            return
        if self.read.load(load, builder) or self.written.load(load, builder):
            return
        if load.base not in self.read or not isinstance(load.target.type, ir.Scalar):
            raise not_local("memory that varies is read, and is not an element of the argument", load.span)
        read = Read(self.place(self.read, load.base, load.key, builder, load.span), self.blocks[-1])
        self.graph.set_tangents(load.target, {read: ONE})

    def place(self, parts: Parts, base: ir.Atom, key: Any, builder: Builder, span: Span | None) -> ir.Atom:
        """The place of an element, row by row."""
        type_ = type_of_atom(base)
        assert isinstance(type_, ir.Array) and type_.dims is not None
        items = key.items if isinstance(key, ir.Subscript) else ()
        if not all(map(is_integer, items)) or len(items) != len(type_.dims):
            raise not_local("an index that is not a whole number for each axis", span)
        return parts.place(base, items, builder)

    def store(self, store: ir.Store, builder: Builder) -> None:
        if store.base not in self.written:
            if self.found.active_slot(store.base, store.key):
                raise not_local("what varies is stored elsewhere than in the result", store.span)
            builder.emit(store)
            return
        builder.emit(store)
        depends = self.graph.depends(store.value)
        if self.found.active(store.value) and not isinstance(type_of_atom(store.value), ir.Scalar):
            raise not_local("an array that varies is stored", store.span)
        if store.mode != "set" and not depends:
            return
        if not depends and not self.has_entries and len(self.blocks) == 1:
            return  # it begins with a constant
        row = self.place(self.written, store.base, store.key, builder, store.span)
        self.waiting.append(_Entries(row, store.value, store.mode, store.span))
        self.has_entries |= depends

    def write_entries(self, builder: Builder) -> None:
        """Writes the entries of what was stored."""
        waiting, self.waiting = self.waiting, []
        if self.mode == "places":
            for each in waiting:
                builder.span = each.span
                if each.mode == "set":
                    builder.effect(entries.put_store, self.params[2], each.row, self.count(builder))
                for read in self.graph.reads_of(each.value):
                    builder.effect(entries.put_entry, *self.params[:2], self.count(builder), each.row, read.place)
                    self.offset += 1
            return
        found = self.graph.eliminated([each.value for each in waiting], builder)
        for each, tangents in zip(waiting, found, strict=True):
            builder.span = each.span
            for dot in tangents.values():
                self.entry(builder, dot, each.mode == "sub")

    def entry(self, builder: Builder, dot: ir.Atom, is_negative: bool) -> None:
        data, pos = self.params
        place = builder.item(pos, self.count(builder), ir.Scalar("int", PLACES), "place")
        self.offset += 1
        if self.mode == "sums":
            builder.store(data, ir.Subscript((place,)), dot, "sub" if is_negative else "add")
        else:
            value = builder.call(operator.neg, dot) if is_negative else dot
            builder.store(data, ir.Subscript((place,)), value)


def _has_finite_partials(call: ir.Call, rule: Rule) -> bool:
    """Whether a derivative is a product with a partial one: a rule that is singular somewhere looks at the tangent."""
    if not rule.singular:
        return True
    ranks = [0 if isinstance(type_of_atom(arg), ir.Scalar) else None for arg in call.args]
    constants = {place: arg.value for place, arg in enumerate(call.args) if isinstance(arg, ir.Const)}
    return rule.form(ranks, constants) in rule.by_rank.values()


def _is_real(target: ir.Var) -> bool:
    return isinstance(target.type, ir.Scalar) and target.type.kind == "float"


__all__ = ["Mode", "not_local", "with_entries"]
