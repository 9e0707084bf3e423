"""Integers of which it is known that floats tell them apart: counts, extents, and what is made of few of them."""

from __future__ import annotations

import operator

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import without_statements
from adjoint.ir.walk import statements_in
from adjoint.runtime.arithmetic.checks import EXACT, check_exact

_MOST_COUNTED = 2**47
"""No loop goes so many rounds, and no machine addresses so many bytes."""
_EXTENTS = (len, np.size, np.ndim)


def without_checks_of_small(function: ir.Function) -> ir.Function:
    """The function without questions whether integers are small that are."""
    statements = statements_in(function.body)
    if not any(isinstance(each, ir.Call) and each.callee is check_exact for each in statements):
        return function
    bounds: dict[ir.Atom, int] = {}
    for statement in statements:
        match statement:
            case ir.Call(targets=(target,)):
                bound = _bound_of_call(statement, bounds)
            case ir.Loop(over=ir.Range(start=start, step=step), index=ir.Var() as target):
                ends = _bound(start, bounds), _bound(step, bounds)
                bound = None if ends[0] is None or ends[1] is None else ends[0] + ends[1] * _MOST_COUNTED
            case _:
                continue
        if bound is not None:
            bounds[target] = bound

    def goes(statement: ir.Statement) -> bool:
        if not (isinstance(statement, ir.Call) and statement.callee is check_exact):
            return False
        bound = _bound(statement.args[0], bounds)
        return bound is not None and bound <= EXACT

    return ir.Function(function.name, function.params, without_statements(function.body, goes), function.doc)


def _bound(atom: ir.Atom, bounds: dict[ir.Atom, int]) -> int | None:
    """How large an integer is at most, sign apart; None where that is not known."""
    if isinstance(atom, ir.Const):
        return abs(atom.value) if isinstance(atom.value, int) else None
    return bounds.get(atom)


def _bound_of_call(call: ir.Call, bounds: dict[ir.Atom, int]) -> int | None:
    if call.callee in _EXTENTS:
        return _MOST_COUNTED
    known = [_bound(arg, bounds) for arg in call.args]
    given = [bound for bound in known if bound is not None]
    if len(given) < len(known) or not given:
        return None
    if call.callee in (operator.add, operator.sub):
        return sum(given)
    if call.callee is operator.mul:
        return given[0] * given[1]
    return max(given) if call.callee in (operator.neg, operator.pos, operator.floordiv, abs, min, max) else None
