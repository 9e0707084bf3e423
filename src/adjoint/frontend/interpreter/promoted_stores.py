"""Arrays that may hold integers where floats are expected: it is asked when they are made, if they are written."""

from __future__ import annotations

from collections.abc import Mapping, Set

from adjoint.analysis.unknown_dtypes import unsure_arrays
from adjoint.ir.nodes import Atom, Block, Branch, Call, Const, Function, Statement, Var
from adjoint.ir.rebuild import map_blocks, rebuild, rebuild_terminator
from adjoint.ir.types import Array
from adjoint.runtime.arithmetic.checks import check_floats


def with_kinds_checked(function: Function) -> Function:
    """The function with a question behind each array that may turn out to hold integers, and that is written.

    Of those that nobody writes it is forgotten what they hold. That is for Python: in machine code the type of a number
    does not depend on the path.
    """
    written, read = unsure_arrays(function)
    if not written and not read:
        return function
    body = _forgetful(function.body, {var: _of_unknown_kind(var) for var in read})
    return Function(function.name, function.params, _checked(body, written), function.doc)


def _checked(block: Block, unsure: Set[Var]) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        statements.append(map_blocks(statement, lambda inner: _checked(inner, unsure)))
        if isinstance(statement, Call):
            for made in (target for target in statement.targets if target in unsure):
                name = Const(made.hint if made.named else None)
                statements.append(Call((), check_floats, (made, name), (), statement.span))
    end = block.terminator
    if isinstance(end, Branch):
        end = Branch(end.cond, _checked(end.then, unsure), _checked(end.orelse, unsure), end.span)
    return Block(tuple(statements), end)


def _of_unknown_kind(var: Var) -> Var:
    assert isinstance(var.type, Array)
    return Var(var.hint, Array(None, var.type.dims, var.type.storage), var.named)


def _forgetful(block: Block, others: Mapping[Var, Var]) -> Block:
    """The block with other variables, where they are bound as well as where they are read."""

    def binder(var: Var) -> Var:
        return others.get(var, var)

    def atom(old: Atom) -> Atom:
        return binder(old) if isinstance(old, Var) else old

    def inside(inner: Block) -> Block:
        return Block(
            tuple([rebuild(statement, atom, inside, binder) for statement in inner.statements]),
            rebuild_terminator(inner.terminator, atom, inside),
        )

    return inside(block) if others else block
