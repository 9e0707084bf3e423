"""Makes a function as small as a careful person would have written it, without changing what it computes.

A few linear passes over the whole function, until none of them finds anything: what nothing depends on goes
(:mod:`adjoint.optimize.dead_code`), what is known is used (:mod:`adjoint.optimize.value_numbering`, with the algebra
of :mod:`adjoint.optimize.algebraic_simplification`; what an earlier choice on the same condition knows:
:mod:`adjoint.optimize.correlated_conditions`), and neighbouring choices on one condition are joined
(:mod:`adjoint.optimize.merge_branches`).
"""

from __future__ import annotations

from adjoint import ir
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.merge_branches import merge_choices
from adjoint.optimize.value_numbering import Walk, rewrite
from adjoint.passes import apply
from adjoint.target import PYTHON, Target

_MAX_ROUNDS = 8


def simplify(function: ir.Function, target: Target = PYTHON) -> ir.Function:
    """Simplifies a function.

    No dtype, shape, NaN or signed zero changes. Computations that nobody needs go even where they could have raised;
    a ``raise`` stays. Loops are taken to come to an end.

    Parameters
    ----------
    function : Function
    target
        Tells which of the passes are left out, and who watches them.

    Returns
    -------
    Function
        With the same parameters and results.
    """
    found = _Found(function, target.machine)
    function = apply("dead-code", remove_dead_code, function, target)
    for _ in range(_MAX_ROUNDS):
        function = apply("value-numbering", found.number, function, target)
        function = apply("merge-branches", found.merge, function, target)
        if not found.walk.changed and not found.merged:
            break
        function = apply("dead-code", remove_dead_code, function, target)
        if not found.merged and not found.walk.leaves_more(function):
            break
    return function


class _Found:
    """What the passes tell of whether there is more to do."""

    def __init__(self, function: ir.Function, shapes_once: bool) -> None:
        self.shapes_once = shapes_once
        self.walk = Walk(function, False, False, frozenset())
        self.merged = False

    def number(self, function: ir.Function) -> ir.Function:
        self.walk = rewrite(function, self.shapes_once)
        return self.walk.function

    def merge(self, function: ir.Function) -> ir.Function:
        function, self.merged = merge_choices(function)
        return function
