"""Supports of what calls make: of sums, of products, of what is moved, of what other functions give."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.differentiation.zeros.called_supports import ASKING, Carried
from adjoint.differentiation.zeros.support_flow import (
    SupportFlow,
    asked_by,
    is_called,
    is_container,
    is_reference,
    tells,
    variables_in,
)
from adjoint.differentiation.zeros.supports import (
    TOGETHER,
    is_moving,
    is_product_of_arrays,
    of_same_rank,
    ones_where,
    product_with_ones,
)
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands
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


class CallSupports:
    """Writes calls with the supports that are needed."""

    def __init__(self, flow: SupportFlow, passive: Callable[[ir.Var], bool], *, by_element: bool) -> None:
        self.flow = flow
        self.by_element = by_element
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
        return self.shaped(arg, builder) if moves and is_array_or_number(arg) else self.given(arg, builder)

    def shaped(self, atom: ir.Atom, builder: Builder) -> ir.Atom:
        """The support of a value in the shape of the value, where paths meet or it is put into memory."""
        support = self.of(atom, builder)
        if support == PRESENT and isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array):
            return ones_where(support, atom, builder)
        return support

    # Calls

    def asking(self, statement: ir.Statement) -> ir.Statement:
        """A statement that computes a support: it asks those that are kept. The shape of a value is its own."""
        if isinstance(statement, ir.Call) and statement.callee is np.ones_like:
            return statement
        asked = {
            atom: self.supports[atom]
            for atom in asked_by(statement)
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
        computes = callee in _SUMS or callee in _SIGNS or callee in _PRODUCTS or self.is_product(callee)
        is_arithmetic = is_array_or_number(target) and computes
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

    def is_product(self, callee: object) -> bool:
        return self.by_element and is_product_of_arrays(callee)

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
        elif callee in TOGETHER or (
            (is_moving(callee) or callee in _LINEAR) and len(given) == 1 and call.args[0] is given[0]
        ):
            self.again(call, target, builder)
        elif self.is_product(callee) and len(given) == 1 and call.args.count(given[0]) == 1:
            shaped = self.magnitude(self.shaped(given[0], builder), builder)
            place = call.args.index(given[0])
            self.supports[target] = product_with_ones(builder, call, call.args, call.kwargs, place, shaped)
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


def is_array_or_number(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array | ir.Number)


def _is_of_integers(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array) and ir.is_whole_dtype(atom.type.dtype)


def _is_complex(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    if isinstance(type_, ir.Array):
        return type_.dtype is not None and type_.dtype.kind == "c"
    return isinstance(type_, ir.Scalar) and type_.kind == "complex"


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
