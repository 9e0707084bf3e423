"""Sparse matrices of SciPy that are made of what varies, and systems of equations with those and with constant ones."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import linalg

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.data import making as lists
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.external.sparse import definitions, making, operators, written
from adjoint.frontend.external.sparse.matrices import is_sparse_matrix
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.values import NONE, Method, Partial, TupleValue, Value, is_atom
from adjoint.frontend.objects.classes import class_of
from adjoint.runtime.array_functions.sparse import elements_product, in_format, like_matrix, sparse_times, times_sparse

_SAYS_NOTHING = {"copy", "format", "dtype", "blocksize"}
"""What may be named besides where a matrix is made: it changes nothing of what stands where."""


def _varies(lo: Lowerer, values: list[Value]) -> bool:
    return any(may_carry(lo, value) for value in values)


def _is_of(lo: Lowerer, value: Value, classes: tuple[type, ...]) -> bool:
    cls = class_of(lo, value)
    return cls is not None and issubclass(cls, classes)


def _is_of_entries(lo: Lowerer, value: Value) -> bool:
    return _is_of(lo, value, (definitions.SparseMatrix,))


def _has_matrix(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a matrix that varies, or a list or tuple of such."""
    items = value.items if isinstance(value, TupleValue) else lists.list_items(lo, value)
    return _is_of_entries(lo, value) if items is None else any(_has_matrix(lo, item) for item in items)


def _any_varies(lo: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> bool:
    values = [*args, *kwargs.values()]
    return _varies(lo, values) or any(_has_matrix(lo, value) for value in values)


# Matrices that are made


def _made(by_rows: Callable[..., Any] | None, is_array: bool, form: str) -> Handler:
    """Handles the making of a matrix; where nothing varies it stays a matrix of SciPy."""
    kind: dict[str, Value] = {"is_array": ir.Const(is_array)}
    made: dict[str, Value] = {"form": ir.Const(form)}

    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not args or not _any_varies(lo, args[:1], {}):
            return NotImplemented
        named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING} | kind
        entries, rest = args[0], args[1:2]
        if not isinstance(entries, TupleValue):
            return lo.call(ir.Const(making.of_whole), [entries, *rest], named | made, node)
        if len(entries.items) == 3:
            return lo.call(ir.Const(by_rows), [*entries.items, *rest], named, node) if by_rows else NotImplemented
        return lo.call(ir.Const(making.of_entries), [*entries.items, *rest], named | made, node)

    return make


def _filled(callee: Any, is_array: bool, form: str) -> Handler:
    """Handles the making of a matrix that is filled entry by entry, perhaps by what varies."""

    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not args:
            return NotImplemented
        if not lo.settings.written_matrices and not _any_varies(lo, args[:1], {}):
            return _constant(lo, callee, args, kwargs, node, callee)
        return lo.call(ir.Const(written.Written), [args[0], ir.Const(is_array), ir.Const(form)], {}, node)

    return make


for _kind in ("matrix", "array"):
    for _name in ("lil", "dok"):
        _cls = getattr(sp, f"{_name}_{_kind}")
        HANDLERS[_cls] = _filled(_cls, _kind == "array", _name)


def _made_of_bands(is_array: bool) -> Handler:
    kind: dict[str, Value] = {"is_array": ir.Const(is_array)}

    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not args or not _any_varies(lo, args[:1], {}):
            return NotImplemented
        named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING} | kind
        by = making.of_bands if isinstance(args[0], TupleValue) else making.of_whole
        return lo.call(ir.Const(by), args[:2], named, node)

    return make


for _kind in ("matrix", "array"):
    for _name, _by in (("csr", making.of_rows), ("csc", making.of_columns), ("coo", None)):
        HANDLERS[getattr(sp, f"{_name}_{_kind}")] = _made(_by, _kind == "array", _name)
    HANDLERS[getattr(sp, f"dia_{_kind}")] = _made_of_bands(_kind == "array")


@handles(np.conjugate)
def _conjugate(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of an object NumPy asks its method."""
    if len(args) != 1 or kwargs or not _is_of_entries(lo, args[0]):
        return NotImplemented
    return lo.call(ir.Const(definitions.SparseMatrix.conj), args, {}, node)


def _constant(
    lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None, cls: type
) -> Any:
    """A call that is known to give a sparse matrix, or what belongs to one, of what does not vary."""
    return made_of_constants(lo, callee, args, kwargs, node, cls, "matrix")


def _class_made(kind: str | None, kwargs: dict[str, Value]) -> type:
    """The class of what ``eye`` and ``diags`` make, and of blocks that of any matrix."""
    named = kwargs.get("format", ir.Const(None))
    if kind is None or not isinstance(named, ir.Const):
        return definitions.ANY  # type: ignore[no-any-return]
    made: type = getattr(sp, f"{named.value or 'dia'}_{kind}", definitions.ANY)
    return made


def _made_of(
    callee: Any,
    means: Callable[..., Any] | None,
    kind: str | None,
    lo: Lowerer,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Any:
    if means is None or not _any_varies(lo, args, kwargs):
        return _constant(lo, callee, args, kwargs, node, _class_made(kind, kwargs))
    named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING}
    return lo.call(ir.Const(means), [_in_tuples(lo, arg) for arg in args], named, node)


def _in_tuples(lo: Lowerer, value: Value) -> Value:
    """Lists of blocks as tuples, whose items need not be alike."""
    items = value.items if isinstance(value, TupleValue) else lists.list_items(lo, value)
    return value if items is None else TupleValue(tuple(_in_tuples(lo, item) for item in items))


_MADE: tuple[tuple[str, Callable[..., Any] | None, str | None], ...] = (
    *(("eye", None, "matrix"), ("identity", None, "matrix"), ("eye_array", None, "array")),
    *((name, getattr(making, name), None) for name in ("kron", "kronsum", "block_diag", "hstack", "vstack")),
    *((name, getattr(making, name), None) for name in ("tril", "triu")),
    *((name, None, None) for name in ("random", "random_array", "rand")),
    *(("spdiags", making.spdiags, None),),
)
for _name, _means, _of in _MADE:
    if hasattr(sp, _name):
        HANDLERS[getattr(sp, _name)] = partial(_made_of, getattr(sp, _name), _means, _of)


def _blocks(callee: Any, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Rows of blocks beside each other, below each other; where a block is None, others tell how large it is."""
    if not _any_varies(lo, args, kwargs):
        return _constant(lo, callee, args, kwargs, node, definitions.ANY)
    whole = _in_tuples(lo, args[0]) if args else None
    rows = (
        [row.items if isinstance(row, TupleValue) else () for row in whole.items]
        if isinstance(whole, TupleValue)
        else []
    )
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise lo.problem("AD0204", node, "the blocks are no rows of known length")
    found = []
    for row in rows:
        columns = [[each[j] for each in rows] for j in range(len(row))]
        known = [
            block if block != NONE else _empty(lo, row, column, node)
            for block, column in zip(row, columns, strict=True)
        ]
        found.append(lo.call(ir.Const(making.hstack), [TupleValue(tuple(known))], {}, node))
    return lo.call(ir.Const(making.vstack), [TupleValue(tuple(found))], {}, node)


def _empty(lo: Lowerer, row: Sequence[Value], column: Sequence[Value], node: ast.AST | None) -> Value:
    beside, below = (next((block for block in blocks if block != NONE), NONE) for blocks in (row, column))
    return lo.call(ir.Const(making.empty), [beside, below], {}, node)


for _name in ("bmat", "block_array"):
    if hasattr(sp, _name):
        HANDLERS[getattr(sp, _name)] = partial(_blocks, getattr(sp, _name))


def _diagonals(
    callee: Any, kind: str, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Any:
    if not _varies(lo, [*args[:1], kwargs.get("diagonals", ir.Const(None))]):
        return _constant(lo, callee, args, kwargs, node, _class_made(kind, kwargs))
    named = {name: value for name, value in kwargs.items() if name not in _SAYS_NOTHING}
    named["is_array"] = ir.Const(kind == "array")
    named["form"] = kwargs.get("format", ir.Const(None))
    offsets = named.pop("offsets", args[1] if len(args) > 1 else ir.Const(0))
    diagonals = named.pop("diagonals", args[0] if args else ir.Const(None))
    if isinstance(type_of(offsets), ir.Scalar):
        diagonals, offsets = TupleValue((diagonals,)), TupleValue((offsets,))
    return lo.call(ir.Const(making.of_diagonals), [diagonals, offsets, *args[2:3]], named, node)


for _callee, _kind in ((sp.diags, "matrix"), (sp.diags_array, "array")):
    HANDLERS[_callee] = partial(_diagonals, _callee, _kind)


# Systems of equations


def _is_first_of_entries(lo: Lowerer, args: list[Value]) -> bool:
    return bool(args) and _is_of_entries(lo, args[0])


@handles(linalg.spsolve)
def _spsolve(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of a right side with one column the solution is a vector."""
    given = {**dict(zip(("A", "b", "permc_spec", "use_umfpack"), args, strict=False)), **kwargs}
    if not given.keys() >= {"A", "b"}:
        return NotImplemented
    side = type_of(given["b"]) if is_atom(given["b"]) else None
    if isinstance(side, ir.Array) and side.dims is not None and side.dims[1:] == ("one",):
        vector = lo.call(ir.Const(np.ravel), [given["b"]], {}, node)
        return lo.call(ir.Const(linalg.spsolve), [], {**given, "b": vector}, node)
    return lo.call(ir.Const(definitions.solve), [], given, node) if _is_of_entries(lo, given["A"]) else NotImplemented


@handles(linalg.spilu)
def _spilu(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if _is_first_of_entries(lo, args):
        return lo.call(ir.Const(operators.Incomplete), args, kwargs, node)
    return _constant(lo, linalg.spilu, args, kwargs, node, linalg.SuperLU)


@handles(linalg.splu)
def _splu(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if _is_first_of_entries(lo, args):
        return lo.call(ir.Const(definitions.Factored), args[:1], {}, node)
    return _constant(lo, linalg.splu, args, kwargs, node, linalg.SuperLU)


@handles(linalg.factorized)
def _factorized(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if _is_first_of_entries(lo, args):
        return lo.call(ir.Const(definitions.factorized), args, {}, node)
    factors = _splu(lo, args, kwargs, node)
    return factors if factors is NotImplemented else Partial(ir.Const(definitions.solve_with), (factors,), ())


def _of_entries(callee: Any, means: Any) -> None:
    """A function of a matrix that varies."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return lo.call(ir.Const(means), args, kwargs, node) if _is_first_of_entries(lo, args) else NotImplemented

    HANDLERS[callee] = call


_of_entries(linalg.norm, making.norm)
_of_entries(linalg.matrix_power, making.matrix_power)
_of_entries(linalg.spsolve_triangular, making.spsolve_triangular)
_of_entries(linalg.inv, making.inverse)


@handles(linalg.aslinearoperator)
def _as_operator(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 1 or not (_any_varies(lo, args, kwargs) or is_sparse_matrix(args[0])):
        return NotImplemented
    return lo.call(ir.Const(operators.product_with), args, kwargs, node)


def _of_what_varies(callee: Any, means: Any) -> None:
    """A function of matrices and vectors of which one varies; where nothing does, it stays SciPy's."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return lo.call(ir.Const(means), args, kwargs, node) if _any_varies(lo, args, kwargs) else NotImplemented

    HANDLERS[callee] = call


_of_what_varies(linalg.expm, making.expm)
_of_what_varies(linalg.expm_multiply, making.expm_multiply)
_of_what_varies(linalg.eigsh, operators.eigenpairs)
_of_what_varies(linalg.eigs, operators.general_eigenpairs)
_of_what_varies(linalg.lobpcg, operators.blockwise)
_of_what_varies(linalg.svds, operators.triplets)


@handles(linalg.LinearOperator)
def _operator(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return lo.call(ir.Const(operators.Operator), args, kwargs, node)


def _iterated(
    solver: Callable[..., Any], lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Any:
    """A solver of a system of equations that goes on until it is near; derivatives are those of the solution."""
    first = args[0] if args else None
    is_whole = isinstance(first, ir.Var) and isinstance(first.type, ir.Array)
    if first is None or not (is_whole or is_sparse_matrix(first) or _is_of(lo, first, _ASKED_FOR_PRODUCTS)):
        return NotImplemented
    return lo.call(ir.Const(operators.iterated), [ir.Const(solver), *args], kwargs, node)


_ASKED_FOR_PRODUCTS = (operators.Operator, linalg.LinearOperator, definitions.SparseMatrix)


for _callee in (
    *(linalg.cg, linalg.cgs, linalg.bicg, linalg.bicgstab, linalg.gmres, linalg.lgmres, linalg.minres),
    *(linalg.qmr, linalg.tfqmr, linalg.gcrotmk),
):
    HANDLERS[_callee] = partial(_iterated, _callee)


# Operators, and attributes


@handles(definitions.elementwise)
def _elementwise(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """The product with another matrix or an array; where that does not vary, it stays a matrix of SciPy."""
    if kwargs or len(args) != 2 or _any_varies(lo, args[1:], {}):
        return NotImplemented
    return _constant(lo, elements_product, args, kwargs, node, definitions.ANY)


@handles(in_format)
def _in_format(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    matrix, form = args[0], args[1] if len(args) > 1 else ir.Const(None)
    cls = matrix.type.cls if isinstance(matrix, ir.Var) and isinstance(matrix.type, ir.Opaque) else None
    if kwargs or len(args) != 2 or cls is None or not isinstance(form, ir.Const):
        return NotImplemented
    assert isinstance(matrix, ir.Var)
    made = f"{form.value}_{'array' if issubclass(cls, sp.sparray) else 'matrix'}"
    target = ir.Var("matrix", ir.Opaque(definitions.ANY if cls is definitions.ANY else getattr(sp, made)))
    lo.emit(ir.Call((target,), in_format, (matrix, form), (), lo.span(node)))
    return target


@handles(like_matrix)
def _like_matrix(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    matrix = args[0]
    if kwargs or _any_varies(lo, args[1:], {}) or not is_sparse_matrix(matrix):
        return NotImplemented
    assert isinstance(matrix, ir.Var)
    assert isinstance(matrix.type, ir.Opaque)
    return _constant(lo, like_matrix, args, kwargs, node, matrix.type.cls or definitions.ANY)


def arithmetic(lo: Lowerer, op: Any, operands: list[Any], node: ast.AST | None) -> Value | None:
    """What an operator gives where an operand is a sparse matrix; None where that says nothing."""
    matrices = [operand for operand in operands if is_sparse_matrix(operand)]
    if not matrices:
        return None
    if len(matrices) == 1 and (op is operator.matmul or (op is operator.mul and _multiplies_matrices(operands))):
        lo.at(node)
        return lo.open.call(sparse_times if matrices[0] is operands[0] else times_sparse, *operands)
    factors = [operand for operand in operands if operand not in matrices]
    if op not in _OF_MATRICES or not all(map(_is_number, factors)):
        return None
    if any(may_carry(lo, factor) for factor in factors):
        if op not in (operator.mul, operator.truediv) or (operands[-1] in matrices and op is operator.truediv):
            return None
        by = definitions.scaled if op is operator.mul else definitions.shrunk
        return lo.call(ir.Const(by), [matrices[0], factors[0]], {}, node)
    target = ir.Var("t", ir.Opaque(definitions.ANY) if len(matrices) > 1 else matrices[0].type)
    lo.emit(ir.Call((target,), op, tuple(operands), (), lo.span(node)))
    return target


_OF_MATRICES = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.matmul)


def _multiplies_matrices(operands: list[Any]) -> bool:
    """Whether ``*`` is a product of matrices: that of an array and a matrix of SciPy's older classes."""
    types = [operand.type for operand in operands if isinstance(operand, ir.Var)]
    classes = [type_.cls for type_ in types if isinstance(type_, ir.Opaque)]
    is_older = any(isinstance(cls, type) and issubclass(cls, sp.spmatrix) for cls in classes)
    return is_older and any(isinstance(type_, ir.Array) for type_ in types)


def _is_number(value: Any) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, (int, float))
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Scalar)


def attribute_of_factors(factors: ir.Var, name: str) -> Value | None:
    """The method by which the factors of a constant matrix solve systems of equations; None for other attributes."""
    return Method(ir.Const(definitions.solve_with), factors) if name == "solve" else None
