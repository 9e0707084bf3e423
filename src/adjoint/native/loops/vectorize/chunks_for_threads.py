"""A function in pieces, so that its outermost loops can run in chunks side by side.

A loop runs in chunks if its iterations share nothing but numbers and arrays to which they add, and arrays of which each
touches its own places; it writes nothing that was handed in, since an exception would tell. A chunk then has zeros of
its own in place of what is added to; they are added up afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory, memory_of_params
from adjoint.analysis.shapes.nonnegative import naturals_of
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import free_vars, leaves, statements_in, targets_of, vars_used, with_inner
from adjoint.native.loops.loop_reversal import Accesses, commutes, only_adds, touch_apart
from adjoint.records import dataclass
from adjoint.runtime.arithmetic import fused_loops, indices


@dataclass(frozen=True, slots=True)
class Plain:
    """Statements as a function; ``handed`` is what later ones need of them."""

    function: ir.Function
    handed: tuple[ir.Var, ...]


@dataclass(frozen=True, slots=True)
class Chunked:
    """A loop as a function of where it starts, where it ends, what it carries at first, and what it reads.

    Attributes
    ----------
    function
        Returns what the loop carries at last.
    loop
        The loop.
    captured
        What it reads; the last parameters of the function.
    sums
        For each variable that the loop carries, whether it adds to it.
    added
        Places in ``captured`` of the arrays to which it adds.
    is_long
        Whether its iterations are loops themselves.
    is_blocked
        Whether these are the blocks of one loop.
    """

    function: ir.Function
    loop: ir.Loop
    captured: tuple[ir.Var, ...]
    sums: tuple[bool, ...]
    added: tuple[int, ...]
    is_long: bool
    is_blocked: bool

    @property
    def handed(self) -> tuple[ir.Var, ...]:
        return self.loop.targets


Piece = Plain | Chunked


def in_pieces(function: ir.Function) -> tuple[Piece, ...] | None:
    """The pieces of a function, in order; None if no loop can run in chunks."""
    end = function.body.terminator
    statements = function.body.statements
    if not isinstance(end, ir.Return):
        return None
    naturals = naturals_of(function)
    found = {place: piece for place, piece in _chunked(function, naturals) if _can_be_cut_out(function, place)}
    if not found:
        return None
    pieces: list[Piece] = []
    first = 0
    for place in (*found, len(statements)):
        if place > first:
            pieces.append(_plain(function, first, place, len(pieces), naturals))
        if place in found:
            pieces.append(found[place])
        first = place + 1
    return tuple(pieces)


def _chunked(function: ir.Function, naturals: set[ir.Var]) -> Iterator[tuple[int, Chunked]]:
    handed = memory_of_params(function)
    for place, statement in enumerate(function.body.statements):
        if isinstance(statement, ir.Loop):
            piece = chunked(statement, f"{function.name}_chunk_{place}", handed, naturals)
            if piece is not None:
                yield place, piece


def chunked(loop: ir.Loop, name: str, handed: Collection[ir.Storage], naturals: set[ir.Var]) -> Chunked | None:
    """A loop as a function of a part of its range; None if its iterations may not run side by side."""
    over = loop.over
    if (
        not isinstance(over, ir.Range)
        or over.backward
        or loop.exit is not None
        or len(loop.targets) != len(loop.params)
    ):
        return None
    if any(isinstance(init, ir.Undefined) for init in loop.inits):
        return None
    if not commutes(loop) or not all(_is_number(param.type) for param in loop.params):
        return None
    bound = (loop.index, *loop.params)
    captured = tuple(var for var in free_vars(loop.body) if var not in bound)
    if isinstance(over.step, ir.Var) and over.step not in captured:
        captured = (*captured, over.step)
    added = _added(loop, captured, handed)
    if added is None:
        return None
    start, stop = ir.Var("start", ir.INT), ir.Var("stop", ir.INT)
    inits = tuple(ir.Var(param.hint, param.type, param.named) for param in loop.params)
    part = ir.Loop(
        ir.Range(start, stop, over.step), loop.index, loop.params, inits, loop.body, loop.targets, None, loop.span
    )
    function = ir.Function(name, (start, stop, *inits, *captured), ir.Block((part,), ir.Return(loop.targets)))
    function = _with_naturals(function, naturals | {start} if _is_natural(over.start, naturals) else naturals)
    ends = [end.values for end in leaves(loop.body) if isinstance(end, ir.Continue)]
    sums = tuple(any(values[slot] is not param for values in ends) for slot, param in enumerate(loop.params))
    is_blocked = any(getattr(part, "callee", None) is fused_loops.block_end for part in loop.body.statements)
    is_long = any(isinstance(part, ir.Loop) for part in statements_in(loop.body)) and not is_blocked
    return Chunked(function, loop, captured, sums, added, is_long, is_blocked)


def _added(loop: ir.Loop, captured: Sequence[ir.Var], handed: Collection[ir.Storage]) -> tuple[int, ...] | None:
    """Places in ``captured`` of the arrays that are added to; None if iterations write to others, not each its own."""
    accesses = Accesses(loop)
    added: set[int] = set()
    for storage, found in accesses.from_outside().items():
        if not any(access.writes for access in found):
            continue
        if storage in handed:
            return None
        if touch_apart(found, accesses.apart):
            continue
        if not only_adds(found) or any(access.root not in captured for access in found):
            return None
        added.update(captured.index(access.root) for access in found)
    return tuple(sorted(added))


def _can_be_cut_out(function: ir.Function, place: int) -> bool:
    """Whether what a statement needs, and what passes it by, can be handed from function to function."""
    statements = function.body.statements
    before = {target for statement in statements[:place] for target in targets_of(statement)}
    rest = ir.Block(statements[place:], function.body.terminator)
    after = vars_used(ir.Block(statements[place + 1 :], function.body.terminator))
    made = set(targets_of(statements[place]))
    crossing = [*(var for var in free_vars(rest) if var in before), *(var for var in after if var in made)]
    params = [var for var in free_vars(rest) if var in function.params]
    return all(_can_be_handed(var.type) for var in crossing) and not any(map(_has_lists, params))


def _has_lists(var: ir.Var) -> bool:
    return not isinstance(var.type, (ir.Array, ir.Scalar)) and any(True for _ in all_memory(var.type))


_WIDE = tuple(map(np.dtype, (np.float64, np.int64, np.complex128, np.bool_)))


def _can_be_handed(type_: ir.Type) -> bool:
    """Whether Python hands on a value of compiled code as it is."""
    return isinstance(type_, ir.Array) or _is_number(type_)


def _is_number(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and (type_.dtype is None or type_.dtype in _WIDE)


def _plain(function: ir.Function, first: int, last: int, number: int, naturals: set[ir.Var]) -> Plain:
    """The statements from ``first`` to before ``last`` as a function."""
    statements = function.body.statements[first:last]
    later = vars_used(ir.Block(function.body.statements[last:], function.body.terminator))
    made = [target for statement in statements for target in targets_of(statement)]
    handed = tuple(var for var in made if var in later)
    body = ir.Block(statements, ir.Return(handed))
    taken = free_vars(ir.Block(statements, ir.Return(())))
    return Plain(_with_naturals(ir.Function(f"{function.name}_{number}", taken, body), naturals), handed)


def _is_natural(atom: ir.Atom, naturals: set[ir.Var]) -> bool:
    return atom in naturals or (isinstance(atom, ir.Const) and atom.value >= 0)


def _with_naturals(function: ir.Function, naturals: set[ir.Var]) -> ir.Function:
    """A piece that is told which of its parameters are never negative."""
    known = {param: ir.Var(param.hint, ir.INT, param.named) for param in function.params if param in naturals}
    told = [ir.Call((marked,), indices.natural, (param,)) for param, marked in known.items()]
    body = substitute(function.body, known)
    return ir.Function(
        function.name, function.params, ir.Block((*told, *body.statements), body.terminator), function.doc
    )


def first_loop(function: ir.Function) -> ir.Loop | None:
    """The first outermost loop of a function, in the order of the text."""
    parts = (part for statement in function.body.statements for part in with_inner(statement))
    return next((part for part in parts if isinstance(part, ir.Loop)), None)
