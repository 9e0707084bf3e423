"""Views of arrays: each lies in the memory of what it is a view of, and its type says so."""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import is_basic, is_elsewhere, statements_in


def rank_of_part(base: ir.Atom, key: ir.Subscript) -> int | None:
    """The rank of what slices and whole numbers select of an array; None for other indices."""
    rank = ir.rank_of(type_of_atom(base))
    if rank is None or not all(map(is_basic, key.items)) or ir.Const(None) in key.items:
        return None
    return rank - sum(not isinstance(item, ir.Slice) and item != ir.Const(Ellipsis) for item in key.items)


def with_views_in_memory(function: ir.Function) -> ir.Function:
    """The function with types that tell of each view that it shares memory with its array.

    For passes that let views be of other arrays than before, which have the same elements.
    """
    homes = _homes(function)
    if not homes:
        return function
    moved: dict[ir.Var, ir.Var] = {}

    def home(memory: ir.Storage) -> ir.Storage:
        return homes.get(memory, memory)

    def atom(old: ir.Atom) -> ir.Atom:
        return moved.get(old, old) if isinstance(old, ir.Var) else old

    def binder(old: ir.Var) -> ir.Var:
        if homes.keys().isdisjoint(ir.storages(old.type)):
            return old
        new = moved[old] = ir.Var(old.hint, ir.relocated(old.type, home), old.named)
        return new

    def block(old: ir.Block) -> ir.Block:
        statements = tuple([rebuild(statement, atom, block, binder) for statement in old.statements])
        return ir.Block(statements, rebuild_terminator(old.terminator, atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _homes(function: ir.Function) -> dict[ir.Storage, ir.Storage]:
    """In which memory lies what is said to lie elsewhere: in that of an argument, or that of what is written."""
    given = {storage for param in function.params for storage in ir.storages(param.type)}
    found: dict[ir.Storage, ir.Storage] = {}

    def home(type_: ir.Type | None) -> ir.Storage:
        memory = ir.storage_of(type_)
        assert memory is not None
        while memory in found:
            memory = found[memory]
        return memory

    for load in statements_in(function.body):
        if isinstance(load, ir.Load) and is_elsewhere(load):
            view, array = home(load.target.type), home(type_of_atom(load.base))
            if view is not array:
                stays = array in given or (view not in given and (array.written or not view.written))
                found[view if stays else array] = array if stays else view
    return {memory: home(ir.Array(None, None, memory)) for memory in found}
