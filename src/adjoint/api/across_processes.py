"""What is not defined of a function whose messages join the arguments and results of several processes."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.messages import communicates
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.ir.walk import statements_in
from adjoint.rules.registry import is_exchanged


def refuse_messages(function: ir.Function, what: str) -> None:
    """Raises where a derivative exchanges messages: in each of several directions all processes would have one."""
    if not is_exchanged():
        return
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and communicates(statement.callee):
            raise DifferentiationError(diagnostic("AD0313", statement.span, "messages are exchanged here", name=what))
