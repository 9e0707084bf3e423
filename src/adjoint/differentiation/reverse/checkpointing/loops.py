"""The halves of a loop that keeps few of its states."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.dependence.activity import activity
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.differentiation.reverse.calls.calling_convention import Request
from adjoint.differentiation.reverse.checkpointing.recomputed_calls import Whole, copied, in_place, memory_written
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import clone, map_leaves
from adjoint.ir.walk import free_vars, leaves, targets_of, vars_used
from adjoint.optimize.simplify import simplify
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.snapshots import put_away, taken_back

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family

MOVING = "references move here: what is run again must not change which memory a variable refers to"
ASSIGN = "assign the elements: u[:] = v; or make a new array in each iteration"
ONWARDS = -1
"""What an iteration returns that is not the last."""


class Iterations:
    """The halves of a function whose body is one loop.

    Attributes
    ----------
    slots
        Which of the loop's parameters are part of its state: what an iteration starts from.
    captured
        What an iteration reads from outside, by places of the function's parameters.
    memory
        Those among them that refer to memory which iterations write: it is part of the state, too.
    """

    def __init__(
        self, function: ir.Function, request: Request, family: Family, written: Iterable[int], plan: ir.Checkpoints
    ) -> None:
        statements, end = function.body.statements, function.body.terminator
        loop = next(statement for statement in statements if isinstance(statement, ir.Loop))
        assert isinstance(end, ir.Return)
        self.function, self.loop, self.results = function, loop, end.values
        cut = statements.index(loop)
        self.before, self.behind = statements[:cut], statements[cut + 1 :]
        self.request, self.family, self.plan = request, family, plan
        self.is_left = any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body))
        given = frozenset(function.params[place] for place in request.wrt if ir.is_handle(function.params[place].type))
        found = activity(function, request.wrt, request.outputs, None, given)
        if any(map(found.active, (target for each in (*self.before, *self.behind) for target in targets_of(each)))):
            raise DifferentiationError(diagnostic("AD0309", loop.span, "more than the loop varies here"))
        self.active = [
            slot
            for slot, (param, target) in enumerate(zip(loop.params, loop.targets, strict=False))
            if found.active(param) or found.active(target)
        ]
        used = vars_used(loop.body)
        self.is_indexed = loop.index in used
        self.slots = [
            slot
            for slot, param in enumerate(loop.params)
            if param in used or (slot in self.active and not isinstance(param.type, ir.Scalar))
        ]
        bound = (*loop.params, *(() if loop.index is None else (loop.index,)))
        self.captured = [var for var in free_vars(loop.body) if var not in bound]
        self.step = self._step()
        self.start = 1 if self.is_indexed else 0
        first = self.start + len(self.slots)
        self.memory = [place - first for place in memory_written(self.step, ()) if place >= first]
        if any(ir.is_handle(loop.params[slot].type) for slot in self.slots):
            raise DifferentiationError(diagnostic("AD0309", loop.span, MOVING, helps=(ASSIGN,)))
        homes = [storage for place in self.memory for storage in ir.storages(self.captured[place].type)]
        simple = all(isinstance(self.captured[place].type, ir.Array) for place in self.memory)
        if plan.files and not (simple and len(set(homes)) == len(homes)):
            label = "its state refers to memory in several ways, or to lists and objects: that cannot lie in files"
            raise DifferentiationError(diagnostic("AD0309", loop.span, label, helps=("leave out disk=",)))
        self.read_late = [
            place
            for place, var in enumerate(self.captured)
            if place not in self.memory and ir.is_handle(var.type) and var in {function.params[at] for at in written}
        ]

    # One iteration as a function

    def _step(self) -> ir.Function:
        """Of the index, the state and what is captured: the next values of all parameters.

        Where the loop may be left: how it goes on before them, and what is handed out behind them.
        """
        loop = self.loop
        index = (loop.index,) if self.is_indexed and loop.index is not None else ()
        params = (*index, *(loop.params[slot] for slot in self.slots))
        captured = tuple(self.captured)
        onwards = [filler(param.type) for param in loop.params]
        outwards = [filler(target.type) for target in loop.targets]

        def leaf(end: ir.Terminator) -> ir.Terminator:
            match end:
                case ir.Continue(values=values) if not self.is_left:
                    return ir.Return(values)
                case ir.Continue(values=values):
                    return ir.Return((ir.Const(ONWARDS), *values, *outwards))
                case ir.Exit(kind=kind, values=values):
                    return ir.Return((ir.Const(kind), *onwards, *values))
                case _:
                    return end

        names: dict[ir.Var, ir.Atom] = {}
        new = []
        for param in (*params, *captured):
            names[param] = ir.Var(param.hint, param.type, param.named)
            new.append(names[param])
        body = clone(self._joined(map_leaves(loop.body, leaf)), names)
        return ir.Function(f"{self.function.name}_step", tuple(var for var in new if isinstance(var, ir.Var)), body)

    def _joined(self, body: ir.Block) -> ir.Block:
        """A body that ends in one place: what it gives has the types of the loop on all paths."""
        end = body.terminator
        if not isinstance(end, ir.Branch):
            return body

        def leaf(end: ir.Terminator) -> ir.Terminator:
            return ir.Yield(end.values) if isinstance(end, ir.Return) else end

        targets = tuple(self.step_results())
        choice = ir.If(end.cond, map_leaves(end.then, leaf), map_leaves(end.orelse, leaf), targets, end.span)
        return ir.Block((*body.statements, choice), ir.Return(targets))

    def step_results(self) -> list[ir.Var]:
        """Variables for what an iteration gives."""
        values = [ir.Var(param.hint, param.type, param.named) for param in self.loop.params]
        if not self.is_left:
            return values
        handed = [ir.Var(target.hint, target.type, target.named) for target in self.loop.targets]
        return [ir.Var("left", ir.INT), *values, *handed]

    # Both halves

    def whole(self) -> Whole:
        """The adjoint of an iteration, and what both halves know of it."""
        wrt = self.request.wrt
        first, params = self.start + len(self.slots), self.function.params
        place_of = {params[place]: place for place in wrt}
        varying = [(first + at, place_of[var]) for at, var in enumerate(self.captured) if var in place_of]
        self.numbers = [place for place in wrt if not in_place(params[place])]
        self.through = [place for _, place in varying if not in_place(params[place])]
        self.lent = [place for _, place in varying if in_place(params[place])]
        state = [self.start + self.slots.index(slot) for slot in self.active if slot in self.slots]
        shift = 1 if self.is_left else 0
        outputs = [shift + slot for slot in self.active]
        if self.is_left:
            outputs += [1 + len(self.loop.params) + target for target in self.seeded()]
        self.run = ir.Definition(self.step.name, simplify(self.step))
        return Whole(
            self.step,
            (*state, *(at for at, _ in varying)),
            outputs,
            [at for at, place in varying if place in self.through],
            [at for at, place in varying if place in self.lent],
            self.family,
            f"{self.step.name}_adjoint",
            complete=False,  # iterations pass on what they computed
        )

    def seeded(self) -> dict[int, int]:
        """The targets of the loop whose cotangents are given, and the places of these among the outputs."""
        found = {}
        for at, place in enumerate(self.request.outputs):
            value = self.results[place]
            if isinstance(value, ir.Var) and value in self.loop.targets:
                found[self.loop.targets.index(value)] = at
        return found

    def fitted_inits(self) -> list[ir.Var]:
        """First values that may have another shape than what the loop carries."""
        loop = self.loop
        found = [(init, loop.params[slot]) for slot in self.active if isinstance(init := loop.inits[slot], ir.Var)]
        return [init for init, param in found if init.type != param.type]

    def blank_slots(self) -> list[int]:
        """Parameters of the loop that vary, but whose last values nobody reads: their cotangents start from zero."""
        known = self.seeded()
        return [
            slot for slot in self.active if slot not in known and not isinstance(self.loop.params[slot].type, ir.Scalar)
        ]


def whole_number(builder: Builder, callee: object, *args: ir.Atom, hint: str) -> ir.Var:
    """A call that gives a whole number."""
    target = ir.Var(hint, ir.INT)
    builder.emit(ir.Call((target,), callee, args, (), builder.span))
    return target


class Half:
    """What both halves do: they run iterations from one state to another, and keep states."""

    forwards = False

    def __init__(self, iterations: Iterations) -> None:
        self.all = iterations
        self.builder = Builder(type_of_call, iterations.loop.span)
        self.outside: dict[ir.Var, ir.Atom] = {}
        """What stands for the function's parameters."""
        self.places: ir.Var = ir.Var("places", ir.List(ir.INT, ir.Storage(written=True)))
        self.kept: list[ir.Var] = []
        self.count: ir.Atom = ir.Const(0)
        self.snapshots: ir.Atom = ir.Const(0)
        self.items: ir.Atom = ir.Const(None)
        self.shelf: ir.Atom = ir.Const(None)

    def atom(self, atom: ir.Atom) -> ir.Atom:
        return self.outside.get(atom, atom) if isinstance(atom, ir.Var) else atom

    def captured(self, memory: Sequence[ir.Atom]) -> list[ir.Atom]:
        """What iterations read from outside; ``memory`` is what stands for that which they write."""
        found = [self.atom(var) for var in self.all.captured]
        for place, own in zip(self.all.memory, memory, strict=True):
            found[place] = own
        return found

    def index(self, builder: Builder, at: ir.Atom) -> tuple[ir.Atom, ...]:
        """The loop's index in an iteration, where that reads it."""
        loop = self.all.loop
        return (self._index(builder, at, loop, loop.index),) if self.all.is_indexed and loop.index is not None else ()

    def _index(self, builder: Builder, at: ir.Atom, loop: ir.Loop, index: ir.Var) -> ir.Atom:
        if not isinstance(loop.over, ir.Range):
            return builder.load(self.items, ir.Subscript((at,)), index.type, index.hint, index.named)
        start, step = self.atom(loop.over.start), self.atom(loop.over.step)
        if loop.over.backward:
            at = builder.call(operator.sub, builder.call(operator.sub, self.count, ir.Const(1)), at)
        if step != ir.Const(1):
            at = builder.call(operator.mul, at, step)
        return at if start == ir.Const(0) else builder.call(operator.add, start, at, hint=index.hint)

    def push(self, builder: Builder, at: ir.Atom, state: Sequence[ir.Atom], memory: Sequence[ir.Var]) -> None:
        """Keeps a state."""
        copies = copied(builder, memory) if memory else []
        if self.all.plan.files:
            whole, kept = builder.call(display.make_tuple, *state, *copies), ir.Var("state", ir.OPAQUE)
            count = builder.call(len, self.places)
            builder.emit(ir.Call((kept,), put_away, (self.shelf, whole, count, ir.Const(self.forwards))))
            builder.effect(list.append, self.kept[0], kept)
            builder.effect(list.append, self.places, at)
            return
        builder.effect(list.append, self.places, at)
        for kept, value in zip(self.kept, (*state, *copies), strict=True):
            builder.effect(list.append, kept, value)

    def read_only(self) -> list[ir.Var]:
        """What iterations read from outside, and do not write."""
        return [var for place, var in enumerate(self.all.captured) if place not in self.all.memory]

    def last_kept(self, builder: Builder) -> list[ir.Var]:
        """The state that was kept last."""
        last = ir.Subscript((ir.Const(-1),))
        parts = self.parts()
        if not self.all.plan.files:
            return [
                builder.load(kept, last, part.type, part.hint, part.named)
                for kept, part in zip(self.kept, parts, strict=True)
            ]
        state = ir.Var("state", ir.OPAQUE)
        builder.emit(ir.Call((state,), taken_back, (builder.load(self.kept[0], last, ir.OPAQUE, "state"),)))
        return [
            builder.load(state, ir.Subscript((ir.Const(place),)), part.type, part.hint, part.named)
            for place, part in enumerate(parts)
        ]

    def parts(self) -> list[ir.Var]:
        """What a state consists of."""
        loop = self.all.loop
        state = [loop.params[slot] for slot in self.all.slots]
        return [*state, *(self.all.captured[place] for place in self.all.memory)]

    def kept_lists(self) -> list[ir.Var]:
        """Lists of what is kept of states."""
        if self.all.plan.files:
            return [ir.Var("states", ir.List(ir.OPAQUE, ir.Storage(written=True)))]
        return [ir.Var(f"{var.hint}_kept", ir.List(var.type, ir.Storage(written=True))) for var in self.parts()]

    def advanced(
        self, builder: Builder, start: ir.Atom, stop: ir.Atom, values: Sequence[ir.Atom], memory: Sequence[ir.Atom]
    ) -> list[ir.Var]:
        """Runs iterations; ``values`` are of all parameters of the loop."""
        loop = self.all.loop
        params = [ir.Var(param.hint, param.type, param.named) for param in loop.params]
        at = ir.Var("j", ir.INT)
        body = builder.nested()
        results = self.step(body, at, params, memory)
        targets = [ir.Var(param.hint, param.type, param.named) for param in loop.params]
        if self.all.is_left:
            results = results[1 : 1 + len(params)]
        over = ir.Range(start, stop, ir.Const(1))
        inside = body.block(ir.Continue(tuple(results)))
        builder.emit(ir.Loop(over, at, tuple(params), tuple(values), inside, tuple(targets), None, loop.span))
        return targets

    def step(self, builder: Builder, at: ir.Atom, values: Sequence[ir.Atom], memory: Sequence[ir.Atom]) -> list[ir.Var]:
        results = self.all.step_results()
        state = [values[slot] for slot in self.all.slots]
        args = (*self.index(builder, at), *state, *self.captured(memory))
        builder.emit(ir.Call(tuple(results), self.all.run, args, (), self.all.loop.span))
        return results
