"""``keep_writes=False``: the function is differentiated on defensive copies of the arrays that it writes.

What it writes is then memory of its own. Where the gradient does not need it, nobody reads it, and dead code
elimination takes it out, with all that was computed for it.
"""

from __future__ import annotations

import ast

from adjoint import ir
from adjoint.analysis.effects import written_places, written_slots
from adjoint.differentiation.memory.copying import can_be_copied, holds_references, moves_references
from adjoint.differentiation.pure import on_copies
from adjoint.frontend.differentiation.inner_functions import Inner
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.sharing import puts
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import clone
from adjoint.records import replace


def on_defensive_copies(lo: Lowerer, inner: Inner, node: ast.AST | None) -> Inner:
    """The function to differentiate, on copies of what it writes."""
    function = inner.function
    if puts(function):
        raise _refused(lo, node, "the function changes a field of an object, or an entry of a dict")
    places = written_places(function)
    if not places:
        return inner
    for place in places:
        _check(lo, inner, place, node)
    own = _of_other_memory(function)
    return replace(inner, function=on_copies(own, written_slots(own), returned=False))


def _of_other_memory(function: ir.Function) -> ir.Function:
    """The function with memory of its own, of which the arguments are no part."""
    homes: dict[ir.Storage, ir.Storage] = {}

    def of_its_own(type_: ir.Type) -> ir.Type:
        return ir.relocated(type_, lambda known: homes.setdefault(known, ir.Storage(written=known.written)))

    params = tuple(ir.Var(param.hint, of_its_own(param.type), param.named) for param in function.params)
    names: dict[ir.Var, ir.Atom] = dict(zip(function.params, params, strict=True))
    return ir.Function(function.name, params, clone(function.body, names, types=of_its_own), function.doc)


def _check(lo: Lowerer, inner: Inner, place: int, node: ast.AST | None) -> None:
    """Refuses memory that cannot be copied, or that another argument may be as well."""
    param, memory = inner.function.params[place], ir.storages(type_of_atom(inner.atoms[place]))
    if not can_be_copied(param.type):
        raise _refused(lo, node, f"what the function writes in {param.hint!r} cannot be copied")
    if holds_references(param.type) and moves_references(inner.function, ir.storages(param.type)):
        raise _refused(lo, node, f"the function changes which arrays or objects lie in {param.hint!r}")
    for other, atom in enumerate(inner.atoms):
        if other != place and not memory.isdisjoint(ir.storages(type_of_atom(atom))):
            raise _refused(lo, node, f"{param.hint!r} may share memory with another argument, and is written")


def _refused(lo: Lowerer, node: ast.AST | None, label: str) -> Exception:
    helps = ("leave out keep_writes=False", "or hand over a copy: ad.grad(f)(x.copy())")
    return lo.problem("AD0303", node, label, helps=helps)
