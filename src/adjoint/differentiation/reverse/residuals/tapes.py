"""Tapes for machine code: a list of numbers of known length, made for keeping values, becomes an array."""

from __future__ import annotations

import operator

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.runtime import display

_DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_, "complex": np.complex128}


def dtype_of(number: ir.Scalar) -> np.dtype:
    """The dtype of an array that holds such numbers."""
    return np.dtype(_DTYPES[number.kind]) if number.dtype is None else number.dtype


def dtype_argument(dtype: np.dtype | None) -> tuple[ir.Atom, ...]:
    """What ``np.empty`` has to be told of the dtype, besides the shape."""
    return () if dtype is None or dtype == np.float64 else (ir.Const(dtype.type),)


def as_arrays(function: ir.Function) -> ir.Function:
    """The function with its tapes of known length as arrays."""
    tapes = _tapes(function.body)
    if not tapes:
        return function

    def atom(old: ir.Atom) -> ir.Atom:
        return tapes.get(old, old) if isinstance(old, ir.Var) else old

    def block(old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            if isinstance(statement, ir.Call) and statement.targets and statement.targets[0] in tapes:
                statements.extend(_allocation(statement, tapes[statement.targets[0]]))
            else:
                statements.append(rebuild(statement, atom, block))
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _tapes(body: ir.Block) -> dict[ir.Var, ir.Var]:
    """The lists that are nothing but tapes, and the arrays that replace them."""
    singles: set[ir.Atom] = set()
    found: dict[ir.Var, ir.Var] = {}
    for statement in statements_in(body):
        match statement:
            case ir.Call(targets=(target,), callee=display.make_list, args=(ir.Const(),)):
                singles.add(target)
            case ir.Call(targets=(ir.Var(type=ir.List(element=ir.Scalar() as number)) as target,), callee=callee) if (
                callee is operator.mul and statement.args[0] in singles
            ):
                array = ir.Array(dtype_of(number), ("any",), ir.Storage(written=True))
                found[target] = ir.Var(target.hint, array, target.named)
    for statement in statements_in(body):
        handed = operands(statement)
        if isinstance(statement, (ir.Load, ir.Store)):
            handed = tuple(part for part in handed if part is not statement.base)
        for part in handed:
            found.pop(part, None)  # type: ignore[arg-type]
    for terminator in terminators_in(body):
        for part in operands(terminator):
            found.pop(part, None)  # type: ignore[arg-type]
    return found


def _allocation(call: ir.Call, array: ir.Var) -> list[ir.Statement]:
    assert isinstance(array.type, ir.Array)
    size = ir.Var("size", ir.INT)
    return [
        ir.Call((size,), max, (call.args[1], ir.Const(0)), (), call.span),
        ir.Call((array,), np.empty, (size, *dtype_argument(array.type.dtype)), (), call.span),
    ]
