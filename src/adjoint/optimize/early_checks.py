"""Results that turn out to have several elements are refused before anything is computed from them."""

from __future__ import annotations

from adjoint.ir.nodes import Block, Call, Function, Statement
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime.arithmetic.checks import check_single


def with_early_checks(function: Function) -> Function:
    """The function with checks of its results right behind what computes them."""
    checks = [part for part in statements_in(function.body) if isinstance(part, Call) and part.callee is check_single]
    statements = list(function.body.statements)
    for check in checks:
        if check in statements:
            _move(check, statements)
    body = Block(tuple(statements), function.body.terminator)
    return Function(function.name, function.params, body, function.doc) if checks else function


def _move(check: Call, statements: list[Statement]) -> None:
    place = statements.index(check)
    made = [k for k in range(place) if check.args[0] in targets_of(statements[k])]
    if made:
        del statements[place]
        statements.insert(made[-1] + 1, check)
