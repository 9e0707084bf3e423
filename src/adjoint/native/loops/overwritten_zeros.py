"""Arrays of zeros that the first loop to touch them overwrites, all of them, are made without the zeros."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.extents import Extents, Shape
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import operands
from adjoint.native.loops.allocation_hoisting import UNFILLED
from adjoint.native.loops.uses import Uses
from adjoint.records import replace
from adjoint.types.classes.safe_lookups import is_one_of


def without_overwritten_zeros(function: ir.Function) -> ir.Function:
    """The function with arrays left unfilled of which nobody reads an element before it is stored."""
    extents = Extents(function)

    def block(old: ir.Block) -> ir.Block:
        statements = [map_blocks(statement, block) for statement in old.statements]
        for place, made in enumerate(statements):
            if isinstance(made, ir.Call) and is_one_of(made.callee, UNFILLED):
                (array,) = made.targets
                shape = extents.of(array)
                if shape is not None and _is_overwritten(array, shape, statements[place + 1 :], extents):
                    statements[place] = replace(made, callee=UNFILLED[made.callee])
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _is_overwritten(array: ir.Var, shape: Shape, later: Sequence[ir.Statement], extents: Extents) -> bool:
    """Whether the first statement that touches an array is a loop that stores to all of it and does no more with it."""
    for statement in later:
        touching = [node for node in _nodes_with(array, statement) if not _asks_for_shape(node)]
        if touching:
            (store, *others) = touching
            return not others and isinstance(store, ir.Store) and _stores_all(statement, store, shape, extents)
    return False


def _nodes_with(array: ir.Var, statement: ir.Statement) -> Sequence[ir.Statement | ir.Terminator]:
    return Uses(ir.Block((statement,), ir.Return(()))).of[array]


def _asks_for_shape(node: ir.Statement | ir.Terminator) -> bool:
    """Whether a node looks at no element of an array, and shows the array to nobody."""
    match node:
        case ir.Call():
            found = effects_of(node)
            return found.known and found.reads == () and found.view_of is None and not (found.writes or found.hands_on)
        case _:
            return False


def _stores_all(statement: ir.Statement, store: ir.Store, shape: Shape, extents: Extents) -> bool:
    """Whether a loop, or loops in it, do a store for all indices of an array."""
    if store.mode != "set" or not isinstance(store.key, ir.Subscript) or operands(store).count(store.base) != 1:
        return False
    places = store.key.items
    if len(places) > len(shape):
        return False
    for place, extent in zip(places, shape, strict=False):
        if not (isinstance(statement, ir.Loop) and statement.index is place and _covers(statement, extent, extents)):
            return False
        body = statement.body.statements
        inner = next((part for part in body if part is store or store in _nodes_with_base(part, store.base)), None)
        if inner is None:
            return False
        statement = inner
    return statement is store


def _nodes_with_base(statement: ir.Statement, base: ir.Atom) -> Sequence[ir.Statement | ir.Terminator]:
    return _nodes_with(base, statement) if isinstance(base, ir.Var) else ()


def _covers(loop: ir.Loop, extent: object, extents: Extents) -> bool:
    """Whether a loop goes through all of an axis, whatever happens in it but an error."""
    match loop:
        case ir.Loop(
            over=ir.Range(start=ir.Const(value=0), stop=stop, step=ir.Const(value=1)),
            body=ir.Block(terminator=ir.Continue()),
        ):
            return extents.number(stop) == extent
        case _:
            return False
