"""A copy of an array that was made here, and that nobody uses behind the copy, need not be made: it is the array."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import vars_used

_MAKERS = {id(callee) for callee in (np.empty, np.zeros, np.ones, np.full, np.copy)}
"""What makes arrays of NumPy's own class, as a copy is."""


def without_last_copies(function: ir.Function) -> ir.Function:
    """The function without copies of its own arrays that nobody uses any more."""
    memory: Memory | None = None
    made: set[ir.Var] = set()
    statements = function.body.statements
    for place, statement in enumerate(statements):
        if not isinstance(statement, ir.Call) or id(statement.callee) not in _MAKERS:
            continue
        array = _copied(statement, made)
        made.update(statement.targets)
        if array is None:
            continue
        memory = memory or Memory(function)
        rest = ir.Block(statements[place + 1 :], function.body.terminator)
        (target,) = statement.targets
        others = (*function.params, *(var for var in vars_used(rest) if var is not target))
        if not any(memory.may_share(array, other) for other in others):
            rest = substitute(rest, {target: array})
            body = ir.Block((*statements[:place], *rest.statements), rest.terminator)
            return without_last_copies(ir.Function(function.name, function.params, body, function.doc))
    return function


def _copied(call: ir.Call, made: set[ir.Var]) -> ir.Var | None:
    """The array of our own that a call copies."""
    array = call.args[0] if call.callee is np.copy and len(call.args) == 1 and not call.kwargs else None
    return array if isinstance(array, ir.Var) and array in made else None
