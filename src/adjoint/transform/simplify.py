"""Makes a function as small as a careful person would have written it, without changing what it computes.

A few linear passes over the whole function, until none of them finds anything: what nothing depends on goes
(:mod:`.dead_code`), what is known is used (:mod:`.rewrite`, with the algebra of :mod:`.fold`; what an earlier choice on
the same condition knows: :mod:`.same_choice`), and neighbouring choices on one condition are joined (:mod:`.merge`).
"""

from __future__ import annotations

from adjoint.ir.nodes import Function
from adjoint.transform.dead_code import remove_dead_code
from adjoint.transform.merge import merge_choices
from adjoint.transform.passes import checked
from adjoint.transform.rewrite import rewrite

_MAX_ROUNDS = 8


def simplify(function: Function) -> Function:
    """Simplifies a function.

    No dtype, shape, NaN or signed zero changes. Computations that nobody needs go even where they could have raised;
    a ``raise`` stays. Loops are taken to come to an end.

    Parameters
    ----------
    function : Function

    Returns
    -------
    Function
        With the same parameters and results.
    """
    function = checked(remove_dead_code(function), "dead-code")
    for _ in range(_MAX_ROUNDS):
        walk = rewrite(function)
        function, merged = merge_choices(checked(walk.function, "rewrite"))
        checked(function, "merge-choices")
        if not walk.changed and not merged:
            break
        function = checked(remove_dead_code(function), "dead-code")
        if not merged and not walk.leaves_more(function):
            break
    return function
