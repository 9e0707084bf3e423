"""Memory in which references are replaced, by a function itself or by the recursive functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from adjoint.analysis.memory.reachable import all_memory, own_memory
from adjoint.ir.join import is_array
from adjoint.ir.nodes import Atom, Call, Definition, Function, Statement, Store, Var
from adjoint.ir.types import Array, Dict, List, Number, Scalar, Storage, Type, is_handle
from adjoint.ir.walk import statements_in

Places = Callable[[Definition], Collection[int]]


def replaced(statements: Iterable[Statement], places: Places) -> set[Storage]:
    """Memory whose shadows have to be moved with it; ``places`` tells of which arguments a function moves them."""
    found: set[Storage] = set()
    for statement in statements:
        match statement:
            case Store(base=Var(type=type_) as owner, value=Var(type=stored)) if is_handle(stored):
                own = None if is_array(owner) else own_memory(type_)
                found.update(() if own is None else (own,))
            case (
                Call(callee=list.append | list.pop, args=(Var(type=List(element=part) as type_), *_))
                | Call(callee=dict.pop, args=(Var(type=Dict(value=part) as type_), *_))
            ):
                own = own_memory(type_)
                found.update((own,) if own is not None and _may_be_reference(part) else ())
            case Call(callee=Definition() as callee, args=args):
                for place in places(callee):
                    found.update(_all_memory(args[place]))
            case _:
                pass
    return found


def _may_be_reference(type_: Type | None) -> bool:
    return is_handle(type_) or not isinstance(type_, (Scalar, Array, Number))


def _all_memory(atom: Atom) -> Iterable[Storage]:
    return all_memory(atom.type) if isinstance(atom, Var) else ()


def moved_places(definition: Definition) -> dict[Definition, frozenset[int]]:
    """The parameters in whose memory recursive functions replace references: of one, and of all that it calls."""
    found: dict[Definition, frozenset[int]] = dict.fromkeys(_reached(definition), frozenset())
    changed = True
    while changed:
        changed = False
        for each, before in found.items():
            found[each] = _moved_in(each.function, found.__getitem__)
            changed |= found[each] != before
    return found


def _reached(definition: Definition) -> list[Definition]:
    found = [definition]
    for each in found:
        assert each.function is not None
        for statement in statements_in(each.function.body):
            if isinstance(statement, Call) and isinstance(statement.callee, Definition):
                found += [statement.callee] if statement.callee not in found else []
    return found


def _moved_in(function: Function | None, places: Places) -> frozenset[int]:
    assert function is not None
    memory = replaced(statements_in(function.body), places)
    params = enumerate(function.params)
    return frozenset(place for place, param in params if not memory.isdisjoint(all_memory(param.type)))
