"""Memory that a loop fills in order: what lies behind the place that is written now is never written again.

In ``y[i] = f(y[i - 1])`` the element that is read has its last value. So have, in iteration ``i`` of a loop that only
writes ``y[i]``, all ``y[j]`` with ``j < i``: the reverse sweep finds them where they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from adjoint.differentiation.reverse.bindings import Regions
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Atom, Block, Call, Const, Key, Load, Loop, Range, Slice, Statement, Store, Subscript, Var
from adjoint.ir.types import Storage, storage_of
from adjoint.ir.walk import blocks_of, operands
from adjoint.records import dataclass

MAX_STEPS = 8


@dataclass(frozen=True, slots=True)
class _Place:
    """At most ``loop's index + offset``, and not negative."""

    loop: int
    offset: int


class Ordered:
    """Which reads of a function see elements that are never written again.

    Parameters
    ----------
    body
        The function's body, in normal form.
    regions
        Where its variables are bound.
    lifetime
        The loops, by identity, inside which memory of a storage class is made anew.
    """

    def __init__(self, body: Block, regions: Regions, lifetime: Callable[[Storage], set[int]]) -> None:
        self.regions = regions
        self.lifetime = lifetime
        self.loops: dict[int, tuple[Loop, ...]] = {}
        self.order: dict[int, int] = {}
        self.stores: dict[Storage, list[Store]] = {}
        self.unordered: set[Storage] = set()
        self.scan(body, ())

    def scan(self, block: Block, loops: tuple[Loop, ...]) -> None:
        for statement in block.statements:
            self.loops[id(statement)] = loops
            self.order[id(statement)] = len(self.order)
            if isinstance(statement, Store):
                for storage in _storage_of(statement.base):
                    self.stores.setdefault(storage, []).append(statement)
            elif isinstance(statement, Call):
                self.note_writes(statement)
            inner = (*loops, statement) if isinstance(statement, Loop) else loops
            for nested in blocks_of(statement):
                self.scan(nested, inner)
        for nested in blocks_of(block.terminator):
            self.scan(nested, loops)

    def note_writes(self, call: Call) -> None:
        found = effects_of(call)
        values = operands(call)
        for place, value in enumerate(values):
            if not found.known or place in found.writes:
                self.unordered.update(_storage_of(value))

    def holds(self, statement: Statement, atom: Atom) -> bool:
        """Whether what a statement reads of ``atom``, an element or a row, is never written again."""
        if isinstance(statement, Load) and statement.base is atom:
            return self.is_last(statement, statement)
        maker = self.maker(atom)
        return isinstance(maker, Load) and self.is_last(maker, statement)

    def maker(self, atom: Atom | Slice | None) -> Statement | None:
        """The statement that binds a variable."""
        binding = self.regions.bindings.get(atom) if isinstance(atom, Var) else None
        return None if binding is None else binding.statement

    def is_last(self, load: Load, reader: Statement) -> bool:
        (storage,) = _storage_of(load.base) or (None,)
        stores = self.stores.get(storage, []) if storage is not None else []
        if storage is None or storage in self.unordered or not stores:
            return False
        while any(store.base is not load.base for store in stores):  # of a row: the row decides
            maker = self.maker(load.base)
            if not isinstance(maker, Load):
                return False
            load = maker
        around = self.loops.get(id(reader))
        if around is None or (around != self.loops.get(id(load)) and not _within(around, self.loops.get(id(load)))):
            return False
        fixed = self.lifetime(storage)
        again = [loop for loop in around if id(loop) not in fixed]
        if not again:
            return False
        filled = again[0]  # all loops that may run again for this memory are this one and those inside of it
        if not isinstance(load.base, Var) or self.is_inside(load.base, filled):
            return False
        read = self.place_read(load.key, filled)
        return read is not None and all(self.is_behind(read, store, filled, load) for store in stores)

    def is_behind(self, read: _Place, store: Store, filled: Loop, load: Load) -> bool:
        """Whether a store is over when the loop starts, or in this and later iterations surely in front of a place.

        What an iteration stores at the place itself, before it reads it, is read.
        """
        if filled not in self.loops.get(id(store), ()):
            return self.order[id(store)] < self.order[id(filled)]
        found = self.affine(_first(store.key), filled)
        return found is not None and (
            read.offset < found or (read.offset == found and self.is_over(store, load, filled))
        )

    def is_over(self, store: Store, load: Load, filled: Loop) -> bool:
        """Whether an iteration of a loop stores no more when it comes to a load."""
        around, of_load = self.loops[id(store)], self.loops[id(load)]
        inner = around[around.index(filled) + 1 :]
        return self.order[id(store)] < self.order[id(load)] and not any(loop in of_load for loop in inner)

    def is_inside(self, var: Var, loop: Loop) -> bool:
        """Whether a loop binds a variable, anew in each iteration."""
        binding = self.regions.bindings.get(var)
        region = None if binding is None else binding.region
        while region is not None and region.owner is not loop:
            region = region.parent
        return binding is None or region is not None

    def place_read(self, key: Key, filled: Loop) -> _Place | None:
        index = _first(key)
        exact = self.affine(index, filled)
        if exact is not None:
            return _Place(id(filled), exact)
        inner = self.regions.index_of.get(index) if isinstance(index, Var) else None
        if inner is None or not isinstance(inner.over, Range) or not _is_natural(inner.over.start):
            return None
        stop = self.affine(inner.over.stop, filled, lowest=False)
        return None if stop is None or not _steps_up(inner.over) else _Place(id(filled), stop - 1)

    def affine(self, atom: Atom | Slice | None, loop: Loop, *, lowest: bool = True) -> int | None:
        """The offset of an index from the loop's own; None unless it is that, and with ``lowest`` never negative."""
        over = loop.over
        if loop.index is None or not isinstance(over, Range) or over.backward or not _steps_up(over):
            return None
        offset = 0
        for _ in range(MAX_STEPS):
            if atom is loop.index:
                start = over.start
                least = start.value + offset if isinstance(start, Const) and type(start.value) is int else None
                return offset if not lowest or (least is not None and least >= 0) else None
            made = self.maker(atom)
            if not isinstance(made, Call) or made.callee not in (operator.add, operator.sub) or len(made.args) != 2:
                return None
            left, right = made.args
            if isinstance(left, Const) and made.callee is operator.add:
                left, right = right, left
            if not isinstance(right, Const) or type(right.value) is not int:
                return None
            offset += right.value if made.callee is operator.add else -right.value
            atom = left
        return None


def _storage_of(atom: Atom) -> tuple[Storage, ...]:
    storage = storage_of(atom.type) if isinstance(atom, Var) else None
    return () if storage is None else (storage,)


def _first(key: Key | None) -> Atom | Slice | None:
    return key.items[0] if isinstance(key, Subscript) and key.items else None


def _within(loops: tuple[Loop, ...], outer: tuple[Loop, ...] | None) -> bool:
    return outer is not None and loops[: len(outer)] == outer


def _is_natural(atom: Atom) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int and atom.value >= 0


def _steps_up(over: Range) -> bool:
    return isinstance(over.step, Const) and type(over.step.value) is int and over.step.value > 0


__all__ = ["Ordered"]
