"""Constant sparse matrices: their products with what varies, and their transposes."""

from __future__ import annotations

import ast
import operator
from typing import Any

from adjoint.frontend.calls.opaque_calls import may_carry
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, Value
from adjoint.ir.nodes import Call, Const, Var
from adjoint.ir.types import Opaque, Scalar
from adjoint.runtime.array_functions.sparse import is_sparse, sparse_times, times_sparse, transposed_sparse


def is_sparse_matrix(value: Value) -> bool:
    """Whether a value is known to be a sparse matrix."""
    return isinstance(value, Var) and isinstance(value.type, Opaque) and is_sparse(value.type.cls)


def arithmetic(lo: Lowerer, op: Any, operands: list[Any], node: ast.AST | None) -> Value | None:
    """What an operator gives where an operand is a sparse matrix; None where that says nothing."""
    matrices = [operand for operand in operands if is_sparse_matrix(operand)]
    if not matrices:
        return None
    if op is operator.matmul and len(matrices) == 1:
        lo.at(node)
        return lo.open.call(sparse_times if matrices[0] is operands[0] else times_sparse, *operands)
    factors = [operand for operand in operands if operand not in matrices]
    if op not in _OF_MATRICES or not all(map(_is_number, factors)):
        return None
    if any(may_carry(lo, factor) for factor in factors):
        if op not in (operator.mul, operator.truediv) or (operands[-1] in matrices and op is operator.truediv):
            return None
        from adjoint.frontend.calls.calls import call_value  # circular
        from adjoint.frontend.library.sparse_definitions import scaled, shrunk  # lazy

        return call_value(lo, Const(scaled if op is operator.mul else shrunk), [matrices[0], factors[0]], {}, node)
    target = Var("t", matrices[0].type)
    lo.emit(Call((target,), op, tuple(operands), (), lo.span(node)))
    return target


_OF_MATRICES = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.matmul)


def _is_number(value: Any) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, float))
    return isinstance(value, Var) and isinstance(value.type, Scalar)


def attribute(lo: Lowerer, matrix: Var, name: str, node: ast.AST | None) -> Value | None:
    """An attribute of a sparse matrix, where it has to do with products."""
    if getattr(getattr(matrix.type, "cls", None), "__name__", "") == "SuperLU" and name == "solve":
        from adjoint.frontend.library.sparse_definitions import solve_with  # lazy

        return Method(Const(solve_with), matrix)
    if not is_sparse_matrix(matrix):
        return None
    if name == "dot":
        return Method(Const(sparse_times), matrix)
    if name != "T":
        return None
    assert isinstance(matrix.type, Opaque)
    target = Var("t", Opaque(_class_of_transpose(matrix.type.cls)))
    lo.emit(Call((target,), transposed_sparse, (matrix,), (), lo.span(node)))
    return target


def _class_of_transpose(cls: Any) -> type:
    try:
        return type(cls((1, 1)).T)  # rows of the one format are columns of the other
    except (TypeError, ValueError):  # a class of several formats
        return cls  # type: ignore[no-any-return]
