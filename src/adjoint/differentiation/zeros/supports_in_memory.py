"""Supports of cotangents (in forward mode, of tangents) that went through memory, loops and branches.

A cotangent that was read from memory, carried by a loop or handed out by a branch counts as its own support
(``supports``), though a zero there may be one that was merely computed. Where that may be, and a product with a slope
that may be infinite asks, the support is kept beside the cotangent: what makes, moves or adds up the one is done with
the other, too. Such a support is a number that is not zero, and not negative, where the cotangent was not left out.

Nothing is kept that nobody asks for: the question goes back from the products, along what may be zero by chance.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.differentiation.zeros.called_supports import ASKING, Callees, Carried, Supported
from adjoint.differentiation.zeros.support_flow import (
    SupportFlow,
    is_called,
    is_container,
    is_reference,
    tells,
    variables_in,
)
from adjoint.differentiation.zeros.supports import is_moving, of_same_rank, ones_where
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import choose, divide, product, quotient, selected, somewhere, times
from adjoint.runtime.array_functions.arrays import spread, unbroadcast

PRESENT = ir.Const(1.0)
"""The support of a cotangent of which it is not known whether anything was left out."""
_BOTH_PARTS = ir.Const(1 + 1j)
_STRONG = {times: product, divide: quotient}
_SUMS = (operator.add, operator.sub, np.add, np.subtract)
_SIGNS = (operator.neg, operator.pos, np.negative, np.positive)
_PRODUCTS = (operator.mul, operator.truediv, np.multiply, times, divide, product, quotient)
_LINEAR = (np.sum, np.mean, np.copy, np.ravel, unbroadcast, np.concatenate, np.stack)
_DISPLAYS = (display.make_list, display.make_tuple, display.make_dict)


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
    keeper = _Keeper(flow, passive)
    given = tuple(map(keeper.new, carried or ()))
    block = keeper.function(block, seeds, 0 if carried is None else results)
    return Supported(block, given, keeper.lost)


def _is_of_interest(call: ir.Call) -> bool:
    return is_called(call) or call.callee in ASKING


def _is_array(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array | ir.Number)


def _is_of_integers(atom: ir.Atom) -> bool:
    dtype = atom.type.dtype if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array) else None
    return dtype is not None and dtype.kind in "iub"


def _is_complex(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    if isinstance(type_, ir.Array):
        return type_.dtype is not None and type_.dtype.kind == "c"
    return isinstance(type_, ir.Scalar) and type_.kind == "complex"


class _Keeper:
    """Writes a block with the supports that are needed."""

    def __init__(self, flow: SupportFlow, passive: Callable[[ir.Var], bool]) -> None:
        self.flow = flow
        self.passive = passive
        self.supports: dict[ir.Var, ir.Atom] = dict.fromkeys(flow.unknown, PRESENT)
        self.present: set[ir.Var] = set()
        """Supports of which nothing is zero."""
        self.lost = False
        """Whether the support of memory that is handed on or out is not known."""
        self.memory: dict[ir.Storage, ir.Storage] = {}

    # Names

    def new(self, var: ir.Var) -> ir.Var:
        """The variable of a support, in memory of its own."""
        support = ir.Var("support", ir.relocated(var.type, self.home))
        self.supports[var] = support
        return support

    def home(self, storage: ir.Storage) -> ir.Storage:
        return self.memory.setdefault(storage, ir.Storage(written=storage.written))

    def keeps(self, var: ir.Atom) -> bool:
        return isinstance(var, ir.Var) and var in self.flow.needed and var not in self.flow.unknown

    def is_unknown(self, var: ir.Var) -> bool:
        """Whether nothing is known of what was left out, as of what comes out of a tuple that a function has kept."""
        return var in self.flow.unknown or self.supports.get(var) == PRESENT

    def of(self, atom: ir.Atom, builder: Builder) -> ir.Atom:
        """The support of a value at this place."""
        if isinstance(atom, ir.Const):
            return ir.Const(abs(atom.value)) if type(atom.value) in (int, float, complex) else atom
        if not isinstance(atom, ir.Var):
            return atom
        if atom in self.supports:
            return self.supports[atom]
        is_value = isinstance(
            atom.type, (ir.Scalar, ir.Array, ir.Number)
        )  # of one that is not linear: zeros of its own
        return builder.call(abs, atom, hint="support") if is_value else atom

    def given(self, arg: ir.Atom, builder: Builder) -> ir.Atom:
        """An argument of the same call for supports; what is not linear is a place, an axis, a shape."""
        return self.of(arg, builder) if isinstance(arg, ir.Var) and arg in self.flow.linear else arg

    def slot(self, arg: ir.Atom, builder: Builder, *, in_memory: bool = True) -> ir.Atom:
        """The same for what is put into memory, or moved: an array has the shape of what it belongs to."""
        moves = arg in self.flow.linear or (in_memory and not _is_of_integers(arg))
        return self.shaped(arg, builder) if moves and _is_array(arg) else self.given(arg, builder)

    def shaped(self, atom: ir.Atom, builder: Builder) -> ir.Atom:
        """The support of a value in the shape of the value, where paths meet or it is put into memory."""
        support = self.of(atom, builder)
        if support == PRESENT and isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array):
            return ones_where(support, atom, builder)
        return support

    # Blocks

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
                    put = self.stored(value, base, builder) if _is_array(base) else self.shaped(value, builder)
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

    # Calls

    def asking(self, statement: ir.Statement) -> ir.Statement:
        """A statement that computes a support: it asks those that are kept. The shape of a value is its own."""
        if isinstance(statement, ir.Call) and statement.callee is np.ones_like:
            return statement
        asked = {
            atom: self.supports[atom]
            for atom in operands(statement)
            if isinstance(atom, ir.Var) and atom in self.flow.asked and atom in self.supports
        }
        return substitute(statement, asked)

    def call(self, call: ir.Call, builder: Builder) -> None:
        carried = self.flow.callees.carried(call) if is_called(call) else None
        if carried is not None:
            self.across(call, carried, builder)
            return
        if tells(call):
            asking = self.asking(call)
            if _is_surely_present(substitute(asking, dict.fromkeys(self.present, PRESENT))):
                self.present.update(call.targets)
            builder.emit(asking)
            return
        if call.callee is selected and call.args[0] in self.present:
            call = ir.Call(call.targets, selected, (PRESENT, *call.args[1:]), (), call.span)
        if not call.targets:
            memory = [arg for arg in variables_in(call.args) if ir.is_handle(arg.type)]
            if any(map(self.keeps, memory)) and not any(map(self.is_unknown, memory)) and not is_called(call):
                args = tuple([self.slot(arg, builder) for arg in call.args])
                builder.emit(ir.Call((), call.callee, args, call.kwargs, call.span))
            builder.emit(call)
            return
        first = call.args[0] if call.args else None
        if call.callee in ASKING and isinstance(first, ir.Var) and first in self.flow.asked:
            self.product(call, first, builder)
        else:
            builder.emit(call)
        (target, *others) = call.targets
        if not others and self.keeps(target):
            self.made(call, target, builder)

    def across(self, call: ir.Call, carried: Carried, builder: Builder) -> None:
        """A call of a function that takes supports and gives some."""
        args = call.args[len(call.args) - carried.args :]
        before, self.lost = self.lost, False
        given = tuple([self.handed(arg, builder) for arg in args])
        if self.lost:
            self.flow.callees.loses_supports(call)
        self.lost = before
        made = tuple(map(self.new, carried.made(call)))
        builder.emit(ir.Call((*call.targets, *made), call.callee, (*call.args, *given), call.kwargs, call.span))

    def handed(self, atom: ir.Atom, builder: Builder) -> ir.Atom:
        """The support of what goes to a function, or comes from it, in its shape; of memory, memory."""
        if not isinstance(atom, ir.Var) or not (is_reference(atom) or is_container(atom)):
            return self.shaped(atom, builder)
        support = self.supports.get(atom, PRESENT)
        if support != PRESENT and is_reference(atom):
            return support
        if isinstance(atom.type, ir.Array):
            return builder.call(np.ones_like, atom, hint="support")
        self.lost = True
        return PRESENT

    def product(self, call: ir.Call, cotangent: ir.Var, builder: Builder) -> None:
        """A product that asks: not a number where a zero that was computed meets an infinite slope."""
        support, (target,) = self.supports[cotangent], call.targets
        if call.callee is selected:
            builder.emit(ir.Call((target,), selected, (support, *call.args[1:]), (), call.span))
            return
        value = target if support == PRESENT else ir.Var(target.hint, target.type)
        builder.emit(ir.Call((value,), _STRONG[call.callee], call.args, call.kwargs, call.span))
        if value is not target:
            builder.emit(ir.Call((target,), selected, (support, value), (), call.span))

    def made(self, call: ir.Call, target: ir.Var, builder: Builder) -> None:
        """The support of what a call makes."""
        given = [arg for arg in operands(call) if isinstance(arg, ir.Var) and arg in self.flow.linear]
        if any(self.is_unknown(arg) and is_container(arg) for arg in given):
            self.supports[target] = PRESENT
            return
        callee = call.callee
        is_arithmetic = _is_array(target) and (callee in _SUMS or callee in _SIGNS or callee in _PRODUCTS)
        in_memory = ir.is_handle(target.type) and not is_arithmetic
        if not given or in_memory or any(is_reference(arg) and is_container(arg) for arg in given):
            self.again(call, target, builder)
            return
        self.combined(call, target, given, builder)
        made = self.supports[target]
        if ir.is_handle(target.type) and made != PRESENT:  # in memory of its own: the operands may be written
            self.remember(target, made, builder)

    def remember(self, target: ir.Var, support: ir.Atom, builder: Builder) -> None:
        """Puts a support into memory of its own; of complex numbers both parts, which may be written one by one."""
        if not _is_complex(target):
            builder.emit(ir.Call((self.new(target),), abs, (support,), (), builder.span))
            return
        ones = builder.call(np.ones_like, target, hint="support")
        both = builder.call(operator.mul, ones, _BOTH_PARTS, hint="support")
        builder.emit(ir.Call((self.new(target),), selected, (support, both), (), builder.span))

    def stored(self, value: ir.Atom, base: ir.Atom, builder: Builder) -> ir.Atom:
        """The support of what is stored in an array: of complex numbers both parts."""
        support = self.of(value, builder)
        if not _is_complex(base) or _is_complex(support):
            return support
        return builder.call(operator.mul, support, _BOTH_PARTS, hint="support")

    def magnitude(self, support: ir.Atom, builder: Builder) -> ir.Atom:
        """A support as numbers that are not complex: sums of them do not cancel."""
        return builder.call(abs, support, hint="support") if _is_complex(support) else support

    def combined(self, call: ir.Call, target: ir.Var, given: list[ir.Var], builder: Builder) -> None:
        """The support of a value by those of its operands: of a sum, a product, a choice."""
        callee = call.callee
        if callee in (choose, np.where) and call.args[0] not in given:
            parts = [self.magnitude(self.of(arg, builder), builder) for arg in call.args[1:]]
            chosen = builder.call(callee, call.args[0], *parts, hint="support")
            self.supports[target] = self.fitted(chosen, target, builder) if PRESENT in parts else chosen
            return
        supports = [self.magnitude(self.of(arg, builder), builder) for arg in given]
        if all(support == PRESENT for support in supports):
            self.supports[target] = PRESENT
        elif callee in _SUMS:
            self.supports[target] = self.sum(call, target, builder)
        elif callee in _SIGNS:
            self.supports[target] = supports[0]
        elif callee in _PRODUCTS and len(given) == 1:
            self.supports[target] = self.scaled(call, given[0], supports[0], target, builder)
        elif callee is selected and call.args[1] in given:
            self.supports[target] = self.fitted(self.of(call.args[1], builder), target, builder)
        elif (is_moving(callee) or callee in _LINEAR) and len(given) == 1 and call.args[0] is given[0]:
            self.again(call, target, builder)
        else:
            parts = [
                support if _is_number(support) else builder.call(somewhere, support, hint="support")
                for support in supports
            ]
            self.supports[target] = self.fitted(_united(parts, builder), target, builder)

    def again(self, call: ir.Call, target: ir.Var, builder: Builder) -> None:
        """The same call, for supports."""
        in_memory = call.callee in _DISPLAYS
        args = tuple([self.slot(arg, builder, in_memory=in_memory) for arg in call.args])
        if not ir.is_handle(target.type):
            args = tuple([self.magnitude(arg, builder) if arg not in call.args else arg for arg in args])
        kwargs = tuple([(name, self.given(value, builder)) for name, value in call.kwargs])
        if args == call.args and not effects(call.callee).pure:
            self.supports[target] = PRESENT  # what it does is done once
            return
        stays = ir.is_handle(target.type)
        if not _is_complex(target) or (stays and any(map(_is_complex, args))):
            builder.emit(ir.Call((self.new(target),), call.callee, args, kwargs, call.span))
            return
        (type_,) = builder.type_of_call(call.callee, args, kwargs)  # supports are real, but for those in memory
        made = ir.Var("support", type_)
        builder.emit(ir.Call((made,), call.callee, args, kwargs, call.span))
        self.supports[target] = made
        if stays:
            self.remember(target, made, builder)

    def sum(self, call: ir.Call, target: ir.Var, builder: Builder) -> ir.Atom:
        parts = [self.magnitude(self.of(arg, builder), builder) for arg in call.args]
        if PRESENT in parts:
            return PRESENT
        return builder.call(operator.add, *parts, hint="support")

    def scaled(self, call: ir.Call, given: ir.Var, support: ir.Atom, target: ir.Var, builder: Builder) -> ir.Atom:
        """The support of a product: a factor that does not vary leaves out what it makes zero."""
        (other,) = [arg for arg in call.args if arg is not given] or [given]
        fitted = self.fitted(support, target, builder)
        if isinstance(other, ir.Var) and self.passive(other) and call.callee in (operator.mul, np.multiply, times):
            keeps = builder.call(operator.ne, other, ir.Const(0), hint="support")
            return builder.call(choose, keeps, fitted, ir.Const(0.0), hint="support")
        return fitted

    def fitted(self, support: ir.Atom, target: ir.Var, builder: Builder) -> ir.Atom:
        """A support in the shape of what it belongs to."""
        if isinstance(target.type, ir.Scalar):
            return _number(support, builder) if _is_truth(support) else support
        if of_same_rank(support, target):
            return support
        return ones_where(support, target, builder)


def _is_surely_present(statement: ir.Statement) -> bool:
    """Whether a statement computes a support of which nothing is zero."""
    if not isinstance(statement, ir.Call) or any(ir.is_handle(target.type) for target in statement.targets):
        return False
    if statement.callee is operator.or_:
        return PRESENT in statement.args
    if statement.callee is operator.ne and statement.args[1] != ir.Const(0):
        return False
    return statement.callee in (operator.ne, somewhere, spread) and statement.args[0] == PRESENT


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) or (isinstance(atom, ir.Var) and isinstance(atom.type, ir.Scalar))


def _is_truth(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Scalar) and atom.type.kind == "bool"


def _number(support: ir.Atom, builder: Builder) -> ir.Atom:
    return builder.call(choose, support, ir.Const(1.0), ir.Const(0.0), hint="support")


def _united(parts: list[ir.Atom], builder: Builder) -> ir.Atom:
    """Whether any of several numbers is not zero."""
    if PRESENT in parts:
        return PRESENT
    total: ir.Atom = parts[0]
    if len(parts) > 1:
        total = builder.call(operator.ne, total, ir.Const(0), hint="support")
    for part in parts[1:]:
        other = builder.call(operator.ne, part, ir.Const(0), hint="support")
        total = builder.call(operator.or_, total, other, hint="support")
    return total


__all__ = ["keep_supports"]
