"""Which values become which at the ends of a statement's blocks."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.ir.nodes import Atom, Block, Continue, Exit, Guarded, If, Loop, Statement, Var, Yield
from adjoint.ir.walk import leaves


def joins(statement: Statement) -> list[tuple[Atom, Var]]:
    """The values that flow together at the ends of a statement's blocks, each with what it becomes."""
    found: list[tuple[Atom, Var]] = []
    match statement:
        case If(then=then, orelse=orelse, targets=targets):
            _join_leaves((then, orelse), (), targets, found)
        case Guarded(body=body, handlers=handlers, targets=targets):
            _join_leaves((body, *(handler.body for handler in handlers)), (), targets, found)
        case Loop(params=params, inits=inits, body=body, targets=targets):
            found += zip(inits, params, strict=True)
            for param, target in zip(params, targets, strict=False):
                found += [(param, target), (target, param)]
            _join_leaves((body,), params, targets, found)
    return found


def _join_leaves(
    blocks: Sequence[Block], params: tuple[Var, ...], targets: tuple[Var, ...], found: list[tuple[Atom, Var]]
) -> None:
    for block in blocks:
        for leaf in leaves(block):
            match leaf:
                case Yield(values=values) | Exit(values=values):
                    found += zip(values, targets, strict=True)
                case Continue(values=values):
                    found += zip(values, params, strict=True)
