"""Where it decides what a program means which of its values are one object."""

from __future__ import annotations

import operator

from adjoint import ir
from adjoint.ir.walk import statements_run


def asks_identities(function: ir.Function) -> bool:
    """Whether somebody asks whether two values are one object: what computes the same gives two."""
    return any(isinstance(part, ir.Call) and _compares_objects(part) for part in statements_run(function))


def _compares_objects(call: ir.Call) -> bool:
    if call.callee is id:
        return True
    return call.callee in (operator.is_, operator.is_not) and all(isinstance(arg, ir.Var) for arg in call.args)
