"""Which declaration counts for a call: that of the function, of the very object, or of a method of the very object."""

from __future__ import annotations

from typing import Any

from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import Method, Ref, Value
from adjoint.ir.nodes import Const, Var
from adjoint.ir.types import Instance
from adjoint.rules import declarations
from adjoint.rules.declarations import Declaration


def declared_for_object(lo: Lowerer, function: Value) -> tuple[Declaration, Value] | None:
    """What is declared of an object that is called, or of the method of an object; with the object."""
    told_apart = lo.run_data.told_apart
    match function:
        case Method(function=Const(value=callee), receiver=Const(value=owner)):
            found = declarations.declaration_of_method(owner, callee)
        case Method(function=Const(value=callee), receiver=receiver) if told_apart:
            found = declarations.declaration_of_method(_object(lo, receiver), callee)
        case Ref() | Var(type=Instance()) if told_apart:
            found = declarations.declaration_for(_object(lo, function))
        case _:
            return None
    return None if found is None else (found, function.receiver if isinstance(function, Method) else function)


def _object(lo: Lowerer, value: Value) -> Any:
    """The very object of which a value is known; None where it may be one of many."""
    match value:
        case Ref(site=site):
            return lo.run_data.told_apart.get(site)
        case Var(type=Instance(storage=storage)):
            sites = [site for known, site in lo.run_data.sites_of_storage if known is storage]
            return next((lo.run_data.told_apart[site] for site in sites if site in lo.run_data.told_apart), None)
        case _:
            return None
