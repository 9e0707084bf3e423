"""Whole numbers of 8 to 32 bits, in machine code that computes with 64: they wrap where NumPy's do.

Sums, products, powers and what is done to bits are the same in fewer bits, if those beyond are cut off.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import kind_of_numbers, type_of_atom
from adjoint.ir.walk import operands, statements_in, targets_of
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.numbers.promotions import converted
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import checks, numbers

_HALF = np.dtype(np.float16)
_QUOTIENTS = (operator.truediv, np.true_divide, numbers.divide)
_LOGICAL = (operator.add, operator.mul, np.add, np.multiply)
"""What gives truth values of truth values, in NumPy."""


def with_whole_numbers_of_their_size(function: ir.Function) -> ir.Function:
    """The function with the results of narrow whole numbers cut off to their bits."""
    return _Narrow(_mentions_narrow(function)).function(function)


class _Narrow(Rewriting):
    """Where some numbers are narrow, what is computed with others is refused unless it is known that they are not."""

    def __init__(self, some: bool) -> None:
        super().__init__()
        self.some = some

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        for target in targets_of(statement):
            if _dtype_of(target.type) == _HALF:
                raise NotNative("machine code has no float16", (), statement.span)
        if isinstance(statement, ir.Store):
            return (*_check_of_store(statement), statement)
        if not isinstance(statement, ir.Call) or len(statement.targets) != 1:
            return (statement,)
        if self.some and _computes(statement.callee) and any(map(_is_unknown, statement.args)):
            reason = "some whole numbers have fewer than 64 bits, and it is not known which are computed with here"
            raise NotNative(reason, (), statement.span)
        return _cast(statement) if _is_cast(statement.callee) else _computed(statement)


def _check_of_store(store: ir.Store) -> Iterator[ir.Statement]:
    dtype = _dtype_of(type_of_atom(store.base))
    if dtype is not None and _is_whole(dtype) and dtype != np.int64 and kind_of_numbers(store.value) == "float":
        raise NotNative(f"a float is stored into an array of {dtype}, and cut off", (), store.span)
    if dtype is not None and _is_whole(dtype) and _is_python_whole(store.value):
        yield from _check(store.value, dtype, store)


def _cast(call: ir.Call) -> Iterable[ir.Statement]:
    """``np.int8(k)`` raises where ``k`` is a number of Python that does not fit."""
    dtype = np.dtype(call.callee)
    if _is_whole(dtype) and len(call.args) == 1 and _is_python_whole(call.args[0]):
        return (*_check(call.args[0], dtype, call), call)
    return (call,)


def _check(number: ir.Atom, dtype: np.dtype, statement: ir.Call | ir.Store) -> Iterator[ir.Statement]:
    bounds = np.iinfo(dtype)
    if isinstance(number, ir.Const):
        if not bounds.min <= number.value <= bounds.max:
            raise NotNative(f"{number.value} does not fit into {dtype}", (), statement.span)
    elif bounds.bits < 64:
        yield ir.Call(
            (), checks.check_fits, (number, ir.Const(int(bounds.min)), ir.Const(int(bounds.max))), (), statement.span
        )


def _computed(call: ir.Call) -> Iterable[ir.Statement]:
    (target,) = call.targets
    dtype = _dtype_of(target.type)
    if dtype is None:
        return (call,)
    if dtype.kind == "f" and (call.callee in _QUOTIENTS or isinstance(call.callee, np.ufunc)):
        return _of_floats(call, dtype)
    is_logical = dtype.kind == "b" and isinstance(target.type, ir.Scalar) and call.callee in _LOGICAL
    if not (_is_narrow(dtype) or is_logical):
        return (call,)
    return converted(call, dtype, ir.INT)


def _of_floats(call: ir.Call, dtype: np.dtype) -> Iterable[ir.Statement]:
    """A function of narrow whole numbers that computes with floats: with those of its result, not the fewest bits."""
    before: list[ir.Statement] = []
    args = tuple([_as_float(arg, dtype, before, call) for arg in call.args])
    return (*before, ir.Call(call.targets, call.callee, args, call.kwargs, call.span))


def _as_float(atom: ir.Atom, dtype: np.dtype, before: list[ir.Statement], call: ir.Call) -> ir.Atom:
    type_ = type_of_atom(atom)
    own = _dtype_of(type_)
    if own is None or not _is_narrow(own) or call.callee is np.ldexp:
        return atom
    if isinstance(type_, ir.Array):
        found = ir.Var("floats", ir.Array(dtype, type_.dims))
        before.append(ir.Call((found,), np.ndarray.astype, (atom, ir.Const(dtype.type)), (), call.span))
        return found
    found = ir.Var("number", ir.Scalar("float", dtype))
    before.append(ir.Call((found,), dtype.type, (atom,), (), call.span))
    return found


def _computes(callee: Any) -> bool:
    """Whether a call computes numbers, of which those that are narrow stay so."""
    if isinstance(callee, np.ufunc) or callee in (abs, round, sum, divmod, pow):
        return True
    return getattr(callee, "__module__", None) in ("operator", "_operator") and callee is not operator.getitem


def _is_cast(callee: Callable[..., Any]) -> bool:
    return isinstance(callee, type) and issubclass(callee, np.generic)


def _is_unknown(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Number) or (isinstance(type_, ir.Array) and type_.dtype is None)


def _is_python_whole(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind == "int" and type_.dtype is None


def _dtype_of(type_: ir.Type | None) -> np.dtype | None:
    return type_.dtype if isinstance(type_, (ir.Array, ir.Scalar)) else None


def _is_whole(dtype: np.dtype) -> bool:
    return dtype.kind in "iu"


def _is_narrow(dtype: np.dtype) -> bool:
    return _is_whole(dtype) and dtype.itemsize < 8


def _mentions_narrow(function: ir.Function) -> bool:
    """Whether some numbers are known to be narrow."""
    types = [param.type for param in function.params]
    for statement in statements_in(function.body):
        types += [target.type for target in targets_of(statement)]
        for atom in operands(statement):
            if isinstance(atom, ir.Const) and isinstance(atom.value, (type, np.dtype)) and _names_narrow(atom.value):
                return True
        if isinstance(statement, ir.Call) and _is_cast(statement.callee) and _names_narrow(statement.callee):
            return True
    return any(dtype is not None and _is_narrow(dtype) for dtype in map(_dtype_of, types))


def _names_narrow(kind: Any) -> bool:
    if isinstance(kind, type) and not issubclass(kind, np.generic):
        return False
    return kind not in (np.generic, np.number, np.integer, np.floating, np.inexact) and _is_narrow(np.dtype(kind))
