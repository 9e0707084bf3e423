"""One storage class for an array and its views, for all that tells arrays apart by their types.

Types of derivatives do not tell of all views: a cotangent that fits is handed on as it is (``rt.unbroadcast``), and
loops over elements fill new arrays in place of those of which the program loads parts.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.reverse.memory.storage_classes import unite_flows
from adjoint.ir.walk import statements_in


def with_views_united(function: ir.Function) -> ir.Function:
    """The function, after the storage classes of arrays and of what may be a view of them were united."""
    for statement in statements_in(function.body):
        match statement:
            case ir.Load(target=target, base=base):
                _unite_arrays(target, base)
            case ir.Call(targets=targets, args=args):
                place = effects_of(statement).view_of
                if place is not None and place < len(args):
                    for target in targets:
                        _unite_arrays(target, args[place])
            case _:
                pass
    unite_flows(function)
    return function


def _unite_arrays(view: ir.Var, array: ir.Atom) -> None:
    if isinstance(array, ir.Var) and isinstance(view.type, ir.Array) and isinstance(array.type, ir.Array):
        view.type.storage.unite(array.type.storage)
