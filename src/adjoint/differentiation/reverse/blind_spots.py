"""Where a derivative may flow through what reverse mode does not follow: such a function is refused.

Reverse mode follows values whose types say that they carry a derivative. Reachability, as forward mode sees it, takes
anything for a carrier that might be one; where both disagree, a cotangent would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjoint.analysis.scalar_functions import NumberFlows
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Function, Statement, Store, Var
from adjoint.ir.types import List, Opaque, Type, carries_derivative
from adjoint.ir.walk import statements_in, targets_of


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
    for statement, var in _bound(function):
        if found.active(var) and not carries_derivative(var.type):
            problems.append(diagnostic("AD0401", statement.span, f"the kind of {var.hint!r} is not known here"))
    return problems


def _is_empty(type_: Type) -> bool:
    """Whether nothing was in a list that a function is compiled for."""
    return isinstance(type_, List) and type_.element is None


def _bound(function: Function) -> Iterator[tuple[Statement, Var]]:
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            yield statement, var
