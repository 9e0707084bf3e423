"""Elements of a row of a matrix are read from the matrix: then the matrix need not be there as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_whole_number
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import statements_in
from adjoint.native.loops.uses import Node, Uses
from adjoint.runtime.objects import check_length, check_size


def with_elements_of_rows(function: ir.Function) -> ir.Function:
    """The function without rows of matrices of which only elements are read."""
    rows = dict(_rows_of_elements(function))
    if not rows:
        return function

    def block(old: ir.Block) -> ir.Block:
        statements = tuple(new for statement in old.statements for new in rewritten(statement))
        return ir.Block(statements, rebuild_terminator(old.terminator, same_atom, block))

    def rewritten(statement: ir.Statement) -> Iterator[ir.Statement]:
        match statement:
            case ir.Load(target=row) if row in rows:
                pass
            case ir.Load(base=ir.Var() as row, key=ir.Subscript(items=(place,))) if row in rows:
                whole = rows[row]
                assert isinstance(whole.key, ir.Subscript)
                key = ir.Subscript((*whole.key.items, place), tupled=True)
                yield ir.Load(statement.target, whole.base, key, statement.span)
            case ir.Call(callee=callee, args=(ir.Var() as row, count)) if callee is check_length and row in rows:
                shape, size = ir.Var("shape", ir.Tuple((ir.INT, ir.INT))), ir.Var("n", ir.INT)
                yield ir.Call((shape,), np.shape, (rows[row].base,))
                yield ir.Load(size, shape, ir.Subscript((ir.Const(1),)))
                yield ir.Call((), check_size, (size, count), (), statement.span)
            case _:
                yield map_blocks(statement, block)

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _rows_of_elements(function: ir.Function) -> Iterator[tuple[ir.Var, ir.Load]]:
    """Rows of matrices of which only elements are read; what takes each from its matrix."""
    uses = Uses(function.body)
    for statement in statements_in(function.body):
        match statement:
            case ir.Load(
                target=ir.Var(type=ir.Array(dims=(_,))) as row,
                base=ir.Var(type=ir.Array(dims=(_, _))),
                key=ir.Subscript(items=(place,)),
            ) if is_whole_number(place) and all(_reads_element(node, row) for node in uses.of[row]):
                yield row, statement


def _reads_element(node: Node, row: ir.Var) -> bool:
    """Whether a node reads an element of a row, or asks how many there are."""
    match node:
        case ir.Load(base=base, key=ir.Subscript(items=(place,))):
            return base is row and is_whole_number(place)
        case ir.Call(callee=callee, args=(given, _)):
            return callee is check_length and given is row
        case _:
            return False
