"""A place of an array that a loop adds to again and again is a variable as long as the loop runs."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import blocks_of, defined_by, operands, statements_in, vars_used
from adjoint.native.loops.reductions import OPERATORS
from adjoint.rules.typing import type_of_call


def with_places_as_variables(function: ir.Function) -> ir.Function:
    """The function with places of arrays that a loop works on read before the loop and written after it."""
    return ir.Function(function.name, function.params, in_block(function.body), function.doc)


def in_block(block: ir.Block, along: ir.Var | None = None) -> ir.Block:
    """The same of a block: of all places, or of those with one number among their indices."""

    def inner(part: ir.Block) -> ir.Block:
        return in_block(part, along)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, inner)
        statements += _promoted(current, along) if isinstance(current, ir.Loop) else [current]
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _promoted(loop: ir.Loop, along: ir.Var | None) -> list[ir.Statement]:
    """The loop, with places as variables; if it does not run, nothing is read or written."""
    end, over = loop.body.terminator, loop.over
    if (
        not isinstance(end, ir.Continue)
        or not isinstance(over, ir.Range)
        or over.step != ir.Const(1)
        or loop.exit is not None
    ):
        return [loop]
    loads = [load for load in _loads(loop) if _is_along(along, load.key)]
    places = {base: key for base, key in _places(loop).items() if _is_along(along, key)}
    if not places and not loads:
        return [loop]
    before, after = Builder(type_of_call, loop.span), Builder(type_of_call, loop.span)
    body, values = loop.body.statements, end.values
    outer = tuple(ir.Var(target.hint, target.type, target.named) for target in loop.targets)
    params, inits, targets = loop.params, loop.inits, outer
    known: dict[ir.Var, ir.Atom] = {}
    for load in loads:
        known[load.target] = before.load(load.base, load.key, load.target.type, load.target.hint)
    body, values = _without(body, values, known)
    for base, key in places.items():
        param, target = ir.Var(base.hint, ir.FLOAT), ir.Var(base.hint, ir.FLOAT)
        inits = (*inits, before.load(base, key, ir.FLOAT, base.hint))
        body, values, last = _on_variable(body, values, base, param)
        params, values, targets = (*params, param), (*values, last), (*targets, target)
        after.store(base, key, target)
    inner = ir.Loop(over, loop.index, params, inits, ir.Block(body, ir.Continue(values)), targets, None, loop.span)
    runs = ir.Var("runs", ir.BOOL)
    then = ir.Block((*before.statements, inner, *after.statements), ir.Yield(outer))
    return [
        ir.Call((runs,), operator.lt, (over.start, over.stop), (), loop.span),
        ir.If(runs, then, ir.Block((), ir.Yield(loop.inits)), loop.targets, loop.span),
    ]


def _is_along(number: ir.Var | None, key: ir.Key) -> bool:
    return number is None or (isinstance(key, ir.Subscript) and number in key.items)


def _loads(loop: ir.Loop) -> list[ir.Load]:
    """The loads that give the same number in each iteration: nobody writes to the array."""
    inside = defined_by(loop)
    written = {_storage(s.base) for s in statements_in(loop.body) if isinstance(s, ir.Store) and is_array(s.base)}
    for call in statements_in(loop.body):
        if isinstance(call, ir.Call) and not effects_of(call).pure:
            return []
    found = []
    for statement in loop.body.statements:
        place = _place(statement, inside) if isinstance(statement, ir.Load) else None
        if isinstance(statement, ir.Load) and place is not None and _storage(place[0]) not in written:
            found.append(statement)
    return found


def _without(
    statements: Sequence[ir.Statement], values: tuple[ir.Atom, ...], known: Mapping[ir.Var, ir.Atom]
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...]]:
    """Statements, and what they hand on, with what is known in place of the loads that give it."""
    kept = [s for s in statements if not (isinstance(s, ir.Load) and s.target in known)]
    block = substitute(ir.Block(tuple(kept), ir.Continue(values)), known)
    assert isinstance(block.terminator, ir.Continue)
    return block.statements, block.terminator.values


def _places(loop: ir.Loop) -> dict[ir.Var, ir.Subscript]:
    """The arrays of which the iterations touch only one place, and write it."""
    inside = defined_by(loop)
    found: dict[ir.Storage, tuple[ir.Var, ir.Subscript]] = {}
    written: set[ir.Storage] = set()
    other: set[ir.Storage] = set()
    for statement in loop.body.statements:
        place = _place(statement, inside)
        rest = operands(statement)
        if place is not None:
            base, _ = place
            storage = _storage(base)
            if found.setdefault(storage, place) != place:
                other.add(storage)
            if isinstance(statement, ir.Store):
                written.add(storage)
            rest = tuple(atom for atom in rest if atom is not base)
        other.update(_storage(atom) for atom in rest if is_array(atom))
        other.update(_storage(atom) for block in blocks_of(statement) for atom in vars_used(block) if is_array(atom))
    return {base: key for storage, (base, key) in found.items() if storage in written - other}


def _place(statement: ir.Statement, inside: set[ir.Var]) -> tuple[ir.Var, ir.Subscript] | None:
    """The place of an array that a statement touches, if all iterations touch the same."""
    match statement:
        case ir.Load(
            target=ir.Var(type=ir.Scalar()),
            base=ir.Var(type=ir.Array(dtype=dtype, dims=dims)) as base,
            key=ir.Subscript() as key,
        ):
            pass
        case ir.Store(base=ir.Var(type=ir.Array(dtype=dtype, dims=dims)) as base, key=ir.Subscript() as key, mode=mode):
            if mode not in ("set", *OPERATORS):
                return None
        case _:
            return None
    if dtype != np.float64 or dims is None or len(key.items) != len(dims) or base in inside:
        return None
    for item in key.items:
        plain = isinstance(item, (ir.Var, ir.Const)) and type_of_atom(item) == ir.INT
        if not plain or item in inside:
            return None
    return base, key


def _on_variable(
    statements: Sequence[ir.Statement], values: tuple[ir.Atom, ...], base: ir.Var, param: ir.Var
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...], ir.Atom]:
    """Statements in which a variable stands for the place; what they hand on; what is in the place at last."""
    current: ir.Atom = param
    renamed: dict[ir.Var, ir.Atom] = {}
    changed: list[ir.Statement] = []
    for statement in statements:
        statement = substitute(statement, renamed)
        match statement:
            case ir.Load(target=target, base=own, key=ir.Subscript()) if own is base:
                renamed[target] = current
            case ir.Store(base=own, value=value, mode=mode, span=span) if own is base:
                if mode == "set":
                    current = value
                else:
                    following = ir.Var(base.hint, ir.FLOAT)
                    changed.append(ir.Call((following,), OPERATORS[mode], (current, value), (), span))
                    current = following
            case _:
                changed.append(statement)
    return tuple(changed), tuple(renamed.get(v, v) if isinstance(v, ir.Var) else v for v in values), current


def _storage(atom: ir.Atom) -> ir.Storage:
    assert isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array)
    return atom.type.storage.find()
