"""Numbers as NumPy combines them, written out: machine code knows but one kind of float beside single precision.

A number of Python takes the dtype of the array or NumPy number that it meets; machine code would compute ``2.0 * x``
for ``x`` of float32 in float64. ``math.sin`` computes in float64 whatever it is given; machine code would not.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.unclear_kinds import asked_kinds
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.records import replace
from adjoint.runtime import copies
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.arithmetic.checks import check_floats
from adjoint.sources.library_folders import package_of

_WIDE = (np.dtype(np.float64), np.dtype(np.complex128), np.dtype(np.int64), np.dtype(np.bool_))
"""Dtypes of which the numbers of machine code are by themselves."""

_DTYPES: dict[type, type] = {float: np.float64, int: np.int64, bool: np.bool_, complex: np.complex128}
_ORDER = "biufc"
_MIXING = (np.where, np.clip, numbers.divide, numbers.times, numbers.quotient, numbers.product, numbers.power, max, min)
_FLOATING = frozenset(id(fn) for fn in vars(math).values() if callable(fn))
_COMPARING = (
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
)
_KEEPING = (operator.getitem, operator.is_, operator.is_not)


_OF_MADE = 2
"""With how many arguments it is asked whether an array that is made holds integers; what is written makes three."""


def with_dtypes(function: ir.Function) -> ir.Function:
    """The function with the conversions that NumPy makes by itself.

    In machine code a number has one kind, whatever path it comes on. Where paths with numbers of several kinds meet it
    is the widest, and what comes out of a container has that of all items.

    Raises
    ------
    NotNative
        Where it is asked of which kind such a number is: Python tells.
    """
    for statement in asked_kinds(function, joined=True):
        what = "a text or an array of numbers" if isinstance(statement, ir.Call) else "an index"
        raise NotNative(f"{what} that may be of several kinds", (), statement.span)
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and statement.callee is check_floats and len(statement.args) == _OF_MADE:
            raise NotNative("an array that may hold integers", (), statement.span)
    return _Conversions().function(function)


class _Conversions(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if not isinstance(statement, ir.Call):
            return (statement,)
        apart = _by_known_functions(statement)
        if len(apart) > 1:
            return [part for whole in apart for part in self.statement(whole)]
        statement = _with_numpy_dtypes(apart[0])
        before: list[ir.Statement] = []
        if _mixes(statement.callee):
            dtype = _dtype_of(statement.args)
            if dtype is not None:
                args = tuple(_strong(arg, dtype, before, statement) for arg in statement.args)
                statement = ir.Call(statement.targets, statement.callee, args, statement.kwargs, statement.span)
        elif statement.callee is float or id(statement.callee) in _FLOATING:
            args = tuple(_wide(arg, before, statement) for arg in statement.args)
            statement = ir.Call(statement.targets, statement.callee, args, statement.kwargs, statement.span)
        elif len(statement.targets) == 1 and _is_narrow(statement.targets[0]):
            return _with_result(statement)
        return (*before, statement)


def _by_known_functions(call: ir.Call) -> list[ir.Call]:
    """A call of a function that the compiler lacks, or does not have for so many numbers, by others."""
    callee, args = call.callee, call.args
    if call.kwargs or not args:
        return [call]
    if callee is math.log and len(args) == 2:
        logs = [ir.Var("log", ir.FLOAT) for _ in args]
        parts = [ir.Call((log,), math.log, (arg,), (), call.span) for log, arg in zip(logs, args, strict=True)]
        return [*parts, ir.Call(call.targets, operator.truediv, tuple(logs), (), call.span)]
    if callee is math.pow and any(map(_may_be_negative, args)):
        given = [_as_float(arg) if _may_be_negative(arg) else ([], arg) for arg in args]
        before = [conversion for conversions, _ in given for conversion in conversions]
        return [*before, ir.Call(call.targets, callee, tuple(number for _, number in given), (), call.span)]
    if callee is math.hypot and len(args) > 2:
        *rest, last = args
        longer = ir.Var("hypot", ir.FLOAT)
        before = _by_known_functions(ir.Call((longer,), math.hypot, tuple(rest), (), call.span))
        return [*before, ir.Call(call.targets, math.hypot, (longer, last), (), call.span)]
    if callee is math.hypot and len(args) == 1:
        return [ir.Call(call.targets, math.fabs, args, (), call.span)]
    if callee in (abs, operator.abs) and isinstance(type_of_atom(args[0]), ir.Array):
        return [ir.Call(call.targets, np.abs, args, (), call.span)]
    known = _SAME.get(callee) if callable(callee) and callee.__hash__ is not None else None
    return [call if known is None else ir.Call(call.targets, known, args, (), call.span)]


def _may_be_negative(atom: ir.Atom) -> bool:
    """Whether a number is a whole one that is not known, or negative: powers by such raise other errors there."""
    if isinstance(atom, ir.Const):
        return type(atom.value) is int and atom.value < 0
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind == "int"


def _as_float(number: ir.Atom) -> tuple[list[ir.Call], ir.Atom]:
    """A whole number as a float, and the conversion that makes it."""
    if isinstance(number, ir.Const):
        return [], ir.Const(float(number.value))
    target = ir.Var("number", ir.FLOAT)
    return [ir.Call((target,), float, (number,))], target


_SAME: dict[Any, Any] = {operator.abs: abs, getattr(math, "cbrt", None): np.cbrt}
"""Functions under the names by which the compiler knows them."""


def _with_numpy_dtypes(call: ir.Call) -> ir.Call:
    """A call of NumPy with dtypes by NumPy's names: ``np.float64`` for ``float``."""
    if package_of(call.callee) != "numpy" and call.callee is not np.ndarray.astype:
        return call
    args = tuple(_with_numpy_dtype(arg) for arg in call.args)
    kwargs = tuple((name, _with_numpy_dtype(value)) for name, value in call.kwargs)
    return ir.Call(call.targets, call.callee, args, kwargs, call.span)


def _with_numpy_dtype(atom: ir.Atom) -> ir.Atom:
    if isinstance(atom, ir.Const) and isinstance(atom.value, type):
        return ir.Const(_DTYPES.get(atom.value, atom.value))
    return atom


def _mixes(callee: Any) -> bool:
    """Whether a call computes with all of its arguments alike."""
    if isinstance(callee, np.ufunc):
        return True
    if getattr(callee, "__module__", None) in ("operator", "_operator"):
        return callee not in _KEEPING
    return any(callee is known for known in _MIXING)


def _known_dtype(atom: ir.Atom) -> np.dtype | None:
    type_ = type_of_atom(atom)
    return type_.dtype if isinstance(type_, (ir.Array, ir.Scalar)) else None


def _dtype_of(args: Iterable[ir.Atom]) -> np.dtype | None:
    """The dtype that Python's numbers among the arguments take; None where they keep their own."""
    found = [dtype for dtype in map(_known_dtype, args) if dtype is not None]
    if not found:
        return None
    dtype = np.result_type(*found)
    return None if dtype in _WIDE else dtype


def _strong(atom: ir.Atom, dtype: np.dtype, before: list[ir.Statement], call: ir.Call) -> ir.Atom:
    """An argument in the dtype of the others, if it is a number of Python."""
    type_ = type_of_atom(atom)
    if not isinstance(type_, ir.Scalar) or type_.dtype is not None or type_.kind == "bool":
        return atom
    if type_.kind == "complex" and dtype.kind == "f":
        dtype = np.result_type(dtype, 1j)
    if _ORDER.index(type_.kind[0]) > _ORDER.index(dtype.kind) or (type_.kind == "int" and call.callee is operator.pow):
        return atom
    if dtype.kind in "iu" and call.callee in _COMPARING:
        return atom  # it need not fit
    if isinstance(atom, ir.Const):
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= atom.value <= np.iinfo(dtype).max:
            raise NotNative(f"{atom.value} does not fit into {dtype}", (), call.span)
        with np.errstate(over="ignore"):
            return ir.Const(dtype.type(atom.value))
    assert isinstance(atom, ir.Var)
    return _converted(atom, dtype, before, call)


def _wide(atom: ir.Atom, before: list[ir.Statement], call: ir.Call) -> ir.Atom:
    """An argument as a number of Python, if it is a narrow one of NumPy."""
    dtype = _known_dtype(atom)
    if not isinstance(atom, ir.Var) or not isinstance(atom.type, ir.Scalar) or dtype is None or dtype in _WIDE:
        return atom
    if dtype.kind != "f":
        return atom
    return _converted(atom, np.dtype(np.float64), before, call)


def _converted(var: ir.Var, dtype: np.dtype, before: list[ir.Statement], call: ir.Call) -> ir.Var:
    target = ir.Var(
        var.hint, ir.Scalar("float" if dtype.kind == "f" else "complex" if dtype.kind == "c" else "int", dtype)
    )
    before.append(ir.Call((target,), dtype.type, (var,), (), call.span))
    return target


def _is_narrow(target: ir.Var) -> bool:
    type_ = target.type
    dtype = type_.dtype if isinstance(type_, (ir.Array, ir.Scalar)) else None
    return dtype is not None and dtype.kind in "fc" and dtype not in _WIDE


def _with_result(call: ir.Call) -> Iterable[ir.Statement]:
    """A call whose result is surely of the dtype that NumPy's has."""
    (target,) = call.targets
    assert isinstance(target.type, (ir.Array, ir.Scalar)) and target.type.dtype is not None
    if isinstance(call.callee, type) and issubclass(call.callee, np.generic):
        return (call,)
    return converted(call, target.type.dtype, ir.FLOAT)


def converted(call: ir.Call, dtype: np.dtype, of_machine: ir.Scalar) -> Sequence[ir.Statement]:
    """A call, and what makes its result one of a dtype; one number is computed as machine code can."""
    (target,) = call.targets
    is_number = isinstance(target.type, ir.Scalar)
    found = ir.Var(target.hint, of_machine if is_number else target.type)
    made = replace(call, targets=(found,))
    if is_number:
        return made, ir.Call((target,), dtype.type, (found,))
    return made, ir.Call((target,), copies.of_dtype, (found, ir.Const(dtype.type)))
