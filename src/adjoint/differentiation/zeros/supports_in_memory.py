"""Supports of cotangents (in forward mode, of tangents) that went through memory, loops and branches.

A cotangent that was read from memory, carried by a loop or handed out by a branch counts as its own support
(``supports``), though a zero there may be one that was merely computed. Where that may be, and a product with a slope
that may be infinite asks, the support is kept beside the cotangent: what makes, moves or adds up the one is done with
the other, too. Such a support is a number that is not zero, and not negative, where the cotangent was not left out.

Nothing is kept that nobody asks for: the question goes back from the products, along what may be zero by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from adjoint import ir
from adjoint.differentiation.zeros.called_supports import ASKING, Callees, Supported
from adjoint.differentiation.zeros.support_flow import (
    SupportFlow,
    is_called,
    tells,
)
from adjoint.differentiation.zeros.supports_of_calls import PRESENT, CallSupports, is_array_or_number
from adjoint.ir.builder import Builder
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call


def keep_supports(
    block: ir.Block,
    seeds: Collection[ir.Var],
    by_chance: Collection[ir.Var],
    shadows: Collection[ir.Var],
    *,
    complete: bool,
    primal: Callable[[ir.Var], bool],
    passive: Callable[[ir.Var], bool],
    callees: Callees,
    carried: Sequence[ir.Var] | None = None,
    results: int,
    by_element: bool = False,
) -> Supported:
    """A block of a derivative in which products ask for supports that are kept in memory.

    Parameters
    ----------
    block
        What is linear in the seeds, and may be other statements.
    seeds
        The cotangents, or tangents, that the block is given.
    by_chance
        Cotangents that a product with a partial derivative made: they may be zero by chance.
    shadows
        Memory of cotangents, which functions that are called fill.
    complete
        Whether a zero in the seeds is left out. Else nothing is known of it: it is a number like others.
    primal
        Whether a variable is known to be a value of the program: what it makes is not linear in the seeds.
    passive
        Whether a variable is known not to vary: a product with a zero of it is left out.
    callees
        The functions that are called: they are told of what they are given, and asked for what they give.
    carried
        What the block is given a support of, in a variable or in memory of its own. Then the last ``results`` of what
        it returns are followed by their supports.
    by_element
        As in :class:`~adjoint.differentiation.zeros.supports.Supports`.
    """
    calls = [statement for statement in statements_in(block) if isinstance(statement, ir.Call)]
    told = carried is not None or any(is_called(call) and callees.carried(call) is not None for call in calls)
    if not told and ((complete and not by_chance) or not any(map(_is_of_interest, calls))):
        return Supported(block)
    flow = SupportFlow(block, seeds, by_chance, shadows, complete, primal, carried or (), callees)
    for call in flow.calls:
        callees.gives_computed_zeros(call)
    for call in flow.asking:
        callees.asks_supports(call)
    if not told and not flow.needed:
        return Supported(block)
    keeper = _Keeper(flow, passive, by_element=by_element)
    given = tuple(map(keeper.new, carried or ()))
    block = keeper.function(block, seeds, 0 if carried is None else results)
    return Supported(block, given, keeper.lost)


def _is_of_interest(call: ir.Call) -> bool:
    return is_called(call) or call.callee in ASKING


class _Keeper(CallSupports):
    """Writes a block with the supports that are needed."""

    def function(self, block: ir.Block, seeds: Collection[ir.Var], results: int) -> ir.Block:
        """The outermost block, which gives the supports of its last results; seeds that are written are their own."""
        builder = Builder(type_of_call)
        for seed in seeds:
            if ir.is_handle(seed.type) and self.keeps(seed) and seed not in self.supports:
                self.remember(seed, seed, builder)

        def more(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if not isinstance(end, ir.Return):
                return end
            last = end.values[len(end.values) - results :]
            return ir.Return((*end.values, *(self.handed(value, inner) for value in last)), end.span)

        found = self.block(block, more if results else None)
        return ir.Block((*builder.statements, *found.statements), found.terminator)

    def block(self, block: ir.Block, more: Callable[[ir.Terminator, Builder], ir.Terminator] | None = None) -> ir.Block:
        builder = Builder(type_of_call)
        for statement in block.statements:
            builder.span = statement.span
            self.statement(statement, builder)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.block(end.then, more), self.block(end.orelse, more), end.span)
        elif more is not None:
            end = more(end, builder)
        return builder.block(end)

    def statement(self, statement: ir.Statement, builder: Builder) -> None:
        match statement:
            case ir.Call():
                self.call(statement, builder)
            case ir.Load(target, base, key, span):
                if tells(statement):
                    builder.emit(self.asking(statement))
                    return
                if self.keeps(target):
                    kept = self.of(base, builder)
                    if kept == PRESENT:
                        self.supports[target] = PRESENT
                    else:
                        builder.emit(ir.Load(self.new(target), kept, key, span))
                builder.emit(statement)
            case ir.Store(base, key, value, mode, span):
                kept = self.of(base, builder) if self.keeps(base) else PRESENT
                if kept != PRESENT:
                    mode = "add" if mode == "sub" else mode
                    put = self.stored(value, base, builder) if is_array_or_number(base) else self.shaped(value, builder)
                    builder.emit(ir.Store(kept, key, put, mode, span))
                builder.emit(statement)
            case ir.If():
                slots = self.needed_slots(statement.targets)
                more = self.yielding(slots)
                then, orelse = self.block(statement.then, more), self.block(statement.orelse, more)
                targets = (*statement.targets, *(self.new(statement.targets[slot]) for slot in slots))
                builder.emit(ir.If(statement.cond, then, orelse, targets, statement.span))
            case ir.Guarded():
                self.guarded(statement, builder)
            case ir.Loop():
                self.loop(statement, builder)

    def needed_slots(self, targets: tuple[ir.Var, ...]) -> list[int]:
        return [slot for slot, target in enumerate(targets) if self.keeps(target)]

    def yielding(self, slots: list[int]) -> Callable[[ir.Terminator, Builder], ir.Terminator]:
        def more(end: ir.Terminator, builder: Builder) -> ir.Terminator:
            if not isinstance(end, ir.Yield):
                return end
            return ir.Yield((*end.values, *(self.shaped(end.values[slot], builder) for slot in slots)))

        return more

    def guarded(self, statement: ir.Guarded, builder: Builder) -> None:
        slots = self.needed_slots(statement.targets)
        more = self.yielding(slots)
        body = self.block(statement.body, more)
        handlers = tuple(
            ir.Handler(each.exception, each.name, self.block(each.body, more)) for each in statement.handlers
        )
        final = None if statement.final is None else self.block(statement.final)
        targets = (*statement.targets, *(self.new(statement.targets[slot]) for slot in slots))
        builder.emit(ir.Guarded(statement.context, statement.name, body, handlers, final, targets, statement.span))

    def loop(self, loop: ir.Loop, builder: Builder) -> None:
        count = len(loop.params)
        slots = [slot for slot in range(count) if self.keeps(loop.params[slot]) or self.keeps(loop.targets[slot])]
        extra = [slot for slot in self.needed_slots(loop.targets) if slot >= count]
        inits = [self.shaped(loop.inits[slot], builder) for slot in slots]
        params = [self.new(loop.params[slot]) for slot in slots]

        def more(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if isinstance(end, ir.Continue):
                return ir.Continue((*end.values, *(self.shaped(end.values[slot], inner) for slot in slots)))
            if isinstance(end, ir.Exit):
                firsts = [self.shaped(end.values[slot], inner) for slot in slots]
                others = [self.shaped(end.values[slot], inner) for slot in extra]
                return ir.Exit(end.kind, (*end.values[:count], *firsts, *end.values[count:], *others))
            return end

        body = self.block(loop.body, more)
        firsts = [self.new(loop.targets[slot]) for slot in slots]
        others = [self.new(loop.targets[slot]) for slot in extra]
        targets = (*loop.targets[:count], *firsts, *loop.targets[count:], *others)
        all_params, all_inits = (*loop.params, *params), (*loop.inits, *inits)
        builder.emit(ir.Loop(loop.over, loop.index, all_params, all_inits, body, targets, loop.exit, loop.span))


__all__ = ["keep_supports"]
