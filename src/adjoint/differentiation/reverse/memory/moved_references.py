"""Memory in which references are replaced, by a function itself or by the recursive functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory, own_memory
from adjoint.ir.join import is_array
from adjoint.ir.walk import statements_in

Places = Callable[[ir.Definition], Collection[int]]


def replaced(statements: Iterable[ir.Statement], places: Places) -> set[ir.Storage]:
    """Memory whose shadows have to be moved with it; ``places`` tells of which arguments a function moves them."""
    found: set[ir.Storage] = set()
    for statement in statements:
        match statement:
            case ir.Store(base=ir.Var(type=type_) as owner, value=ir.Var(type=stored)) if ir.is_handle(stored):
                own = None if is_array(owner) else own_memory(type_)
                found.update(() if own is None else (own,))
            case (
                ir.Call(
                    callee=list.append | list.insert | list.pop, args=(ir.Var(type=ir.List(element=part) as type_), *_)
                )
                | ir.Call(callee=dict.pop, args=(ir.Var(type=ir.Dict(value=part) as type_), *_))
            ):
                own = own_memory(type_)
                found.update((own,) if own is not None and _may_be_reference(part) else ())
            case ir.Call(callee=ir.Definition() as callee, args=args):
                for place in places(callee):
                    found.update(_all_memory(args[place]))
            case _:
                pass
    return found


def _may_be_reference(type_: ir.Type | None) -> bool:
    return ir.is_handle(type_) or not isinstance(type_, (ir.Scalar, ir.Array, ir.Number))


def _all_memory(atom: ir.Atom) -> Iterable[ir.Storage]:
    return all_memory(atom.type) if isinstance(atom, ir.Var) else ()


def moved_places(definition: ir.Definition) -> dict[ir.Definition, frozenset[int]]:
    """The parameters in whose memory recursive functions replace references: of one, and of all that it calls."""
    found: dict[ir.Definition, frozenset[int]] = dict.fromkeys(_reached(definition), frozenset())
    changed = True
    while changed:
        changed = False
        for each, before in found.items():
            found[each] = _moved_in(each.function, found.__getitem__)
            changed |= found[each] != before
    return found


def _reached(definition: ir.Definition) -> list[ir.Definition]:
    found = [definition]
    for each in found:
        assert each.function is not None
        for statement in statements_in(each.function.body):
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
                found += [statement.callee] if statement.callee not in found else []
    return found


def _moved_in(function: ir.Function | None, places: Places) -> frozenset[int]:
    assert function is not None
    memory = replaced(statements_in(function.body), places)
    params = enumerate(function.params)
    return frozenset(place for place, param in params if not memory.isdisjoint(all_memory(param.type)))
