"""Questions about dtypes, answered here and now where those are known: branches of array programs hang on them."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.values import TupleValue, Value, is_atom
from adjoint.frontend.library.arrays.described_types import dtype_of
from adjoint.runtime.array_functions.arrays import float_dtype


@handles(float_dtype)
def _float_dtype(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if isinstance(args[0], ir.Var) and args[0].type == ir.Scalar("float"):
        return ir.Const(np.dtype(float))
    dtype = _dtype(args[0])
    return NotImplemented if dtype is None else ir.Const(np.result_type(dtype, np.float16))


@handles(np.dtype)
def _dtype_named(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """The type that a constant names, which is one."""
    match args:
        case [ir.Const(value=str() | type() | np.dtype() as named)] if not kwargs:
            try:
                return ir.Const(np.dtype(named))
            except TypeError as problem:
                raise lo.mistake(TypeError, node, str(problem)) from problem
        case [fields] if not kwargs and making.list_items(lo, fields):
            found = dtype_of(lo, fields)
            return NotImplemented if found is None else ir.Const(found)
    return NotImplemented


@handles(np.__array_namespace_info__)
def _namespace_info(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """What the standard for arrays asks a library, of which all answers are constants: its class is looked into."""
    from adjoint.frontend.objects.construction import construct  # lazy

    return construct(lo, np.__array_namespace_info__, args, kwargs, node)


@handles(np.result_type)
def _result_type(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of arrays and dtypes, and of numbers where it is the same for those of Python and of NumPy."""
    dtypes = [_dtype(arg) for arg in args]
    numbers = [_type_of_number(arg) if dtype is None else dtype for arg, dtype in zip(args, dtypes, strict=True)]
    if not args or kwargs or any(number is None for number in numbers):  # NumPy finds float64 equal to None
        return NotImplemented
    examples = [number(1) if dtype is None else dtype for number, dtype in zip(numbers, dtypes, strict=True)]
    found, wide = np.result_type(*examples), np.result_type(*numbers)
    return ir.Const(found) if found == wide else NotImplemented


@handles(np.finfo)
def _finfo(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = [*args, *kwargs.values()]
    dtype = _result_type(lo, given, {}, node) if len(given) == 1 else NotImplemented
    if not isinstance(dtype, ir.Const) or dtype.value.kind not in "fc":
        return NotImplemented
    return ir.Const(np.finfo(dtype.value))


@handles(np.common_type)
def _common_type(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    dtypes = [_dtype(value) for value in args]  # all that counts of arrays
    if not args or kwargs or any(dtype is None or dtype.kind not in "fciu" for dtype in dtypes):
        return NotImplemented
    return ir.Const(np.common_type(*[np.empty(0, dtype) for dtype in dtypes]))


def _type_of_number(value: Value) -> Any:
    type_ = type_of(value) if is_atom(value) else None
    return _PYTHON.get(type_.kind) if isinstance(type_, ir.Scalar) else None


_PYTHON = {cls.__name__: cls for cls in (bool, int, float, complex)}


def _dtype(value: Value) -> Any:
    match value:
        case ir.Var(type=ir.Array(dtype=dtype)) | ir.Var(type=ir.Scalar(dtype=dtype)):
            return dtype
        case ir.Const(value=type() | np.dtype() as constant):
            return np.dtype(constant)
        case _:
            return None


def _asking(function: Any, are_arrays_asked: bool) -> Handler:
    """Of dtypes, what they are called and classes; of arrays their own, where the function looks at that only."""

    def ask(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        known = [_asked(value, are_arrays_asked) for value in (*args, *kwargs.values())]
        if any(each is _UNKNOWN for each in known):
            return NotImplemented
        try:
            return ir.Const(function(*known[: len(args)], **dict(zip(kwargs, known[len(args) :], strict=True))))
        except Exception:  # raises at run time too
            return NotImplemented

    return ask


_UNKNOWN = object()


def _asked(value: Value, are_arrays_asked: bool) -> Any:
    match value:
        case ir.Const(value=str() | type() | np.dtype() as constant):
            return constant
        case TupleValue(items=items) if all(isinstance(item, ir.Const) for item in items):
            return tuple([item.value for item in items])  # type: ignore[union-attr]
        case ir.Var(type=ir.Array(dtype=np.dtype() as dtype)) if are_arrays_asked:
            return np.empty(0, dtype)
        case _:
            return _UNKNOWN


for _question in (np.issubdtype, np.isdtype, np.can_cast, np.promote_types):
    HANDLERS[_question] = _asking(_question, are_arrays_asked=False)
for _asked_of_arrays in (np.iscomplexobj, np.isrealobj):
    HANDLERS[_asked_of_arrays] = _asking(_asked_of_arrays, are_arrays_asked=True)
