"""Which functions of the IR a function calls, or takes derivatives of."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from adjoint import ir
from adjoint.ir.walk import statements_in

_FUNCTIONS = (ir.Function, ir.Definition, ir.Derived)


def functions_run(function: ir.Function) -> list[ir.Function]:
    """A function, and those that it calls or takes derivatives of, each once, behind those that it runs itself."""
    order: list[ir.Function] = []
    _callees_first(function, order, set())
    return order


def _callees_first(function: ir.Function, order: list[ir.Function], seen: set[ir.Function]) -> None:
    seen.add(function)
    for inner in _called(function):
        if inner not in seen:
            _callees_first(inner, order, seen)
    order.append(function)


def calls_in(function: ir.Function) -> list[ir.Call]:
    """The calls in the body of a function."""
    return [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]


@lru_cache(maxsize=1024)
def calls_of_functions(function: ir.Function) -> tuple[ir.Call, ...]:
    """The calls in the body of a function of what is, or will be, a function of the IR."""
    return tuple([each for each in calls_in(function) if isinstance(each.callee, _FUNCTIONS)])


def _called(function: ir.Function) -> list[ir.Function]:
    return [inner for call in calls_of_functions(function) if (inner := function_behind(call.callee)) is not None]


def function_behind(callee: Any) -> ir.Function | None:
    """The function of the IR that a call executes, or of whose derivative it does."""
    if isinstance(callee, (ir.Definition, ir.Derived)):
        return callee.function
    return callee if isinstance(callee, ir.Function) else None
