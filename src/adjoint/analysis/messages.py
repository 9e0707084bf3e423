"""Which calls exchange messages with other processes: of functions that rules say it of, and of what calls one."""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.walk import statements_in
from adjoint.rules.registry import exchanges, is_exchanged


def communicates(callee: object) -> bool:
    """Whether a call of ``callee`` exchanges messages: then its derivative has to be called, whatever varies here."""
    if not is_exchanged():
        return False
    return exchanges(callee) or (
        isinstance(callee, (ir.Definition, ir.Derived, ir.Function)) and _inside(callee, set())
    )


def _inside(callee: ir.Definition | ir.Derived | ir.Function, seen: set[int]) -> bool:
    function = callee if isinstance(callee, ir.Function) else callee.function
    if function is None or id(function) in seen:
        return False
    seen.add(id(function))
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call):
            inner = statement.callee
            if exchanges(inner) or (
                isinstance(inner, (ir.Definition, ir.Derived, ir.Function)) and _inside(inner, seen)
            ):
                return True
    return False
