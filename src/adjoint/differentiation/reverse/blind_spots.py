"""Where a derivative may flow through what reverse mode does not follow: such a function is refused.

Reverse mode follows values whose types say that they carry a derivative. Reachability, as forward mode sees it, takes
anything for a carrier that might be one; where both disagree, a cotangent would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.scalar_functions import NumberFlows
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, targets_of


def blind_spots(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], flows: NumberFlows | None
) -> list[Diagnostic]:
    """What stands against reversing a function, as far as it can be seen beforehand; ``flows`` are those of numbers."""
    if flows is not None and flows.all_declared:
        return []
    from adjoint.differentiation.reachability import Dependence  # lazy

    filled = [place for place in wrt if not _is_empty(function.params[place].type)]
    found = Dependence(function, filled, outputs)
    problems = list(found.problems)
    if problems:
        return problems  # what is not known of their results is a consequence
    problems = [
        diagnostic("AD0307", store.span, "what is stored here varies")
        for store in statements_in(function.body)
        if isinstance(store, ir.Store) and isinstance(type_of_atom(store.base), ir.Opaque) and found.active(store.base)
    ]
    if problems:
        return problems
    unknown: set[ir.Atom] = set()
    for statement, var in _bound(function):
        if found.active(var) and not ir.carries_derivative(var.type):
            if unknown.isdisjoint(operands(statement)):
                problems.append(of_unknown_kind(statement, var))
            unknown.add(var)
    return problems


def of_unknown_kind(statement: ir.Statement, var: ir.Var) -> Diagnostic:
    """The refusal of what varies and may be anything."""
    if isinstance(statement, ir.Call):
        dtype = dict(statement.kwargs).get("dtype")
        if isinstance(dtype, ir.Const) and dtype.value in (object, "O", "object", np.dtype(object)):
            helps = ("use a list, a tuple or a dataclass; or an array of floats, without what is no number",)
            return diagnostic("AD0401", statement.span, "items of an array of objects may be anything", helps=helps)
    said = repr(var.hint) if var.named else "this"
    return diagnostic("AD0401", statement.span, f"the kind of {said} is not known here")


def _is_empty(type_: ir.Type) -> bool:
    """Whether nothing was in a list that a function is compiled for."""
    return isinstance(type_, ir.List) and type_.element is None


def _bound(function: ir.Function) -> Iterator[tuple[ir.Statement, ir.Var]]:
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            yield statement, var
