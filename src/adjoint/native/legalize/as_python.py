"""Statements that run as Python out of machine code, whether or not there is another form for them."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import ByPython
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import blocks_of, free_vars, targets_of
from adjoint.native.legalize.undefined_values import with_all_bound
from adjoint.rules.registry import rule_for

_CONTAINERS = (dict, list, set, frozenset, tuple, collections.deque)


def by_python(statement: ir.Statement) -> ir.Call:
    """A statement as a call of Python; of one with blocks nothing is known, but that it does what it says."""
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    if not blocks_of(statement):
        return _called((statement,), targets_of(statement), name)
    return _called((statement,), targets_of(statement), "attempt", several=True, asks=True)


def by_python_together(statements: Sequence[ir.Statement], targets: tuple[ir.Var, ...], asks: bool) -> ir.Call:
    """Statements one after another as a call of Python that gives these targets."""
    computed = {
        var for each in statements for var, is_one in zip(targets_of(each), computed_by(each), strict=True) if is_one
    }
    gives = tuple([target in computed for target in targets])
    return _called(statements, targets, "steps", several=True, asks=asks, computed=gives)


def computed_by(statement: ir.Statement) -> tuple[bool, ...]:
    """For each result of a statement whether it is computed, and no item of what the statement is given."""
    if not isinstance(statement, ir.Call):
        return (False,) * len(targets_of(statement))
    if isinstance(statement.callee, ByPython):
        return statement.callee.computed or (False,) * len(statement.targets)
    is_of_containers = getattr(statement.callee, "__objclass__", None) in _CONTAINERS
    found = effects_of(statement)
    is_one = rule_for(statement.callee) is not None and found.known and not found.hands_on and not is_of_containers
    return (is_one,) * len(statement.targets)


def _called(statements: Sequence[ir.Statement], targets: tuple[ir.Var, ...], name: str, **how: Any) -> ir.Call:
    taken = free_vars(ir.Block(tuple(statements), ir.Yield()))
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = dict(zip(taken, params, strict=True))
    inside = tuple([substitute(statement, given) for statement in statements])
    body = ir.Block(inside, ir.Return(targets or (ir.Const(None),)))
    function = with_all_bound(ir.Function(name.strip("_<>") or "call", params, body))
    return ir.Call(targets, ByPython(emit(function), **how), taken, (), statements[0].span)
