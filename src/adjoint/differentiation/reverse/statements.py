"""Reversing statements: control flow, loads and stores.

Each block is reversed from its end: first what it hands out, then its statements, last to first. A statement takes the
cotangents of what it binds and adds to the cotangents of what it reads.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.calls.calls import reverse_call
from adjoint.differentiation.reverse.context import Context, effects_inside
from adjoint.differentiation.reverse.cotangents import LoopScope, Scope, cotangent_var, fitted
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.differentiation.reverse.memory.overwritten_values import Writes, content_key, refuse_lost_reference
from adjoint.differentiation.reverse.memory.ownership import Ownership
from adjoint.differentiation.reverse.memory.shadows import Shadows
from adjoint.differentiation.reverse.region import ReverseIf, ReverseLoop, Sweep, is_zero
from adjoint.differentiation.zeros.supports import Supports
from adjoint.ir.raising import goes_on
from adjoint.ir.walk import blocks_of, leaves
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.tangents import shadow_or_zeros

NOTHING: Mapping[ir.Var, ir.Var] = {}

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family
    from adjoint.differentiation.reverse.residuals.recomputed_iterations import Again


class Reverser:
    """Writes the reverse region of one function.

    Parameters
    ----------
    given
        What the caller has of the memory that the function shares with it.
    again
        Reverses an iteration of a loop, where those may be run again.
    lent
        The memory of the caller in which cotangents of parameters accumulate.
    """

    def __init__(
        self,
        context: Context,
        family: Family,
        given: Given,
        again: Again | None = None,
        lent: Mapping[ir.Var, ir.Var] = NOTHING,
    ) -> None:
        self.context = context
        self.family = family
        self.again = again
        self.compiled = again is not None or lent is not NOTHING
        self.given = given
        self.writes = Writes(context.regions, context.function, given.elsewhere, given.final)
        for value, span in self.writes.read_late():
            if context.active(value):
                from adjoint.differentiation.reverse.memory.loose_views import LABEL  # lazy

                context.problem("AD0303", span, LABEL)
        for load in self.writes.written_parts():
            if context.active(load.base):
                from adjoint.differentiation.memory.constant_views import UNSURE  # lazy

                context.problem("AD0303", load.span, UNSURE)
        self.shadows = Shadows(context, given, self.writes, lent, family.moved)
        self.ownership = Ownership(context, lent, recursive=self.compiled)
        self.supports = Supports()
        self.originals: dict[ir.Var, ir.Var] = {}
        self.known_copies: dict[tuple[int, ir.Var, bool], ir.Var] = {}
        self.root = context.open(context.regions.top)
        self.scope = Scope(self.root)
        self.counts: dict[ir.Var, ir.Loop] = {}

    # Places

    def bind_at(self, var: ir.Var, statement: ir.Statement, *, after: bool) -> None:
        """Binds a new variable of the forward region beside a statement."""
        self.context.regions.bind_beside(var, statement)
        self.context.anchors[var] = statement, after

    def keep_before(self, statement: ir.Statement, var: ir.Var, make: ir.Statement) -> None:
        """A variable of the forward region that is made before a statement, if the reverse region reads it."""
        self.bind_at(var, statement, after=False)
        self.context.copies[var] = make

    # Cotangents

    def seed(self, value: ir.Atom, cotangent: ir.Var) -> None:
        """Starts from the cotangent of a result."""
        if not isinstance(value, ir.Var) or not self.active(value):
            return
        if ir.is_handle(value.type) and not isinstance(value.type, ir.Array):
            self.shadows.start_from(value, cotangent, self.scope.sweep)
        elif self.memory(value) is None and self.scope.get(value) is None:
            self.scope.set(value, cotangent)
        else:
            self.add(self.scope, value, cotangent)

    def result(self, param: ir.Var) -> ir.Atom:
        """The cotangent of a parameter."""
        if ir.is_handle(param.type):
            return self.shadows.found[param] if self.active(param) else self.shadows.none_on_entry(self.root, param)
        cotangent = self.take(self.scope, param)
        return self.context.zero(self.root, param) if cotangent is None else cotangent

    def active(self, atom: ir.Atom) -> bool:
        return self.context.active(atom)

    def is_idle(self, statement: ir.Statement) -> bool:
        """Whether nothing depends on what a statement writes."""
        return id(statement) in self.context.activity.idle

    def add(
        self, scope: Scope, var: ir.Atom, cotangent: ir.Atom | None, *, negative: bool = False, shaped: bool = False
    ) -> None:
        """Adds to the cotangent of a value (subtracts where ``negative``), which may have its shape already."""
        if cotangent is None or is_zero(cotangent) or not isinstance(var, ir.Var) or not self.active(var):
            return
        sweep = scope.sweep
        if isinstance(var.type, (ir.List, ir.Tuple)):
            self.shadows.add_parts(sweep, self.shadows.of(var), var.type, cotangent)
            return
        cotangent = self.fitted(sweep, cotangent, var, shaped=shaped)
        memory = self.memory(var)
        if memory is not None:
            sweep.store(memory, None, cotangent, "sub" if negative else "add")
            return
        if ir.is_handle(var.type):
            self.context.problem("AD0303", sweep.span, "a whole container is used by a function")
            return
        before = scope.get(var)
        hint = f"{var.hint}_bar"
        if before is None or is_zero(before):
            total: ir.Atom = sweep.call(operator.neg, cotangent, hint=hint) if negative else cotangent
            self.supports.inherit(total, cotangent)
        else:
            total = sweep.call(operator.sub if negative else operator.add, before, cotangent, hint=hint)
            self.supports.summed(sweep, total, (before, cotangent))
        scope.set(var, total)

    def fitted(self, sweep: Sweep, cotangent: ir.Atom, var: ir.Var, *, shaped: bool) -> ir.Atom:
        """A cotangent that fits its value; the value is asked for its shape also where nothing else reads it."""
        found = fitted(sweep, cotangent, var, shaped=shaped)
        if found is not cotangent:
            self.context.asked.add(var)
            self.supports.fitted(sweep, found, cotangent, var)
        return found

    def memory(self, var: ir.Var) -> ir.Var | None:
        """The array in which the cotangent of an array accumulates, where it has one."""
        if ir.is_handle(var.type):
            return self.shadows.of(var) if isinstance(var.type, ir.Array) else None
        return self.ownership.accumulator(var)

    def take(self, scope: Scope, var: ir.Var) -> ir.Atom | None:
        """The cotangent of a value whose binding is being reversed; None for zero."""
        if not self.active(var):
            return None
        if ir.is_handle(var.type):
            return self.shadows.of(var)
        owned = self.ownership.taken(var)
        return scope.take(var) if owned is None else owned

    # Blocks

    def block(self, block: ir.Block, scope: Scope, leaf: Leaf) -> None:
        """Reverses a block into the scope's sweep."""
        self.terminator(block.terminator, scope, leaf)
        for statement in reversed(block.statements):
            self.statement(statement, scope)

    def terminator(self, terminator: ir.Terminator, scope: Scope, leaf: Leaf) -> None:
        if not isinstance(terminator, ir.Branch):
            leaf.reverse(self, terminator, scope)
            return
        self.branches(terminator, scope, leaf)

    def branches(self, node: ir.If | ir.Branch, scope: Scope, leaf: Leaf) -> None:
        """Reverses both blocks under one condition, and hands on what they learn about variables from outside."""
        scope.sweep.span = node.span
        inner = []
        for block in blocks_of(node):
            below = Scope(self.context.open(self.context.region(block)), scope)
            self.block(block, below, leaf)
            inner.append(below)
        self.join(scope, node.cond, *inner)

    def join(self, scope: Scope, cond: ir.Atom, then: Scope, orelse: Scope) -> None:
        """Puts two sweeps under a condition; what either learns about variables from outside is known after it."""
        reverse = ReverseIf(cond, then.sweep, orelse.sweep)
        for var in dict.fromkeys((*then.values, *orelse.values)):
            first, second = (below.values.get(var, scope.get(var)) for below in (then, orelse))
            if first == second and first is not None:
                scope.set(var, first)
                continue
            values = tuple(
                self.context.zero(below.sweep, var) if value is None else value
                for below, value in ((then, first), (orelse, second))
            )
            target = cotangent_var(var, *values)
            reverse.targets.append(target)
            reverse.values.append((values[0], values[1]))
            scope.set(var, target)
        scope.sweep.nodes.append(reverse)

    def statement(self, statement: ir.Statement, scope: Scope) -> None:
        scope.sweep.span = statement.span
        match statement:
            case ir.Call(callee=list.append | list.insert | list.pop | dict.pop) | ir.Store():
                from adjoint.differentiation.reverse.memory.stores import reverse_change  # lazy

                reverse_change(self, statement, scope)
            case ir.Call():
                reverse_call(self, statement, scope)
            case ir.Load():
                self.load(statement, scope)
            case ir.If():
                self.if_(statement, scope)
            case ir.Loop():
                self.loop(statement, scope)
            case ir.Guarded():
                self.guarded(statement, scope)

    def if_(self, statement: ir.If, scope: Scope) -> None:
        self.refuse_lost_references(statement, statement.targets)
        cotangents = [self.take_value(scope, target) for target in statement.targets]
        acts = any(effects_inside(block, self.context.activity) for block in blocks_of(statement))
        if acts or any(cotangent is not None for cotangent in cotangents):
            self.branches(statement, scope, YieldLeaf(cotangents))

    def refuse_lost_references(
        self, statement: ir.Statement, targets: Sequence[ir.Var], inits: Sequence[ir.Atom] = ()
    ) -> None:
        """Refuses that one of several values is an array that is written later, if another is a number."""
        places = [place for place, var in enumerate(targets) if isinstance(var.type, ir.Number) and self.active(var)]
        if not places:
            return
        ends = [leaf for block in blocks_of(statement) for leaf in leaves(block)]
        found = [inits, *(leaf.values for leaf in ends if isinstance(leaf, (ir.Yield, ir.Continue, ir.Exit)))]
        for values in found:
            for place in places:
                if place < len(values):
                    refuse_lost_reference(self, statement, values[place], left=values is not inits)

    def take_value(self, scope: Scope, var: ir.Var) -> ir.Atom | None:
        """The cotangent of a value that is one of several; a reference has none: its shadow is one of several, too."""
        return None if ir.is_handle(var.type) else self.take(scope, var)

    def is_torn(self, guarded: ir.Guarded) -> bool:
        """Whether an exception that is handled leaves memory, or what is kept, half done."""
        if not goes_on(guarded):
            return False
        from adjoint.differentiation.reverse.exceptions_to_values import is_whole, keeps_values  # lazy

        found, region = self.context.activity, self.context.region(guarded.body)
        return not is_whole(guarded.body, found) or (region.in_loop and keeps_values(guarded.body, found))

    def guarded(self, statement: ir.Guarded, scope: Scope) -> None:
        self.refuse_lost_references(statement, statement.targets)
        cotangents = [self.take_value(scope, target) for target in statement.targets]
        acts = any(effects_inside(block, self.context.activity) for block in blocks_of(statement))
        if not acts and all(cotangent is None for cotangent in cotangents):
            return
        final = statement.final
        if self.is_torn(statement) or (final is not None and effects_inside(final, self.context.activity)):
            label = "memory that varies is written here, before an exception that is handled"
            self.context.problem("AD0308", statement.span, label)
            return
        if goes_on(statement):
            self.handled(statement, scope, YieldLeaf(cotangents))
            return
        below = Scope(self.context.open(self.context.region(statement.body)), scope)
        self.block(statement.body, below, YieldLeaf(cotangents))
        always = ReverseIf(ir.Const(True), below.sweep, Sweep(scope.sweep, below.sweep.region))
        for var, value in below.values.items():
            target = cotangent_var(var, value)
            always.targets.append(target)
            always.values.append((value, ir.UNDEFINED))
            scope.set(var, target)
        scope.sweep.nodes.append(always)

    def handled(self, statement: ir.Guarded, scope: Scope, leaf: Leaf) -> None:
        """Reverses the block that came to an end: the body, or one of the handlers."""
        below = []
        for block in (statement.body, *(handler.body for handler in statement.handlers)):
            below.append(Scope(self.context.open(self.context.region(block)), scope))
            self.block(block, below[-1], leaf)
        rest = below.pop()
        while below:
            outer = Scope(Sweep(scope.sweep, scope.sweep.region), scope) if len(below) > 1 else scope
            cond = outer.sweep.call(operator.eq, statement.targets[-1], ir.Const(len(below) - 1))
            self.join(outer, cond, below.pop(), rest)
            rest = outer

    # Loops

    def loop(self, loop: ir.Loop, scope: Scope) -> None:
        carried = [
            slot
            for slot, (param, target) in enumerate(zip(loop.params, loop.targets, strict=False))
            if (self.active(param) or self.active(target)) and not ir.is_handle(param.type)
        ]
        self.refuse_lost_references(loop, loop.params, loop.inits)
        self.refuse_lost_references(loop, loop.targets, loop.inits)
        cotangents = [self.take_value(scope, target) for target in loop.targets]
        seeded = any(cotangent is not None for cotangent in cotangents)
        if not seeded and not effects_inside(loop.body, self.context.activity):
            return
        core = self.context.regions.core(loop)
        sweep = self.context.open(self.context.region(core))
        index = (
            ir.Var(loop.index.hint, loop.index.type, loop.index.named)
            if loop.index is not None
            else ir.Var("i", ir.INT)
        )
        reverse = ReverseLoop(self.iterations(loop, scope.sweep), index, sweep)
        inner = LoopScope(sweep, scope, reverse, self.context)
        slots: dict[int, ir.Atom] = {}
        for slot in carried:
            before = cotangents[slot]
            param = self.context.carried_cotangent(loop.params[slot])
            reverse.params.append(param)
            reverse.inits.append(self.context.zero(scope.sweep, loop.targets[slot]) if before is None else before)
            slots[slot] = param
        given = {slot: cotangent for slot, cotangent in enumerate(cotangents) if slot >= len(loop.params)}
        earlier = self.replayed(loop, inner, slots)
        if earlier is None:
            self.block(core, inner, LoopLeaf(slots, given, self.without_shape(loop)))
            earlier = {slot: self.take(inner, loop.params[slot]) for slot in carried}
        results: dict[int, ir.Var] = {}
        for slot in carried:
            value = earlier[slot]
            reverse.values.append(self.context.zero(sweep, loop.params[slot]) if value is None else value)
            results[slot] = self.context.carried_cotangent(loop.params[slot])
            reverse.targets.append(results[slot])
        after = inner.close()
        scope.sweep.nodes.append(reverse)
        for var, target in after.items():
            scope.set(var, target)
        for slot in carried:
            self.add(scope, loop.inits[slot], self.whole(scope.sweep, loop, slot, results[slot]))

    def whole(self, sweep: Sweep, loop: ir.Loop, slot: int, cotangent: ir.Var) -> ir.Atom:
        """What a loop gives for the cotangent of an init; the zero of what has no value on some path is a number."""
        init = loop.inits[slot]
        if not isinstance(init, ir.Var) or isinstance(init.type, ir.Scalar) or slot not in self.without_shape(loop):
            return cotangent
        return sweep.call(unbroadcast, cotangent, init, hint=cotangent.hint)

    def without_shape(self, loop: ir.Loop) -> set[int]:
        """The slots of a loop whose zero cotangents are numbers, as there is a path on which they have no value."""
        carries = enumerate(zip(loop.params, loop.targets, strict=False))
        return {slot for slot, pair in carries if any(map(self.context.may_be_undefined, pair))}

    def replayed(
        self, loop: ir.Loop, scope: Scope, slots: Mapping[int, ir.Atom]
    ) -> Mapping[int, ir.Atom | None] | None:
        """Runs an iteration again where it is reversed, if that may be; gives the cotangents before it."""
        if self.again is None:
            return None
        from adjoint.differentiation.reverse.residuals.recomputed_iterations import iteration_of, replay  # lazy

        iteration = iteration_of(self, loop)
        return None if iteration is None else replay(self, self.again, iteration, scope, slots)

    def iterations(self, loop: ir.Loop, sweep: Sweep) -> ir.Range:
        """What the reverse of a loop runs over."""
        exits = any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body))
        if isinstance(loop.over, ir.Range) and not exits:
            over = loop.over
            return ir.Range(over.start, over.stop, over.step, not over.backward)
        count = ir.Var("count", ir.INT)
        parent = self.context.region(self.context.regions.core(loop)).parent
        assert parent is not None
        self.counts[count] = loop
        if not isinstance(loop.over, ir.Range):
            return ir.Range(ir.Const(0), count, ir.Const(1), True)
        start, step = loop.over.start, loop.over.step
        if loop.over.backward:
            self.context.problem("AD0303", loop.span, "a loop that runs backwards is left early")
        if step == ir.Const(1):
            stop = count if start == ir.Const(0) else sweep.call(operator.add, start, count, hint="stop")
        else:
            span = sweep.call(operator.mul, count, step)
            stop = sweep.call(operator.add, start, span, hint="stop")
        return ir.Range(start, stop, step, True)

    # Memory

    def load(self, load: ir.Load, scope: Scope) -> None:
        target, base = load.target, load.base
        if not self.active(target) or not isinstance(base, ir.Var) or not self.active(base):
            return  # what was picked out of an array may vary by what is written to it later
        if target in self.ownership.part_of or (ir.is_handle(target.type) and not is_gathered(load)):
            return
        cotangent = self.take(scope, target)
        if cotangent is None or is_zero(cotangent):
            return
        sweep = scope.sweep
        key = content_key(self, load.key, load)
        if isinstance(base.type, ir.Array):
            memory = self.memory(base)
            if memory is None:
                raise AssertionError(f"an element of {base!r} is read, but its cotangent has no memory")
            from adjoint.differentiation.reverse.memory.repeated_indices import accumulation, leaves_out  # lazy

            sweep.store(memory, key, cotangent, accumulation(self.context, load.key))
            if leaves_out(self.context, base, load.key):
                self.supports.partial.add(memory)
            return
        if not ir.is_handle(base.type):
            self.context.problem("AD0303", load.span, "it is not known what this is a part of")
            return
        shadow = self.shadows.of(base)
        if isinstance(target.type, ir.Scalar):
            sweep.store(shadow, key, cotangent, "add")
        elif isinstance(target.type, ir.Array):
            slot = sweep.load(shadow, key, self.shadows.type_of(target.type), f"{target.hint}_bar")
            if ir.may_be_whole(target.type):
                slot = sweep.call(shadow_or_zeros, slot, cotangent, hint=slot.hint)
            sweep.store(slot, None, cotangent, "add")
        else:
            self.shadows.add_to_slot(sweep, shadow, key, cotangent)


class Leaf:
    """What the construct around a block does with the cotangents at its end."""

    def reverse(self, reverser: Reverser, terminator: ir.Terminator, scope: Scope) -> None:
        raise NotImplementedError


class YieldLeaf(Leaf):
    """Hands the cotangents of an ``If`` (or of the function's results) to what a block yields."""

    def __init__(self, cotangents: list[ir.Atom | None]) -> None:
        self.cotangents = cotangents

    def reverse(self, reverser: Reverser, terminator: ir.Terminator, scope: Scope) -> None:
        if isinstance(terminator, ir.Yield):
            for value, cotangent in zip(terminator.values, self.cotangents, strict=True):
                reverser.add(scope, value, cotangent)


class LoopLeaf(Leaf):
    """Hands the cotangents of a loop's slots to what an iteration hands on or out."""

    def __init__(self, slots: dict[int, ir.Atom], given: dict[int, ir.Atom | None], without_shape: set[int]) -> None:
        self.slots = slots
        self.given = given
        self.without_shape = without_shape

    def reverse(self, reverser: Reverser, terminator: ir.Terminator, scope: Scope) -> None:
        if not isinstance(terminator, (ir.Continue, ir.Exit)):
            return
        for slot, cotangent in self.slots.items():
            value = terminator.values[slot]
            if slot in self.without_shape and isinstance(value, ir.Var) and isinstance(value.type, ir.Array):
                cotangent = scope.sweep.call(unbroadcast, cotangent, value, hint="t_bar")
            reverser.add(scope, value, cotangent)
        if isinstance(terminator, ir.Exit):
            for slot, given in self.given.items():
                reverser.add(scope, terminator.values[slot], given)
