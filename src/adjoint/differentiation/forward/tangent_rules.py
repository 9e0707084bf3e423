"""The tangent of one call, from the rule of its callee."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.diagnostic import diagnostic
from adjoint.differentiation.forward.linear_calls import called
from adjoint.differentiation.forward.type_facts import (
    is_complex,
    may_be_complex,
    may_enlarge,
    place_of_number,
    same_kind,
)
from adjoint.differentiation.memory.shadow_types import ShadowTypes, typed, zero_for
from adjoint.differentiation.memory.slots import has_slots, is_container
from adjoint.differentiation.memory.structural import (
    counts_as_float,
    is_object_display,
    object_display,
    roles_of,
    shadow_callee,
)
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.reverse.memory.gathers import REORDERED
from adjoint.differentiation.rules.ranks import ranks_of
from adjoint.differentiation.rules.splice import splice
from adjoint.differentiation.zeros.supports import NEVER_ZERO, Supports
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import rebuild
from adjoint.ir.walk import operands
from adjoint.rules.kinds import Bilinear, Constant, Elementwise, General, Linear, NoDerivative, Rule
from adjoint.rules.registry import rule_for
from adjoint.runtime import display
from adjoint.runtime.arithmetic.numbers import times
from adjoint.runtime.array_functions.arrays import match, zeros_like
from adjoint.runtime.tangents import follow_view, shadow_like, shadow_of_values, shadow_or_zeros
from adjoint.types import shadow_class

_ALWAYS_VIEWS = (*REORDERED, np.broadcast_to, np.real, np.imag, shadow_or_zeros)


class TangentRules:
    """Emits calls with their tangents; ``dots`` has the tangent or shadow of each active variable."""

    def __init__(
        self,
        found: Dependence,
        types: ShadowTypes,
        dots: dict[ir.Var, ir.Atom],
        read: Callable[[], Container[ir.Storage]],
    ) -> None:
        self.found = found
        self.layouts_read = read
        self.types = types
        self.dots = dots
        self.supports = Supports(by_element=True)

    def dot(self, atom: ir.Atom) -> ir.Atom | None:
        return self.dots.get(atom) if isinstance(atom, ir.Var) else None

    def dot_or_zero(self, builder: Builder, value: ir.Atom, slot: ir.Type | None) -> ir.Atom:
        """The tangent of a value, or zero, for a place for values of the type ``slot``."""
        if isinstance(value, ir.Undefined):
            return ir.UNDEFINED
        dot = self.dot(value)
        return zero_for(builder, value, slot, self.types) if dot is None else dot

    def dot_of_operand(self, builder: Builder, value: ir.Atom, slot: ir.Type | None) -> ir.Atom:
        """The same beside numbers: of what nobody looked at, and which may be whole numbers, zeros of its shape."""
        dot = self.dot_or_zero(builder, value, slot)
        if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Opaque) or self.dot(value) is not None:
            return dot
        return typed(builder, shadow_or_zeros, (dot, value), self.types.of(value.type), "zero")

    def fresh_shadow(self, builder: Builder, var: ir.Var, maker: object = None) -> ir.Atom:
        """A zero shadow beside memory that a call has just made; a zero tangent beside a value."""
        if not has_slots(var.type):
            return zero_for(builder, var, var.type, self.types)
        own: Any = shadow_of_values if maker is shadow_of_values else shadow_like
        if isinstance(var.type, ir.Array):
            own = np.zeros_like if ir.is_float_dtype(var.type.dtype) else zeros_like
        return typed(builder, own, (var,), self.types.of(var.type), f"{var.hint}_dot")

    def call(self, builder: Builder, call: ir.Call) -> None:
        """Emits a call and what makes the tangents of its results."""
        builder.emit(call)
        active = [target for target in call.targets if self.found.active(target)]
        roles = roles_of(call, is_container)
        if roles is not None:
            self.structural(builder, call, roles)
            return
        args = (*call.args, *(value for _, value in call.kwargs))
        rule = rule_for(call.callee)
        if call.callee is follow_view and self.dot(call.args[0]) is not None:
            self.follow(builder, call)
        elif rule is not None and rule.exchanges and not isinstance(rule, NoDerivative):
            self.apply(builder, call, rule, active)
        elif rule is None or isinstance(rule, (Constant, NoDerivative)) or all(self.dot(arg) is None for arg in args):
            for target in active:
                self.dots[target] = self.fresh_shadow(builder, target, call.callee)
        elif active:
            self.apply(builder, call, rule, active)
        elif rule.writes:
            self.written(builder, call, rule)

    # Calls that move things about

    def structural(self, builder: Builder, call: ir.Call, roles: Sequence[str]) -> None:
        target = call.targets[0] if call.targets else None
        holders = [arg for arg, role in zip(call.args, roles, strict=True) if role == "container"]
        holds = any(self.holds(arg) for arg in holders)
        if not holds and not (target is not None and self.found.active(target)):
            return
        callee: Any = shadow_callee(call)
        content = self.content(target if not holders else holders[0])
        args: list[ir.Atom] = []
        for place, (arg, role) in enumerate(zip(call.args, roles, strict=True)):
            if role == "same":
                args.append(arg)
            elif role == "container":
                args.append(self.dot_or_zero(builder, arg, type_of_atom(arg)))
            else:
                args.append(self.dot_or_zero(builder, arg, self.item_type(call, place, content)))
        if is_object_display(call.callee):
            args[0] = ir.Const(shadow_class(object_display(call)[0]))
        if target is None or not self.found.active(target):
            builder.emit(ir.Call((), callee, tuple(args), (), call.span))
            return
        self.emit_into(builder, target, callee, tuple(args), call)

    def holds(self, container: ir.Atom) -> bool:
        return self.dot(container) is not None and self.found.active_slot(container, None)

    def content(self, container: ir.Atom | None) -> ir.Type | None:
        return None if container is None else self.found.content(container, None)

    def item_type(self, call: ir.Call, place: int, content: ir.Type | None) -> ir.Type | None:
        """The type of the values in the slot that an argument goes to: of other tuples, a float may be there."""
        target = call.targets[0].type if call.targets else None
        if isinstance(target, ir.Tuple) and len(target.items) == len(call.args):
            item = target.items[place]
            return ir.FLOAT if isinstance(item, ir.Scalar) and not ir.may_vary(item) else item
        if is_object_display(call.callee):
            return self.field_type(call, place)
        return type_of_atom(call.args[place]) if content is None else content

    def field_type(self, call: ir.Call, place: int) -> ir.Type | None:
        """The type of the values in a field of an object: any other of its objects may have a float there."""
        type_ = type_of_atom(call.args[place])
        if place < 2 or ir.may_vary(type_):
            return type_
        if counts_as_float(call, place):
            return ir.FLOAT
        name = object_display(call)[1][place - 2]
        return self.found.content(call.targets[0], ir.Attribute(name)) or type_

    def emit_into(
        self, builder: Builder, target: ir.Var, callee: Any, args: tuple[ir.Atom, ...], call: ir.Call
    ) -> None:
        dot = ir.Var(f"{target.hint}_dot", self.types.of(target.type), target.named)
        builder.emit(ir.Call((dot,), callee, args, (), call.span))
        self.dots[target] = dot

    # Calls that compute

    def apply(self, builder: Builder, call: ir.Call, rule: Rule, active: list[ir.Var]) -> None:
        start = len(builder.statements)
        args, kwargs = rule.bind(call.args, dict(call.kwargs))
        if isinstance(rule, General):
            results = self.general(builder, call, rule, args, kwargs)
        elif isinstance(rule, Elementwise):
            results = [self.elementwise(builder, call.targets[0], rule, args, kwargs)]
        elif isinstance(rule, Linear):
            results = [self.linear(builder, call, rule, args, kwargs)]
        else:
            assert isinstance(rule, Bilinear)
            results = [self.bilinear(builder, call, args, kwargs)]
        for target, result in zip(call.targets, results, strict=True):
            if target in active:
                self.dots[target] = self.settled(builder, call, rule, target, result, start)

    def settled(
        self, builder: Builder, call: ir.Call, rule: Rule, target: ir.Var, result: ir.Atom | None, start: int
    ) -> ir.Atom:
        """The tangent of a result under its name, in memory of its own where it has to be."""
        if result is None:
            return self.fresh_shadow(builder, target, call.callee)
        is_view = has_slots(target.type) and self.view_base(call, rule) is not None
        if (
            isinstance(target.type, (ir.Array, ir.Number))
            and not is_view
            and (self.layout_shows(target) or self.needs_own_memory(builder, call, target, result, start))
        ):
            return self.own(builder, target, result)
        hint, type_ = f"{target.hint}_dot", self.types.of(target.type) if has_slots(target.type) else None
        dot = _renamed(builder, result, hint, type_, target.named, start)
        self.supports.inherit(dot, result)
        if has_slots(target.type) and isinstance(dot, ir.Var):
            self.supports.written(dot)
        if is_view and call.callee not in _ALWAYS_VIEWS:
            return self.followed(builder, call, rule, target, dot)
        return dot

    def view_base(self, call: ir.Call, rule: Rule) -> ir.Var | None:
        """The array that the result of a call may be a view of, if it has a shadow."""
        args, _ = rule.bind(call.args, dict(call.kwargs))
        if rule.view_of is None or rule.view_of >= len(args):
            return None
        base = args[rule.view_of]
        return base if isinstance(base, ir.Var) and has_slots(base.type) and base in self.dots else None

    def followed(self, builder: Builder, call: ir.Call, rule: Rule, target: ir.Var, dot: ir.Atom) -> ir.Atom:
        base = self.view_base(call, rule)
        assert base is not None
        if not isinstance(target.type, ir.Array) or not isinstance(base.type, ir.Array):
            return dot
        args = (dot, self.dots[base], target, base)
        return typed(builder, follow_view, args, self.types.of(target.type), f"{target.hint}_dot")

    def follow(self, builder: Builder, call: ir.Call) -> None:
        """The shadow of a shadow that follows its array."""
        shadow, base, like, like_base = call.args
        dot, base_dot = self.dot(shadow), self.dot_or_zero(builder, base, type_of_atom(base))
        assert dot is not None
        self.emit_into(builder, call.targets[0], follow_view, (dot, base_dot, like, like_base), call)

    def needs_own_memory(self, builder: Builder, call: ir.Call, target: ir.Var, result: ir.Atom, start: int) -> bool:
        """Whether the tangent may lie in memory that is written elsewhere, or later."""
        sources = [arg for arg in (*call.args, *(value for _, value in call.kwargs)) if self.dot(arg) is not None]
        if not has_slots(target.type) and not any(has_slots(type_of_atom(arg)) for arg in sources):
            return False
        return not _is_fresh(builder.statements[start:], result)

    def layout_shows(self, target: ir.Var) -> bool:
        """Whether a shadow has to be laid out as ``target`` is, and a tangent need not be."""
        if not has_slots(target.type) or not isinstance(target.type, ir.Array) or ir.has_one_layout(target.type):
            return False
        return target.type.storage.find() in self.layouts_read()

    def laid_out(self, builder: Builder, target: ir.Var) -> None:
        """Lets a new array's shadow be laid out as the array."""
        if target in self.dots and self.layout_shows(target):
            self.dots[target] = self.own(builder, target, self.dots[target])

    def own(self, builder: Builder, target: ir.Var, result: ir.Atom) -> ir.Atom:
        """Copies a tangent into new memory; memory that is written is laid out as that of ``target``."""
        if not has_slots(target.type):
            copy = np.copy if isinstance(target.type, ir.Array) else operator.pos
            return typed(builder, copy, (result,), self.types.of(target.type), f"{target.hint}_dot")
        new = typed(builder, np.empty_like, (target,), self.types.of(target.type), f"{target.hint}_dot")
        builder.emit(ir.Store(new, ir.WHOLE, result, "set", builder.span))
        return new

    def elementwise(
        self, builder: Builder, y: ir.Var, rule: Elementwise, args: Sequence[ir.Atom], kwargs: dict[str, ir.Atom]
    ) -> ir.Atom | None:
        start = len(builder.statements)
        active = [place for place, arg in enumerate(args) if self.dot(arg) is not None]
        constants = {place: arg.value for place, arg in enumerate(args) if isinstance(arg, ir.Const)}
        form = rule.form(ranks_of(rule.fn, args, y), constants)
        varying = {args[place] for place in active} | {y}
        partials = None if rule.scaled is not None else splice(builder, form, (*args, y), kwargs)
        if partials is not None:
            varying |= _computed_from(varying, builder.statements[start:])
        terms: list[tuple[int, ir.Atom]] = []
        for place in active:
            dot, begin = self.dots[args[place]], len(builder.statements)  # type: ignore[index]
            if partials is None:
                products = splice(builder, form, (dot, *args, y), kwargs)
                terms += _signed(_known(builder, rule, args, place, _part(products, place, len(args))))
            else:
                multiply = times if rule.singular else operator.mul
                partial = _known(builder, rule, args, place, _part(partials, place, len(args)))
                terms += self.scaled(builder, dot, partial, multiply)
            if isinstance(dot, ir.Var):
                vanishes = rule.fn not in NEVER_ZERO
                self.supports.follow(builder, begin, [dot], varying.__contains__, vanishes=vanishes)
        support = self.supports.united(builder, [term for _, term in terms])
        total = _sum(builder, terms)
        if total is None:
            return None
        if support is not None and isinstance(total, ir.Var):
            self.supports.found[total] = support
        arguments = [type_of_atom(args[place]) for place in active]
        becomes_real = not is_complex(y.type) and any(is_complex(type_) for type_ in arguments)
        if rule.fn in (abs, np.absolute):
            becomes_real = becomes_real or any(may_be_complex(type_) for type_ in arguments)
        if becomes_real or self.may_be_smaller(builder, y, args, active, total, start):
            return self.matched(builder, total, y)
        return total

    def scaled(self, builder: Builder, dot: ir.Atom, partial: ir.Atom, multiply: Any) -> list[tuple[int, ir.Atom]]:
        match partial:
            case ir.Const(value=int() | float() as value) if value == 0:
                return []
            case ir.Const(value=int() | float() as value) if value in (1, -1):
                return [(int(value), dot)]
            case _:
                first, second = (dot, partial) if multiply is times else (partial, dot)
                return [(1, builder.call(multiply, first, second, hint="t"))]

    def may_be_smaller(
        self, builder: Builder, y: ir.Var, args: Sequence[ir.Atom], active: list[int], total: ir.Atom, start: int
    ) -> bool:
        """Whether a sum of contributions may lack the shape or dtype of the result: something passive enlarges it."""
        if isinstance(y.type, ir.Scalar) and y.type.dtype is None:
            return False
        if same_kind(type_of_atom(total), y.type):
            return False
        reached = _inputs(builder.statements[start:], total)
        seen = [type_of_atom(args[place]) for place in active]
        seen += [type_of_atom(arg) for arg in args if arg in reached]
        if y in reached:
            return False
        passive = [arg for place, arg in enumerate(args) if place not in active and arg not in reached]
        return any(may_enlarge(type_of_atom(arg), seen) for arg in passive)

    def matched(self, builder: Builder, total: ir.Atom, y: ir.Var) -> ir.Atom:
        if has_slots(y.type):
            return self.own(builder, y, total)
        return typed(builder, match, (total, y), self.types.of(y.type), "t")

    def linear(
        self, builder: Builder, call: ir.Call, rule: Linear, args: Sequence[ir.Atom], kwargs: dict[str, ir.Atom]
    ) -> ir.Atom | None:
        wrt = range(len(args)) if rule.wrt is None else [place for place in rule.wrt if place < len(args)]
        if all(self.dot(args[place]) is None for place in wrt):
            return None
        moved = list(args)
        for place in wrt:
            moved[place] = self.dot_of_operand(builder, args[place], place_of_number(type_of_atom(args[place])))
        support = self.supports.moved(builder, call, wrt, moved)
        dot = called(builder, call.callee, moved, kwargs)
        if support is not None:
            self.supports.found[dot] = support
        return dot

    def bilinear(
        self, builder: Builder, call: ir.Call, args: Sequence[ir.Atom], kwargs: dict[str, ir.Atom]
    ) -> ir.Atom | None:
        terms: list[tuple[int, ir.Atom]] = []
        dots = [self.dot(arg) for arg in args[:2]]
        for place, dot in enumerate(dots):
            if dot is not None:
                moved = (*args[:place], dot, *args[place + 1 :])
                term = called(builder, call.callee, moved, kwargs)
                if None not in dots:  # the other operand varies: its zeros leave nothing out
                    self.supports.found[term] = self.supports.of_product(builder, call, moved, kwargs, place)
                terms.append((1, term))
        support = self.supports.united(builder, [term for _, term in terms])
        total = _sum(builder, terms)
        if support is not None and isinstance(total, ir.Var):
            self.supports.found[total] = support
        return total

    def dot_for_rule(self, builder: Builder, rule: General, arg: ir.Atom) -> ir.Atom:
        """The tangent of an argument for a rule: zeros for arrays of whole numbers, which may be operands."""
        type_ = type_of_atom(arg)
        if ir.may_vary(type_):
            return (self.dot_or_zero if rule.is_of_a_user else self.dot_of_operand)(builder, arg, type_)
        return (
            builder.call(zeros_like, arg) if isinstance(type_, ir.Array) and not rule.is_of_a_user else ir.Const(None)
        )

    def general(
        self, builder: Builder, call: ir.Call, rule: General, args: Sequence[ir.Atom], kwargs: dict[str, ir.Atom]
    ) -> list[ir.Atom | None]:
        dots = tuple([self.dot_for_rule(builder, rule, arg) for arg in args])
        results = call.targets
        unpacked = len(results) == 1 and isinstance(results[0].type, ir.Tuple)
        if unpacked:
            items = results[0].type.items  # type: ignore[attr-defined]
            results = tuple(builder.item(results[0], ir.Const(i), item, "y") for i, item in enumerate(items))
        y = results if len(results) > 1 or unpacked else results[0]
        begin, varying = len(builder.statements), {arg for arg in args if self.dot(arg) is not None}
        found = splice(builder, rule.jvp, (dots, y, *args), kwargs)
        moved = [dot for dot in map(self.dot, args) if isinstance(dot, ir.Var)]
        self.supports.follow(builder, begin, moved, {*varying, *results}.__contains__)
        parts: list[ir.Atom | None] = list(found) if isinstance(found, tuple) else [found]
        parts = [None if isinstance(part, ir.Const) and part.value is None else part for part in parts]
        if not unpacked:
            return parts
        slots = [
            self.dot_or_zero(builder, y, y.type) if part is None else part
            for part, y in zip(parts, results, strict=True)
        ]
        return [typed(builder, display.make_list, tuple(slots), self.types.of(call.targets[0].type), "t")]

    def written(self, builder: Builder, call: ir.Call, rule: Rule) -> None:
        """A call that writes its arguments and is linear in them: the same on shadows."""
        if not isinstance(rule, Linear):
            return
        args, kwargs = rule.bind(call.args, dict(call.kwargs))
        places = {*(range(len(args)) if rule.wrt is None else rule.wrt), *rule.writes}
        moved = [
            self.dot_or_zero(builder, arg, place_of_number(type_of_atom(arg))) if place in places else arg
            for place, arg in enumerate(args)
        ]
        builder.emit(ir.Call((), call.callee, tuple(moved), tuple(kwargs.items()), call.span))


# Sums of signed terms


def _known(builder: Builder, rule: Rule, args: Sequence[ir.Atom], place: int, product: ir.Atom | None) -> ir.Atom:
    """What a rule says of an argument that varies; a refusal where it says nothing.

    Arithmetic with None is an error of its own, which the product with it repeats.
    """
    if product is None or (isinstance(product, ir.Const) and product.value is None and ir.Const(None) not in args):
        label = f"{rule.name_of(place)} varies"
        raise DifferentiationError([diagnostic("AD0204", builder.span, label, name=rule.name)])
    return product


def _signed(atom: ir.Atom) -> list[tuple[int, ir.Atom]]:
    if isinstance(atom, ir.Const):
        return []
    return [(1, atom)]


def _part(parts: ir.Atom | tuple[ir.Atom | None, ...] | None, place: int, count: int) -> ir.Atom | None:
    if isinstance(parts, tuple):
        return parts[place] if place < len(parts) else None
    return parts if count == 1 or place == 0 else None


def _sum(builder: Builder, terms: list[tuple[int, ir.Atom]]) -> ir.Atom | None:
    ordered = sorted(terms, key=lambda term: -term[0])
    if not ordered:
        return None
    sign, total = ordered[0]
    if sign < 0:
        total = builder.call(operator.neg, total)
    for sign, term in ordered[1:]:
        total = builder.call(operator.add if sign > 0 else operator.sub, total, term)
    return total


def _inputs(statements: Sequence[ir.Statement], result: ir.Atom) -> set[ir.Atom]:
    """Everything that a value is computed from by these statements."""
    reached: set[ir.Atom] = {result}
    for statement in reversed(statements):
        if isinstance(statement, ir.Call) and not reached.isdisjoint(statement.targets):
            reached.update(operands(statement))
    return reached


def _computed_from(varying: set[ir.Atom], statements: Sequence[ir.Statement]) -> set[ir.Atom]:
    """What statements compute from values that vary."""
    reached: set[ir.Atom] = set()
    for statement in statements:
        if isinstance(statement, ir.Call) and not (varying | reached).isdisjoint(operands(statement)):
            reached.update(statement.targets)
    return reached


def _is_fresh(statements: Sequence[ir.Statement], result: ir.Atom) -> bool:
    """Whether a value is surely in memory that nothing else refers to."""
    if isinstance(type_of_atom(result), ir.Scalar):
        return True
    for statement in reversed(statements):
        if isinstance(statement, ir.Call) and result in statement.targets:
            found = effects_of(statement)
            return found.known and found.view_of is None and not found.hands_on
    return False


def _renamed(builder: Builder, atom: ir.Atom, hint: str, type_: ir.Type | None, named: bool, start: int) -> ir.Atom:
    """Gives the variable that was bound last its proper name; one with a type of its own, wherever it was bound."""
    if len(builder.statements) <= start or not isinstance(atom, ir.Var):
        return atom
    new = ir.Var(hint, type_ or atom.type, named)
    first = len(builder.statements) - 1 if type_ is None else start
    for place in range(first, len(builder.statements)):
        match builder.statements[place]:
            case ir.Call(targets=(target,), callee=callee, args=args, kwargs=kwargs, span=span) if target is atom:
                builder.statements[place] = ir.Call((new,), callee, args, kwargs, span)
            case ir.Load(target=target, base=base, key=key, span=span) if target is atom:
                builder.statements[place] = ir.Load(new, base, key, span)
            case _:
                continue
        later = builder.statements[place + 1 :]
        builder.statements[place + 1 :] = [rebuild(each, lambda old: new if old is atom else old) for each in later]
        return new
    return atom


__all__ = ["TangentRules"]
