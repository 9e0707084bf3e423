"""Constant sparse matrices: their products with what varies, and their transposes."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.external.sparse.definitions import elementwise
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Method, Partial, Record, Ref, SliceValue, TupleValue, Value
from adjoint.runtime.array_functions.sparse import in_format, is_sparse, like_matrix, transposed_sparse


def is_sparse_matrix(value: Value) -> bool:
    """Whether a value is known to be a sparse matrix."""
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Opaque) and is_sparse(value.type.cls)


def written_by_entries(lo: Lowerer, matrix: Value, value: Value) -> None:
    """An entry of a matrix is written: where that varies, such matrices are made of entries the next time."""
    is_filled = is_sparse_matrix(matrix) and matrix.type.cls.__name__[:4] in ("lil_", "dok_")  # type: ignore[union-attr]
    if is_filled and not lo.settings.written_matrices and may_carry(lo, value):
        lo.settings.written_matrices = True
        raise Restart


def attribute(lo: Lowerer, matrix: ir.Var, name: str, node: ast.AST | None) -> Value | None:
    """An attribute of a sparse matrix, where it has to do with products."""
    if not is_sparse_matrix(matrix):
        return None
    assert isinstance(matrix.type, ir.Opaque)
    if name == "dot":
        return Method(ir.Const(times), matrix)
    if name == "multiply":
        return Partial(ir.Const(elementwise), (matrix,), ())
    if name in _FORMATS:
        form = _FORMATS[name]
        return Partial(ir.Const(in_format), (matrix,) if form is None else (matrix, ir.Const(form)), ())
    is_by_rows = getattr(matrix.type.cls, "__name__", "") == "csr_matrix"
    if name in _OF_ONE_CLASS or (is_by_rows and name in ("getrow", "getcol")):
        return Partial(ir.Const(like_matrix), (matrix, ir.Const(name)), ())
    if name in ("real", "imag"):
        part = ir.Var(name, matrix.type)
        lo.emit(ir.Load(part, matrix, ir.Attribute(name), lo.span(node)))
        return part
    if name != "T":
        return None
    target = ir.Var("t", ir.Opaque(_class_of_transpose(matrix.type.cls)))
    lo.emit(ir.Call((target,), transposed_sparse, (matrix,), (), lo.span(node)))
    return target


def part(lo: Lowerer, matrix: Value, index: Value, node: ast.AST | None) -> Value | None:
    """Rows and columns of a constant matrix, a matrix of its class; None where that is not known, as of entries."""
    if not isinstance(matrix, ir.Var) or not isinstance(matrix.type, ir.Opaque) or matrix.type.cls is None:
        return None
    name = matrix.type.cls.__name__
    axes = [_axis(lo, item) for item in (index.items if isinstance(index, TupleValue) else (index,))]
    is_of_axes = "slice" in axes or len(axes) == 1
    leaves_axis_out = "number" in axes and not name.endswith("_matrix")
    if name[:4] not in ("csr_", "csc_", "lil_") or None in axes or len(axes) > 2 or not is_of_axes or leaves_axis_out:
        return None
    target = ir.Var("part", matrix.type)
    key = materialize(lo, index, node)
    lo.emit(ir.Call((target,), like_matrix, (matrix, ir.Const("__getitem__"), key), (), lo.span(node)))
    return target


def _axis(lo: Lowerer, item: Value) -> str | None:
    """What one item of an index is for its axis; None where that is not known."""
    match item:
        case SliceValue() | ir.Const(value=slice()):
            return "slice"
        case Ref() if isinstance(record := lo.store[item], Record) and record.cls is list:
            are_numbers = all(isinstance(each, ir.Const) and type(each.value) is int for each in record.items)
            return "places" if are_numbers else None
        case ir.Const(value=np.ndarray() as places):
            return "places" if places.ndim == 1 and places.dtype.kind in "iub" else None
        case ir.Var(type=ir.Array(dtype=np.dtype(kind="i" | "u" | "b"), dims=(_,))):
            return "places"
        case ir.Const(value=int()) | ir.Var(type=ir.Scalar(kind="int")):
            return "number"
    return None


_FORMATS = {"asformat": None, **{f"to{form}": form for form in ("csr", "csc", "coo", "dia", "lil")}}
"""Methods that give the same matrix in a form, by the form."""


_OF_ONE_CLASS = ("copy", "conj", "conjugate", "astype", "power", "sqrt", "maximum", "minimum")
"""Methods that give another matrix of the same class."""


def times(matrix: Any, other: Any) -> Any:
    """``matrix.dot(other)``, of whatever the other is."""
    return matrix @ other


def _class_of_transpose(cls: Any) -> type:
    try:
        return type(cls((1, 1)).T)  # rows of the one format are columns of the other
    except (TypeError, ValueError):  # a class of several formats
        return cls  # type: ignore[no-any-return]
