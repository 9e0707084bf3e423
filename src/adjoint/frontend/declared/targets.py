"""Which declaration counts for a call: that of the function, of the very object, or of a method of the very object.

Where an object may be one of several, of which one has a declaration, nobody can tell: that is refused.
"""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import original_sites
from adjoint.frontend.interpreter.values import Method, Ref, Value
from adjoint.rules import declarations
from adjoint.rules.declarations import Declaration

_HELPS = (
    "declare it for all objects of the class: Cls.method, Cls.__call__",
    "or choose among objects with code that names them: a(x) if c else b(x)",
)


def declared_for_object(lo: Lowerer, function: Value, node: ast.AST | None) -> tuple[Declaration, Value] | None:
    """What is declared of an object that is called, or of the method of an object; with the object."""
    match function:
        case Method(function=ir.Const(value=callee), receiver=ir.Const(value=owner)):
            found = declarations.declaration_of_method(owner, callee)
            return None if found is None else (found, function.receiver)
        case Method(function=ir.Const(value=callee), receiver=Ref() | ir.Var(type=ir.Instance()) as receiver):
            return _declared(lo, receiver, callee, node)
        case Ref() | ir.Var(type=ir.Instance()):
            return _declared(lo, function, None, node)
        case _:
            return None


def _declared(
    lo: Lowerer, receiver: Ref | ir.Var, method: Any, node: ast.AST | None
) -> tuple[Declaration, Value] | None:
    """What is declared of a method of an object, or of its call."""
    sites = _sites(lo, receiver)
    owners = [lo.run_data.told_apart.get(site) for site in sites]
    of_owners = [_of(owner, method) for owner in owners if owner is not None]
    found = next(filter(None, of_owners), None)
    if found is not None and len(sites) == 1:
        return found, receiver
    cls = receiver.type.cls if isinstance(receiver, ir.Var) and isinstance(receiver.type, ir.Instance) else None
    is_unknown = not sites and cls is not None and declarations.may_be_of_one_object(cls, method)
    if found is None and not is_unknown:
        return None
    name = type(found.fn).__qualname__ if found is not None and cls is None else getattr(cls, "__qualname__", "")
    label = f"a derivative is declared for one object of class {name!r}, and which object this is, is not known"
    raise lo.problem("AD0202", node, label, helps=_HELPS)


def _of(owner: Any, method: Any) -> Declaration | None:
    return declarations.declaration_for(owner) if method is None else declarations.declaration_of_method(owner, method)


def _sites(lo: Lowerer, value: Ref | ir.Var) -> tuple[Any, ...]:
    """Where the objects were made, or entered, of which this is one; nothing where that is not known."""
    if isinstance(value, Ref):
        return tuple(original_sites((value.site,)))
    assert isinstance(value.type, ir.Instance)
    storage = value.type.storage
    return tuple([site for known, site in lo.run_data.sites_of_storage if known is storage])
