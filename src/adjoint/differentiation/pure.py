"""Derivatives of functions that write their arguments, as derivatives of functions that do not.

``y, x_bar = D[f](x, v)`` with an array ``x`` that ``f`` writes becomes ``y, last, x_bar = D[g](x, v)`` and
``x[...] = last``, where ``g`` does on a copy of ``x`` what ``f`` does, and returns the copy too. What was written is
then a result like any other, and the derivative can be differentiated again. In the same way with lists, dicts and
objects of which the function changes what lies in them, but not which references lie where.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint import ir
from adjoint.analysis.effects import storages, written_places
from adjoint.differentiation.memory.copying import (
    can_be_copied,
    can_be_written,
    copied,
    holds_references,
    moves_references,
    write_back,
)
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import inline, map_blocks
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime.overlap import check_separate

Chosen = Callable[[ir.Call], bool]


def without_writes(function: ir.Function, chosen: Chosen = lambda call: True) -> ir.Function:
    """The same function, in which the ``chosen`` derivatives are of functions that write nothing, where that can be."""
    if not any(_can_be_rewritten(statement, chosen) for statement in statements_in(function.body)):
        return function
    return ir.Function(function.name, function.params, _block(function.body, chosen), function.doc)


def _can_be_rewritten(statement: ir.Statement, chosen: Chosen) -> bool:
    if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Derived):
        return False
    written = written_places(statement.callee.function)
    if not written or not chosen(statement):
        return False
    args = [statement.args[place] for place in written]
    params = [statement.callee.function.params[place] for place in written]
    own: set[ir.Storage] = set().union(*(storages(param.type) for param in params))
    if any(holds_references(param.type) for param in params) and moves_references(statement.callee.function, own):
        return False
    memory: set[ir.Storage] = set().union(*(storages(type_of_atom(arg)) for arg in args))
    results = statement.targets[: len(statement.targets) - len(statement.callee.wrt)]
    return (
        all(isinstance(arg, ir.Var) and can_be_copied(arg.type) for arg in args)
        and all(can_be_copied(param.type) and can_be_written(param.type) for param in params)
        and len(set(args)) == len(args)
        and all(memory.isdisjoint(storages(result.type)) for result in results)
    )


def _block(block: ir.Block, chosen: Chosen) -> ir.Block:
    builder = Builder(type_of_call)
    for statement in block.statements:
        if _can_be_rewritten(statement, chosen):
            assert isinstance(statement, ir.Call)
            _rewrite(statement, builder)
        else:
            builder.emit(map_blocks(statement, lambda inner: _block(inner, chosen)))
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = ir.Branch(end.cond, _block(end.then, chosen), _block(end.orelse, chosen), end.span)
    return builder.block(end)


def _rewrite(call: ir.Call, builder: Builder) -> None:
    derived = call.callee
    assert isinstance(derived, ir.Derived)
    written = written_places(derived.function)
    args = [call.args[place] for place in written]
    _check_separate(args, builder)
    results = len(call.targets) - len(derived.wrt)
    last = tuple(ir.Var(arg.hint, ir.fresh(arg.type), arg.named) for arg in args if isinstance(arg, ir.Var))
    targets = (*call.targets[:results], *last, *call.targets[results:])
    second = ir.Derived(on_copies(derived.function, written), derived.wrt, derived.outputs)
    builder.emit(ir.Call(targets, second, call.args, call.kwargs, call.span))
    for arg, value in zip(args, last, strict=True):
        assert isinstance(arg, ir.Var)
        write_back(builder, arg, value)


def _check_separate(args: list[ir.Atom], builder: Builder) -> None:
    """What may be one memory, as far as the program text tells, is looked at when the program runs."""
    known: set[ir.Storage] = set()
    in_doubt = any(holds_references(type_of_atom(arg)) for arg in args)
    for arg in args:
        in_doubt |= not known.isdisjoint(storages(type_of_atom(arg)))
        known |= storages(type_of_atom(arg))
    if in_doubt:
        builder.emit(ir.Call((), check_separate, tuple(args)))


def on_copies(function: ir.Function, written: tuple[int, ...], returned: bool = True) -> ir.Function:
    """The function on copies of its ``written`` parameters: their last contents are results too, if ``returned``."""
    builder = Builder(type_of_call)
    params = tuple(
        ir.Var(param.hint, ir.fresh(param.type) if place in written else param.type, param.named)
        for place, param in enumerate(function.params)
    )
    own = {place: copied(builder, params[place], function.params[place].type) for place in written}
    args: list[ir.Atom] = [own.get(place, param) for place, param in enumerate(params)]
    results = inline(builder, function, args)
    last = [copied(builder, own[place], ir.fresh(params[place].type)) for place in written if returned]
    return ir.Function(function.name, params, builder.block(ir.Return((*results, *last))), function.doc)


__all__ = ["on_copies", "without_writes"]
