"""Calls that mean, by declaration, a call of a Python function, which is read in their place.

A definition that raises NotImplementedError says that it does not cover a call. Then the call stays what it is, and
is refused if a derivative would have to flow through it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Closure, Method, Operator, Partial, Value
from adjoint.rules import registry

LIBRARY = ("adjoint.rules.", "adjoint.frontend.external.sparse.definitions")


def meaning_of(callee: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Any:
    """The function that a call means by declaration, None if there is none."""
    return registry.definition_of(
        callee, [_known(value) for value in args], {name: _known(value) for name, value in kwargs.items()}
    )


def _known(value: Value) -> Any:
    return value.value if isinstance(value, ir.Const) else registry.UNKNOWN


def covers(
    lo: Lowerer, meaning: Callable[..., Any], nargs: int, keywords: tuple[str, ...], node: ast.AST | None
) -> bool:
    """Whether a definition says what a call with these arguments means."""
    if (meaning, lo.span(node)) in lo.settings.uncovered:
        return False
    try:
        inspect.signature(meaning).bind(*range(nargs), **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


def refuse_functions(
    lo: Lowerer, callee: Any, meaning: Callable[..., Any], values: Sequence[Value], node: ast.AST | None
) -> None:
    """Refuses a call that a definition does not cover, if it is handed a function that may vary."""
    if any(_is_function(value) for value in values):
        what = lo.settings.uncovered.get((meaning, lo.span(node)), "these arguments")
        label = f"no derivative of {callee.__name__!r} is known with {what}"
        solved = "say what the result solves: ad.implicit(solve, residual)"
        helps = (solved,) if what == "any argument" else ("leave it out if it is an option", f"or {solved}")
        raise lo.problem("AD0204", node, label, helps=helps, name=callee.__name__)


def uncovered(lo: Lowerer, callee: Any, meaning: Callable[..., Any], node: ast.AST | None) -> Exception:
    """The refusal of a call of which it matters what it does, and that its definition does not cover."""
    what = lo.settings.uncovered.get((meaning, lo.span(node)), "these arguments")
    label = f"no derivative of {callee.__name__!r} is known with {what}"
    return lo.problem("AD0204", node, label, name=callee.__name__)


def _is_function(value: Value) -> bool:
    return isinstance(value, (Closure, Method, Partial, Operator)) or (
        isinstance(value, ir.Const) and isinstance(value.value, (FunctionType, partial, MethodType))
    )


def is_of_rules(closure: Closure) -> bool:
    """Whether a function belongs to the definitions of library functions."""
    return str(closure.globals.get("__name__", "")).startswith(LIBRARY)


def is_for_a_rule(lo: Lowerer) -> bool:
    """Whether a rule runs now: what it is handed, such as the equations of a solver, may run as often as it likes."""
    frame = lo.frame
    while frame is not None and str(frame.closure.globals.get("__name__", "")).startswith("adjoint."):
        if is_of_rules(frame.closure):
            return True
        frame = frame.caller
    return False


def note_if_uncovered(lo: Lowerer, node: ast.Raise) -> None:
    """Starts again without the definition that is being read, if it says here that it does not cover the call."""
    match node.exc:
        case ast.Call(func=ast.Name(id="NotImplementedError"), args=said):
            frame = _outermost(lo.frame)
        case _:
            return
    if frame is None:
        return
    key = frame.closure.function, frame.call_span
    if lo.settings.kept and not lo.settings.rules_inlined:
        lo.settings.rules_inlined = True  # what a function gives that stays one is not known
    elif key in lo.settings.uncovered:  # of an object that stands for one of the library: nothing else is there
        name = frame.closure.source.name
        label = f"no derivative of {name!r} is known with {lo.settings.uncovered[key]}"
        found = lo.problem("AD0204", node, label, helps=(), name=name).diagnostic
        lo.run_data.diagnostics.setdefault((found.code, found.span), found)
        return
    else:
        lo.settings.uncovered[key] = _text(lo, said)
    raise Restart


def _text(lo: Lowerer, said: Sequence[ast.expr]) -> str:
    value = lo.evaluate(said[0]) if said else None
    return str(value.value) if isinstance(value, ir.Const) else "this call"


def _outermost(frame: Frame | None) -> Frame | None:
    """The activation of the definition that the user's code called; None where the user's code runs."""
    found = None
    while frame is not None and is_of_rules(frame.closure):
        found, frame = frame, frame.caller
    return found
