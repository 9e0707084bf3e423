"""Elements of a row of a matrix are read from the matrix: in machine code a row costs more than they do.

It is counted who holds a row, in memory that all threads share, wherever it is not plain to see that nobody needs to.
"""

from __future__ import annotations

from collections.abc import Iterator

from adjoint.ir.join import is_whole_number
from adjoint.ir.nodes import Attribute, Block, Call, Const, Function, Load, Statement, Subscript, Var
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.types import INT, Array, Tuple
from adjoint.ir.walk import statements_in
from adjoint.native.loops.uses import Node, Uses
from adjoint.runtime.objects import check_length, check_size


def with_elements_of_rows(function: Function) -> Function:
    """The function without rows of matrices of which only elements are read."""
    rows = dict(_rows_of_elements(function))
    if not rows:
        return function

    def block(old: Block) -> Block:
        statements = tuple(new for statement in old.statements for new in rewritten(statement))
        return Block(statements, rebuild_terminator(old.terminator, same_atom, block))

    def rewritten(statement: Statement) -> Iterator[Statement]:
        match statement:
            case Load(target=row) if row in rows:
                pass
            case Load(base=Var() as row, key=Subscript(items=(place,))) if row in rows:
                whole = rows[row]
                assert isinstance(whole.key, Subscript)
                key = Subscript((*whole.key.items, place), tupled=True)
                yield Load(statement.target, whole.base, key, statement.span)
            case Call(callee=callee, args=(Var() as row, count)) if callee is check_length and row in rows:
                shape, size = Var("shape", Tuple((INT, INT))), Var("n", INT)
                yield Load(shape, rows[row].base, Attribute("shape"))
                yield Load(size, shape, Subscript((Const(1),)))
                yield Call((), check_size, (size, count), (), statement.span)
            case _:
                yield map_blocks(statement, block)

    return Function(function.name, function.params, block(function.body), function.doc)


def _rows_of_elements(function: Function) -> Iterator[tuple[Var, Load]]:
    """Rows of matrices of which only elements are read; what takes each from its matrix."""
    uses = Uses(function.body)
    for statement in statements_in(function.body):
        match statement:
            case Load(
                target=Var(type=Array(dims=(_,))) as row,
                base=Var(type=Array(dims=(_, _))),
                key=Subscript(items=(place,)),
            ) if is_whole_number(place) and all(_reads_element(node, row) for node in uses.of[row]):
                yield row, statement


def _reads_element(node: Node, row: Var) -> bool:
    """Whether a node reads an element of a row, or asks how many there are."""
    match node:
        case Load(base=base, key=Subscript(items=(place,))):
            return base is row and is_whole_number(place)
        case Call(callee=callee, args=(given, _)):
            return callee is check_length and given is row
        case _:
            return False
