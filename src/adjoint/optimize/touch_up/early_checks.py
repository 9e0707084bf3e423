"""Results that turn out to have several elements are refused before anything is computed from them."""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime.arithmetic.checks import check_single


def with_early_checks(function: ir.Function) -> ir.Function:
    """The function with checks of its results right behind what computes them."""
    checks = [
        part for part in statements_in(function.body) if isinstance(part, ir.Call) and part.callee is check_single
    ]
    statements = list(function.body.statements)
    for check in checks:
        if check in statements:
            _move(check, statements)
    body = ir.Block(tuple(statements), function.body.terminator)
    return ir.Function(function.name, function.params, body, function.doc) if checks else function


def _move(check: ir.Call, statements: list[ir.Statement]) -> None:
    place = statements.index(check)
    made = [k for k in range(place) if check.args[0] in targets_of(statements[k])]
    if made:
        del statements[place]
        statements.insert(made[-1] + 1, check)
