"""Zeros in the shape of an array are made in the shape that the array was made in: then they do not need the array."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import statements_in

_MAKERS = (np.zeros, np.empty, np.ones)


def with_named_shapes(function: ir.Function) -> ir.Function:
    """The function with ``np.zeros(shape)`` for ``np.zeros_like(x)`` where ``x`` was made as ``np.empty(shape)``.

    Where ``x`` was made as ``np.zeros_like(y)``, they are ``np.zeros_like(y)``.
    """
    makers = {
        target: statement
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call)
        and (_is_like(statement) or (statement.callee in _MAKERS and _is_fixed(statement)))
        for target in statement.targets
    }

    def block(old: ir.Block) -> ir.Block:
        statements = tuple(_named(map_blocks(statement, block), makers) for statement in old.statements)
        return ir.Block(statements, rebuild_terminator(old.terminator, same_atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _named(statement: ir.Statement, makers: dict[ir.Var, ir.Call]) -> ir.Statement:
    match statement:
        case ir.Call(callee=np.zeros_like, args=(ir.Var() as like,), kwargs=()) if like in makers:
            maker = makers[like]
            if _is_like(maker):
                return _named(ir.Call(statement.targets, np.zeros_like, maker.args, (), statement.span), makers)
            return ir.Call(statement.targets, np.zeros, maker.args, maker.kwargs, statement.span)
        case _:
            return statement


def _is_like(maker: ir.Call) -> bool:
    return maker.callee is np.zeros_like and len(maker.args) == 1 and not maker.kwargs


def _is_fixed(maker: ir.Call) -> bool:
    """Whether arguments are a shape, which is the same later on, and at most a dtype."""
    if maker.callee not in _MAKERS:
        return False
    given = (*maker.args, *[value for _, value in maker.kwargs])
    names = [name for name, _ in maker.kwargs]
    return (
        1 <= len(given) <= 2 and names in ([], ["dtype"]) and isinstance(type_of_atom(given[0]), (ir.Scalar, ir.Tuple))
    )
