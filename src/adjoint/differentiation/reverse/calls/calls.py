"""Reversing calls: what the rule of the callee says, or the callee's own reverse derivative."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.reverse.calls.derived_calls import reverse_derived
from adjoint.differentiation.reverse.calls.kept_calls import reverse_definition
from adjoint.differentiation.reverse.context import acts_on_memory
from adjoint.differentiation.reverse.cotangents import Scope
from adjoint.differentiation.reverse.memory.overwritten_values import ask_originals, content
from adjoint.differentiation.reverse.region import ReverseIf, Sweep, is_zero
from adjoint.differentiation.rules.ranks import ranks_of
from adjoint.differentiation.zeros.supports import NEVER_ZERO
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, kind_of_numbers, type_of_atom
from adjoint.ir.views import rank_of_part
from adjoint.ir.walk import operands
from adjoint.rules.kinds import Bilinear, Constant, Elementwise, General, Linear, NoDerivative, Rule
from adjoint.rules.registry import rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.arithmetic.numbers import times
from adjoint.runtime.objects import make_object

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.statements import Reverser

DISPLAYS = (display.make_list, display.make_tuple, display.make_dict, make_object)
Spliced = ir.Atom | tuple[Any, ...] | None


def splice(builder: Builder, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Spliced:
    """Writes the body of a rule's function into an open block."""
    from adjoint.differentiation.rules.splice import splice as write  # lazy

    spliced: Spliced = write(builder, fn, args, kwargs)
    return spliced


def reverse_call(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Adds to the cotangents of a call's arguments."""
    if call.callee in DISPLAYS:
        _display(reverser, call, scope)
    elif isinstance(call.callee, ir.Definition):
        reverse_definition(reverser, call, scope)
    elif isinstance(call.callee, ir.Derived):
        reverse_derived(reverser, call, scope)
    elif isinstance(call.callee, ir.Declared):
        from adjoint.differentiation.reverse.calls.custom_derivatives import reverse_declared  # lazy

        reverse_declared(reverser, call, scope)
    elif isinstance(call.callee, ir.Applied):
        from adjoint.differentiation.reverse.calls.function_values import reverse_applied  # lazy

        reverse_applied(reverser, call, scope)
    elif isinstance(call.callee, ir.Function):
        raise AssertionError(f"{call.callee.name} should have been inlined")
    else:
        _ruled(reverser, call, scope)


def _display(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """A container is made: what its first slots hold belongs to what was put into them."""
    (target,) = call.targets
    if not reverser.active(target):
        return
    for key, value in _slots(call):
        if isinstance(value, ir.Var) and reverser.active(value) and not ir.is_handle(value.type):
            slot = reverser.shadows.type_of(value.type)
            held = scope.sweep.load(reverser.shadows.of(target), key, slot, f"{value.hint}_bar")
            reverser.add(scope, value, held)


def _slots(call: ir.Call) -> list[tuple[ir.Key, ir.Atom]]:
    if call.callee is display.make_dict:
        pairs = zip(call.args[::2], call.args[1::2], strict=True)
        return [(ir.Subscript((key,)), value) for key, value in pairs]
    if call.callee is make_object:
        names = call.args[1]
        assert isinstance(names, ir.Const)
        return [(ir.Attribute(name), value) for name, value in zip(names.value, call.args[2:], strict=True)]
    return [(ir.Subscript((ir.Const(place),)), value) for place, value in enumerate(call.args)]


def _ruled(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    rule = rule_for(call.callee)
    lays_out = call.callee in tangents.LAYOUTS
    if lays_out and not reverser.context.activity.varied.has(call.args[0]):
        return  # a fixed direction: nothing depends on what it is laid out like
    if rule is None or rule.writes:
        _opaque(reverser, call, rule)
        return
    if isinstance(rule, (Constant, NoDerivative)):
        return
    if not rule.exchanges and not any(map(reverser.active, call.targets)):
        return
    if rule.view_of is not None and rule.view_of < len(call.args):
        base = call.args[rule.view_of]
        if (
            isinstance(base, ir.Var)
            and ir.is_handle(base.type)
            and all(ir.is_handle(target.type) for target in call.targets)
        ):
            _view(reverser, call, scope, rule)
            return
    _pull(reverser, call, scope, rule)


def _view(reverser: Reverser, call: ir.Call, scope: Scope, rule: Rule) -> None:
    """The shadow of a view is a view of the shadow; nothing is left to do, unless the operation made a copy."""
    if call.targets[0] in reverser.shadows.detached:
        _pull(reverser, call, scope, rule)
        return
    shares = reverser.shadows.sharing.get(call.targets[0])
    if shares is None:
        return
    region = scope.sweep.region
    copied = Scope(Sweep(scope.sweep, region), scope)
    _pull(reverser, call, copied, rule)
    scope.sweep.nodes.append(ReverseIf(shares, Sweep(scope.sweep, region), copied.sweep))


def _pull(reverser: Reverser, call: ir.Call, scope: Scope, rule: Rule) -> None:
    """Adds to the cotangents of the arguments what the rule says."""
    cotangents: list[ir.Atom | None]
    if any(map(_is_container, call.targets)):
        joins = call.callee is operator.add and all(isinstance(arg, ir.Var) for arg in call.args)
        if not (joins or isinstance(rule, Linear)) or not _is_list_of_values(call.targets[0].type):
            reverser.context.problem("AD0303", call.span, "a container that varies is made from others")
            return
        if joins:
            _one_after_the_other(reverser, call, scope)
            return
        cotangents = [reverser.shadows.of(call.targets[0])]
    else:
        cotangents = [reverser.take(scope, target) for target in call.targets]
    if not rule.exchanges and all(cotangent is None or is_zero(cotangent) for cotangent in cotangents):
        return
    args, kwargs = rule.bind(call.args, dict(call.kwargs))
    unsupported = rule.unsupported(len(args), tuple(kwargs))
    if unsupported:
        label = f"its derivative does not cover {', '.join(unsupported)}"
        reverser.context.problem("AD0204", call.span, label, name=rule.name)
        return
    for name, value in kwargs.items():
        if reverser.active(value):
            reverser.context.problem("AD0204", call.span, f"{name} varies", name=rule.name)
    then = tuple([content(reverser, arg, call) for arg in args])
    named = {name: content(reverser, value, call) for name, value in kwargs.items()}
    start = len(scope.sweep.nodes)
    _Pullback(reverser, call, scope, rule, args, then, named).run(cotangents)
    ask_originals(reverser, scope.sweep, start)


def _is_container(target: ir.Var) -> bool:
    return isinstance(target.type, (ir.List, ir.Tuple, ir.Dict, ir.Instance))


def _is_list_of_values(type_: ir.Type | None) -> bool:
    """Whether the shadow of a list of this type holds cotangents, as no part of the list is memory of its own."""
    return (
        isinstance(type_, ir.List)
        and isinstance(type_.element, (ir.Scalar, ir.Array))
        and not ir.is_handle(type_.element)
    )


def _one_after_the_other(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Two lists become one: each has its own part of the shadow."""
    left, right = call.args
    assert isinstance(left, ir.Var) and isinstance(right, ir.Var) and isinstance(call.targets[0].type, ir.List)
    element = call.targets[0].type.element
    sweep, shadow = scope.sweep, reverser.shadows.of(call.targets[0])
    size = ir.Var("n", ir.INT)
    reverser.keep_before(call, size, ir.Call((size,), len, (left,)))
    for part, ends in ((left, (ir.Const(None), size)), (right, (size, ir.Const(None)))):
        if reverser.active(part):
            key = ir.Subscript((ir.Slice(ends[0], ends[1], ir.Const(None)),))
            held = sweep.load(shadow, key, ir.List(element), "t_bar")
            reverser.shadows.add_parts(sweep, reverser.shadows.of(part), part.type, held)


def _opaque(reverser: Reverser, call: ir.Call, rule: Rule | None) -> None:
    """A call of which no derivative is known may not touch anything through which one flows."""
    if not any(map(reverser.context.activity.varied.has, operands(call))):
        return
    name = rule.name if rule is not None else getattr(call.callee, "__name__", repr(call.callee))
    if any(map(reverser.active, call.targets)):
        reverser.context.problem("AD0201", call.span, f"the body of {name!r} is not visible here", name=name)
    elif acts_on_memory(call, reverser.context.activity):
        code = "AD0303" if effects_of(call).known else "AD0201"
        reverser.context.problem(code, call.span, f"{name!r} may write to what varies", name=name)


class _Pullback:
    """One use of a rule in reverse mode."""

    def __init__(
        self,
        reverser: Reverser,
        call: ir.Call,
        scope: Scope,
        rule: Rule,
        args: tuple[ir.Atom, ...],
        then: tuple[ir.Atom, ...],
        kwargs: dict[str, ir.Atom],
    ) -> None:
        self.reverser = reverser
        self.call = call
        self.scope = scope
        self.rule = rule
        self.args = args
        self.then = then
        self.kwargs = kwargs

    def run(self, cotangents: list[ir.Atom | None]) -> None:
        rule = self.rule
        match rule:
            case Elementwise():
                self.elementwise(rule, cotangents[0])
            case Linear(wrt=wrt):
                places = range(len(self.args)) if wrt is None else wrt
                self.spread(self.write((cotangents[0],)), tuple(places))
            case Bilinear() if self.is_square_of_vector(rule):
                one, _ = self.write((self.doubled(cotangents[0]),))  # type: ignore[misc]
                self.spread(one, (0,))
            case Bilinear():
                self.spread(self.write((cotangents[0],)), (0, 1))
            case General():
                y: Any = self.results()
                ct: Any = tuple(map(self.filled, cotangents, self.call.targets))
                self.spread(self.write((ct, y) if rule.results > 1 else (ct[0], y[0])), tuple(range(len(self.args))))
            case _:
                raise AssertionError(f"no reverse for {type(rule).__name__}")

    def is_square_of_vector(self, rule: Bilinear) -> bool:
        """Whether both factors are one vector, so that the product of one cotangent with twice the other is the sum."""
        one, other = self.args[:2]
        is_vector = ir.rank_of(type_of_atom(one)) == 1 and self.reverser.active(one)
        return rule.commutative and is_vector and (one is other or self.view_of(one) == self.view_of(other) is not None)

    def view_of(self, atom: ir.Atom) -> tuple[ir.Atom, ir.Subscript] | None:
        """The array and the index of which an argument is a view."""
        binding = self.reverser.context.regions.bindings.get(atom) if isinstance(atom, ir.Var) else None
        match binding and binding.statement:
            case ir.Load(base=base, key=ir.Subscript() as key) if rank_of_part(base, key):
                return base, key
            case _:
                return None

    def doubled(self, cotangent: ir.Atom | None) -> ir.Atom:
        assert cotangent is not None
        doubled = self.scope.sweep.call(operator.mul, ir.Const(2.0), cotangent, hint="t_bar")
        self.reverser.supports.inherit(doubled, cotangent)
        return doubled

    def results(self) -> tuple[ir.Atom, ...]:
        return tuple(content(self.reverser, target, self.call, result=True) for target in self.call.targets)

    def filled(self, cotangent: ir.Atom | None, target: ir.Var) -> ir.Atom:
        return self.reverser.context.zero(self.scope.sweep, target) if cotangent is None else cotangent

    def form(self) -> Callable[..., Any]:
        ranks = ranks_of(self.call.callee, self.args, self.call.targets[0])
        constants = {place: arg.value for place, arg in enumerate(self.args) if isinstance(arg, ir.Const)}
        form = self.rule.form(ranks, constants)
        assert form is not None
        return form

    def write(self, leading: tuple[Any, ...]) -> Spliced:
        sweep, start = self.scope.sweep, len(self.scope.sweep.statements)
        spliced = splice(sweep, self.form(), (*leading, *self.then), self.kwargs)
        if isinstance(leading[0], ir.Var):
            self.follow(start, leading[0])
        return spliced

    def follow(self, start: int, cotangent: ir.Var) -> None:
        """Has the products that a rule has written tell what was left out from what is zero by chance."""
        varying = {then for arg, then in zip(self.args, self.then, strict=True) if self.reverser.active(arg)}
        varying.update(self.results())
        vanishes = self.call.callee not in NEVER_ZERO
        self.reverser.supports.follow(self.scope.sweep, start, [cotangent], varying.__contains__, vanishes=vanishes)

    def elementwise(self, rule: Elementwise, cotangent: ir.Atom | None) -> None:
        assert cotangent is not None
        places, sweep = tuple(range(len(self.args))), self.scope.sweep
        if rule.scaled is not None:
            start = len(sweep.statements)
            cotangent = self.named(cotangent)
            spliced = splice(sweep, self.form(), (cotangent, *self.then, *self.results()), self.kwargs)
            self.follow(start, cotangent)
            self.spread(spliced, places)
            return
        partials = splice(sweep, self.form(), (*self.then, *self.results()), self.kwargs)
        each = partials if isinstance(partials, tuple) else (partials,)
        self.refuse_unknown(each)
        pairs = [
            (arg, partial)
            for arg, partial in zip(self.args, each, strict=True)
            if self.reverser.active(arg) and partial is not None
        ]
        if len(pairs) == 2 and pairs[0] == pairs[1]:
            self.product(pairs[0][0], self.doubled(cotangent), pairs[0][1])
            return
        for arg, partial in pairs:
            self.product(arg, cotangent, partial)

    def refuse_unknown(self, each: Sequence[Any]) -> None:
        """Takes down the arguments that vary, and of which the rule knows no derivative."""
        if self.rule.is_of_the_runtime or (isinstance(self.rule, Elementwise) and ir.Const(None) in self.args):
            return  # arithmetic with None is an error of its own
        for place, arg in enumerate(self.args):
            if (place >= len(each) or _is_literal(each[place], None)) and self.reverser.active(arg):
                label = f"{self.rule.name_of(place)} varies"
                self.reverser.context.problem("AD0204", self.call.span, label, name=self.rule.name)

    def named(self, cotangent: ir.Atom) -> ir.Var:
        """A cotangent as a variable that can be followed."""
        if isinstance(cotangent, ir.Var):
            return cotangent
        named = self.scope.sweep.call(operator.pos, cotangent, hint="t_bar")
        self.reverser.supports.inherit(named, cotangent)
        return named

    def product(self, arg: ir.Atom, cotangent: ir.Atom, partial: ir.Atom) -> None:
        """Adds a cotangent times a partial derivative."""
        sweep = self.scope.sweep
        if _is_literal(partial, 1):
            self.reverser.add(self.scope, arg, cotangent)
        elif _is_literal(partial, -1):
            self.reverser.add(self.scope, arg, cotangent, negative=True)
        elif not is_zero(partial):
            hint = f"{arg.hint}_bar" if isinstance(arg, ir.Var) else "t_bar"
            multiply = times if self.rule.singular else operator.mul
            named, supports = self.named(cotangent), self.reverser.supports
            if kind_of_numbers(partial) == "bool" and not self.varies(partial):  # a mask leaves out what it makes zero
                mask = (np.where, partial, named, ir.Const(0.0)) if is_array(partial) else (times, partial, named)
                masked = sweep.call(*mask, hint=hint)
                supports.inherit(masked, named)
                self.reverser.add(self.scope, arg, masked)
                return
            product = sweep.call(multiply, named, partial, hint=hint)
            call = sweep.nodes.pop()
            assert isinstance(call, ir.Call)
            vanishes = self.call.callee not in NEVER_ZERO
            supports.product(sweep, call, named, partial, self.varies, vanishes=vanishes)
            self.reverser.add(self.scope, arg, product)

    def varies(self, partial: ir.Atom) -> bool:
        """Whether a partial derivative varies: an argument itself, or what is computed from all of them."""
        if isinstance(partial, ir.Const):
            return False
        if partial in self.then:
            return self.reverser.active(self.args[self.then.index(partial)])
        return any(map(self.reverser.active, self.args))

    def spread(self, cotangents: Spliced, places: tuple[int, ...]) -> None:
        """Adds the cotangents that a rule gave for the arguments at these places."""
        each = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        if isinstance(self.rule, (Elementwise, General)):
            self.refuse_unknown(each)
        elif any(place < len(self.args) and self.reverser.active(self.args[place]) for place in places[len(each) :]):
            raise AssertionError(
                f"the rule of {self.rule.name} gives {len(each)} cotangents for {len(places)} arguments"
            )
        for place, cotangent in zip(places, each, strict=False):
            if place < len(self.args) and not _is_literal(cotangent, None):
                if isinstance(cotangent, tuple) and isinstance(type_of_atom(self.args[place]), (ir.List, ir.Tuple)):
                    cotangent = self.scope.sweep.call(display.make_list, *cotangent, hint="t_bar")
                if isinstance(cotangent, tuple):
                    self.reverser.context.problem("AD0204", self.call.span, "a sequence varies", name=self.rule.name)
                    continue
                shaped = not isinstance(self.rule, Elementwise)
                self.reverser.add(self.scope, self.args[place], cotangent, shaped=shaped)


def _is_literal(atom: object, value: object) -> bool:
    if value is None:
        return atom is None or (isinstance(atom, ir.Const) and atom.value is None)
    return isinstance(atom, ir.Const) and isinstance(atom.value, (int, float)) and atom.value == value
