"""Arrays that may hold integers where floats are expected: it is asked when they are made, if they are written."""

from __future__ import annotations

from collections.abc import Mapping, Set

from adjoint import ir
from adjoint.analysis.shapes.unknown_dtypes import unsure_arrays
from adjoint.frontend.interpreter.state.attempts import Run, Settings
from adjoint.ir.rebuild import map_blocks, rebuild, rebuild_terminator
from adjoint.runtime.arithmetic.checks import check_floats


def with_kinds_checked(function: ir.Function, data: Run, settings: Settings) -> ir.Function:
    """The function with a question behind each array that may turn out to hold integers, and that is written.

    Of those that nobody writes it is forgotten what they hold. That is for Python: in machine code the type of a number
    does not depend on the path. Where the path decides between floats and integers that are computed, Python runs.
    """
    is_python = settings.kinds_told_apart or not settings.target.machine
    written, read = unsure_arrays(function, items=settings.kinds_told_apart, constants=is_python)
    if not is_python:
        read = set()
    data.asks_for_kinds |= any(array in written or array in read for array in data.asked_for_dtypes)
    if data.promotes_items and not data.asks_for_kinds:
        of_items, others = unsure_arrays(function, items=True)
        data.asks_for_kinds |= bool(of_items - written) or not (of_items | others).isdisjoint(data.asked_for_dtypes)
    if not written and not read:
        return function
    body = _forgetful(function.body, {var: _of_unknown_kind(var) for var in read})
    return ir.Function(function.name, function.params, _checked(body, written), function.doc)


def _checked(block: ir.Block, unsure: Set[ir.Var]) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        statements.append(map_blocks(statement, lambda inner: _checked(inner, unsure)))
        if isinstance(statement, ir.Call):
            for made in (target for target in statement.targets if target in unsure):
                name = ir.Const(made.hint if made.named else None)
                statements.append(ir.Call((), check_floats, (made, name), (), statement.span))
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = ir.Branch(end.cond, _checked(end.then, unsure), _checked(end.orelse, unsure), end.span)
    return ir.Block(tuple(statements), end)


def _of_unknown_kind(var: ir.Var) -> ir.Var:
    assert isinstance(var.type, ir.Array)
    return ir.Var(var.hint, ir.Array(None, var.type.dims, var.type.storage), var.named)


def _forgetful(block: ir.Block, others: Mapping[ir.Var, ir.Var]) -> ir.Block:
    """The block with other variables, where they are bound as well as where they are read."""

    def binder(var: ir.Var) -> ir.Var:
        return others.get(var, var)

    def atom(old: ir.Atom) -> ir.Atom:
        return binder(old) if isinstance(old, ir.Var) else old

    def inside(inner: ir.Block) -> ir.Block:
        return ir.Block(
            tuple([rebuild(statement, atom, inside, binder) for statement in inner.statements]),
            rebuild_terminator(inner.terminator, atom, inside),
        )

    return inside(block) if others else block
