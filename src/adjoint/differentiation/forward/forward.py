"""Forward mode: beside every statement the statement of its tangent.

One walk over the regions. A value has a tangent variable, memory has a shadow that the same statements make, read and
write. What is not active has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from adjoint.analysis.divergence import divergent_messages
from adjoint.analysis.joins import joins
from adjoint.analysis.memory.array_layout import layouts_read
from adjoint.analysis.messages import communicates
from adjoint.analysis.undefined import may_be_undefined
from adjoint.diagnostics import Diagnostic, DifferentiationError
from adjoint.differentiation.forward.derived_tangents import call_derived, can_be_kept, runs_again
from adjoint.differentiation.forward.derived_tangents import unkept as why_unkept
from adjoint.differentiation.forward.function_values import applies, forward_applied
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.memory.constant_views import constant_views, unsure_views
from adjoint.differentiation.memory.shadow_types import ShadowTypes, typed
from adjoint.differentiation.memory.slots import has_slots
from adjoint.differentiation.nondifferentiable import without_forward
from adjoint.differentiation.pure import without_writes
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.differentiation.zeros.supports_in_memory import keep_supports
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Applied,
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Declared,
    Definition,
    Derived,
    Exit,
    Function,
    Guarded,
    Handler,
    If,
    Load,
    Loop,
    Return,
    Statement,
    Store,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.types import Array, Storage, Type, may_be_whole
from adjoint.ir.walk import defined_in, inline, map_blocks, statements_in, substitute
from adjoint.pipeline import FORWARD, Context, run
from adjoint.records import dataclass, field
from adjoint.rules.typing import type_of_call
from adjoint.runtime.tangents import shadow_or_zeros
from adjoint.target import PYTHON, Target

Leaf = Callable[[Terminator, Builder], Terminator]
Signature = tuple[int, tuple[int, ...], tuple[int, ...]]


def forward(
    function: Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    *,
    keep_derived: bool = False,
    target: Target = PYTHON,
) -> Function:
    """The forward derivative of a core function.

    Parameters
    ----------
    function
        A core function.
    wrt
        The parameters that have tangents.
    outputs
        The results whose tangents are wanted.
    keep_derived
        Leaves reverse derivatives that the function calls as names, where that can be: the result is to be reversed.
    target
        What the derivative is made for.

    Returns
    -------
    Function
        Its parameters are those of ``function`` and one tangent for each of ``wrt`` (a shadow where the parameter is a
        reference); its results those of ``function`` and one tangent for each of ``outputs``.

    Raises
    ------
    DifferentiationError
        With everything in the function that cannot be differentiated.
    """
    return run(FORWARD, function, Context(target, wrt, outputs, keep_derived=keep_derived))


def with_tangents(
    function: Function, wrt: Sequence[int], outputs: Sequence[int], keep_derived: bool, target: Target
) -> Function:
    """The forward derivative of a function without dead code."""
    session = Session(keep_derived, target)
    found = session.derive(function, tuple(wrt), tuple(outputs))
    if session.gives_zeros:
        found = Session(keep_derived, target, complete=False).derive(function, tuple(wrt), tuple(outputs))
    return found


@dataclass(slots=True)
class Session:
    """The forward derivatives of called functions that one derivative needs, each made once.

    ``complete`` says that tangents that they are given are zero only where something was left out, ``gives_zeros`` that
    this is not so.
    """

    suffix: ClassVar[str] = "jvp"
    keep_derived: bool
    target: Target
    complete: bool = True
    gives_zeros: bool = False
    definitions: dict[Signature, Definition] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)
    unread: list[Function] = field(default_factory=list)
    read: set[Storage] = field(default_factory=set)

    def derive(
        self,
        function: Function,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool = False,
        complete: bool = True,
    ) -> Function:
        unkept: list[Call] = []
        function, found = _without_derived(function, wrt, outputs, self.keep_derived, self.target, is_called, unkept)
        try:
            return self.derived(function, found, wrt, outputs, complete)
        except DifferentiationError:
            if unkept:
                raise why_unkept(unkept[0]) from None
            raise

    def derived(
        self, function: Function, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...], complete: bool
    ) -> Function:
        views = (*constant_views(function, found.active), *unsure_views(function, found.active))
        problems = [*found.problems, *self.not_forward(function, found), *views, *divergent_messages(function, wrt)]
        if problems:
            raise DifferentiationError(problems)
        _carry_zeros(function, found)
        self.unread.append(function)
        return self.walked(function, found, wrt, outputs, complete)

    def not_forward(self, function: Function, found: Dependence) -> list[Diagnostic]:
        """What has no derivative in this mode."""
        return without_forward(found, function)

    def walked(
        self, function: Function, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...], complete: bool
    ) -> Function:
        return Forward(self, found, wrt, outputs).function(function, complete=complete)

    def gives_computed_zeros(self, call: Call) -> None:
        """Takes down that a function is given tangents that may be zero by chance."""
        self.gives_zeros |= isinstance(call.callee, Definition)

    def layouts_read(self) -> set[Storage]:
        """The memory of which the layout decides what is written, in all functions that are met."""
        while self.unread:
            self.read |= layouts_read(self.unread.pop())
        return self.read

    def definition(self, callee: Definition | Function, wrt: tuple[int, ...], outputs: tuple[int, ...]) -> Definition:
        key = (id(callee), wrt, outputs)
        known = self.definitions.get(key)
        if known is None:
            self.keep.append(callee)
            known = self.definitions[key] = Definition(
                f"{callee.name}_{self.suffix}", None, getattr(callee, "checkpoints", None)
            )
            function = callee.function if isinstance(callee, Definition) else callee
            assert function is not None
            known.function = self.derive(function, wrt, outputs, is_called=True, complete=self.complete)
        return known


def _without_derived(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    keep: bool,
    target: Target,
    is_called: bool,
    unkept: list[Call],
) -> tuple[Function, Dependence]:
    """Writes out the reverse derivatives through which a tangent flows; gives the activity of what results.

    Those that run parts of their function again are added to ``unkept``: tangents flow through few of them.
    """
    if keep or _keeps_named(function):
        function = without_writes(function)
    found = Dependence(function, wrt, outputs, is_called=is_called)
    while any(_must_be_written_out(statement, found, keep) for statement in statements_in(function.body)):
        renamed: dict[Var, Atom] = {}
        unkept += [
            statement
            for statement in statements_in(function.body)
            if isinstance(statement, Call)
            and _must_be_written_out(statement, found, keep)
            and runs_again(statement.callee.function)
        ]
        body = _written_out(function.body, found, renamed, keep, target)
        settled = {var: _settled(var, renamed) for var in renamed}
        function = Function(function.name, function.params, substitute(body, settled), function.doc)
        found = Dependence(function, wrt, outputs, is_called=is_called)
    return function, found


def _keeps_named(function: Function) -> bool:
    """Whether a function calls reverse derivatives that are kept by name, whoever asks."""
    calls = (statement for statement in statements_in(function.body) if isinstance(statement, Call))
    derived = (call.callee.function for call in calls if isinstance(call.callee, Derived))
    return any(applies(each) or runs_again(each) for each in derived)


def _carry_zeros(function: Function, found: Dependence) -> None:
    """Gives a tangent to what becomes part of something active, but cannot be asked for its zero on every path."""
    undefined = may_be_undefined(function.body)
    flows = [
        (source, target)
        for statement in (statements_in(function.body) if undefined else ())
        for source, target in joins(statement)
        if isinstance(source, Var) and source in undefined
    ]
    before = -1
    while before != len(found.active_nodes):
        before = len(found.active_nodes)
        found.active_nodes.update(source for source, target in flows if found.active(target))


def _must_be_written_out(statement: Statement, found: Dependence, keep: bool) -> bool:
    if not isinstance(statement, Call) or not isinstance(statement.callee, Derived):
        return False
    is_active = any(map(found.active, (*statement.args, *statement.targets)))
    keep = keep or applies(statement.callee.function) or runs_again(statement.callee.function)
    return is_active and not (keep and can_be_kept(statement, found))


def _written_out(block: Block, found: Dependence, renamed: dict[Var, Atom], keep: bool, target: Target) -> Block:
    builder = Builder(type_of_call)
    for statement in block.statements:
        if _must_be_written_out(statement, found, keep):
            assert isinstance(statement, Call)
            results = inline(builder, _reversed(statement.callee, target), statement.args)
            renamed.update(zip(statement.targets, results, strict=False))
        else:
            builder.emit(map_blocks(statement, lambda inner: _written_out(inner, found, renamed, keep, target)))
    end = block.terminator
    if isinstance(end, Branch):
        then, orelse = (_written_out(inner, found, renamed, keep, target) for inner in (end.then, end.orelse))
        end = Branch(end.cond, then, orelse, end.span)
    return builder.block(end)


def _reversed(derived: Derived, target: Target) -> Function:
    from adjoint.differentiation.reverse.prepare import written_out  # lazy

    function: Function = written_out(derived, target)
    return function


def _settled(atom: Atom, renamed: dict[Var, Atom]) -> Atom:
    while isinstance(atom, Var) and atom in renamed:
        atom = renamed[atom]
    return atom


def _is_of(function: Function) -> Callable[[Var], bool]:
    """Whether a variable is one of a function's own; they are collected when one is asked for."""
    bound: set[Var] = set()

    def found(var: Var) -> bool:
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
        self.dots: dict[Var, Atom] = {}
        self.rules = TangentRules(found, self.types, self.dots, session.layouts_read)
        self.besides: tuple[Atom, ...] = ()
        """What the derivative of a function is given behind the tangents."""

    def function(self, function: Function, *, complete: bool) -> Function:
        params, body = self.derived(function)
        primal = _is_of(function)
        body = keep_supports(
            body,
            params,
            self.rules.supports.found,
            {dot for dot in self.dots.values() if isinstance(dot, Var)},
            complete=complete,
            primal=primal,
            passive=lambda var: primal(var) and not self.found.active(var),
            calls=self.session.gives_computed_zeros,
        )
        return Function(f"{function.name}_jvp", (*function.params, *params), body, function.doc)

    def derived(self, function: Function) -> tuple[list[Var], Block]:
        """The parameters that are tangents, and the body."""
        params = []
        for index in self.wrt:
            param = function.params[index]
            dot = self.new_dot(param)
            params.append(dot)
            if self.found.active(param):
                self.dots[param] = dot
        builder = Builder(type_of_call)
        for index, param in enumerate(function.params):
            if index not in self.wrt and self.found.active(param):
                self.dots[param] = self.rules.fresh_shadow(builder, param)
        return params, self.block(function.body, builder, self.leave_function)

    def new_dot(self, var: Var) -> Var:
        return Var(f"{var.hint}_dot", self.types.of(var.type), var.named)

    def bind(self, var: Var) -> Var:
        """A new tangent variable for a value that a construct binds."""
        dot = self.new_dot(var)
        self.dots[var] = dot
        return dot

    def dot_or_zero(self, value: Atom, slot: Type | None, builder: Builder) -> Atom:
        return self.rules.dot_or_zero(builder, value, slot)

    # Blocks and how they end

    def block(self, block: Block, builder: Builder, leaf: Leaf) -> Block:
        for statement in block.statements:
            builder.span = statement.span
            self.statement(statement, builder)
        end = block.terminator
        if isinstance(end, Branch):
            then = self.block(end.then, builder.nested(), leaf)
            orelse = self.block(end.orelse, builder.nested(), leaf)
            return builder.block(Branch(end.cond, then, orelse, end.span))
        return builder.block(leaf(end, builder))

    def leave_function(self, end: Terminator, builder: Builder) -> Terminator:
        if not isinstance(end, Return):
            return end
        dots = []
        for index in self.outputs:
            value = end.values[index]
            type_ = type_of_atom(value)
            dots.append(self.dot_or_zero(value, type_, builder))
        return Return((*end.values, *dots), end.span)

    def yielding(self, targets: tuple[Var, ...], slots: list[int]) -> Leaf:
        def leaf(end: Terminator, builder: Builder) -> Terminator:
            if not isinstance(end, Yield):
                return end
            dots = [self.dot_or_zero(end.values[slot], targets[slot].type, builder) for slot in slots]
            return Yield((*end.values, *dots))

        return leaf

    # Statements

    def statement(self, statement: Statement, builder: Builder) -> None:
        match statement:
            case Call(callee=callee) if isinstance(callee, (Definition, Function)):
                self.call_function(statement, builder)
            case Call(callee=Derived()) if any(map(self.found.active, statement.targets)):
                call_derived(builder, statement, self.rules, self.bind, self.session.derive)
                for target in statement.targets:
                    self.rules.laid_out(builder, target)
            case Call(callee=Declared()):
                from adjoint.differentiation.forward.custom_derivatives import forward_declared  # lazy

                forward_declared(builder, statement, self.rules, self.bind)
            case Call(callee=Applied()):
                forward_applied(builder, statement, self.rules, self.bind)
            case Call():
                self.rules.call(builder, statement)
            case Load():
                builder.emit(statement)
                self.load(statement, builder)
            case Store():
                builder.emit(statement)
                self.store(statement, builder)
            case If():
                self.if_(statement, builder)
            case Loop():
                self.loop(statement, builder)
            case Guarded():
                self.guarded(statement, builder)

    def load(self, load: Load, builder: Builder) -> None:
        target, base = load.target, self.dots.get(load.base) if isinstance(load.base, Var) else None
        if not self.found.active(target):
            return
        if base is None:
            self.dots[target] = self.rules.fresh_shadow(builder, target)
        elif may_be_whole(target.type) and not isinstance(type_of_atom(load.base), Array):
            slot = builder.load(base, load.key, self.types.of(target.type), f"{target.hint}_dot")
            builder.emit(Call((self.bind(target),), shadow_or_zeros, (slot, target), (), load.span))
        else:
            builder.emit(Load(self.bind(target), base, load.key, load.span))
            self.lay_out_gathered(load, builder)

    def lay_out_gathered(self, load: Load, builder: Builder) -> None:
        if is_gathered(load):
            self.rules.laid_out(builder, load.target)

    def store(self, store: Store, builder: Builder) -> None:
        base = self.dots.get(store.base) if isinstance(store.base, Var) else None
        if base is None or not self.found.active_slot(store.base, store.key):
            return
        if store.mode != "set" and not self.found.active(store.value):
            return
        if isinstance(type_of_atom(store.base), Array):
            value = self.dots.get(store.value, Const(0.0)) if isinstance(store.value, Var) else Const(0.0)
        else:
            slot = self.found.content(store.base, store.key)
            value = self.dot_or_zero(store.value, slot, builder)
        builder.emit(Store(base, store.key, value, store.mode, store.span))

    def if_(self, statement: If, builder: Builder) -> None:
        slots = [slot for slot, target in enumerate(statement.targets) if self.found.active(target)]
        leaf = self.yielding(statement.targets, slots)
        then = self.block(statement.then, builder.nested(), leaf)
        orelse = self.block(statement.orelse, builder.nested(), leaf)
        dots = [self.bind(statement.targets[slot]) for slot in slots]
        builder.emit(If(statement.cond, then, orelse, (*statement.targets, *dots), statement.span))

    def guarded(self, statement: Guarded, builder: Builder) -> None:
        slots = [slot for slot, target in enumerate(statement.targets) if self.found.active(target)]
        leaf = self.yielding(statement.targets, slots)
        body = self.block(statement.body, builder.nested(), leaf)
        handlers = tuple(
            Handler(handler.exception, handler.name, self.block(handler.body, builder.nested(), leaf))
            for handler in statement.handlers
        )
        final = None if statement.final is None else self.block(statement.final, builder.nested(), lambda end, _: end)
        targets = (*statement.targets, *(self.bind(statement.targets[slot]) for slot in slots))
        builder.emit(Guarded(statement.context, statement.name, body, handlers, final, targets, statement.span))

    def loop(self, loop: Loop, builder: Builder) -> None:
        count = len(loop.params)
        active = [slot for slot, target in enumerate(loop.targets) if self.found.active(target)]
        carried = [slot for slot in range(count) if slot in active or self.found.active(loop.params[slot])]
        extra = [slot for slot in active if slot >= count]
        inits = [self.dot_or_zero(loop.inits[slot], loop.params[slot].type, builder) for slot in carried]
        params = [self.bind(loop.params[slot]) for slot in carried]

        def leaf(end: Terminator, inner: Builder) -> Terminator:
            if isinstance(end, Continue):
                dots = [self.dot_or_zero(end.values[slot], loop.params[slot].type, inner) for slot in carried]
                return Continue((*end.values, *dots))
            if isinstance(end, Exit):
                firsts = [self.dot_or_zero(end.values[slot], loop.targets[slot].type, inner) for slot in carried]
                others = [self.dot_or_zero(end.values[slot], loop.targets[slot].type, inner) for slot in extra]
                return Exit(end.kind, (*end.values[:count], *firsts, *end.values[count:], *others))
            return end

        body = self.block(loop.body, builder.nested(), leaf)
        firsts = [self.bind(loop.targets[slot]) for slot in carried]
        others = [self.bind(loop.targets[slot]) for slot in extra]
        targets = (*loop.targets[:count], *firsts, *loop.targets[count:], *others)
        builder.emit(
            Loop(
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

    def call_function(self, call: Call, builder: Builder) -> None:
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
        builder.emit(
            Call((*call.targets, *bound), definition, (*call.args, *dots, *self.besides), call.kwargs, call.span)
        )

    def handed_over(self, call: Call, place: int, builder: Builder) -> Atom:
        """The tangent of an argument: a copy where memory that is written later counts as numbers in the function."""
        arg = call.args[place]
        dot = self.dot_or_zero(arg, type_of_atom(arg), builder)
        function = call.callee.function if isinstance(call.callee, Definition) else call.callee
        assert function is not None
        param = function.params[place].type
        if not isinstance(param, Array) or has_slots(param) or not has_slots(type_of_atom(arg)):
            return dot
        return typed(builder, np.copy, (dot,), self.types.of(param), dot.hint if isinstance(dot, Var) else "t_dot")


__all__ = ["forward"]
