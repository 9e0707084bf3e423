"""Statements that run as Python out of machine code, whether or not there is another form for them."""

from __future__ import annotations

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import ByPython
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import blocks_of, free_vars, targets_of
from adjoint.native.legalize.undefined_values import with_all_bound

_NAMES: dict[type, str] = {ir.Guarded: "attempt"}


def by_python(statement: ir.Statement) -> ir.Call:
    """A statement as a call of Python."""
    taken = free_vars(ir.Block((statement,), ir.Yield()))
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = dict(zip(taken, params, strict=True))
    targets = targets_of(statement)
    body = ir.Block((substitute(statement, given),), ir.Return(targets or (ir.Const(None),)))
    name = getattr(getattr(statement, "callee", None), "__name__", "") or _NAMES.get(type(statement), "index")
    function = with_all_bound(ir.Function(name.strip("_<>") or "call", params, body))
    return ir.Call(targets, ByPython(emit(function), has_blocks=bool(blocks_of(statement))), taken, (), statement.span)
