"""Which statements may raise an exception, and which calls raise one whatever the values are.

Where an exception is handled, nothing may happen before the first that did not. The second are never left out, as a
``raise`` is not: a derivative leaves out what only the value of a function needs, and what that would have raised (the
logarithm of a negative number has a slope); an operation that no numbers could make right is no function, and has no
derivative.
"""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_python_number, type_of_atom
from adjoint.ir.walk import blocks_of, leaves
from adjoint.runtime import display

QUIET_ON_NUMBERS = frozenset(
    getattr(operator, name)
    for name in ["add", "sub", "mul", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "not_", "truth"]
) | {abs, bool, float}
_QUIET = frozenset(
    {operator.is_, operator.is_not, display.make_list, display.make_tuple, list.append, list.insert, list.copy}
)
_ARITHMETIC = frozenset(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "lt", "le", "gt", "ge"),
        *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"),
    )
)
_OF_NUMBERS = frozenset({abs, operator.abs, float, int, max, min, pow, divmod, np.dot, np.inner, np.outer, np.vdot})
_FORMATS = frozenset({operator.mod, operator.imod})
_MATRIX_PRODUCTS = frozenset({operator.matmul, operator.imatmul, np.matmul})
NEVER_OF_FLOATS = _MATRIX_PRODUCTS | {round}
"""Functions that some numbers are mistakes for."""
IGNORING_EXCEPTIONS = (np.errstate, warnings.catch_warnings)
"""Context managers that do the same whether or not their body raised."""


def raises_itself(statement: ir.Statement) -> bool:
    """Whether a statement may raise apart from what its blocks do."""
    match statement:
        case ir.If(cond=cond):
            return not is_decided(cond)
        case ir.Loop(over=over):
            return over is not None and not _counts_quietly(over)
        case ir.Guarded(context=context):
            return context is not None
        case _:
            return may_raise(statement)


def _counts_quietly(over: ir.Range | ir.Items) -> bool:
    if not isinstance(over, ir.Range):
        return isinstance(type_of_atom(over.iterable), (ir.Array, ir.Dict, ir.List, ir.Tuple))
    return (
        is_python_number(over.start)
        and is_python_number(over.stop)
        and isinstance(over.step, ir.Const)
        and over.step.value != 0
    )


def may_raise(statement: ir.Statement) -> bool:
    """Whether a statement may raise, itself or in one of its blocks."""
    match statement:
        case ir.Call():
            return _call_may_raise(statement)
        case ir.Load(base=base, key=key):
            type_ = type_of_atom(base)
            if isinstance(type_, ir.Instance):  # of other classes an attribute may not have been assigned yet
                return not (
                    isinstance(key, ir.Attribute) and key.name in getattr(type_.cls, "__dataclass_fields__", ())
                )
            return not isinstance(type_, ir.Tuple)
        case ir.Store(base=base, key=ir.Attribute()):
            return not isinstance(type_of_atom(base), ir.Instance)
        case ir.Store():
            return True
        case ir.Guarded() if catches_all(statement):
            return False
        case _:
            return raises_itself(statement) or any(map(block_may_raise, blocks_of(statement)))


def block_may_raise(block: ir.Block) -> bool:
    """Whether a block may raise."""
    ends = (block.terminator, *leaves(block))
    below = block.terminator
    if isinstance(below, ir.Branch) and (block_may_raise(below.then) or block_may_raise(below.orelse)):
        return True
    return any(isinstance(end, ir.Raise) for end in ends) or any(map(may_raise, block.statements))


def catches_all(statement: ir.Statement) -> bool:
    """Whether a ``try`` statement hands out every exception as a value."""
    if not isinstance(statement, ir.Guarded) or statement.context is not None:
        return False
    last = statement.handlers[-1] if statement.handlers else None
    return (
        last is not None
        and (last.exception is None or last.exception == ir.Const(BaseException))
        and not any(block_may_raise(handler.body) for handler in statement.handlers)
    )


def _call_may_raise(call: ir.Call) -> bool:
    try:
        if call.callee in _QUIET or (call.callee is len and _is_container(call.args[0])):
            return False
        return call.callee not in QUIET_ON_NUMBERS or not all(map(is_python_number, call.args))
    except TypeError:  # not hashable
        return True


def _is_container(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), (ir.Dict, ir.List, ir.Tuple))


def is_decided(cond: ir.Atom) -> bool:
    """Whether asking for the truth of a value raises nothing."""
    return isinstance(type_of_atom(cond), ir.Scalar)


def handles(guarded: ir.Guarded) -> bool:
    """Whether a handler, or a context manager, notices exceptions of the body."""
    return bool(guarded.handlers) or (guarded.context is not None and not ignores_exceptions(guarded.context))


def goes_on(guarded: ir.Guarded) -> bool:
    """Whether control may go on behind a handler."""
    return any(not isinstance(leaf, ir.Raise) for handler in guarded.handlers for leaf in leaves(handler.body))


def ignores_exceptions(context: ir.Atom) -> bool:
    """Whether a context manager does the same whether or not its body raised."""
    type_ = type_of_atom(context)
    return isinstance(type_, ir.Opaque) and type_.cls in IGNORING_EXCEPTIONS


def always_raises(call: ir.Call) -> bool:
    """Whether a call raises TypeError for all values that its arguments may have."""
    callee, args = call.callee, call.args
    if callee in _MATRIX_PRODUCTS and any(isinstance(type_of_atom(arg), ir.Scalar) for arg in args[:2]):
        return True
    if callee is round and len(args) == 2 and _is_float(args[1]):
        return True
    if callee in _ARITHMETIC:
        return any(_is_none(arg) for arg in args) or (len(args) == 2 and _never_meet(callee, *args))
    if not any(map(_is_none, args)):
        return False
    if callee in _OF_NUMBERS or getattr(callee, "__module__", None) == math.__name__:
        return True
    return isinstance(callee, np.ufunc) and any(map(_is_none, args[: callee.nin]))


def _is_none(atom: ir.Atom) -> bool:
    return type(atom) is ir.Const and atom.value is None


def _never_meet(callee: Any, one: ir.Atom, other: ir.Atom) -> bool:
    """Whether one operand is a number of floating point, or an array of numbers, and the other text or a container."""
    for operand, number in ((one, other), (other, one)):
        is_text = type(operand) is ir.Const and isinstance(operand.value, (str, bytes))
        if is_text and (callee not in _FORMATS or operand is not one):
            type_ = type_of_atom(number)
            if _is_float(number) or (
                isinstance(type_, ir.Array) and type_.dtype is not None and type_.dtype.kind in "biufc"
            ):
                return True
        if _holds_items(type_of_atom(operand)) and _is_float(number):
            return True
    return False


def _holds_items(type_: ir.Type | None) -> bool:
    if isinstance(type_, ir.Opaque):
        return type_.cls in (set, frozenset)
    return isinstance(type_, (ir.Dict, ir.List, ir.Tuple))


def _is_float(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind in ("float", "complex") and type_.dtype is None
