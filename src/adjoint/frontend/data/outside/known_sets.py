"""Sets from outside that a function only asks for what lies in them: as it is now, as long as it is the same.

Libraries keep the names that they know in sets. Where anything else is done with such a set, it may be written, and
what lies in it is asked when the program runs.
"""

from __future__ import annotations

import operator
from typing import Any

from adjoint import ir
from adjoint.analysis.called_functions import functions_run
from adjoint.frontend.entry.captured import Captured, Guard
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.walk import operands, statements_in, terminators_in


def is_member_now(lo: Lowerer, container: Value, item: Value) -> ir.Const | None:
    """Whether a constant lies in a set from outside; None where that is asked at run time."""
    if not (isinstance(container, ir.Var) and isinstance(item, ir.Const) and _is_plain(item.value)):
        return None
    source = next((each for each in lo.run_data.inputs if each.var is container), None)
    given = None if source is None else source.read(lo.run_data.root)
    if source is None or not isinstance(given, (set, frozenset)) or id(given) in lo.settings.open_sets:
        return None
    found = item.value in given

    def read(function: Any, source: Captured = source) -> bool:
        return item.value in source.read(function)

    lo.run_data.guards.append(Guard(("member", *source.path, item.value), read, found))
    lo.run_data.known_sets[id(given)] = given
    return ir.Const(found)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, bytes, type(None), type))


def opens_known_sets(lo: Lowerer, function: ir.Function) -> bool:
    """Whether something else is done with a set that was taken to stay as it is; the next time it is not."""
    if not lo.run_data.known_sets:
        return False
    held = {each.var: each.read(lo.run_data.root) for each in lo.run_data.inputs}
    known = {var: id(value) for var, value in held.items() if id(value) in lo.run_data.known_sets}
    used = {
        known[atom]
        for each in functions_run(function)
        for node in (*statements_in(each.body), *terminators_in(each.body))
        if not (isinstance(node, ir.Call) and node.callee is operator.contains)
        for atom in operands(node)
        if isinstance(atom, ir.Var) and atom in known
    }
    lo.settings.open_sets |= used
    return bool(used)
