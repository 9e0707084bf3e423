"""Where a derivative may flow through what reverse mode does not follow: such a function is refused.

Reverse mode follows values whose types say that they carry a derivative. Reachability, as forward mode sees it, takes
anything for a carrier that might be one; where both disagree, a cotangent would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjoint.analysis.scalar_functions import NumberFlows
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Function, Statement, Store, Var
from adjoint.ir.types import List, Opaque, Type, carries_derivative
from adjoint.ir.walk import operands, statements_in, targets_of


def blind_spots(
    function: Function, wrt: Sequence[int], outputs: Sequence[int], flows: NumberFlows | None
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
        if isinstance(store, Store) and isinstance(type_of_atom(store.base), Opaque) and found.active(store.base)
    ]
    if problems:
        return problems
    unknown: set[Atom] = set()
    for statement, var in _bound(function):
        if found.active(var) and not carries_derivative(var.type):
            if unknown.isdisjoint(operands(statement)):
                problems.append(_of_unknown_kind(statement, var))
            unknown.add(var)
    return problems


def _of_unknown_kind(statement: Statement, var: Var) -> Diagnostic:
    """The refusal of what varies and may be anything."""
    if isinstance(statement, Call):
        dtype = dict(statement.kwargs).get("dtype")
        if isinstance(dtype, Const) and dtype.value in (object, "O", "object", np.dtype(object)):
            helps = ("use a list, a tuple or a dataclass; or an array of floats, without what is no number",)
            return diagnostic("AD0401", statement.span, "items of an array of objects may be anything", helps=helps)
    said = repr(var.hint) if var.named else "this"
    return diagnostic("AD0401", statement.span, f"the kind of {said} is not known here")


def _is_empty(type_: Type) -> bool:
    """Whether nothing was in a list that a function is compiled for."""
    return isinstance(type_, List) and type_.element is None


def _bound(function: Function) -> Iterator[tuple[Statement, Var]]:
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            yield statement, var
