"""The second half of a loop that keeps few of its states: from iteration to iteration back."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adjoint import ir
from adjoint.differentiation.reverse.checkpointing.loops import Half, Iterations, whole_number
from adjoint.differentiation.reverse.checkpointing.recomputed_calls import Whole, copied, in_place
from adjoint.differentiation.reverse.cotangents import cotangent_type
from adjoint.ir.builder import Builder
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.snapshots import next_snapshot


class Backward(Half):
    """The second half."""

    def __init__(self, iterations: Iterations, whole: Whole) -> None:
        super().__init__(iterations)
        self.whole = whole
        self.residual = ir.Var("residual", ir.OPAQUE)
        self.read = 0

    def function(self, name: str) -> ir.Function:
        every, builder, loop = self.all, self.builder, self.all.loop
        params = every.function.params
        total = self._unpacked()
        zeros = {slot: self._next(loop.params[slot], "zero") for slot in every.blank_slots()}
        for init in every.fitted_inits():
            self.outside.setdefault(init, self._next(init))
        before = {place: _bar(params[place]) for place in every.numbers}
        seeds = [_bar_of(every.results[place]) for place in every.request.outputs]
        memory = {place: _memory_of(params[place]) for place in every.request.wrt if in_place(params[place])}
        seeded = every.seeded()
        starts: dict[int, ir.Atom] = {
            slot: seeds[seeded[slot]] if slot in seeded else zeros.get(slot, ir.Const(0.0)) for slot in every.active
        }
        handed = [seeds[at] for at in seeded.values()] if every.is_left else []
        bars, totals = self._reversed(total, starts, handed, before, memory)
        for slot in every.active:
            self._add_to_init(slot, bars[slot], totals, memory)
        taken = (self.residual, *before.values(), *seeds, *memory.values())
        return ir.Function(name, taken, builder.block(ir.Return(tuple(totals[place] for place in every.numbers))))

    def _unpacked(self) -> ir.Atom:
        """Loads what the first half has kept, in its order; gives the number of iterations."""
        over = self.all.loop.over
        total = self._fact("total")
        self.count, self.snapshots, self.items = self._fact("count"), self._fact("snapshots"), self._fact("items")
        if self.all.plan.files:
            self.shelf = self._next(ir.Var("shelf", ir.OPAQUE))
        if isinstance(over, ir.Range):
            for bound in (over.start, over.step):
                known = self._fact("bound")
                if isinstance(bound, ir.Var):
                    self.outside[bound] = known
        self.places, *self.kept = (self._list(kept) for kept in (self.places, *self.kept_lists()))
        for var in self.read_only():
            self.outside[var] = self._next(var)
        return total

    def _list(self, kept: ir.Var) -> ir.Var:
        """A list of what is kept, which is emptied on the way."""
        found = self._next(kept)
        if self.all.family.runs_once:
            return found
        copy = ir.Var(kept.hint, kept.type)
        self.builder.emit(ir.Call((copy,), list.copy, (found,)))
        return copy

    def _next(self, like: ir.Var, hint: str | None = None) -> ir.Var:
        self.read += 1
        named = like.named and hint is None
        return self.builder.load(
            self.residual, ir.Subscript((ir.Const(self.read - 1),)), like.type, hint or like.hint, named
        )

    def _fact(self, hint: str) -> ir.Var:
        type_: ir.Type = ir.OPAQUE if hint == "items" or (hint == "count" and self.all.loop.over is None) else ir.INT
        return self._next(ir.Var(hint, type_))

    def _reversed(
        self,
        total: ir.Atom,
        starts: dict[int, ir.Atom],
        handed: Sequence[ir.Atom],
        before: dict[int, ir.Var],
        memory: dict[int, ir.Var],
    ) -> tuple[dict[int, ir.Atom], dict[int, ir.Atom]]:
        """The loop back; gives the cotangents of the loop's first values and those of numbers."""
        every, loop = self.all, self.all.loop
        at = ir.Var("i", ir.INT)
        bars = {slot: _bar(loop.params[slot]) for slot in every.active}
        numbers = {place: _bar(every.function.params[place]) for place in every.through}
        body = self.builder.nested()
        state, work = self._state_before(body, at)
        results = {slot: _bar(loop.params[slot]) for slot in every.active if slot in every.slots}
        sums = {place: _bar(every.function.params[place]) for place in every.through}
        values: dict[int, ir.Atom] = dict(zip(every.slots, state, strict=True))
        args = (
            *self.index(body, at),
            *(values[slot] for slot in every.slots),
            *self.captured(work),
            *bars.values(),
            *handed,
            *numbers.values(),
            *(memory[place] for place in every.lent),
        )
        body.emit(ir.Call((*results.values(), *sums.values()), self.whole.definition, args, (), loop.span))
        earlier = [results.get(slot, ir.Const(0.0)) for slot in every.active]
        inside = body.block(ir.Continue((*earlier, *sums.values())))
        last = [_bar(loop.params[slot]) for slot in every.active]
        ends = [_bar(every.function.params[place]) for place in every.through]
        inits = (*starts.values(), *(before[place] for place in every.through))
        over = ir.Range(ir.Const(0), total, ir.Const(1), True)
        carried = (*bars.values(), *numbers.values())
        self.builder.emit(ir.Loop(over, at, carried, inits, inside, (*last, *ends), None, loop.span))
        totals: dict[int, ir.Atom] = {**before, **dict(zip(every.through, ends, strict=True))}
        return dict(zip(every.active, last, strict=True)), totals

    def _state_before(self, builder: Builder, goal: ir.Var) -> tuple[list[ir.Var], list[ir.Var]]:
        """The state before an iteration: from the last that is kept, as many iterations on as it takes."""
        every, loop = self.all, self.all.loop
        top = builder.load(self.places, ir.Subscript((ir.Const(-1),)), ir.INT, "at")
        held = self.last_kept(builder)
        first, lent = held[: len(every.slots)], held[len(every.slots) :]
        work = copied(builder, lent) if lent else []
        at = ir.Var("at", ir.INT)
        params = [
            ir.Var(loop.params[slot].hint, loop.params[slot].type, loop.params[slot].named) for slot in every.slots
        ]
        test, body = builder.nested(), builder.nested()
        is_before = test.call(operator.lt, at, goal)
        stop = body.call(operator.add, goal, ir.Const(1), hint="stop")
        free = body.call(operator.sub, self.snapshots, body.call(len, self.places))
        free = body.call(operator.add, free, ir.Const(1), hint="free")
        to = whole_number(body, next_snapshot, at, stop, free, hint="to")
        new = self._run(body, at, to, params, work)
        keeping = body.nested()
        self.push(keeping, to, new, work)
        between = body.call(operator.lt, to, goal)
        body.emit(ir.If(between, keeping.block(ir.Yield(())), ir.Block((), ir.Yield(())), ()))
        whole = test.block(
            ir.Branch(is_before, body.block(ir.Continue((to, *new))), ir.Block((), ir.Exit(0, (at, *params))))
        )
        state = [ir.Var(param.hint, param.type, param.named) for param in params]
        targets = (ir.Var("at", ir.INT), *state)
        builder.emit(ir.Loop(None, None, (at, *params), (top, *first), whole, targets, None, loop.span))
        last = builder.load(self.places, ir.Subscript((ir.Const(-1),)), ir.INT)
        is_last = builder.call(operator.eq, last, goal)
        dropping = builder.nested()
        for kept in (self.places, *self.kept):
            dropping.effect(list.pop, kept)
        builder.emit(ir.If(is_last, dropping.block(ir.Yield(())), ir.Block((), ir.Yield(())), ()))
        return state, work

    def _run(
        self, builder: Builder, start: ir.Atom, stop: ir.Atom, values: Sequence[ir.Var], work: Sequence[ir.Var]
    ) -> list[ir.Var]:
        """Runs iterations; of the state alone."""
        every, loop = self.all, self.all.loop
        params = [ir.Var(var.hint, var.type, var.named) for var in values]
        at = ir.Var("j", ir.INT)
        body = builder.nested()
        by_slot: dict[int, ir.Atom] = dict(zip(every.slots, params, strict=True))
        known = [by_slot.get(slot, ir.Const(None)) for slot in range(len(loop.params))]
        results = self.step(body, at, known, work)
        shift = 1 if every.is_left else 0
        inside = body.block(ir.Continue(tuple(results[shift + slot] for slot in every.slots)))
        targets = [ir.Var(var.hint, var.type, var.named) for var in values]
        over = ir.Range(start, stop, ir.Const(1))
        builder.emit(ir.Loop(over, at, tuple(params), tuple(values), inside, tuple(targets), None, loop.span))
        return targets

    def _add_to_init(self, slot: int, bar: ir.Atom, totals: dict[int, ir.Atom], memory: dict[int, ir.Var]) -> None:
        """Adds the cotangent of a first value to that of the parameter which it is."""
        every, builder = self.all, self.builder
        init = every.loop.inits[slot]
        if not isinstance(init, ir.Var) or init not in every.function.params:
            return
        place = every.function.params.index(init)
        if place not in every.request.wrt:
            return
        if init in every.fitted_inits():
            bar = builder.call(unbroadcast, bar, self.outside[init], hint=f"{init.hint}_bar")
        if place in memory:
            builder.store(memory[place], None, bar, "add")
        else:
            totals[place] = builder.call(operator.add, totals[place], bar, hint=f"{init.hint}_bar")


def _bar(var: ir.Var) -> ir.Var:
    return ir.Var(f"{var.hint}_bar", cotangent_type(var.type))


def _bar_of(value: ir.Atom) -> ir.Var:
    return _bar(value) if isinstance(value, ir.Var) else ir.Var("ct", ir.OPAQUE)


def _memory_of(param: ir.Var) -> ir.Var:
    """Memory in which the cotangent of a parameter accumulates."""
    if isinstance(param.type, ir.Array):
        return ir.Var(f"{param.hint}_bar", ir.Array(param.type.dtype, param.type.dims, ir.Storage(written=True)))
    return ir.Var(f"{param.hint}_bar", ir.OPAQUE)
