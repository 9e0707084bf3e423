"""A place of an array that a loop adds to again and again is a variable as long as the loop runs."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.effects import effects_of
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Block,
    Call,
    Const,
    Continue,
    Function,
    If,
    Key,
    Load,
    Loop,
    Range,
    Statement,
    Store,
    Subscript,
    Var,
    Yield,
)
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.types import BOOL, FLOAT, INT, Array, Scalar, Storage
from adjoint.ir.walk import blocks_of, defined_by, operands, statements_in, vars_used
from adjoint.native.loops.reductions import OPERATORS
from adjoint.rules.typing import type_of_call


def with_places_as_variables(function: Function) -> Function:
    """The function with places of arrays that a loop works on read before the loop and written after it."""
    return Function(function.name, function.params, in_block(function.body), function.doc)


def in_block(block: Block, along: Var | None = None) -> Block:
    """The same of a block: of all places, or of those with one number among their indices."""

    def inner(part: Block) -> Block:
        return in_block(part, along)

    statements: list[Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, inner)
        statements += _promoted(current, along) if isinstance(current, Loop) else [current]
    return Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _promoted(loop: Loop, along: Var | None) -> list[Statement]:
    """The loop, with places as variables; if it does not run, nothing is read or written."""
    end, over = loop.body.terminator, loop.over
    if not isinstance(end, Continue) or not isinstance(over, Range) or over.step != Const(1) or loop.exit is not None:
        return [loop]
    loads = [load for load in _loads(loop) if _is_along(along, load.key)]
    places = {base: key for base, key in _places(loop).items() if _is_along(along, key)}
    if not places and not loads:
        return [loop]
    before, after = Builder(type_of_call, loop.span), Builder(type_of_call, loop.span)
    body, values = loop.body.statements, end.values
    outer = tuple(Var(target.hint, target.type, target.named) for target in loop.targets)
    params, inits, targets = loop.params, loop.inits, outer
    known: dict[Var, Atom] = {}
    for load in loads:
        known[load.target] = before.load(load.base, load.key, load.target.type, load.target.hint)
    body, values = _without(body, values, known)
    for base, key in places.items():
        param, target = Var(base.hint, FLOAT), Var(base.hint, FLOAT)
        inits = (*inits, before.load(base, key, FLOAT, base.hint))
        body, values, last = _on_variable(body, values, base, param)
        params, values, targets = (*params, param), (*values, last), (*targets, target)
        after.store(base, key, target)
    inner = Loop(over, loop.index, params, inits, Block(body, Continue(values)), targets, None, loop.span)
    runs = Var("runs", BOOL)
    then = Block((*before.statements, inner, *after.statements), Yield(outer))
    return [
        Call((runs,), operator.lt, (over.start, over.stop), (), loop.span),
        If(runs, then, Block((), Yield(loop.inits)), loop.targets, loop.span),
    ]


def _is_along(number: Var | None, key: Key) -> bool:
    return number is None or (isinstance(key, Subscript) and number in key.items)


def _loads(loop: Loop) -> list[Load]:
    """The loads that give the same number in each iteration: nobody writes to the array."""
    inside = defined_by(loop)
    written = {_storage(s.base) for s in statements_in(loop.body) if isinstance(s, Store) and is_array(s.base)}
    for call in statements_in(loop.body):
        if isinstance(call, Call) and not effects_of(call).pure:
            return []
    found = []
    for statement in loop.body.statements:
        place = _place(statement, inside) if isinstance(statement, Load) else None
        if isinstance(statement, Load) and place is not None and _storage(place[0]) not in written:
            found.append(statement)
    return found


def _without(
    statements: Sequence[Statement], values: tuple[Atom, ...], known: Mapping[Var, Atom]
) -> tuple[tuple[Statement, ...], tuple[Atom, ...]]:
    """Statements, and what they hand on, with what is known in place of the loads that give it."""
    kept = [s for s in statements if not (isinstance(s, Load) and s.target in known)]
    block = substitute(Block(tuple(kept), Continue(values)), known)
    assert isinstance(block.terminator, Continue)
    return block.statements, block.terminator.values


def _places(loop: Loop) -> dict[Var, Subscript]:
    """The arrays of which the iterations touch only one place, and write it."""
    inside = defined_by(loop)
    found: dict[Storage, tuple[Var, Subscript]] = {}
    written: set[Storage] = set()
    other: set[Storage] = set()
    for statement in loop.body.statements:
        place = _place(statement, inside)
        rest = operands(statement)
        if place is not None:
            base, _ = place
            storage = _storage(base)
            if found.setdefault(storage, place) != place:
                other.add(storage)
            if isinstance(statement, Store):
                written.add(storage)
            rest = tuple(atom for atom in rest if atom is not base)
        other.update(_storage(atom) for atom in rest if is_array(atom))
        other.update(_storage(atom) for block in blocks_of(statement) for atom in vars_used(block) if is_array(atom))
    return {base: key for storage, (base, key) in found.items() if storage in written - other}


def _place(statement: Statement, inside: set[Var]) -> tuple[Var, Subscript] | None:
    """The place of an array that a statement touches, if all iterations touch the same."""
    match statement:
        case Load(
            target=Var(type=Scalar()), base=Var(type=Array(dtype=dtype, dims=dims)) as base, key=Subscript() as key
        ):
            pass
        case Store(base=Var(type=Array(dtype=dtype, dims=dims)) as base, key=Subscript() as key, mode=mode):
            if mode not in ("set", *OPERATORS):
                return None
        case _:
            return None
    if dtype != np.float64 or dims is None or len(key.items) != len(dims) or base in inside:
        return None
    for item in key.items:
        plain = isinstance(item, (Var, Const)) and type_of_atom(item) == INT
        if not plain or item in inside:
            return None
    return base, key


def _on_variable(
    statements: Sequence[Statement], values: tuple[Atom, ...], base: Var, param: Var
) -> tuple[tuple[Statement, ...], tuple[Atom, ...], Atom]:
    """Statements in which a variable stands for the place; what they hand on; what is in the place at last."""
    current: Atom = param
    renamed: dict[Var, Atom] = {}
    changed: list[Statement] = []
    for statement in statements:
        statement = substitute(statement, renamed)
        match statement:
            case Load(target=target, base=own, key=Subscript()) if own is base:
                renamed[target] = current
            case Store(base=own, value=value, mode=mode, span=span) if own is base:
                if mode == "set":
                    current = value
                else:
                    following = Var(base.hint, FLOAT)
                    changed.append(Call((following,), OPERATORS[mode], (current, value), (), span))
                    current = following
            case _:
                changed.append(statement)
    return tuple(changed), tuple(renamed.get(v, v) if isinstance(v, Var) else v for v in values), current


def _storage(atom: Atom) -> Storage:
    assert isinstance(atom, Var) and isinstance(atom.type, Array)
    return atom.type.storage.find()
