"""Derivatives of functions that write their arguments, as derivatives of functions that do not.

``y, x_bar = D[f](x, v)`` with an array ``x`` that ``f`` writes becomes ``y, last, x_bar = D[g](x, v)`` and
``x[...] = last``, where ``g`` does on a copy of ``x`` what ``f`` does, and returns the copy too. What was written is
then a result like any other, and the derivative can be differentiated again. In the same way with a list of numbers:
it is emptied and filled again.
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
    Continue,
    Derived,
    Function,
    Load,
    Loop,
    Range,
    Return,
    Statement,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.types import INT, Array, List, Scalar, Storage, Type, fresh, is_handle
from adjoint.ir.walk import inline, map_blocks, statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
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
        all(isinstance(arg, Var) and _can_be_copied(arg.type) for arg in args)
        and len(set(args)) == len(args)
        and all(memory.isdisjoint(storages(result.type)) for result in results)
    )


def _can_be_copied(type_: Type) -> bool:
    match type_:
        case List(element=element):
            return isinstance(element, Scalar) or (isinstance(element, Array) and not is_handle(element))
        case _:
            return isinstance(type_, Array)


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
        assert isinstance(arg, Var)
        if isinstance(arg.type, Array):
            builder.emit(Store(arg, Subscript((Const(Ellipsis),)), value, "set", call.span))
        else:
            _empty(arg, builder)
            _append_all(arg, value, builder)


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
    last = [_copied(own[place], fresh(params[place].type), builder) for place in written]
    return Function(function.name, params, builder.block(Return((*results, *last))), function.doc)


def _copied(memory: Var, type_: Type, builder: Builder) -> Var:
    copy = Var(memory.hint, type_, memory.named)
    if isinstance(type_, Array):
        builder.emit(Call((copy,), np.copy, (memory,)))
    else:
        builder.emit(Call((copy,), display.make_list, ()))
        _append_all(copy, memory, builder)
    return copy


def _empty(items: Var, builder: Builder) -> None:
    def body(_: Var) -> tuple[Statement, ...]:
        return (Call((Var("t", _element(items)),), list.pop, (items,)),)

    _for_each(items, body, builder)


def _append_all(items: Var, others: Var, builder: Builder) -> None:
    def body(index: Var) -> tuple[Statement, ...]:
        item = Var("t", _element(others))
        return Load(item, others, Subscript((index,))), Call((), list.append, (items, item))

    _for_each(others, body, builder)


def _for_each(items: Var, body: Callable[[Var], tuple[Statement, ...]], builder: Builder) -> None:
    index = Var("i", INT)
    count = builder.call(len, items)
    over = Range(Const(0), count, Const(1))
    builder.emit(Loop(over, index, (), (), Block(body(index), Continue()), ()))


def _element(items: Var) -> Type:
    assert isinstance(items.type, List)
    assert items.type.element is not None
    return items.type.element


__all__ = ["without_writes"]
