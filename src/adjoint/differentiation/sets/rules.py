"""The sets of one call, from what is known of its callee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, error
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.memory.shadow_types import typed
from adjoint.differentiation.memory.slots import has_slots
from adjoint.differentiation.sets.moves import kind_of
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.rules.kinds import Linear, Rule
from adjoint.runtime.array_functions.arrays import complex_of
from adjoint.runtime.sets import functions
from adjoint.runtime.sets.numbers import union


def unknown(call: Any, label: str) -> DifferentiationError:
    """A refusal: the pattern is not found here."""
    return error("AD0412", call.span, label)


class SetRules(TangentRules):
    """Emits calls with their sets, which stand where tangents stand in forward mode; ``unions`` holds the unions."""

    unions: ir.Var

    def apply(self, builder: Builder, call: ir.Call, rule: Rule, active: list[ir.Var]) -> None:
        kind = kind_of(rule)
        if kind == "any" and _is_conjugate_of_reals(call):
            kind = "move"
        if kind == "move" and (rule.fn not in (complex, complex_of) or not any(map(_is_complex, call.args))):
            super().apply(builder, call, rule, active)
            return
        start = len(builder.statements)
        for target in active:
            result = self.sets(builder, call, rule, kind, target)
            if kind == "sum to":
                pass  # it gives the same memory where the function does
            elif has_slots(target.type) and self.view_base(call, rule) is not None:
                raise unknown(call, f"what {rule.name!r} gives may be a view, and is written")
            self.dots[target] = self.settled(builder, call, rule, target, result, start)

    def written(self, builder: Builder, call: ir.Call, rule: Rule) -> None:
        raise unknown(call, f"{rule.name!r} writes to its arguments")

    def sets(self, builder: Builder, call: ir.Call, rule: Rule, kind: str, target: ir.Var) -> ir.Atom:
        """The sets of a result of a call that computes."""
        args, kwargs = rule.bind(call.args, dict(call.kwargs))
        places = [place for place, arg in enumerate(args) if self.dot(arg) is not None and _counts(rule, place)]
        sets = [self.dots[args[place]] for place in places]
        others = [dot for dot in map(self.dot, kwargs.values()) if dot is not None]
        if others or any(_is_container(arg) for arg in (*args, target) if isinstance(arg, ir.Var)):
            return self.everything(builder, call, target, [*sets, *others])
        if all(_is_real_number(type_of_atom(atom)) for atom in (target, *sets)):
            return self.united(builder, sets)
        if kind == "elementwise":
            return self.made(builder, functions.elementwise, target, sets)
        if kind == "sum to" and places == [0]:
            return self.made(builder, functions.summed_to, target, [*sets, args[0]])
        if kind == "leaf" and places == [0]:
            return self.made(builder, functions.leaf, target, [*sets, *args[1:3]])
        if kind in ("reduction", "scan") and places == [0]:
            made = functions.reduced if kind == "reduction" else functions.scanned
            axis = kwargs.get("axis", args[1] if len(args) > 1 else ir.Const(None))
            return self.made(builder, made, target, [*sets, axis])
        if kind == "product" and len(args) == 2 and not kwargs:
            both = [self.dot(arg) or ir.Const(None) for arg in args]
            return self.made(builder, functions.product, target, [*both, *args])
        if kind in ("arithmetic", "product") and not any(map(_is_complex, (*args, target))):
            given = [self.dot(arg) or arg for arg in args]
            said = [ir.Const(call.callee), ir.Const(tuple(places)), ir.Const(tuple(kwargs))]
            return self.made(builder, functions.moved_and_united, target, [*said, *given, *kwargs.values()])
        return self.everything(builder, call, target, sets)

    def everything(self, builder: Builder, call: ir.Call, target: ir.Var, sets: Sequence[ir.Atom]) -> ir.Atom:
        """The sets of a result of which each part depends on all that varies."""
        if not sets:
            return self.fresh_shadow(builder, target)
        if all(_is_real_number(type_of_atom(atom)) for atom in (target, *sets)):
            return self.united(builder, sets)
        is_flat = isinstance(target.type, ir.Tuple) and not any(map(_holds, target.type.items))
        if not (isinstance(target.type, (ir.Array, ir.Scalar, ir.Number)) or is_flat):
            raise unknown(call, "it gives a structure, of which the parts are not told apart")
        return self.made(builder, functions.everything, target, sets)

    def united(self, builder: Builder, sets: Sequence[ir.Atom]) -> ir.Atom:
        """The union of sets of numbers."""
        found = sets[0]
        for other in sets[1:]:
            if other != found:
                found = typed(builder, union, (self.unions, found, other), type_of_atom(found), "u")  # type: ignore[arg-type]
        return found

    def made(self, builder: Builder, callee: Any, target: ir.Var, args: Sequence[ir.Atom]) -> ir.Var:
        """Emits a call of a function of sets: of an array, also where the value is a number of NumPy's."""
        return typed(builder, callee, (self.unions, target, *args), self.types.of(target.type), f"{target.hint}_sets")

    def added(self, builder: Builder, old: ir.Atom, new: ir.Atom, type_: ir.Type) -> ir.Atom:
        """The sets of what is added in memory."""
        if _is_real_number(type_) and _is_real_number(type_of_atom(new)):
            return typed(builder, union, (self.unions, old, new), type_, "u")
        return typed(builder, functions.added, (self.unions, old, new), type_, "u")


def _counts(rule: Rule, place: int) -> bool:
    """Whether a result depends on an argument, and not only on its shape."""
    return not isinstance(rule, Linear) or rule.is_of_a_user or rule.wrt is None or place in rule.wrt


def _is_container(var: ir.Var) -> bool:
    return not isinstance(var.type, (ir.Array, ir.Scalar, ir.Number)) and _holds(var.type)


def _holds(type_: ir.Type) -> bool:
    return isinstance(type_, (ir.List, ir.Tuple)) or hasattr(type_, "fields") or hasattr(type_, "value")


def _is_real_number(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind != "complex"


def _is_complex(atom: Any) -> bool:
    """Whether a value may be complex."""
    type_ = type_of_atom(atom)
    if isinstance(type_, ir.Scalar):
        return type_.kind == "complex"
    if isinstance(type_, ir.Array):
        return type_.dtype is None or type_.dtype.kind == "c"
    return isinstance(type_, ir.Number)


def _is_conjugate_of_reals(call: ir.Call) -> bool:
    type_ = type_of_atom(call.args[0]) if call.args else None
    is_real = isinstance(type_, ir.Array) and ir.is_float_dtype(type_.dtype) and not _is_complex(call.args[0])
    return is_real and "conj" in getattr(call.callee, "__name__", "")
