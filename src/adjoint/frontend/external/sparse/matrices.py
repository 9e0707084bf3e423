"""Constant sparse matrices: their products with what varies, and their transposes."""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.external.sparse.definitions import elementwise
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Method, Partial, Value
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
    if name == "dot":
        return Method(ir.Const(times), matrix)
    if name == "multiply":
        return Partial(ir.Const(elementwise), (matrix,), ())
    if name in _FORMATS:
        form = _FORMATS[name]
        return Partial(ir.Const(in_format), (matrix,) if form is None else (matrix, ir.Const(form)), ())
    if name in _OF_ONE_CLASS:
        return Partial(ir.Const(like_matrix), (matrix, ir.Const(name)), ())
    assert isinstance(matrix.type, ir.Opaque)
    if name in ("real", "imag"):
        part = ir.Var(name, matrix.type)
        lo.emit(ir.Load(part, matrix, ir.Attribute(name), lo.span(node)))
        return part
    if name != "T":
        return None
    target = ir.Var("t", ir.Opaque(_class_of_transpose(matrix.type.cls)))
    lo.emit(ir.Call((target,), transposed_sparse, (matrix,), (), lo.span(node)))
    return target


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
