"""Algebra on single calls that changes no bit of any result: no dtype, no shape, no NaN, no signed zero.

``fold`` looks at one call and what bound its arguments, and gives an atom to use instead, another call, or nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.records import replace
from adjoint.runtime.arithmetic.numbers import selected, somewhere
from adjoint.runtime.array_functions.arrays import copy_laid_out_like, unbroadcast
from adjoint.runtime.array_functions.products import adjoint_subscripts, collected_subscripts

Folded = ir.Atom | ir.Call | None


class Facts(Protocol):
    """What is known around a call."""

    def definition(self, atom: ir.Atom) -> ir.Call | None:
        """The call that binds a variable."""
        ...

    def used_once(self, atom: ir.Atom) -> bool:
        """Whether a variable is read in one place only."""
        ...

    def steady(self, atom: ir.Atom) -> bool:
        """Whether a value is the same at any time: nothing writes its memory."""
        ...

    def may_share(self, target: ir.Var, atom: ir.Atom) -> bool:
        """Whether ``target``, a new array, may be the same object as ``atom``."""
        ...

    def returned(self, target: ir.Var) -> bool:
        """Whether a value is a result, or part of one: then it shows which object it is."""
        ...

    def layout_shows(self) -> bool:
        """Whether it makes a difference how arrays are laid out."""
        ...


def fold(call: ir.Call, facts: Facts) -> Folded:
    """What to use, or to call, instead of a call that binds one variable."""
    if call.kwargs or len(call.targets) != 1:
        return None
    rule = _RULES.get(id(call.callee))
    if rule is None:
        return None
    for arg in call.args:
        if type(arg) is not ir.Const:
            return rule(call, facts)
    return _evaluate(call)


# Constants

_PLAIN = (bool, int, float)
_LARGEST_SHIFT = 64
_OF_SUBSCRIPTS = (adjoint_subscripts, collected_subscripts)
"""Functions of subscripts of sums of products, and of ranks."""


def _evaluate(call: ir.Call) -> ir.Const | None:
    """The value of a call of plain numbers, where it has one that can be written as a literal."""
    values: list[Any] = [arg.value for arg in call.args if isinstance(arg, ir.Const)]
    if call.callee in _OF_SUBSCRIPTS:
        return ir.Const(call.callee(*values))
    if not all(type(value) in _PLAIN for value in values):
        return None
    if call.callee in (operator.pow, operator.lshift) and not _is_small_power(values):
        return None
    try:
        value = call.callee(*values)
    except (ArithmeticError, TypeError, ValueError):
        return None
    if type(value) not in _PLAIN or not math.isfinite(value):
        return None
    return ir.Const(value)


def _is_small_power(values: list[Any]) -> bool:
    return len(values) == 2 and abs(values[1]) <= _LARGEST_SHIFT and abs(values[0]) <= 2**31


# Types


def _is_float(type_: ir.Type | None) -> bool:
    match type_:
        case ir.Scalar(kind=kind):
            return kind == "float"
        case ir.Array(dtype=dtype):
            return dtype is not None and dtype.kind == "f"
        case _:
            return False


def _is_int(type_: ir.Type | None) -> bool:
    return type_ == ir.INT


def _is_literal(atom: ir.Atom, value: float) -> bool:
    """Whether an atom is this number, as an int or a float."""
    return type(atom) is ir.Const and type(atom.value) in (int, float) and atom.value == value


def _keeps_kind(operand: ir.Atom, literal: ir.Atom) -> bool:
    """Whether arithmetic with the literal leaves the operand's kind of number as it is."""
    type_ = type_of_atom(operand)
    return _is_float(type_) or (_is_int(type_) and type(literal) is ir.Const and type(literal.value) is int)


def _instead(call: ir.Call, atom: ir.Atom, facts: Facts) -> ir.Atom | None:
    """``atom`` in place of the call's result, if it is that very value."""
    (target,) = call.targets
    type_ = type_of_atom(atom)
    if type_ != target.type:
        return None
    if isinstance(type_, ir.Array) and not facts.may_share(target, atom):
        return None
    return atom


def _neutral(call: ir.Call, operand: ir.Atom, literal: ir.Atom, facts: Facts) -> ir.Atom | None:
    return _instead(call, operand, facts) if _keeps_kind(operand, literal) else None


def negated(atom: ir.Atom, facts: Facts) -> ir.Atom | None:
    """``x`` where ``atom`` is ``-x``, floating point, for this use alone."""
    definition = facts.definition(atom)
    if definition is None or definition.callee is not operator.neg or not facts.used_once(atom):
        return None
    operand = definition.args[0]
    return operand if _is_float(type_of_atom(operand)) and facts.steady(operand) else None


# Rules


def _add(call: ir.Call, facts: Facts) -> Folded:
    left, right = call.args
    for operand, literal in ((left, right), (right, left)):
        if _is_literal(literal, 0) and _is_int(type_of_atom(operand)) and _keeps_kind(operand, literal):
            return _instead(call, operand, facts)
    if (taken := negated(right, facts)) is not None:
        return replace(call, callee=operator.sub, args=(left, taken))
    if (taken := negated(left, facts)) is not None:
        return replace(call, callee=operator.sub, args=(right, taken))
    return None


def _sub(call: ir.Call, facts: Facts) -> Folded:
    left, right = call.args
    if _is_literal(right, 0) and math.copysign(1.0, _number(right)) > 0:
        return _neutral(call, left, right, facts)
    if (added := negated(right, facts)) is not None:
        return replace(call, callee=operator.add, args=(left, added))
    return None


def _number(atom: ir.Atom) -> float:
    assert isinstance(atom, ir.Const)
    return float(atom.value)


def _mul(call: ir.Call, facts: Facts) -> Folded:
    left, right = call.args
    for operand, literal in ((left, right), (right, left)):
        if _is_literal(literal, 1):
            return _neutral(call, operand, literal, facts)
        if _is_literal(literal, -1) and _keeps_kind(operand, literal):
            return replace(call, callee=operator.neg, args=(operand,))
    return None


def _truediv(call: ir.Call, facts: Facts) -> Folded:
    left, right = call.args
    if not _is_float(type_of_atom(left)):
        return None
    if _is_literal(right, 1):
        return _instead(call, left, facts)
    if _is_literal(right, -1):
        return replace(call, callee=operator.neg, args=(left,))
    return None


def _pow(call: ir.Call, facts: Facts) -> Folded:
    base, exponent = call.args
    if _is_literal(exponent, 1):
        return _neutral(call, base, exponent, facts)
    if _is_literal(exponent, 0) and type_of_atom(base) == ir.FLOAT:
        return ir.Const(1.0)
    return None


def _neg(call: ir.Call, facts: Facts) -> Folded:
    definition = facts.definition(call.args[0])
    if definition is None or definition.callee is not operator.neg:
        return None
    operand = definition.args[0]
    type_ = type_of_atom(operand)
    return _instead(call, operand, facts) if _is_float(type_) or _is_int(type_) else None


_OPPOSITE: dict[Any, Any] = {
    operator.eq: operator.ne,
    operator.ne: operator.eq,
    operator.is_: operator.is_not,
    operator.is_not: operator.is_,
}
_OPPOSITE_ORDER: dict[Any, Any] = {
    operator.lt: operator.ge,
    operator.ge: operator.lt,
    operator.gt: operator.le,
    operator.le: operator.gt,
}


def _not(call: ir.Call, facts: Facts) -> Folded:
    definition = facts.definition(call.args[0])
    if definition is None:
        return None
    inner = definition.callee
    types = [type_of_atom(arg) for arg in definition.args]
    if inner is operator.not_:
        return _instead(call, definition.args[0], facts)
    if not facts.used_once(call.args[0]):
        return None
    identity = inner in (operator.is_, operator.is_not)
    if inner in _OPPOSITE and (identity or all(isinstance(type_, ir.Scalar) for type_ in types)):
        return replace(call, callee=_OPPOSITE[inner], args=definition.args)
    if inner in _OPPOSITE_ORDER and all(map(_is_int, types)):  # nan is neither below nor above
        return replace(call, callee=_OPPOSITE_ORDER[inner], args=definition.args)
    return None


def _identity(holds: bool) -> Callable[[ir.Call, Facts], Folded]:
    """``flag is True`` for a truth of Python's; ``x is None`` for a number. ``holds`` is False for ``is not``."""

    def rule(call: ir.Call, facts: Facts) -> Folded:
        one, other = call.args if isinstance(call.args[1], ir.Const) else call.args[::-1]
        type_ = type_of_atom(one)
        if not isinstance(other, ir.Const) or not isinstance(one, ir.Var) or not isinstance(type_, ir.Scalar):
            return None
        if other.value is None:
            return ir.Const(not holds)
        if type(other.value) is not bool:
            return None
        if type_ != ir.BOOL:
            return ir.Const(not holds) if type_.dtype is not None or type_.kind in ("float", "complex") else None
        if other.value is holds:
            return _instead(call, one, facts)
        return replace(call, callee=operator.not_, args=(one,))

    return rule


def _converts(to: ir.Scalar) -> Callable[[ir.Call, Facts], Folded]:
    def rule(call: ir.Call, facts: Facts) -> Folded:
        if len(call.args) == 1 and type_of_atom(call.args[0]) == to:
            return _instead(call, call.args[0], facts)
        return None

    return rule


def _only_constants(call: ir.Call, facts: Facts) -> Folded:
    return None


def _selected(call: ir.Call, facts: Facts) -> Folded:
    """What is chosen where something is surely not zero, or where it is told not to be."""
    support, value = call.args
    if isinstance(support, ir.Const) and support.value:
        return _instead(call, value, facts)
    definition = facts.definition(support)
    if definition is None or definition.callee is not operator.ne or not _is_literal(definition.args[1], 0):
        return None
    compared = definition.args[0]
    return replace(call, args=(compared, value)) if facts.steady(compared) else None


def _transposed(call: ir.Call, facts: Facts) -> Folded:
    """A matrix whose transpose is transposed: a view of the same memory, laid out alike, whoever writes that."""
    inner = facts.definition(call.args[0])
    if inner is None or inner.callee is not np.transpose or len(call.args) + len(inner.args) > 2:
        return None
    if call.kwargs or inner.kwargs:
        return None
    matrix, target = inner.args[0], call.targets[0]
    return matrix if _is_alike(type_of_atom(matrix), target.type) and not facts.returned(target) else None


def _is_alike(one: ir.Type | None, other: ir.Type) -> bool:
    """Whether arrays are of one dtype and rank: the axes of one may be known better."""
    if not isinstance(one, ir.Array) or not isinstance(other, ir.Array) or ir.is_handle(one) or ir.is_handle(other):
        return False
    return ir.same_dtype(one.dtype, other.dtype) and ir.rank_of(one) == ir.rank_of(other) is not None


def _of_same_rank(call: ir.Call, facts: Facts) -> Folded:
    """An array that neither loses axes nor gets more."""
    kind = type_of_atom(call.args[0])
    if not isinstance(kind, ir.Array) or kind.dims is None or len(call.args) != 1:
        return None
    if call.callee is np.squeeze and any(dim != "many" for dim in kind.dims):
        return None
    return _instead(call, call.args[0], facts)


def _copy(call: ir.Call, facts: Facts) -> Folded:
    """A copy of what nothing writes, where nothing writes the copy either."""
    return _instead(call, call.args[0], facts)


def _copy_by_rows(call: ir.Call, facts: Facts) -> Folded:
    """The same of a copy that may be laid out in another way than the original."""
    return None if facts.layout_shows() else _copy(call, facts)


def _fitted(call: ir.Call, facts: Facts) -> Folded:
    """A cotangent that fits already; a number, fitted to a number: of that nothing is asked but its dtype."""
    before = facts.definition(call.args[0])
    if before is not None and before.callee is unbroadcast and before.args[1] == call.args[1]:
        return _instead(call, call.args[0], facts)
    ct, like = map(type_of_atom, call.args)
    if not isinstance(ct, ir.Scalar) or not isinstance(like, ir.Scalar) or like.kind not in _CONVERTED:
        return None
    if ct.kind == like.kind and ir.same_dtype(like.dtype, ct.dtype):
        return _instead(call, call.args[0], facts)
    if like.kind == "float" and ct.kind == "complex" and ir.same_dtype(like.dtype, _real_of(ct.dtype)):
        return ir.Call(call.targets, np.real, call.args[:1], (), call.span)
    if ct.kind not in ("float", like.kind):
        return None
    converts = _CONVERTED[like.kind] if like.dtype is None else like.dtype.type
    return ir.Call(call.targets, converts, call.args[:1], (), call.span)


def _zeros_like(call: ir.Call, facts: Facts) -> Folded:
    """Zeros like an array that nobody else asks for anything, of a shape that is at hand."""
    made = facts.definition(call.args[0])
    if made is None or made.callee not in _MADE_BY_ROWS or not facts.used_once(call.args[0]):
        return None
    if any(name != "dtype" for name, _ in made.kwargs) or not all(map(facts.steady, made.args)):
        return None
    return ir.Call(call.targets, np.zeros, made.args[:2], made.kwargs, call.span)


_MADE_BY_ROWS = (np.zeros, np.empty, np.ones)
_CONVERTED: dict[str, Any] = {"float": float, "complex": complex}


def _real_of(dtype: np.dtype | None) -> np.dtype | None:
    """The dtype of the real part of a complex number; None for one of Python."""
    return None if dtype is None else np.empty(0, dtype).real.dtype


_TABLE: dict[Any, Callable[[ir.Call, Facts], Folded]] = {
    operator.add: _add,
    operator.sub: _sub,
    operator.mul: _mul,
    operator.truediv: _truediv,
    operator.pow: _pow,
    operator.neg: _neg,
    operator.not_: _not,
    operator.is_: _identity(True),
    operator.is_not: _identity(False),
    float: _converts(ir.FLOAT),
    int: _converts(ir.INT),
    bool: _converts(ir.BOOL),
    unbroadcast: _fitted,
    np.copy: _copy,
    np.ndarray.copy: _copy_by_rows,
    copy_laid_out_like: _copy_by_rows,
    selected: _selected,
    np.zeros_like: _zeros_like,
    np.transpose: _transposed,
    **dict.fromkeys((np.squeeze, np.atleast_1d, np.atleast_2d, np.atleast_3d), _of_same_rank),
}
_TABLE |= {
    getattr(operator, name): _only_constants
    for name in (
        *("floordiv", "mod", "pos", "abs", "and_", "or_", "xor", "lshift", "rshift"),
        *("eq", "ne", "lt", "le", "gt", "ge", "truth"),
    )
}
_TABLE |= dict.fromkeys((abs, min, max, somewhere, *_OF_SUBSCRIPTS), _only_constants)
_RULES = {id(callee): rule for callee, rule in _TABLE.items()}
