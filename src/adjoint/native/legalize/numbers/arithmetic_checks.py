"""What Python's arithmetic refuses, refused by machine code too.

``1.0 / 0.0`` raises for numbers of Python, not for those of NumPy; so do ``math.log(0.0)`` and ``math.exp(1000.0)``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_float, is_python_number, kind_of_numbers, type_of_atom
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import checks
from adjoint.runtime.arithmetic.complex_powers import check_real
from adjoint.types.classes.safe_lookups import is_hashable

_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, divmod)
_SHIFTS = (operator.lshift, operator.rshift)
_INSIDE = {getattr(math, name): name for name in checks.OUTSIDE}
_POWERS = {operator.pow: ("pole of **", "range of **"), pow: ("pole of **", "range of **")}
_POWERS[math.pow] = ("domain of pow", "range of pow")
_TO_WHOLE = (int, round, math.floor, math.ceil, math.trunc)
_GROWING = tuple(getattr(math, name) for name in checks.GROWING)

CHECKED_FUNCTIONS = frozenset({*_INSIDE, *_GROWING})
"""Functions of the module ``math`` that raise what Python's do."""


def with_checks(function: ir.Function, of_functions: bool = True) -> ir.Function:
    """The function with an exception wherever Python's own numbers would raise one.

    ``of_functions``: those of the module ``math`` too.
    """
    return _Checking(of_functions).function(function)


def refuses_something(block: ir.Block, of_functions: bool = True) -> bool:
    """Whether a block has an operation that is checked."""
    return _Checking(of_functions).block(block) is not block


class _Checking(Rewriting):
    """Checks a value once, and not again where that must have been before."""

    def __init__(self, of_functions: bool) -> None:
        super().__init__()
        self.of_functions = of_functions
        self.known: set[tuple[str, ir.Atom]] = set()

    def block(self, block: ir.Block) -> ir.Block:
        outer = set(self.known)
        result = super().block(block)
        self.known = outer
        return result

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if isinstance(statement, ir.Store):
            return (*self._cut_off(statement), statement)
        if not isinstance(statement, ir.Call) or not is_hashable(statement.callee):
            return (statement,)
        if statement.callee is check_real:
            return (ir.Call((), checks.check_power, (ir.Const("branch of **"), *statement.args, statement.args[0])),)
        if statement.callee in _DIVISIONS and all(map(is_python_number, statement.args)):
            return (*self._divisor(statement), statement)
        if self.of_functions and _is_of_whole_numbers(statement):
            return (*_of_whole_numbers(statement), *_within_bits(statement))
        if self.of_functions and _is_refused_power(statement):
            return _power(statement)
        if self.of_functions and statement.callee is np.arange and len(statement.args) == 3:
            return (*_step(statement), statement)
        if self.of_functions and statement.callee is math.ldexp:
            return statement, ir.Call(
                (), checks.check_range, (statement.args[0], statement.targets[0]), (), statement.span
            )
        if not self.of_functions or len(statement.args) != 1 or len(statement.targets) != 1:
            return (statement,)
        (x,) = statement.args
        return (*self._before(statement, x), statement, *self._behind(statement, x))

    def _before(self, call: ir.Call, x: ir.Atom) -> Iterable[ir.Statement]:
        name = _INSIDE.get(call.callee)
        if name is not None and self._is_new(name, x):
            yield ir.Call((), checks.check_domain, (ir.Const(name), x), (), call.span)
        if call.callee in _TO_WHOLE and is_float(x) and self._is_new("whole", x):
            yield ir.Call((), checks.check_whole, (x,), (), call.span)

    def _cut_off(self, store: ir.Store) -> Iterable[ir.Statement]:
        """What is stored into an array of whole numbers is one of these, as ``int`` makes it."""
        is_cut = kind_of_numbers(store.base) == "int" and is_float(store.value) and is_python_number(store.value)
        if is_cut and self._is_new("whole", store.value):
            yield ir.Call((), checks.check_whole, (store.value,), (), store.span)

    def _behind(self, call: ir.Call, x: ir.Atom) -> Iterable[ir.Statement]:
        if call.callee in _GROWING and self._is_new(f"range of {call.callee.__name__}", x):
            yield ir.Call((), checks.check_range, (x, call.targets[0]), (), call.span)

    def _divisor(self, call: ir.Call) -> Iterable[ir.Statement]:
        divisor = call.args[1]
        if not self._is_new("divisor", divisor):
            return ()
        message = ir.Const(_message(call.callee, call.args))
        return (ir.Call((), checks.check_divisor, (divisor, message), (), call.span),)

    def _is_new(self, kind: str, x: ir.Atom) -> bool:
        if isinstance(x, ir.Const):
            return x.value == 0 if kind == "divisor" else _is_refused(kind.removeprefix("range of "), x.value)
        if (kind, x) in self.known:
            return False
        self.known.add((kind, x))
        return True


def _is_refused(name: str, value: Any) -> bool:
    """Whether a function of the module ``math`` refuses a number."""
    function = getattr(math, name, None)
    if function is None or not isinstance(value, (bool, int, float, complex)):
        return False
    try:
        function(value)
    except (ValueError, OverflowError):
        return True
    return False


def _is_refused_power(call: ir.Call) -> bool:
    """Whether a power is one of Python's own numbers, or of the module ``math``, which takes any for such."""
    if len(call.args) != 2:
        return False
    return call.callee is math.pow or (call.callee in _POWERS and all(map(is_python_number, call.args)))


def _power(call: ir.Call) -> Iterable[ir.Statement]:
    """A power and its checks; of constant exponents only those that can fail."""
    base, exponent, result = *call.args, call.targets[0]
    kind = kind_of_numbers(result)
    if kind not in ("float", "complex"):
        yield call
        return
    known = exponent.value if isinstance(exponent, ir.Const) and kind == "float" else None
    if kind == "float" and _may_be_a_fraction(exponent) and call.callee in (operator.pow, pow):
        yield ir.Call((), checks.check_power, (ir.Const("branch of **"), base, exponent, base), (), call.span)
    at_zero, when_large = _POWERS[call.callee] if kind == "float" else _complex_powers(exponent)
    after = [ir.Call((), checks.check_power, (ir.Const(when_large), base, exponent, result), (), call.span)]
    if known is not None and 0 <= known <= 1:
        after = []
    is_never_zero = isinstance(base, ir.Const) and base.value != 0 and at_zero != "domain of pow"
    if is_never_zero or (known is not None and known >= 0 and (at_zero != "domain of pow" or known == int(known))):
        yield from (call, *after)
        return
    if at_zero == "domain of pow":
        check = ir.Call((), checks.check_power, (ir.Const(at_zero), base, exponent, result), (), call.span)
        yield from (call, check, *after)
        return
    yield from (ir.Call((), checks.check_power, (ir.Const(at_zero), base, exponent, base), (), call.span), call, *after)


def _may_be_a_fraction(exponent: ir.Atom) -> bool:
    if isinstance(exponent, ir.Const):
        return isinstance(exponent.value, float) and bool(exponent.value % 1)
    return is_float(exponent)


def _complex_powers(exponent: ir.Atom) -> tuple[str, str]:
    at_zero = "complex pole of **" if kind_of_numbers(exponent) == "complex" else "real pole of complex **"
    return at_zero, "range of complex **"


def _is_of_whole_numbers(call: ir.Call) -> bool:
    """Whether a call is a power or a shift of whole numbers, or of arrays of them, by what is not known."""
    if call.callee not in (*_POWERS, np.power, *_SHIFTS) or len(call.args) != 2 or call.callee is math.pow:
        return False
    exponent = call.args[1]
    if isinstance(exponent, ir.Const) and not (type(exponent.value) is int and exponent.value < 0):
        return False
    return (
        all(kind_of_numbers(arg) in ("int", "bool") for arg in call.args)
        and kind_of_numbers(call.targets[0]) != "float"
    )


def _of_whole_numbers(call: ir.Call) -> Iterable[ir.Statement]:
    """The checks before a power or shift of whole numbers: of powers those whose result is none."""
    number, by = call.args
    is_python = call.callee is not np.power and all(map(is_python_number, call.args))
    if call.callee in _SHIFTS:
        if is_python:
            yield ir.Call((), checks.check_shift, (by, ir.Const(call.callee is operator.lshift)), (), call.span)
        return
    if is_python:
        yield ir.Call((), checks.check_power, (ir.Const("pole of **"), number, by, number), (), call.span)
        yield ir.Call((), checks.check_power, (ir.Const("inverse of whole numbers"), number, by, number), (), call.span)
    else:
        yield ir.Call((), checks.check_exponents, (by,), (), call.span)


def _within_bits(call: ir.Call) -> Iterable[ir.Statement]:
    """A power or shift of whole numbers: by more bits than machine code has it shifts to the right by all of them."""
    number, by = call.args
    if call.callee is not operator.rshift or not isinstance(type_of_atom(by), ir.Scalar):
        return (call,)
    least = ir.Var("count", ir.INT)
    shift = ir.Call(call.targets, call.callee, (number, least), (), call.span)
    return ir.Call((least,), min, (by, ir.Const(checks.BITS - 1)), (), call.span), shift


def _step(call: ir.Call) -> Iterable[ir.Statement]:
    """The check of the step of a range of Python's numbers: NumPy divides by it."""
    start, stop, step = call.args
    if not all(map(is_python_number, call.args)) or (isinstance(step, ir.Const) and step.value != 0):
        return
    message = ir.Const(_message(operator.truediv, (start if is_float(start) else stop, step)))
    yield ir.Call((), checks.check_divisor, (step, message), (), call.span)


def is_checked_operation(call: ir.Call) -> bool:
    """Whether a call is one whose arguments or result are checked somewhere."""
    if not is_hashable(call.callee):
        return False
    return call.callee in _DIVISIONS or call.callee in _POWERS or call.callee in _INSIDE or call.callee in _GROWING


def _message(callee: Any, args: Iterable[ir.Atom]) -> str:
    """What Python says to a division by zero of numbers of these kinds."""
    zeros = {"float": 0.0, "int": 0, "bool": 0, "complex": 0j}
    kinds = [type_.kind for type_ in map(type_of_atom, args) if isinstance(type_, ir.Scalar)]
    try:
        callee(*[zeros[kind] for kind in kinds])
    except ZeroDivisionError as problem:
        return str(problem)
    except TypeError:
        pass
    return "division by zero"
