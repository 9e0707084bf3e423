"""Derivatives of functions that write their arguments, as derivatives of functions that do not.

``y, x_bar = D[f](x, v)`` with an array ``x`` that ``f`` writes becomes ``y, last, x_bar = D[g](x, v)`` and
``x[...] = last``, where ``g`` does on a copy of ``x`` what ``f`` does, and returns the copy too. What was written is
then a result like any other, and the derivative can be differentiated again. In the same way with lists, dicts and
objects of which the function changes what lies in them, but not which references lie where.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint.differentiation.memory.copying import (
    can_be_copied,
    can_be_written,
    copied,
    holds_references,
    moves_references,
    write_back,
)
from adjoint.ir.builder import Builder
from adjoint.ir.effects import storages, written_places
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Block, Branch, Call, Derived, Function, Return, Statement, Var
from adjoint.ir.rebuild import inline, map_blocks
from adjoint.ir.types import Storage, fresh
from adjoint.ir.walk import statements_in
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
    params = [statement.callee.function.params[place] for place in written]
    own: set[Storage] = set().union(*(storages(param.type) for param in params))
    if any(holds_references(param.type) for param in params) and moves_references(statement.callee.function, own):
        return False
    memory: set[Storage] = set().union(*(storages(type_of_atom(arg)) for arg in args))
    results = statement.targets[: len(statement.targets) - len(statement.callee.wrt)]
    return (
        all(isinstance(arg, Var) and can_be_copied(arg.type) for arg in args)
        and all(can_be_copied(param.type) and can_be_written(param.type) for param in params)
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
    second = Derived(on_copies(derived.function, written), derived.wrt, derived.outputs)
    builder.emit(Call(targets, second, call.args, call.kwargs, call.span))
    for arg, value in zip(args, last, strict=True):
        assert isinstance(arg, Var)
        write_back(builder, arg, value)


def _check_separate(args: list[Atom], builder: Builder) -> None:
    """What may be one memory, as far as the program text tells, is looked at when the program runs."""
    known: set[Storage] = set()
    in_doubt = any(holds_references(type_of_atom(arg)) for arg in args)
    for arg in args:
        in_doubt |= not known.isdisjoint(storages(type_of_atom(arg)))
        known |= storages(type_of_atom(arg))
    if in_doubt:
        builder.emit(Call((), check_separate, tuple(args)))


def on_copies(function: Function, written: tuple[int, ...], returned: bool = True) -> Function:
    """The function on copies of its ``written`` parameters: their last contents are results too, if ``returned``."""
    builder = Builder(type_of_call)
    params = tuple(
        Var(param.hint, fresh(param.type) if place in written else param.type, param.named)
        for place, param in enumerate(function.params)
    )
    own = {place: copied(builder, params[place], function.params[place].type) for place in written}
    args: list[Atom] = [own.get(place, param) for place, param in enumerate(params)]
    results = inline(builder, function, args)
    last = [copied(builder, own[place], fresh(params[place].type)) for place in written if returned]
    return Function(function.name, params, builder.block(Return((*results, *last))), function.doc)


__all__ = ["on_copies", "without_writes"]
