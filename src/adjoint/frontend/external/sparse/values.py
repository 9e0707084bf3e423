"""Sparse matrices of SciPy that are made of what varies, and systems of equations with those and with constant ones."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import scipy.sparse as sp
from scipy.sparse import linalg

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.data import making
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.external.sparse import definitions as sparse_definitions
from adjoint.frontend.external.sparse.matrices import is_sparse_matrix
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, Partial, TupleValue, Value
from adjoint.frontend.objects.classes import class_of
from adjoint.runtime.array_functions.sparse import sparse_times, times_sparse

_ANY = next(cls for cls in sp.csr_matrix.__mro__ if cls.__name__ == "_spbase")
"""A class of all sparse matrices, of which nothing more is known."""
_SAYS_NOTHING = {"copy", "format", "dtype"}
"""What may be named besides where a matrix is made: it changes nothing of what stands where."""


def _varies(lo: Lowerer, values: list[Value]) -> bool:
    return any(may_carry(lo, value) for value in values)


def _made(by_rows: Callable[..., Any] | None) -> Handler:
    """Handles the making of a matrix of its entries; where they do not vary it stays a matrix of SciPy."""
    by_entries = sparse_definitions.of_entries_kept if by_rows is None else sparse_definitions.of_entries

    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        entries = args[0] if args else None
        if not isinstance(entries, TupleValue) or not _varies(lo, [entries.items[0]]):
            return NotImplemented
        named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING}
        if len(entries.items) == 2:
            return lo.call(ir.Const(by_entries), [*entries.items, *args[1:2]], named, node)
        if by_rows is None:
            return NotImplemented
        return lo.call(ir.Const(by_rows), [*entries.items, *args[1:2]], named, node)

    return make


for _name in ("csr", "csc", "coo"):
    _by = {"csr": sparse_definitions.of_rows, "csc": sparse_definitions.of_columns}.get(_name)
    for _kind in ("matrix", "array"):
        HANDLERS[getattr(sp, f"{_name}_{_kind}")] = _made(_by)


def _constant(
    lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None, cls: type = _ANY
) -> Any:
    """A call that is known to give a sparse matrix, or what belongs to one, of what does not vary."""
    return made_of_constants(lo, callee, args, kwargs, node, cls, "matrix")


def _made_constant(callee: Any, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return _constant(lo, callee, args, kwargs, node)


for _callee in (sp.eye, sp.eye_array, sp.identity, sp.kron, sp.block_diag, sp.hstack, sp.vstack):
    HANDLERS[_callee] = partial(_made_constant, _callee)


def _diagonals(callee: Any, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING}
    offsets = named.pop("offsets", args[1] if len(args) > 1 else ir.Const(0))
    if not _varies(lo, args[:1]):
        return _constant(lo, callee, args, kwargs, node)
    several = isinstance(args[0], TupleValue) or making.list_items(lo, args[0]) is not None
    if not several:
        one = TupleValue((args[0],)), TupleValue((offsets,))
        return lo.call(ir.Const(sparse_definitions.of_diagonals), [*one, *args[2:3]], named, node)
    return lo.call(ir.Const(sparse_definitions.of_diagonals), [args[0], offsets, *args[2:3]], named, node)


for _callee in (sp.diags, sp.diags_array):
    HANDLERS[_callee] = partial(_diagonals, _callee)


def _is_of_entries(lo: Lowerer, args: list[Value]) -> bool:
    return bool(args) and class_of(lo, args[0]) is sparse_definitions.SparseMatrix


@handles(linalg.spsolve)
def _spsolve(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not _is_of_entries(lo, args):
        return NotImplemented
    return lo.call(ir.Const(sparse_definitions.solve), args[:2], {}, node)


@handles(linalg.splu)
def _splu(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if _is_of_entries(lo, args):
        return lo.call(ir.Const(sparse_definitions.Factored), args[:1], {}, node)
    return _constant(lo, linalg.splu, args, kwargs, node, linalg.SuperLU)


@handles(linalg.factorized)
def _factorized(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if _is_of_entries(lo, args):
        return lo.call(ir.Const(sparse_definitions.factorized), args, {}, node)
    factors = _splu(lo, args, kwargs, node)
    return factors if factors is NotImplemented else Partial(ir.Const(sparse_definitions.solve_with), (factors,), ())


# Operators, and attributes


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
        by = sparse_definitions.scaled if op is operator.mul else sparse_definitions.shrunk
        return lo.call(ir.Const(by), [matrices[0], factors[0]], {}, node)
    target = ir.Var("t", matrices[0].type)
    lo.emit(ir.Call((target,), op, tuple(operands), (), lo.span(node)))
    return target


_OF_MATRICES = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.matmul)


def _is_number(value: Any) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, (int, float))
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Scalar)


def attribute_of_factors(factors: ir.Var, name: str) -> Value | None:
    """The method by which the factors of a constant matrix solve systems of equations; None for other attributes."""
    return Method(ir.Const(sparse_definitions.solve_with), factors) if name == "solve" else None
