"""What is added first to a place that was just cleared is stored there instead.

A loop that works out derivatives by a few numbers of a row, such as the parameters of one camera, begins with zeros in
all places of a short array and adds to each of them. Only the places behind those need zeros.
"""

from __future__ import annotations

import operator

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.ir.join import is_float, type_of_atom
from adjoint.ir.rebuild import map_blocks, map_body, rebuild_terminator
from adjoint.ir.walk import mentions, operands
from adjoint.native.loops.uses import own_arrays

_ZERO = ir.Const(0.0)


def with_first_sums_stored(function: ir.Function) -> ir.Function:
    """The function with its work arrays cleared only where nothing is stored at once."""
    own = {array for array in own_arrays(function) if _is_vector(array)}
    if not own:
        return function
    extents = Extents(function)

    def block(old: ir.Block) -> ir.Block:
        statements = [map_blocks(statement, block) for statement in old.statements]
        for fill in [s for s in statements if isinstance(s, ir.Store) and _clears(s) and s.base in own]:
            _store_first_sums(statements, statements.index(fill))
            if fill in statements:
                _store_sums_of_a_loop(statements, statements.index(fill), extents)
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, lambda atom: atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _is_vector(array: ir.Var) -> bool:
    type_ = array.type
    return (
        isinstance(type_, ir.Array)
        and type_.dims is not None
        and len(type_.dims) == 1
        and ir.is_float_dtype(type_.dtype)
    )


def _store_first_sums(statements: list[ir.Statement], fill: int) -> None:
    """Changes statements from one that clears all of an array on."""
    cleared = statements[fill]
    assert isinstance(cleared, ir.Store) and isinstance(cleared.base, ir.Var)
    first = _first_sums(statements[fill + 1 :], cleared.base)
    count = next(place for place in range(len(first) + 1) if place not in first)
    if not count:
        return
    for place in sorted((first[place] + fill + 1 for place in range(count)), reverse=True):
        statements[place : place + 1] = _stored(statements[place])
    statements[fill : fill + 1] = _cleared_from(cleared, ir.Const(count))


def _first_sums(statements: list[ir.Statement], array: ir.Var) -> dict[int, int]:
    """Where each known place of an array is added to before anything else is done with it."""
    first: dict[int, int] = {}
    for position, statement in enumerate(statements):
        if not mentions(statement, array):
            continue
        if not isinstance(statement, ir.Store) or statement.base is not array or statement.value is array:
            break
        place = _known_place(statement)
        if place is None or statement.mode not in ("add", "sub") or not is_float(statement.value):
            break
        first.setdefault(place, position)
    return first


def _store_sums_of_a_loop(statements: list[ir.Statement], fill: int, extents: Extents) -> None:
    """Changes a loop that is the first to use an array after all of it was cleared."""
    cleared = statements[fill]
    assert isinstance(cleared, ir.Store) and isinstance(cleared.base, ir.Var)
    array = cleared.base
    position = next((p for p in range(fill + 1, len(statements)) if mentions(statements[p], array)), None)
    loop = None if position is None else statements[position]
    if position is None or not isinstance(loop, ir.Loop):
        return
    sum_ = _only_sum(loop, array)
    left_out = None if sum_ is None else _places_left_out(loop, sum_, extents)
    if sum_ is None or left_out is None:
        return
    place = loop.body.statements.index(sum_)
    inside = (*loop.body.statements[:place], *_stored(sum_), *loop.body.statements[place + 1 :])
    statements[position] = map_body(loop, ir.Block(inside, loop.body.terminator))
    statements[fill : fill + 1] = _cleared_from(cleared, ir.Const(-left_out)) if left_out else []


def _only_sum(loop: ir.Loop, array: ir.Var) -> ir.Store | None:
    """What each iteration adds to an array, if it does nothing else with it."""
    users = [statement for statement in loop.body.statements if mentions(statement, array)]
    if len(users) != 1 or not isinstance(users[0], ir.Store) or array in (*loop.inits, *operands(loop.body.terminator)):
        return None
    sum_ = users[0]
    is_one = sum_.base is array and sum_.value is not array and sum_.mode in ("add", "sub") and is_float(sum_.value)
    return sum_ if is_one else None


def _places_left_out(loop: ir.Loop, sum_: ir.Store, extents: Extents) -> int | None:
    """How many places at the end of a vector a loop does not come to; None where they may be others."""
    over, array = loop.over, sum_.base
    if not isinstance(over, ir.Range) or loop.exit is not None or not isinstance(loop.body.terminator, ir.Continue):
        return None
    assert isinstance(array, ir.Var)
    before = _distance(loop, sum_)
    return before if over.start == ir.Const(before) and _ends_with(over, array, extents) else None


def _distance(loop: ir.Loop, sum_: ir.Store) -> int | None:
    """How many places before its own each iteration of a loop adds to."""
    match sum_.key:
        case ir.Subscript(items=(ir.Var() as place,)) if place is loop.index:
            return 0
        case ir.Subscript(items=(ir.Var() as place,)):
            for statement in loop.body.statements:
                match statement:
                    case ir.Call(targets=(target,), callee=operator.sub, args=(index, ir.Const(value=int() as count))):
                        if target is place and index is loop.index and count >= 0:
                            return count
    return None


def _stored(sum_: ir.Statement) -> list[ir.Statement]:
    assert isinstance(sum_, ir.Store)
    if sum_.mode == "add":
        return [ir.Store(sum_.base, sum_.key, sum_.value, "set", sum_.span)]
    negative = ir.Var("t", type_of_atom(sum_.value) or ir.FLOAT)
    negation = ir.Call((negative,), operator.neg, (sum_.value,), (), sum_.span)
    return [negation, ir.Store(sum_.base, sum_.key, negative, "set", sum_.span)]


def _cleared_from(clear: ir.Store, start: ir.Const) -> list[ir.Statement]:
    """What clears the places of a vector from one on, which is counted from the end where it is negative."""
    shape, count, place = ir.Var("shape", ir.Tuple((ir.INT,))), ir.Var("n", ir.INT), ir.Var("i", ir.INT)
    inside = ir.Block((ir.Store(clear.base, ir.Subscript((place,)), _ZERO, "set", clear.span),), ir.Continue(()))
    known: list[ir.Statement] = [
        ir.Call((shape,), np.shape, (clear.base,)),
        ir.Load(count, shape, ir.Subscript((ir.Const(0),))),
    ]
    first: ir.Atom = start
    if start.value < 0:
        back, first = ir.Var("start", ir.INT), ir.Var("start", ir.INT)
        known += [ir.Call((back,), operator.add, (count, start)), ir.Call((first,), max, (back, ir.Const(0)))]
    return [*known, ir.Loop(ir.Range(first, count, ir.Const(1)), place, (), (), inside, ())]


def _ends_with(over: ir.Range, array: ir.Var, extents: Extents) -> bool:
    """Whether a range goes, one by one, to the last place of a vector."""
    return (
        over.step == ir.Const(1) and isinstance(over.stop, ir.Var) and extents.of(array) == (extents.number(over.stop),)
    )


def _known_place(access: ir.Load | ir.Store) -> int | None:
    """The place that is accessed, if it is known and counts from the start."""
    match access.key:
        case ir.Subscript(items=(ir.Const(value=int() as place),)) if place >= 0:
            return place
        case _:
            return None


def _clears(store: ir.Store) -> bool:
    return store.mode == "set" and store.key == ir.WHOLE and store.value == _ZERO
