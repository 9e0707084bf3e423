"""The first half of a loop that keeps few of its states: it runs the iterations, and keeps some."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.checkpointing.loops import ONWARDS, Half, whole_number
from adjoint.differentiation.reverse.checkpointing.recomputed_calls import copied
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import clone
from adjoint.runtime import display
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.snapshots import make_shelf, next_snapshot, snapshots_within, thin_out


class Forward(Half):
    """The first half."""

    forwards = True

    def function(self, name: str) -> ir.Function:
        builder, function, loop = self.builder, self.all.function, self.all.loop
        params = tuple(ir.Var(param.hint, param.type, param.named) for param in function.params)
        self.outside.update(zip(function.params, params, strict=True))
        self._write(self.all.before)
        outer = [self.inside(var) for var in self.all.captured]
        self.memory = [outer[place] for place in self.all.memory]
        late = [outer[place] for place in self.all.read_late]
        copies = dict(zip(late, copied(builder, late) if late else [], strict=True))
        inits = [
            self._nothing(param) if init is ir.UNDEFINED else self.atom(init)
            for param, init in zip(loop.params, loop.inits, strict=True)
        ]
        self.count = self._count()
        self.snapshots = self._snapshots(inits)
        builder.emit(ir.Call((self.places,), display.make_list, ()))
        self.kept = self.kept_lists()
        for kept in self.kept:
            builder.emit(ir.Call((kept,), display.make_list, ()))
        last, left, handed = self._left_early(inits) if self.all.is_left else self._counted(inits)
        read = [copies.get(var, var) for var in map(self.inside, self.read_only())]
        zeros = [builder.call(zeros_like, handed[slot], hint="zero") for slot in self.all.blank_slots()]
        keeps = [*self._facts(last, left), self.places, *self.kept, *read, *zeros]
        keeps += [self.atom(init) for init in self.all.fitted_inits()]
        pack = ir.Var("residual", ir.OPAQUE)
        builder.emit(ir.Call((pack,), display.make_tuple, tuple(keeps)))
        exit_ = None if loop.exit is None else builder.call(max, left, ir.Const(0))
        self.outside.update(zip(loop.targets, handed, strict=True))
        if loop.exit is not None and exit_ is not None:
            self.outside[loop.exit] = exit_
        self._write(self.all.behind)
        results = tuple(map(self.atom, self.all.results))
        return ir.Function(name, params, builder.block(ir.Return((*results, pack))))

    def _nothing(self, param: ir.Var) -> ir.Atom:
        """A value for a variable that is not bound yet: what reads it asks a flag before. An array is an empty one."""
        type_ = param.type
        if not isinstance(type_, ir.Array) or type_.dims is None or type_.dtype is None:
            return filler(type_)
        empty = ir.Var(param.hint, type_, param.named)
        shape, dtype = ir.Const((0,) * len(type_.dims)), ir.Const(type_.dtype)
        self.builder.emit(ir.Call((empty,), np.empty, (shape,), (("dtype", dtype),)))
        return empty

    def inside(self, var: ir.Var) -> ir.Var:
        found = self.outside[var]
        assert isinstance(found, ir.Var)
        return found

    def _write(self, statements: Sequence[ir.Statement]) -> None:
        block = clone(ir.Block(tuple(statements), ir.Return(())), self.outside)
        for statement in block.statements:
            self.builder.emit(statement)

    def _facts(self, last: ir.Atom, left: ir.Atom) -> list[ir.Atom]:
        """How many iterations there are to be reversed, whether one of them left the loop, and what indices need."""
        over = self.all.loop.over
        bounds = (self.atom(over.start), self.atom(over.step)) if isinstance(over, ir.Range) else ()
        total = last
        if self.all.is_left:
            total = self.builder.call(operator.add, last, self.builder.call(operator.ge, left, ir.Const(0)))
        shelf = (self.shelf,) if self.all.plan.files else ()
        return [total, self.count, self.snapshots, self.items, *shelf, *bounds]

    def _count(self) -> ir.Atom:
        """How many iterations there are, as far as that is known before."""
        builder, over = self.builder, self.all.loop.over
        match over:
            case None:
                return ir.Const(None)
            case ir.Range():
                start, stop, step = (self.atom(atom) for atom in (over.start, over.stop, over.step))
                if start == ir.Const(0) and step == ir.Const(1):
                    return stop
                return builder.call(len, builder.call(range, start, stop, step), hint="count")
            case _:
                self.items = builder.call(list, self.atom(over.iterable), hint="items")
                return builder.call(len, self.items, hint="count")

    def _snapshots(self, inits: Sequence[ir.Atom]) -> ir.Atom:
        params = self.all.function.params
        snapshots, memory, disk = (self.outside[params[place]] for place in self.all.plan.options)
        state = [inits[slot] for slot in self.all.slots]
        whole = self.builder.call(display.make_tuple, *state, *self.memory)
        found = whole_number(self.builder, snapshots_within, snapshots, memory, self.count, whole, hint="snapshots")
        if not self.all.plan.files:
            return found
        self.shelf = ir.Var("shelf", ir.OPAQUE)
        self.builder.emit(ir.Call((self.shelf,), make_shelf, (found, disk)))
        return self.builder.call(operator.add, found, disk, hint="snapshots")

    def _counted(self, inits: Sequence[ir.Atom]) -> tuple[ir.Atom, ir.Atom, list[ir.Var]]:
        """Runs a loop of which it is known how often it runs; gives that, and the last values."""
        loop = self.all.loop
        at = ir.Var("at", ir.INT)
        params = [ir.Var(param.hint, param.type, param.named) for param in loop.params]
        test, body = self.builder.nested(), self.builder.nested()
        goes_on = test.call(operator.lt, at, self.count)
        self.push(body, at, [params[slot] for slot in self.all.slots], self.memory)
        to = whole_number(body, next_snapshot, at, self.count, self.room(body), hint="to")
        values = self.advanced(body, at, to, params, self.memory)
        then, orelse = body.block(ir.Continue((to, *values))), ir.Block((), ir.Exit(0, (at, *params)))
        whole = test.block(ir.Branch(goes_on, then, orelse))
        last = ir.Var("at", ir.INT)
        targets = [ir.Var(target.hint, target.type, target.named) for target in loop.targets]
        given = (ir.Const(0), *inits)
        self.builder.emit(ir.Loop(None, None, (at, *params), given, whole, (last, *targets), None, loop.span))
        return last, ir.Const(ONWARDS), targets

    def room(self, builder: Builder) -> ir.Atom:
        """How many states may be kept from the last on that is kept."""
        free = builder.call(operator.sub, self.snapshots, builder.call(len, self.places))
        return builder.call(operator.add, free, ir.Const(1), hint="free")

    def _left_early(self, inits: Sequence[ir.Atom]) -> tuple[ir.Atom, ir.Atom, list[ir.Var]]:
        """Runs a loop that may be left in any iteration: states are thinned out as it goes on."""
        loop = self.all.loop
        at, stride = ir.Var("at", ir.INT), ir.Var("stride", ir.INT)
        params = [ir.Var(param.hint, param.type, param.named) for param in loop.params]
        body = self.builder.nested()
        next_stride = self._thinned(body, at, stride, params)
        left, *results = self.step(body, at, params, self.memory)
        values, handed = results[: len(params)], results[len(params) :]
        further = body.call(operator.add, at, ir.Const(1), hint="at")
        onwards = body.call(operator.lt, left, ir.Const(0))
        goes_on = ir.Block((), ir.Continue((further, next_stride, *values)))
        known = len(params)
        leaves_ = ir.Block((), ir.Exit(0, (at, next_stride, *handed[:known], left, *handed[known:])))
        whole = body.block(ir.Branch(onwards, goes_on, leaves_))
        if loop.over is not None:
            test = self.builder.nested()
            inside = test.call(operator.lt, at, self.count)
            rest = [filler(target.type) for target in loop.targets[known:]]
            exhausted = ir.Block((), ir.Exit(0, (at, stride, *params, ir.Const(ONWARDS), *rest)))
            whole = test.block(ir.Branch(inside, whole, exhausted))
        last, kind = ir.Var("at", ir.INT), ir.Var("left", ir.INT)
        targets = [ir.Var(target.hint, target.type, target.named) for target in loop.targets]
        bound = (last, ir.Var("stride", ir.INT), *targets[:known], kind, *targets[known:])
        given = (ir.Const(0), ir.Const(1), *inits)
        self.builder.emit(ir.Loop(None, None, (at, stride, *params), given, whole, bound, None, loop.span))
        return last, kind, targets

    def _thinned(self, builder: Builder, at: ir.Var, stride: ir.Var, params: Sequence[ir.Var]) -> ir.Var:
        """Keeps every state at the stride; where there is no room, every second goes, and the stride doubles."""

        def at_stride(builder: Builder, stride: ir.Var) -> ir.Var:
            rest = builder.call(operator.mod, at, stride)
            return builder.call(operator.eq, rest, ir.Const(0))

        due = at_stride(builder, stride)
        inner = builder.nested()
        is_full = inner.call(operator.ge, inner.call(len, self.places), self.snapshots)
        thinning = inner.nested()
        for kept in (self.places, *self.kept):
            thinning.effect(thin_out, kept)
        doubled = thinning.call(operator.mul, stride, ir.Const(2), hint="stride")
        after = ir.Var("stride", ir.INT)
        inner.emit(ir.If(is_full, thinning.block(ir.Yield((doubled,))), ir.Block((), ir.Yield((stride,))), (after,)))
        keeping = inner.nested()
        self.push(keeping, at, [params[slot] for slot in self.all.slots], self.memory)
        has_room = inner.call(operator.lt, inner.call(len, self.places), self.snapshots)
        both = inner.call(operator.and_, at_stride(inner, after), has_room)
        inner.emit(ir.If(both, keeping.block(ir.Yield(())), ir.Block((), ir.Yield(())), ()))
        found = ir.Var("stride", ir.INT)
        builder.emit(ir.If(due, inner.block(ir.Yield((after,))), ir.Block((), ir.Yield((stride,))), (found,)))
        return found
