"""What machine code may hand from the first half of a derivative to the second."""

from __future__ import annotations

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.ir.walk import statements_in, targets_of
from adjoint.native.compile.not_native import NotNative
from adjoint.runtime.copies import fresh_shadows

_REASON = "the pullback must know which list, dict or array is which after this, and machine code cannot hand that over"


def parted(primal: ir.Function, adjoint: ir.Function) -> NotNative | None:
    """Why the halves cannot be compiled, if the second goes by the identity of memory that the first hands over.

    Machine code gives each list, dict and array as a new object.
    """
    shadow = _first_shadow(adjoint)
    return None if shadow is None else NotNative(_REASON, (), _span_of(shadow.hint, primal))


def _first_shadow(adjoint: ir.Function) -> ir.Var | None:
    """The first thing of which an adjoint makes its own copy."""
    packed: dict[ir.Var, ir.Var] = {}
    for statement in statements_in(adjoint.body):
        if not isinstance(statement, ir.Call) or len(statement.targets) != 1:
            continue
        given = next((arg for arg in statement.args if isinstance(arg, ir.Var)), None)
        if given is None:
            continue
        if statement.callee is fresh_shadows:
            return packed.get(given, given)
        packed[statement.targets[0]] = given
    return None


def _span_of(hint: str, function: ir.Function) -> Span | None:
    """Where the first variable of a name is made."""
    for statement in statements_in(function.body):
        if statement.span is not None and any(target.hint == hint for target in targets_of(statement)):
            return statement.span
    return None
