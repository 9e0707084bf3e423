"""Warnings about functions of cotangents that never run, because no cotangent passes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.diagnostics import Diagnostic, Span, diagnostic
from adjoint.differentiation.reachability import Dependence
from adjoint.ir.walk import statements_in


def idle_surgery(function: ir.Function, wrt: Sequence[int], outputs: Sequence[int]) -> Iterator[Diagnostic]:
    """A warning for each place of surgery that no cotangent passes.

    Parameters
    ----------
    function
        What is differentiated.
    wrt
        The parameters that it is differentiated with respect to.
    outputs
        Indices of the results that are differentiated.
    """
    found = Dependence(function, wrt, outputs)
    varied = varying(function.body, [function.params[place] for place in wrt])
    told: set[Span | None] = set()
    active: set[Span | None] = set()
    idle: list[ir.Call] = []
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Surgery):
            if any(map(found.active, statement.targets)):
                active.add(statement.span)
            else:
                idle.append(statement)
    for call in idle:
        if call.span in active or call.span in told:
            continue  # one of several calls of the function around
        told.add(call.span)
        reached = any(target in varied for target in call.targets)
        label = "this does not reach the result" if reached else "nothing that is differentiated reaches this"
        yield diagnostic("AD0507", call.span, label)
