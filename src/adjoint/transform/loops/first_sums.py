"""What is added first to a place that was just cleared is stored there instead.

A loop that works out derivatives by a few numbers of a row, such as the parameters of one camera, begins with zeros in
all places of a short array and adds to each of them. Only the places behind those need zeros.
"""

from __future__ import annotations

import operator

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Call,
    Const,
    Continue,
    Function,
    Load,
    Loop,
    Range,
    Statement,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.types import FLOAT, INT, Array, Scalar, Tuple, is_float_dtype
from adjoint.ir.walk import map_blocks, mentions, rebuild_terminator
from adjoint.transform.loops.clears import ZERO, fills, known_place, own_arrays


def with_first_sums_stored(function: Function) -> Function:
    """The function with its work arrays cleared only where nothing is stored at once."""
    own = {array for array in own_arrays(function) if _is_vector(array)}
    if not own:
        return function

    def block(old: Block) -> Block:
        statements = [map_blocks(statement, block) for statement in old.statements]
        for fill in [s for s in statements if isinstance(s, Store) and fills(s) and s.value == ZERO and s.base in own]:
            _store_first_sums(statements, statements.index(fill))
        return Block(tuple(statements), rebuild_terminator(old.terminator, lambda atom: atom, block))

    return Function(function.name, function.params, block(function.body), function.doc)


def _is_vector(array: Var) -> bool:
    type_ = array.type
    return isinstance(type_, Array) and type_.dims is not None and len(type_.dims) == 1 and is_float_dtype(type_.dtype)


def _store_first_sums(statements: list[Statement], fill: int) -> None:
    """Changes statements from one that clears all of an array on."""
    cleared = statements[fill]
    assert isinstance(cleared, Store) and isinstance(cleared.base, Var)
    first = _first_sums(statements[fill + 1 :], cleared.base)
    count = next(place for place in range(len(first) + 1) if place not in first)
    if not count:
        return
    for place in sorted((first[place] + fill + 1 for place in range(count)), reverse=True):
        statements[place : place + 1] = _stored(statements[place])
    statements[fill : fill + 1] = _cleared_from(cleared, count)


def _first_sums(statements: list[Statement], array: Var) -> dict[int, int]:
    """Where each known place of an array is added to before anything else is done with it."""
    first: dict[int, int] = {}
    for position, statement in enumerate(statements):
        if not mentions(statement, array):
            continue
        if not isinstance(statement, Store) or statement.base is not array or statement.value is array:
            break
        place = known_place(statement)
        if place is None or statement.mode not in ("add", "sub") or not _is_float(statement.value):
            break
        first.setdefault(place, position)
    return first


def _is_float(atom: Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, Scalar) and type_.kind == "float"


def _stored(sum_: Statement) -> list[Statement]:
    assert isinstance(sum_, Store)
    if sum_.mode == "add":
        return [Store(sum_.base, sum_.key, sum_.value, "set", sum_.span)]
    negative = Var("t", type_of_atom(sum_.value) or FLOAT)
    negation = Call((negative,), operator.neg, (sum_.value,), (), sum_.span)
    return [negation, Store(sum_.base, sum_.key, negative, "set", sum_.span)]


def _cleared_from(clear: Store, start: int) -> list[Statement]:
    """What clears the places of a vector from one on."""
    shape, count, place = Var("shape", Tuple((INT,))), Var("n", INT), Var("i", INT)
    inside = Block((Store(clear.base, Subscript((place,)), ZERO, "set", clear.span),), Continue(()))
    return [
        Load(shape, clear.base, Attribute("shape")),
        Load(count, shape, Subscript((Const(0),))),
        Loop(Range(Const(start), count, Const(1)), place, (), (), inside, ()),
    ]
