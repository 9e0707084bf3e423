"""Zeros that nobody reads: what is overwritten before it is read, and what is cleared for the last time."""

from __future__ import annotations

from adjoint.analysis.extents import Extents
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import (
    Attribute,
    Block,
    Call,
    Const,
    Continue,
    Function,
    Load,
    Loop,
    Range,
    Slice,
    Statement,
    Store,
    Subscript,
    Terminator,
    Var,
)
from adjoint.ir.types import Array, Storage
from adjoint.ir.walk import (
    blocks_of,
    map_blocks,
    map_body,
    mentions,
    operands,
    rebuild_terminator,
    statements_in,
    targets_of,
)
from adjoint.native.loops.uses import Uses

ZERO = Const(0.0)
_WHOLE = Subscript((Const(Ellipsis),))


def without_idle_clears(function: Function) -> Function:
    """The function without zeros in its own work arrays that nobody reads."""
    own = own_arrays(function)
    if not own:
        return function
    return Function(function.name, function.params, _Clears(own, Extents(function)).block(function.body), function.doc)


def own_arrays(function: Function) -> dict[Var, int]:
    """Arrays that the function makes, of which no other variable shows any part, and that it does not hand out.

    With the number of statements that use their elements.
    """
    uses = Uses(function.body)
    names: dict[Storage, set[Var]] = {}
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            if isinstance(var.type, Array):
                names.setdefault(var.type.storage.find(), set()).add(var)
    found = {}
    for var, made in uses.made.items():
        fresh = isinstance(made, Call) and effects_of(made).fresh
        if isinstance(var.type, Array) and fresh and names[var.type.storage.find()] == {var} and uses.stays(var):
            found[var] = sum(not _asks_for_shape(node) for node in uses.of[var])
    return found


class _Clears:
    def __init__(self, own: dict[Var, int], extents: Extents) -> None:
        self.own = own
        self.extents = extents

    def block(self, block: Block) -> Block:
        statements = [map_blocks(statement, self.block) for statement in block.statements]
        for fill in [s for s in statements if isinstance(s, Store) and fills(s) and s.base in self.own]:
            assert isinstance(fill.base, Var)
            place = statements.index(fill)
            if self.is_only_here(fill.base, statements, place):
                statements = _without_last_clears(statements, place, fill.base)
        place = 0
        while place < len(statements):
            for array in self.filled_by(statements[place]):
                if self.is_only_here(array, statements, place):
                    statements = _without_last_clears(statements, place, array)
            place += 1
        return Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def filled_by(self, loop: Statement) -> list[Var]:
        """The arrays of which each iteration of a loop fills another place, all of them, before anything reads it."""
        if not isinstance(loop, Loop) or loop.exit is not None or not isinstance(loop.body.terminator, Continue):
            return []
        over, index = loop.over, loop.index
        if not isinstance(over, Range) or over.start != Const(0) or index is None:
            return []
        found = []
        for fill in loop.body.statements:
            if not isinstance(fill, Store) or fill.mode != "set" or fill.key != Subscript((index,)):
                continue
            array = fill.base
            if (
                isinstance(array, Var)
                and array in self.own
                and array not in found
                and ends_with(over, array, self.extents)
            ):
                users = [s for s in loop.body.statements if mentions(s, array)]
                if users[0] is fill and all(isinstance(s, (Load, Store)) and s.key == fill.key for s in users):
                    found.append(array)
        return found

    def is_only_here(self, array: Var, statements: list[Statement], fill: int) -> bool:
        """Whether an array is used nowhere but in and after a statement of a block."""
        here = sum(count_of_uses(statement, array) for statement in statements[fill:])
        return here == self.own[array]


def _without_last_clears(statements: list[Statement], fill: int, array: Var) -> list[Statement]:
    """What is cleared after its last reading stays: the next time around all of the array is filled anew."""
    kept = list(statements)
    read_later: list[int] = []
    for place in range(len(statements) - 1, fill, -1):
        statement = statements[place]
        if not mentions(statement, array):
            continue
        if isinstance(statement, Store) and _is_clear(statement, array):
            constant = known_place(statement)
            if constant is None or constant in read_later:
                break
            kept.remove(statement)
        elif isinstance(statement, Load) and (constant := known_place(statement)) is not None:
            read_later.append(constant)
        elif isinstance(statement, Loop):
            changed = _without_clear(statement, array, read_later)
            if changed is not None:
                kept[kept.index(statement)] = changed
            break
        else:
            break
    return kept


def known_place(access: Load | Store) -> int | None:
    """The place that is accessed, if it is known and counts from the start."""
    match access.key:
        case Subscript(items=(Const(value=int() as place),)) if place >= 0:
            return place
        case _:
            return None


def _is_clear(store: Store, array: Var) -> bool:
    return store.base is array and store.mode == "set" and store.value == ZERO


def _without_clear(loop: Loop, array: Var, read_later: list[int]) -> Loop | None:
    """A loop whose iterations read one place of an array each, and clear it, without that."""
    body = loop.body.statements
    users = [s for s in body if mentions(s, array)]
    if loop.index is None or len(users) < 2 or not isinstance(loop.body.terminator, Continue):
        return None
    clear = users[-1]
    if not isinstance(clear, Store) or not _is_clear(clear, array):
        return None
    if read_later and not _starts_behind(loop, max(read_later)):
        return None
    if not isinstance(clear.key, Subscript) or loop.index not in clear.key.items or not _are_plain(clear.key):
        return None
    if not all(isinstance(s, (Load, Store)) and s.base is array and s.key == clear.key for s in users):
        return None
    return map_body(loop, Block(tuple(s for s in body if s is not clear), loop.body.terminator))


def _starts_behind(loop: Loop, place: int) -> bool:
    over = loop.over
    return (
        isinstance(over, Range)
        and isinstance(over.start, Const)
        and isinstance(over.step, Const)
        and over.start.value > place
        and over.step.value > 0
    )


def _are_plain(key: Subscript) -> bool:
    return not any(isinstance(item, Slice) for item in key.items)


def ends_with(over: Range, array: Var, extents: Extents) -> bool:
    """Whether a range goes, one by one, to the last place of a vector."""
    stop = extents.numbers.get(over.stop) if isinstance(over.stop, Var) else None
    return over.step == Const(1) and stop is not None and extents.of(array) == (stop,)


def _asks_for_shape(node: Statement | Terminator) -> bool:
    return isinstance(node, Load) and isinstance(node.key, Attribute)


def fills(store: Store) -> bool:
    return store.mode == "set" and store.key == _WHOLE


def count_of_uses(node: Statement | Terminator, var: Var) -> int:
    """How many statements use the elements of an array, from a statement inwards."""
    if _asks_for_shape(node):
        return 0
    inner = (inner for block in blocks_of(node) for inner in (*block.statements, block.terminator))
    return any(atom is var for atom in operands(node)) + sum(count_of_uses(part, var) for part in inner)
