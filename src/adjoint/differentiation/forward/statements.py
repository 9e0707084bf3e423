"""Forward mode, statement by statement: what a value is moved by, its tangent is moved by, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.messages import communicates
from adjoint.differentiation.forward.derived_tangents import call_derived
from adjoint.differentiation.forward.function_values import forward_applied
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.memory.integer_arrays import FloatChecks
from adjoint.differentiation.memory.shadow_types import ShadowTypes, typed
from adjoint.differentiation.memory.slots import has_slots
from adjoint.differentiation.memory.structural import as_store
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.differentiation.zeros.supports_in_memory import keep_supports
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import defined_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime.tangents import shadow_or_zeros

if TYPE_CHECKING:
    from adjoint.differentiation.forward.forward import Session


Leaf = Callable[[ir.Terminator, Builder], ir.Terminator]


def _is_of(function: ir.Function) -> Callable[[ir.Var], bool]:
    """Whether a variable is one of a function's own; they are collected when one is asked for."""
    bound: set[ir.Var] = set()

    def found(var: ir.Var) -> bool:
        if not bound:
            bound.update(function.params, defined_in(function.body))
        return var in bound

    return found


class Forward:
    """The walk over one function."""

    def __init__(self, session: Session, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        self.session = session
        self.found = found
        self.wrt = wrt
        self.outputs = outputs
        self.types = ShadowTypes(found.memory)
        self.dots: dict[ir.Var, ir.Atom] = {}
        self.rules = TangentRules(found, self.types, self.dots, session.layouts_read)
        self.is_called = False
        self.besides: tuple[ir.Atom, ...] = ()
        """What the derivative of a function is given behind the tangents."""

    def function(self, function: ir.Function, *, is_called: bool) -> ir.Function:
        primal, known = _is_of(function), self.session.known
        self.is_called = is_called
        params, body = self.derived(function)
        if is_called and self.rules.supports.partial:
            self.session.leaves_out()
        found = keep_supports(
            body,
            params,
            {*self.rules.supports.found, *self.rules.supports.by_chance},
            {dot for dot in self.dots.values() if isinstance(dot, ir.Var)},
            complete=not (is_called and known.computed),
            primal=primal,
            passive=lambda var: primal(var) and not self.found.active(var),
            callees=self.session,
            carried=params if is_called and known.carried else None,
            results=len(self.outputs),
            by_element=True,
        )
        if found.lost:
            self.session.loses_supports()
        taken = (*function.params, *params, *found.given)
        return ir.Function(f"{function.name}_jvp", taken, found.block, function.doc)

    def derived(self, function: ir.Function) -> tuple[list[ir.Var], ir.Block]:
        """The parameters that are tangents, and the body."""
        self.float_checks = FloatChecks(function)
        params = []
        for index in self.wrt:
            param = function.params[index]
            dot = self.new_dot(param)
            params.append(dot)
            if self.found.active(param):
                self.dots[param] = dot
        if self.is_called and self.session.known.partial:
            self.rules.supports.partial.update(params)
        builder = Builder(type_of_call)
        for index, param in enumerate(function.params):
            if index not in self.wrt and self.found.active(param):
                self.dots[param] = self.rules.fresh_shadow(builder, param)
        return params, self.block(function.body, builder, self.leave_function)

    def new_dot(self, var: ir.Var) -> ir.Var:
        return ir.Var(f"{var.hint}_dot", self.types.of(var.type), var.named)

    def bind(self, var: ir.Var) -> ir.Var:
        """A new tangent variable for a value that a construct binds."""
        dot = self.new_dot(var)
        self.dots[var] = dot
        return dot

    def dot_or_zero(self, value: ir.Atom, slot: ir.Type | None, builder: Builder) -> ir.Atom:
        return self.rules.dot_or_zero(builder, value, slot)

    # Blocks and how they end

    def block(self, block: ir.Block, builder: Builder, leaf: Leaf) -> ir.Block:
        for statement in block.statements:
            builder.span = statement.span
            self.statement(statement, builder)
        end = block.terminator
        if isinstance(end, ir.Branch):
            then = self.block(end.then, builder.nested(), leaf)
            orelse = self.block(end.orelse, builder.nested(), leaf)
            return builder.block(ir.Branch(end.cond, then, orelse, end.span))
        return builder.block(leaf(end, builder))

    def leave_function(self, end: ir.Terminator, builder: Builder) -> ir.Terminator:
        if not isinstance(end, ir.Return):
            return end
        dots = []
        for index in self.outputs:
            value = end.values[index]
            type_ = type_of_atom(value)
            dots.append(self.dot_or_zero(value, type_, builder))
        return ir.Return((*end.values, *dots), end.span)

    def yielding(self, targets: tuple[ir.Var, ...], slots: list[int]) -> Leaf:
        def leaf(end: ir.Terminator, builder: Builder) -> ir.Terminator:
            if not isinstance(end, ir.Yield):
                return end
            dots = [self.dot_or_zero(end.values[slot], targets[slot].type, builder) for slot in slots]
            return ir.Yield((*end.values, *dots))

        return leaf

    # Statements

    def statement(self, statement: ir.Statement, builder: Builder) -> None:
        match statement:
            case ir.Call(callee=callee) if isinstance(callee, (ir.Definition, ir.Function)):
                self.call_function(statement, builder)
            case ir.Call(callee=ir.Derived()) if any(map(self.found.active, statement.targets)):
                call_derived(builder, statement, self.rules, self.bind, self.session.derive)
                for target in statement.targets:
                    self.rules.laid_out(builder, target)
            case ir.Call(callee=ir.Declared()):
                from adjoint.differentiation.forward.custom_derivatives import forward_declared  # lazy

                forward_declared(builder, statement, self.rules, self.bind)
            case ir.Call(callee=ir.Applied()):
                forward_applied(builder, statement, self.rules, self.bind)
            case ir.Call() if (stored := as_store(statement)) is not None:
                builder.emit(statement)
                base, value = self.dots.get(stored.base), self.dots.get(stored.value)  # type: ignore[arg-type]
                if base is not None and value is not None:
                    builder.effect(statement.callee, base, statement.args[1], value)
            case ir.Call():
                self.rules.call(builder, statement)
            case ir.Load():
                builder.emit(statement)
                self.load(statement, builder)
            case ir.Store():
                if self.found.active(statement.value) and (check := self.float_checks.check(statement)) is not None:
                    builder.emit(check)
                builder.emit(statement)
                self.store(statement, builder)
            case ir.If():
                self.if_(statement, builder)
            case ir.Loop():
                self.loop(statement, builder)
            case ir.Guarded():
                self.guarded(statement, builder)

    def load(self, load: ir.Load, builder: Builder) -> None:
        target, base = load.target, self.dots.get(load.base) if isinstance(load.base, ir.Var) else None
        if not self.found.active(target):
            return
        if base is None:
            self.dots[target] = self.rules.fresh_shadow(builder, target)
        elif ir.may_be_whole(target.type) and not isinstance(type_of_atom(load.base), ir.Array):
            slot = builder.load(base, load.key, self.types.of(target.type), f"{target.hint}_dot")
            builder.emit(ir.Call((self.bind(target),), shadow_or_zeros, (slot, target), (), load.span))
        else:
            type_ = self.types.of(target.type)
            self.dots[target] = builder.load(base, load.key, type_, f"{target.hint}_dot", target.named)
            self.lay_out_gathered(load, builder)

    def lay_out_gathered(self, load: ir.Load, builder: Builder) -> None:
        if is_gathered(load):
            self.rules.laid_out(builder, load.target)

    def store(self, store: ir.Store, builder: Builder) -> None:
        base = self.dots.get(store.base) if isinstance(store.base, ir.Var) else None
        if base is None or not self.found.active_slot(store.base, store.key):
            return
        if store.mode != "set" and not self.found.active(store.value):
            return
        if isinstance(type_of_atom(store.base), ir.Array):
            value = self.dots.get(store.value, ir.Const(0.0)) if isinstance(store.value, ir.Var) else ir.Const(0.0)
        else:
            slot = self.found.content(store.base, store.key)
            value = self.dot_or_zero(store.value, slot, builder)
        builder.emit(ir.Store(base, store.key, value, store.mode, store.span))

    def if_(self, statement: ir.If, builder: Builder) -> None:
        slots = [slot for slot, target in enumerate(statement.targets) if self.found.active(target)]
        leaf = self.yielding(statement.targets, slots)
        then = self.block(statement.then, builder.nested(), leaf)
        orelse = self.block(statement.orelse, builder.nested(), leaf)
        dots = [self.bind(statement.targets[slot]) for slot in slots]
        builder.emit(ir.If(statement.cond, then, orelse, (*statement.targets, *dots), statement.span))

    def guarded(self, statement: ir.Guarded, builder: Builder) -> None:
        slots = [slot for slot, target in enumerate(statement.targets) if self.found.active(target)]
        leaf = self.yielding(statement.targets, slots)
        body = self.block(statement.body, builder.nested(), leaf)
        handlers = tuple(
            ir.Handler(handler.exception, handler.name, self.block(handler.body, builder.nested(), leaf))
            for handler in statement.handlers
        )
        final = None if statement.final is None else self.block(statement.final, builder.nested(), lambda end, _: end)
        targets = (*statement.targets, *(self.bind(statement.targets[slot]) for slot in slots))
        builder.emit(ir.Guarded(statement.context, statement.name, body, handlers, final, targets, statement.span))

    def loop(self, loop: ir.Loop, builder: Builder) -> None:
        count = len(loop.params)
        active = [slot for slot, target in enumerate(loop.targets) if self.found.active(target)]
        carried = [slot for slot in range(count) if slot in active or self.found.active(loop.params[slot])]
        extra = [slot for slot in active if slot >= count]
        inits = [self.dot_or_zero(loop.inits[slot], loop.params[slot].type, builder) for slot in carried]
        params = [self.bind(loop.params[slot]) for slot in carried]

        def leaf(end: ir.Terminator, inner: Builder) -> ir.Terminator:
            if isinstance(end, ir.Continue):
                dots = [self.dot_or_zero(end.values[slot], loop.params[slot].type, inner) for slot in carried]
                return ir.Continue((*end.values, *dots))
            if isinstance(end, ir.Exit):
                firsts = [self.dot_or_zero(end.values[slot], loop.targets[slot].type, inner) for slot in carried]
                others = [self.dot_or_zero(end.values[slot], loop.targets[slot].type, inner) for slot in extra]
                return ir.Exit(end.kind, (*end.values[:count], *firsts, *end.values[count:], *others))
            return end

        body = self.block(loop.body, builder.nested(), leaf)
        firsts = [self.bind(loop.targets[slot]) for slot in carried]
        others = [self.bind(loop.targets[slot]) for slot in extra]
        targets = (*loop.targets[:count], *firsts, *loop.targets[count:], *others)
        builder.emit(
            ir.Loop(
                loop.over,
                loop.index,
                (*loop.params, *params),
                (*loop.inits, *inits),
                body,
                targets,
                loop.exit,
                loop.span,
            )
        )

    def call_function(self, call: ir.Call, builder: Builder) -> None:
        """A call of a function of the IR: of its own forward derivative, where a tangent flows."""
        wrt = tuple(index for index, arg in enumerate(call.args) if self.found.active(arg))
        outputs = tuple(index for index, target in enumerate(call.targets) if self.found.active(target))
        passive = not wrt and not communicates(call.callee)
        if passive and len(outputs) < 2:  # of several results nobody knows here which memory they share
            builder.emit(call)
            for index in outputs:
                self.dots[call.targets[index]] = self.rules.fresh_shadow(builder, call.targets[index])
            return
        definition = self.session.definition(call.callee, wrt, outputs)
        dots = [self.handed_over(call, index, builder) for index in wrt]
        bound = [self.bind(call.targets[index]) for index in outputs]
        partial = self.rules.supports.partial
        if not partial.isdisjoint(dots):
            self.session.leaves_out()
        if self.session.known.partial:
            partial.update(bound)
        builder.emit(
            ir.Call((*call.targets, *bound), definition, (*call.args, *dots, *self.besides), call.kwargs, call.span)
        )

    def handed_over(self, call: ir.Call, place: int, builder: Builder) -> ir.Atom:
        """The tangent of an argument: a copy where memory that is written later counts as numbers in the function."""
        arg = call.args[place]
        dot = self.dot_or_zero(arg, type_of_atom(arg), builder)
        function = call.callee.function if isinstance(call.callee, ir.Definition) else call.callee
        assert function is not None
        param = function.params[place].type
        if not isinstance(param, ir.Array) or has_slots(param) or not has_slots(type_of_atom(arg)):
            return dot
        return typed(builder, np.copy, (dot,), self.types.of(param), dot.hint if isinstance(dot, ir.Var) else "t_dot")
