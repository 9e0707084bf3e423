"""Which memory of its callers a function that stays one counts as its own.

Of an array that it only reads it has the numbers, whatever its callers do with that array. Memory that it writes, hands
out or finds in containers is the same on both sides of each call, and so is what else a call hands over of that memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.memory.storage_classes import unite_flows
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.type_joins import TypeJoins
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import leaves, statements_in, targets_of

if TYPE_CHECKING:
    from adjoint.frontend.functions.called import Called


def unify_storage(lo: Lowerer, called: Called, calls: Iterable[ir.Call]) -> None:
    """Makes one storage class of memory that is the same in a function and for some of its calls."""
    function = called.definition.function
    assert function is not None
    _unite_arguments(function, calls, _handed_out(lo), lo.types)
    for end in leaves(function.body):
        if isinstance(end, ir.Return):
            for call in calls:
                for place, (value, target) in enumerate(zip(end.values, call.targets, strict=False)):
                    if isinstance(value, ir.Var) and place not in called.sources:
                        lo.types.join(value.type, target.type)


def settle_memory(lo: Lowerer) -> None:
    """The same for all functions that stay ones, once those who call them are lowered: then it is known who writes."""
    known = [each for each in dict.fromkeys(lo.run_data.definitions.values()) if each.definition.function is not None]
    for called in known:
        unite_flows(called.definition.function)
    handed_out, types = _handed_out(lo), TypeJoins(are_told_apart=False, are_kinds_told_apart=False)
    changed = True
    while changed:
        changed = False
        for called in known:
            changed |= _unite_arguments(called.definition.function, called.calls, handed_out, types)


def _handed_out(lo: Lowerer) -> list[ir.Storage]:
    """Memory of their callers that functions return."""
    return [each.home for each in lo.run_data.handed_out if not each.is_own]


def _unite_arguments(
    function: ir.Function, calls: Iterable[ir.Call], handed_out: Iterable[ir.Storage], types: TypeJoins
) -> bool:
    """Whether this made one storage class of two."""
    changed = False
    known = [*_shared(function), *handed_out]
    for call in calls:
        shared = {storage.find() for storage in known}
        for arg, param in zip(call.args, function.params, strict=False):
            if not isinstance(arg, ir.Var):
                continue
            of_caller, own = _found(arg), _found(param)
            if (
                isinstance(arg.type, ir.Array)
                and isinstance(param.type, ir.Array)
                and shared.isdisjoint(of_caller | own)
            ):
                continue
            types.join(arg.type, param.type)
            if len(_found(arg) | _found(param)) < len(of_caller | own):
                changed = True
                shared |= _found(arg) | _found(param)
    return changed


def _found(var: ir.Var) -> set[ir.Storage]:
    return {storage.find() for storage in ir.storages(var.type)}


def _shared(function: ir.Function) -> Iterator[ir.Storage]:
    """Memory that a function writes, what it returns, and what lies in containers."""
    for var in (*function.params, *(target for each in statements_in(function.body) for target in targets_of(each))):
        if not isinstance(var.type, ir.Array):
            yield from ir.storages(var.type)
        elif var.type.storage.written:
            yield var.type.storage
    for end in leaves(function.body):
        if isinstance(end, ir.Return):
            for value in end.values:
                yield from ir.storages(type_of_atom(value))
