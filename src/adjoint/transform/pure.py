"""Derivatives of functions that write their arguments, as derivatives of functions that do not.

``y, x_bar = D[f](x, v)`` with an array ``x`` that ``f`` writes becomes ``y, last, x_bar = D[g](x, v)`` and
``x[...] = last``, where ``g`` does on a copy of ``x`` what ``f`` does, and returns the copy too. What was written is
then a result like any other, and the derivative can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.effects import storages, written_places
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Derived,
    Function,
    Return,
    Statement,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.types import Array, Storage, Type, fresh
from adjoint.ir.walk import inline, map_blocks, statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime.overlap import check_separate

Chosen = Callable[[Call], bool]


def without_writes(function: Function, chosen: Chosen = lambda call: True) -> Function:
    """The same function, in which the ``chosen`` derivatives are of functions that write nothing, where that can be."""
    if not any(_can_be_rewritten(statement, chosen) for statement in statements_in(function.body)):
        return function
    return Function(function.name, function.params, _block(function.body, chosen), function.doc)


def _can_be_rewritten(statement: Statement, chosen: Chosen) -> bool:
    if not isinstance(statement, Call) or not isinstance(statement.callee, Derived):
        return False
    written = written_places(statement.callee.function)
    if not written or not chosen(statement):
        return False
    args = [statement.args[place] for place in written]
    memory: set[Storage] = set().union(*(storages(type_of_atom(arg)) for arg in args))
    results = statement.targets[: len(statement.targets) - len(statement.callee.wrt)]
    return (
        all(isinstance(arg, Var) and isinstance(arg.type, Array) for arg in args)
        and len(set(args)) == len(args)
        and all(memory.isdisjoint(storages(result.type)) for result in results)
    )


def _block(block: Block, chosen: Chosen) -> Block:
    builder = Builder(type_of_call)
    for statement in block.statements:
        if _can_be_rewritten(statement, chosen):
            assert isinstance(statement, Call)
            _rewrite(statement, builder)
        else:
            builder.emit(map_blocks(statement, lambda inner: _block(inner, chosen)))
    end = block.terminator
    if isinstance(end, Branch):
        end = Branch(end.cond, _block(end.then, chosen), _block(end.orelse, chosen), end.span)
    return builder.block(end)


def _rewrite(call: Call, builder: Builder) -> None:
    derived = call.callee
    assert isinstance(derived, Derived)
    written = written_places(derived.function)
    args = [call.args[place] for place in written]
    _check_separate(args, builder)
    results = len(call.targets) - len(derived.wrt)
    last = tuple(Var(arg.hint, fresh(arg.type), arg.named) for arg in args if isinstance(arg, Var))
    targets = (*call.targets[:results], *last, *call.targets[results:])
    second = Derived(_on_copies(derived.function, written), derived.wrt, derived.outputs)
    builder.emit(Call(targets, second, call.args, call.kwargs, call.span))
    for arg, value in zip(args, last, strict=True):
        builder.emit(Store(arg, Subscript((Const(Ellipsis),)), value, "set", call.span))


def _check_separate(args: list[Atom], builder: Builder) -> None:
    """Arrays that may be one memory, as far as the program text tells, are looked at when the program runs."""
    for number, arg in enumerate(args):
        for other in args[number + 1 :]:
            if not storages(type_of_atom(arg)).isdisjoint(storages(type_of_atom(other))):
                builder.emit(Call((), check_separate, (arg, other)))


def _on_copies(function: Function, written: tuple[int, ...]) -> Function:
    """The function on copies of its ``written`` parameters: their last contents are results too."""
    builder = Builder(type_of_call)
    params = tuple(
        Var(param.hint, fresh(param.type) if place in written else param.type, param.named)
        for place, param in enumerate(function.params)
    )
    own = {place: _copied(params[place], function.params[place].type, builder) for place in written}
    args: list[Atom] = [own.get(place, param) for place, param in enumerate(params)]
    results = inline(builder, function, args)
    last = [_copied(own[place], params[place].type, builder) for place in written]
    return Function(function.name, params, builder.block(Return((*results, *last))), function.doc)


def _copied(array: Var, type_: Type, builder: Builder) -> Var:
    copy = Var(array.hint, type_, array.named)
    builder.emit(Call((copy,), np.copy, (array,)))
    return copy


__all__ = ["without_writes"]
