"""Statements that run as Python out of machine code, whether or not there is another form for them."""

from __future__ import annotations

from typing import Any

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted, load
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of


class ByPython:
    """A statement as a function of Python.

    Attributes
    ----------
    emitted
        The text of the function.
    """

    def __init__(self, emitted: Emitted) -> None:
        self.emitted = emitted
        self.__name__ = f"{emitted.name}_by_python"
        self.__qualname__ = self.__name__

    def __call__(self, *args: Any) -> Any:
        return load(self.emitted)(*args)


def by_python(statement: ir.Call | ir.Load | ir.Store) -> ir.Call:
    """A statement as a call of Python."""
    taken = tuple(dict.fromkeys(atom for atom in operands(statement) if isinstance(atom, ir.Var)))
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = dict(zip(taken, params, strict=True))
    targets = targets_of(statement)
    body = ir.Block((substitute(statement, given),), ir.Return(targets or (ir.Const(None),)))
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    callee = ByPython(emit(ir.Function(name.strip("_<>") or "call", params, body)))
    return ir.Call(targets, callee, taken, (), statement.span)
