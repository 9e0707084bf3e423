"""Zeros in the shape of an array are made in the shape that the array was made in: then they do not need the array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeGuard

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import read_counts, statements_in
from adjoint.runtime import display
from adjoint.runtime.array_functions import arrays

_MAKERS = (np.zeros, np.empty, np.ones)
_SQUARE = (np.eye, np.identity)
_LIKE = (np.zeros_like, arrays.zeros_like, arrays.zeros_in_memory)


def with_named_shapes(function: ir.Function) -> ir.Function:
    """The function with ``np.zeros(shape)`` for ``np.zeros_like(x)`` where ``x`` was made as ``np.empty(shape)``.

    Where ``x`` was made as ``np.zeros_like(y)``, they are ``np.zeros_like(y)``.
    """
    return _with_zeros(function, _makers(function))


def without_unread_makers(function: ir.Function) -> ir.Function:
    """The same where nothing else is asked of ``x`` but what zeros are made like, which then need not be made."""
    makers = _makers(function)
    if not makers:
        return function
    read = read_counts(function.body)
    likes = Counter(each.args[0] for each in statements_in(function.body) if _is_like(each))
    unread = {made: call for made, call in makers.items() if likes[made] == read[made] and not _is_like(call)}
    return _with_zeros(function, unread)


def _makers(function: ir.Function) -> dict[ir.Var, ir.Call]:
    return {
        target: statement
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call) and (_is_like(statement) or _is_fixed(statement) or _is_square(statement))
        for target in statement.targets
    }


def _with_zeros(function: ir.Function, makers: Mapping[ir.Var, ir.Call]) -> ir.Function:
    if not makers:
        return function

    def block(old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            statements += _named(map_blocks(statement, block), makers)
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _named(statement: ir.Statement, makers: Mapping[ir.Var, ir.Call]) -> list[ir.Statement]:
    if not isinstance(statement, ir.Call) or not _is_like(statement):
        return [statement]
    maker = makers.get(statement.args[0]) if isinstance(statement.args[0], ir.Var) else None
    if maker is None or not _have_one_dtype(statement, maker):
        return [statement]
    if _is_like(maker):
        return _named(ir.Call(statement.targets, maker.callee, maker.args, (), statement.span), makers)
    if _is_square(maker):
        extent = maker.args[0]
        shape = ir.Var("shape", ir.Tuple((ir.INT, ir.INT)))
        pair = ir.Call((shape,), display.make_tuple, (extent, extent), (), statement.span)
        return [pair, ir.Call(statement.targets, np.zeros, (shape,), maker.kwargs, statement.span)]
    return [ir.Call(statement.targets, np.zeros, maker.args, maker.kwargs, statement.span)]


def _have_one_dtype(zeros: ir.Call, maker: ir.Call) -> bool:
    """Whether zeros are of the dtype of what they are made like: types say floats also where integers may come."""
    if zeros.callee is np.zeros_like:
        return not _is_like(maker) or maker.callee is np.zeros_like
    mine, theirs = zeros.targets[0].type, maker.targets[0].type
    if not isinstance(mine, ir.Array) or not isinstance(theirs, ir.Array) or mine.dtype != theirs.dtype:
        return False
    dtypes = (*maker.args[1:], *[value for _, value in maker.kwargs])
    return maker.callee is zeros.callee or (not _is_like(maker) and all(isinstance(each, ir.Const) for each in dtypes))


def _is_like(maker: ir.Statement) -> TypeGuard[ir.Call]:
    return isinstance(maker, ir.Call) and maker.callee in _LIKE and len(maker.args) == 1 and not maker.kwargs


def _is_fixed(maker: ir.Call) -> bool:
    """Whether arguments are a shape, which is the same later on, and at most a dtype."""
    if maker.callee not in _MAKERS:
        return False
    given = (*maker.args, *[value for _, value in maker.kwargs])
    names = [name for name, _ in maker.kwargs]
    return (
        1 <= len(given) <= 2 and names in ([], ["dtype"]) and isinstance(type_of_atom(given[0]), (ir.Scalar, ir.Tuple))
    )


def _is_square(maker: ir.Call) -> bool:
    """Whether a call makes a square matrix in C order from its extent, and at most a dtype."""
    names = [name for name, _ in maker.kwargs]
    return (
        maker.callee in _SQUARE
        and len(maker.args) == 1
        and names in ([], ["dtype"])
        and type_of_atom(maker.args[0]) == ir.INT
    )
