"""The second half of a loop that keeps few of its states: from iteration to iteration back."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adjoint.differentiation.reverse.checkpointing.loops import Half, Iterations, whole_number
from adjoint.differentiation.reverse.checkpointing.recomputed_calls import Whole, copied, in_place
from adjoint.differentiation.reverse.cotangents import cotangent_type
from adjoint.ir.builder import Builder
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Exit,
    Function,
    If,
    Loop,
    Range,
    Return,
    Subscript,
    Var,
    Yield,
)
from adjoint.ir.types import INT, OPAQUE, Array, Storage, Type
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.snapshots import next_snapshot


class Backward(Half):
    """The second half."""

    def __init__(self, iterations: Iterations, whole: Whole) -> None:
        super().__init__(iterations)
        self.whole = whole
        self.residual = Var("residual", OPAQUE)
        self.read = 0

    def function(self, name: str) -> Function:
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
        starts: dict[int, Atom] = {
            slot: seeds[seeded[slot]] if slot in seeded else zeros.get(slot, Const(0.0)) for slot in every.active
        }
        handed = [seeds[at] for at in seeded.values()] if every.is_left else []
        bars, totals = self._reversed(total, starts, handed, before, memory)
        for slot in every.active:
            self._add_to_init(slot, bars[slot], totals, memory)
        taken = (self.residual, *before.values(), *seeds, *memory.values())
        return Function(name, taken, builder.block(Return(tuple(totals[place] for place in every.numbers))))

    def _unpacked(self) -> Atom:
        """Loads what the first half has kept, in its order; gives the number of iterations."""
        over = self.all.loop.over
        total = self._fact("total")
        self.count, self.snapshots, self.items = self._fact("count"), self._fact("snapshots"), self._fact("items")
        if self.all.plan.files:
            self.shelf = self._next(Var("shelf", OPAQUE))
        if isinstance(over, Range):
            for bound in (over.start, over.step):
                known = self._fact("bound")
                if isinstance(bound, Var):
                    self.outside[bound] = known
        self.places, *self.kept = (self._list(kept) for kept in (self.places, *self.kept_lists()))
        for var in self.read_only():
            self.outside[var] = self._next(var)
        return total

    def _list(self, kept: Var) -> Var:
        """A list of what is kept, which is emptied on the way."""
        found = self._next(kept)
        if self.all.family.runs_once:
            return found
        copy = Var(kept.hint, kept.type)
        self.builder.emit(Call((copy,), list.copy, (found,)))
        return copy

    def _next(self, like: Var, hint: str | None = None) -> Var:
        self.read += 1
        named = like.named and hint is None
        return self.builder.load(self.residual, Subscript((Const(self.read - 1),)), like.type, hint or like.hint, named)

    def _fact(self, hint: str) -> Var:
        type_: Type = OPAQUE if hint == "items" or (hint == "count" and self.all.loop.over is None) else INT
        return self._next(Var(hint, type_))

    def _reversed(
        self,
        total: Atom,
        starts: dict[int, Atom],
        handed: Sequence[Atom],
        before: dict[int, Var],
        memory: dict[int, Var],
    ) -> tuple[dict[int, Atom], dict[int, Atom]]:
        """The loop back; gives the cotangents of the loop's first values and those of numbers."""
        every, loop = self.all, self.all.loop
        at = Var("i", INT)
        bars = {slot: _bar(loop.params[slot]) for slot in every.active}
        numbers = {place: _bar(every.function.params[place]) for place in every.through}
        body = self.builder.nested()
        state, work = self._state_before(body, at)
        results = {slot: _bar(loop.params[slot]) for slot in every.active if slot in every.slots}
        sums = {place: _bar(every.function.params[place]) for place in every.through}
        values: dict[int, Atom] = dict(zip(every.slots, state, strict=True))
        args = (
            *self.index(body, at),
            *(values[slot] for slot in every.slots),
            *self.captured(work),
            *bars.values(),
            *handed,
            *numbers.values(),
            *(memory[place] for place in every.lent),
        )
        body.emit(Call((*results.values(), *sums.values()), self.whole.definition, args, (), loop.span))
        earlier = [results.get(slot, Const(0.0)) for slot in every.active]
        inside = body.block(Continue((*earlier, *sums.values())))
        last = [_bar(loop.params[slot]) for slot in every.active]
        ends = [_bar(every.function.params[place]) for place in every.through]
        inits = (*starts.values(), *(before[place] for place in every.through))
        over = Range(Const(0), total, Const(1), True)
        carried = (*bars.values(), *numbers.values())
        self.builder.emit(Loop(over, at, carried, inits, inside, (*last, *ends), None, loop.span))
        totals: dict[int, Atom] = {**before, **dict(zip(every.through, ends, strict=True))}
        return dict(zip(every.active, last, strict=True)), totals

    def _state_before(self, builder: Builder, goal: Var) -> tuple[list[Var], list[Var]]:
        """The state before an iteration: from the last that is kept, as many iterations on as it takes."""
        every, loop = self.all, self.all.loop
        top = builder.load(self.places, Subscript((Const(-1),)), INT, "at")
        held = self.last_kept(builder)
        first, lent = held[: len(every.slots)], held[len(every.slots) :]
        work = copied(builder, lent) if lent else []
        at = Var("at", INT)
        params = [Var(loop.params[slot].hint, loop.params[slot].type, loop.params[slot].named) for slot in every.slots]
        test, body = builder.nested(), builder.nested()
        is_before = test.call(operator.lt, at, goal)
        stop = body.call(operator.add, goal, Const(1), hint="stop")
        free = body.call(operator.sub, self.snapshots, body.call(len, self.places))
        free = body.call(operator.add, free, Const(1), hint="free")
        to = whole_number(body, next_snapshot, at, stop, free, hint="to")
        new = self._run(body, at, to, params, work)
        keeping = body.nested()
        self.push(keeping, to, new, work)
        between = body.call(operator.lt, to, goal)
        body.emit(If(between, keeping.block(Yield(())), Block((), Yield(())), ()))
        whole = test.block(Branch(is_before, body.block(Continue((to, *new))), Block((), Exit(0, (at, *params)))))
        state = [Var(param.hint, param.type, param.named) for param in params]
        targets = (Var("at", INT), *state)
        builder.emit(Loop(None, None, (at, *params), (top, *first), whole, targets, None, loop.span))
        last = builder.load(self.places, Subscript((Const(-1),)), INT)
        is_last = builder.call(operator.eq, last, goal)
        dropping = builder.nested()
        for kept in (self.places, *self.kept):
            dropping.effect(list.pop, kept)
        builder.emit(If(is_last, dropping.block(Yield(())), Block((), Yield(())), ()))
        return state, work

    def _run(self, builder: Builder, start: Atom, stop: Atom, values: Sequence[Var], work: Sequence[Var]) -> list[Var]:
        """Runs iterations; of the state alone."""
        every, loop = self.all, self.all.loop
        params = [Var(var.hint, var.type, var.named) for var in values]
        at = Var("j", INT)
        body = builder.nested()
        by_slot: dict[int, Atom] = dict(zip(every.slots, params, strict=True))
        known = [by_slot.get(slot, Const(None)) for slot in range(len(loop.params))]
        results = self.step(body, at, known, work)
        shift = 1 if every.is_left else 0
        inside = body.block(Continue(tuple(results[shift + slot] for slot in every.slots)))
        targets = [Var(var.hint, var.type, var.named) for var in values]
        over = Range(start, stop, Const(1))
        builder.emit(Loop(over, at, tuple(params), tuple(values), inside, tuple(targets), None, loop.span))
        return targets

    def _add_to_init(self, slot: int, bar: Atom, totals: dict[int, Atom], memory: dict[int, Var]) -> None:
        """Adds the cotangent of a first value to that of the parameter which it is."""
        every, builder = self.all, self.builder
        init = every.loop.inits[slot]
        if not isinstance(init, Var) or init not in every.function.params:
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


def _bar(var: Var) -> Var:
    return Var(f"{var.hint}_bar", cotangent_type(var.type))


def _bar_of(value: Atom) -> Var:
    return _bar(value) if isinstance(value, Var) else Var("ct", OPAQUE)


def _memory_of(param: Var) -> Var:
    """Memory in which the cotangent of a parameter accumulates."""
    if isinstance(param.type, Array):
        return Var(f"{param.hint}_bar", Array(param.type.dtype, param.type.dims, Storage(written=True)))
    return Var(f"{param.hint}_bar", OPAQUE)
