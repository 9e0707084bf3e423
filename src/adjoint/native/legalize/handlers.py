"""Which handlers of exceptions machine code may have; the others run as Python.

Machine code raises less than Python does: indices that are numbers are not checked, whole numbers wrap, and arrays are
computed with in another order than they are written. So a handler has a form only where what it guards is arithmetic of
numbers, of which each exception is known, and where no exception that machine code does not raise would end in it.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from adjoint import ir
from adjoint.ir.join import is_float, type_of_atom
from adjoint.ir.raising import QUIET_ON_NUMBERS
from adjoint.ir.walk import statements_in
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.arrays.flags import refuse_flags
from adjoint.native.legalize.as_python import BY_IDENTITY, BY_IDENTITY_OR_VALUE, by_python
from adjoint.native.legalize.numbers.arithmetic_checks import CHECKED_FUNCTIONS
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import numbers
from adjoint.target import Target
from adjoint.types.classes.safe_lookups import is_hashable

_QUIET_FUNCTIONS = frozenset(
    getattr(math, name)
    for name in ["fabs", "copysign", "atan", "atan2", "tanh", "asinh", "erf", "erfc", "isnan", "isinf", "isfinite"]
)
_QUIET = (
    QUIET_ON_NUMBERS
    | {operator.truediv, operator.floordiv, operator.mod, operator.is_, operator.is_not, operator.and_, operator.or_}
    | {min, max, numbers.divide, numbers.times, numbers.quotient, numbers.product, numbers.selected, numbers.somewhere}
    | {
        numbers.power,
        numbers.log,
        numbers.sqrt,
        numbers.sign,
        numbers.choose,
        numbers.unit,
        numbers.first_equal,
        numbers.undefined,
    }
    | _QUIET_FUNCTIONS
    | CHECKED_FUNCTIONS
)
"""What raises nothing, or what machine code raises as well."""
_POWERS = frozenset({operator.pow, pow})
"""Of fractions of negative numbers, Python makes them complex numbers."""


def with_handlers_by_python(function: ir.Function, target: Target) -> ir.Function:
    """The function with what is guarded run as Python, where it is more than machine code has a form for."""
    refuse_flags(function)
    return _ByPython(target).function(function)


class _ByPython(Rewriting):
    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target

    def whole(self, statement: ir.Statement) -> ir.Statement | None:
        if not isinstance(statement, ir.Guarded):
            return None
        inside = statements_in(ir.Block((statement,), ir.Yield()))
        if all(_is_exact(each, self.target) for each in inside if isinstance(each, ir.Guarded)):
            return None
        if any(map(_asks_for_identity, inside)):
            raise NotNative(
                "what asks which object something is has no form beside 'try' and 'with'", (), statement.span
            )
        return by_python(statement)


def _asks_for_identity(statement: ir.Statement) -> bool:
    """Whether a statement asks whether two things are one, which are two objects where machine code hands them over."""
    if not isinstance(statement, ir.Call) or not is_hashable(statement.callee):
        return False
    if statement.callee in BY_IDENTITY_OR_VALUE:
        return not isinstance(type_of_atom(statement.args[1]), ir.Scalar)
    return statement.callee in BY_IDENTITY and not any(isinstance(atom, ir.Const) for atom in statement.args)


def _is_exact(guarded: ir.Guarded, target: Target) -> bool:
    if guarded.context is not None or guarded.final is not None or any(each.name for each in guarded.handlers):
        return False
    if not target.checked.divisions or not target.checked.functions:
        return False
    caught = [each for handler in guarded.handlers for each in _classes(handler.exception)]
    reads = not any(issubclass(LookupError, each) or issubclass(each, LookupError) for each in caught)
    blocks = [guarded.body, *(handler.body for handler in guarded.handlers)]
    return all(_is_of_numbers(block, reads) for block in blocks)


def _classes(exception: ir.Atom | None) -> tuple[Any, ...]:
    """The classes that a handler is for."""
    if exception is None:
        return (BaseException,)
    if not isinstance(exception, ir.Const):
        return (LookupError,)
    return exception.value if isinstance(exception.value, tuple) else (exception.value,)


def _is_of_numbers(block: ir.Block, reads: bool) -> bool:
    """Whether all that a block does is arithmetic, apart from loads where these are not what is handled."""
    return all(_is_arithmetic(statement, reads) for statement in statements_in(block))


def _is_arithmetic(statement: ir.Statement, reads: bool) -> bool:
    match statement:
        case ir.If() | ir.Guarded():
            return True
        case ir.Load(target=target):
            return reads and isinstance(target.type, ir.Scalar)
        case ir.Call(callee=type() as callee) if issubclass(callee, Exception):
            return True
        case ir.Call(callee=callee, args=args, kwargs=()) if all(map(_is_number, args)) and is_hashable(callee):
            if callee in _POWERS:
                return is_float(args[0]) and isinstance(args[1], ir.Const) and float(args[1].value).is_integer()
            if callee is operator.mul:
                return any(map(is_float, args))
            return callee in _QUIET
        case _:
            return False


def _is_number(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind != "complex"
