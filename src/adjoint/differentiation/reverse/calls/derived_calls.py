"""Derivatives that a function calls, reversed.

A reverse derivative is never reversed itself: its own reverse derivative is the reverse derivative of a forward
derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.differentiation.reverse.cotangents import cotangent_type
from adjoint.differentiation.reverse.memory.overwritten_values import content
from adjoint.differentiation.reverse.memory.storage_classes import unite_flows
from adjoint.ir.join import type_of_atom
from adjoint.runtime import tangents

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.cotangents import Scope
    from adjoint.differentiation.reverse.statements import Reverser


def reverse_derived(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Reverses ``y, x_bar = D(args, v)``: one reverse derivative of the forward derivative of the same function.

    Where an argument is a reference, the cotangent of its ``x_bar`` is a shadow of ``x_bar``: laid out as the memory
    itself, it is the direction that the forward derivative takes.
    """
    from adjoint.differentiation.forward.forward import forward  # lazy

    derived = call.callee
    assert isinstance(derived, ir.Derived)
    count = len(derived.function.params)
    results = len(call.targets) - len(derived.wrt)
    cotangents = [reverser.take(scope, target) for target in call.targets]
    if all(cotangent is None for cotangent in cotangents) or _changes_memory(reverser, call, derived, results):
        return
    atoms = [content(reverser, arg, call) for arg in call.args]
    dots = [
        _zero(reverser, scope, target) if cotangent is None else cotangent
        for target, cotangent in zip(call.targets[results:], cotangents[results:], strict=True)
    ]
    tangent = forward(derived.function, derived.wrt, derived.outputs, keep_derived=True, target=reverser.family.target)
    wrt = tuple(place for place, arg in enumerate(call.args[:count]) if reverser.active(arg))
    values = tuple(place for place in range(results) if cotangents[place] is not None)
    outputs = (*values, *(results + place for place in range(len(derived.outputs))))
    second = ir.Derived(tangent, wrt, outputs)
    given = [cotangent for cotangent in cotangents[:results] if cotangent is not None]
    unused = tuple(ir.Var(target.hint, target.type) for target in call.targets[:results])
    receivers = (*call.args[count:], *(call.args[place] for place in wrt))
    bars = tuple(_bar(reverser, atom) for atom in receivers)
    operands = (*atoms[:count], *dots, *given, *atoms[count:])
    scope.sweep.emit(ir.Call((*unused, *bars), second, operands, (), call.span))
    for atom, bar in zip(receivers, bars, strict=True):
        if isinstance(atom, ir.Var) and ir.is_handle(atom.type) and not isinstance(atom.type, ir.Array):
            if reverser.active(atom):
                scope.sweep.effect(tangents.pour, reverser.shadows.of(atom), bar)
        else:
            reverser.add(scope, atom, bar)


def _changes_memory(reverser: Reverser, call: ir.Call, derived: ir.Derived, results: int) -> bool:
    """Refuses a derivative of a function that writes its arguments, or returns part of them, where it varies."""
    unite_flows(derived.function)
    written = [call.args[place] for place in written_places(derived.function)]
    memory: set[ir.Storage] = set().union(*(ir.storages(type_of_atom(arg)) for arg in call.args))
    lent = {storage for storage in memory if storage.written}
    returned = [target for target in call.targets[:results] if ir.is_handle(target.type)]
    shared = [target for target in returned if not lent.isdisjoint(ir.storages(target.type))]
    if not any(map(reverser.active, (*written, *shared))):
        return False
    label = "the derivative of a function that writes its arguments is differentiated again"
    reverser.context.problem("AD0303", call.span, label)
    return True


def _zero(reverser: Reverser, scope: Scope, var: ir.Var) -> ir.Atom:
    return (
        reverser.shadows.none(scope.sweep, var) if ir.is_handle(var.type) else reverser.context.zero(scope.sweep, var)
    )


def _bar(reverser: Reverser, atom: ir.Atom) -> ir.Var:
    """A variable for the cotangent of what a derivative is called with."""
    type_ = type_of_atom(atom)
    assert type_ is not None
    return ir.Var(
        f"{_hint(atom)}_bar", reverser.shadows.type_of(type_) if ir.is_handle(type_) else cotangent_type(type_)
    )


def _hint(atom: ir.Atom) -> str:
    return atom.hint if isinstance(atom, ir.Var) else "t"
