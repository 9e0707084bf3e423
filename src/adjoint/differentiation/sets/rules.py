"""The sets of one call, from what is known of its callee."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, error
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.memory.shadow_types import typed
from adjoint.differentiation.memory.slots import has_slots
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.rules.kinds import Bilinear, Elementwise, Linear, Rule
from adjoint.runtime import copies
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import arrays, linalg, places, sequences
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


# What functions do to sets, as far as it is known of them; of all others each result depends on all arguments


_SUMS_OR_CONJUGATES = (
    *(arrays.unbroadcast, sequences.fill_cotangent, sequences.array_leaf, linalg.conjugated, linalg.hermitian),
    *(np.ndarray.conj, np.ndarray.conjugate, np.generic.conj, np.generic.conjugate),
)
"""Of the functions that may give a view, those that do not only that."""
_MOVES = (
    *(np.roll, np.tile, np.repeat, np.copy, np.take, np.take_along_axis, np.triu, np.tril, np.full, np.full_like),
    *(np.array, np.insert, np.fft.fftshift, np.fft.ifftshift, np.concatenate, np.stack, np.vstack, np.hstack),
    *(np.column_stack, np.ndarray.flatten, np.ndarray.astype, np.ndarray.copy, np.ndarray.item),
    *(np.generic.flatten, np.generic.astype, np.generic.copy, np.generic.item, float),
    *(copies.owned, arrays.copy_laid_out_like, arrays.complex_of, arrays.place_diagonal, arrays.place_trace),
    *(places.chosen, places.unchosen, places.from_diagonal, places.to_diagonal),
    *(sequences.concatenate_of, sequences.stack_of, sequences.vstack_of, sequences.hstack_of),
    *(sequences.column_stack_of, sequences.place_part, sequences.place_stacked, sequences.place_leaf),
    *(sequences.array_of, sequences.place_rows, sequences.place_beside, sequences.place_columns),
    *(linalg.hollow, linalg.diagonal_matrix, linalg.diagonal_of, linalg.narrowed),
)
_BY_ITSELF = {arrays.unbroadcast: "sum to", sequences.array_leaf: "leaf"}
_ELEMENTWISE = (numbers.choose, numbers.selected, np.where, np.clip, np.conjugate, arrays.made_finite, numbers.sign)
_REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.nanmax, np.nanmin, np.var, np.std)
_SCANS = (np.cumsum, np.cumprod)
_PRODUCTS = (np.matmul, operator.matmul, np.dot)
_ADD_AND_MULTIPLY = (
    *(arrays.matmul_left, arrays.matmul_right, arrays.dot_left, arrays.dot_right, arrays.prod_others),
    *(arrays.inner_left, arrays.inner_right, arrays.tensordot_left, arrays.tensordot_right, np.einsum),
)


@cache
def kind_of(rule: Rule) -> str:
    """What a function does to sets.

    Returns
    -------
    str
        ``"move"``: with sets for values it gives the sets. ``"elementwise"``, ``"reduction"``, ``"scan"``,
        ``"product"``, ``"sum to"``, ``"leaf"``: as :mod:`adjoint.runtime.sets.functions` says. ``"arithmetic"``: it
        adds and multiplies. ``"any"``: nothing is known.
    """
    fn = rule.fn
    if _is_in(fn, _MOVES) or (isinstance(rule, Linear) and rule.view_of is not None and not rule.is_of_a_user):
        return _BY_ITSELF.get(fn, "any") if _is_in(fn, _SUMS_OR_CONJUGATES) else "move"
    if isinstance(rule, Elementwise) or _is_in(fn, _ELEMENTWISE):
        return "elementwise"
    for kind, members in (("reduction", _REDUCTIONS), ("scan", _SCANS), ("product", _PRODUCTS)):
        if _is_in(fn, members):
            return kind
    is_sum = isinstance(rule, (Linear, Bilinear)) and not rule.is_of_a_user
    return "arithmetic" if is_sum or _is_in(fn, _ADD_AND_MULTIPLY) else "any"


def _is_in(fn: Any, functions: tuple[Any, ...]) -> bool:
    return any(fn is each or (type(fn) is type(each) and fn == each) for each in functions)
