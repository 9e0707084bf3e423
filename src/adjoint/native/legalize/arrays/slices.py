"""Parts of arrays and places in them as loops read and write them: general forms take long to compile."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.join import is_whole_number, type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.native.legalize.arrays.indices import place, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import fused_loops, indices
from adjoint.runtime.array_functions import plain

_ANY: ir.Dim = "any"
_FORMS = {"set": plain.put, "add": plain.add_to, "sub": plain.take_from}


def with_plain_places(function: ir.Function) -> ir.Function:
    """The function with calls of loops for stores of arrays, and for what is read and stored through places.

    Places outside of an array raise: to look at them takes little, beside what is done at them.
    """
    return _Places().function(function)


class _Places(Rewriting):
    def function(self, function: ir.Function) -> ir.Function:
        outer = getattr(self, "aliases", None), getattr(self, "in_loops", None)
        self.aliases, self.in_loops = Aliases(function), _stores_in_loops(function)
        rewritten = super().function(function)
        self.aliases, self.in_loops = outer[0] or self.aliases, outer[1] or self.in_loops
        return rewritten

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if isinstance(statement, (ir.Load, ir.Store)) and isinstance(statement.key, ir.Subscript):
            return (*self.check(statement, statement.key), *self.loops(statement))
        return self.loops(statement)

    def check(self, statement: ir.Load | ir.Store, key: ir.Subscript) -> Iterable[ir.Statement]:
        """What raises where places lie outside of an array."""
        base = statement.base
        if not isinstance(base, ir.Var) or not _is_of_places(base, key):
            return ()
        before: list[ir.Statement] = []
        items = [place(item, before) for item in key.items]
        return (*before, ir.Call((), plain.check_places, (base, *items), (), statement.span))

    def loops(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        """What stands for a statement."""
        match statement:
            case ir.Load(base=ir.Var() as base, key=ir.Subscript() as key) if _is_of_places(base, key):
                before: list[ir.Statement] = []
                items = [place(item, before) for item in key.items]
                return (*before, ir.Call((statement.target,), plain.taken_at, (base, *items), (), statement.span))
            case ir.Store(base=ir.Var() as base, key=ir.Subscript() as key, mode=mode) if _is_of_places(base, key):
                return self.through_places(statement, base, key) if mode in _FORMS else (statement,)
            case ir.Store(base=ir.Var() as base, mode=mode) if mode in _FORMS:
                return self.into_part(statement, base)
            case _:
                return (statement,)

    def through_places(self, store: ir.Store, base: ir.Var, key: ir.Subscript) -> Iterable[ir.Statement]:
        if not self.is_apart(base, store.value) or not _narrows_nothing(base, store.value):
            return (store,)
        before: list[ir.Statement] = []
        items = [place(item, before) for item in key.items]
        value = store.value
        if store.mode != "set":
            rank = _rank_at(base, key)
            found = ir.Var("part", ir.Array(_dtype_of(base), (_ANY,) * rank))
            before.append(ir.Call((found,), plain.taken_at, (base, *items), (), store.span))
            before.append(ir.Call((), _FORMS[store.mode], (found, value), (), store.span))
            value = found
        return (*before, ir.Call((), plain.put_at, (base, value, *items), (), store.span))

    def into_part(self, store: ir.Store, base: ir.Var) -> Iterable[ir.Statement]:
        value, rank = store.value, _rank_of_part(base, store.key)
        its_rank = rank_of(value)
        if not rank or not its_rank or its_rank > rank or not isinstance(value, ir.Var):
            return (store,)
        if not self.is_apart(base, value) or not _narrows_nothing(base, value):
            return (store,)
        if store.key is None:
            return (ir.Call((), _FORMS[store.mode], (base, value), (), store.span),)
        part = ir.Var("part", _type_of_part(base, rank))
        found = ir.Load(part, base, store.key, store.span)
        if rank == its_rank == 1 and id(store) in self.in_loops:
            return (found, *_one_by_one(part, value, store))
        return (found, ir.Call((), _FORMS[store.mode], (part, value), (), store.span))

    def is_apart(self, base: ir.Var, value: ir.Atom) -> bool:
        """Whether loops that read and write by turns do the same: they share no memory."""
        return not isinstance(type_of_atom(value), ir.Array) or self.aliases.of(base) != self.aliases.of(value)


def _stores_in_loops(function: ir.Function) -> set[int]:
    loops = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Loop)]
    return {id(inner) for loop in loops for inner in statements_in(loop.body) if isinstance(inner, ir.Store)}


def _one_by_one(part: ir.Var, value: ir.Var, store: ir.Store) -> list[ir.Statement]:
    """The loop that stores a vector in another: where stores are many, calls of functions for it take their time."""
    statements: list[ir.Statement] = []
    size, given, step = ir.Var("size", ir.INT), ir.Var("size", ir.INT), ir.Var("step", ir.INT)
    for extent, array in ((size, part), (given, value)):
        shape = ir.Var("shape", ir.OPAQUE)
        statements.append(ir.Load(shape, array, ir.Attribute("shape"), store.span))
        statements.append(ir.Load(extent, shape, ir.Subscript((ir.Const(0),)), store.span))
    statements.append(ir.Call((), fused_loops.fits_extent, (given, size), (), store.span))
    statements.append(ir.Call((step,), fused_loops.step_along, (given,), (), store.span))
    at, place_, scaled, source = ir.Var("i", ir.INT), ir.Var("i", ir.INT), ir.Var("i", ir.INT), ir.Var("i", ir.INT)
    element = ir.Var("t", _element_of(value))
    body = (
        ir.Call((scaled,), operator.mul, (at, step)),
        ir.Call((source,), indices.unsigned, (scaled,)),
        ir.Load(element, value, ir.Subscript((source,)), store.span),
        ir.Call((place_,), indices.unsigned, (at,)),
        ir.Store(part, ir.Subscript((place_,)), element, store.mode, store.span),
    )
    over = ir.Range(ir.Const(0), size, ir.Const(1))
    return [*statements, ir.Loop(over, at, (), (), ir.Block(body, ir.Continue()), (), None, store.span)]


_KINDS: dict[str, ir.ScalarKind] = {"f": "float", "c": "complex", "b": "bool", "i": "int", "u": "int"}


def _element_of(array: ir.Var) -> ir.Scalar:
    dtype = _dtype_of(array)
    return ir.Scalar(_KINDS[dtype.kind], dtype)


def _narrows_nothing(base: ir.Var, value: ir.Atom) -> bool:
    """Whether nothing is lost of what is stored: floats, no complex numbers among real ones, others of one dtype."""
    mine, theirs = _dtype_of(base), _kind_of(type_of_atom(value))
    if mine is not None and mine.kind in "biu":
        return isinstance(value, ir.Var) and _dtype_of(value) == mine
    return mine is not None and mine.kind in "fc" and theirs in ("bif" if mine.kind == "f" else "bifc")


def _kind_of(type_: ir.Type | None) -> str:
    """The kind of a dtype; ``?`` where it is not known."""
    match type_:
        case ir.Array(dtype=dtype) if dtype is not None:
            return dtype.kind
        case ir.Scalar(kind=kind):
            return kind[0]
        case _:
            return "?"


def _dtype_of(base: ir.Var):  # type: ignore[no-untyped-def]
    return base.type.dtype if isinstance(base.type, ir.Array) else None


def _type_of_part(base: ir.Var, rank: int) -> ir.Array:
    """The type of a part of an array: it is the same memory."""
    assert isinstance(base.type, ir.Array)
    return ir.Array(base.type.dtype, (_ANY,) * rank, base.type.storage)


def _rank_of_part(base: ir.Var, key: ir.Key | None) -> int | None:
    """The rank of what a key selects as a view; None where that is not known."""
    rank = rank_of(base)
    if rank is None or key is None:
        return rank
    if not isinstance(key, ir.Subscript) or not all(
        _is_slice(item) or is_whole_number(item) or _is_new(item) for item in key.items
    ):
        return None
    added = sum(map(_is_new, key.items))
    taken = sum(not isinstance(item, ir.Slice) for item in key.items) - added
    return rank - taken + added if len(key.items) - added <= rank else None


def _is_of_places(base: ir.Var, key: ir.Subscript) -> bool:
    """Whether a key has arrays of whole numbers, and besides them numbers and slices only."""
    rank = rank_of(base)
    known = all(_is_slice(item) or is_whole_number(item) or _is_places(item) for item in key.items)
    return known and any(map(_is_places, key.items)) and rank is not None and len(key.items) <= rank


def _rank_at(base: ir.Var, key: ir.Subscript) -> int:
    """The rank of what lies at places."""
    of_places = max(rank_of(item) or 0 for item in key.items if not isinstance(item, ir.Slice))
    return of_places + sum(map(_is_slice, key.items)) + (rank_of(base) or 0) - len(key.items)


def _is_slice(item: ir.Atom | ir.Slice) -> bool:
    return isinstance(item, ir.Slice)


def _is_new(item: ir.Atom | ir.Slice) -> bool:
    return isinstance(item, ir.Const) and item.value is None


def _is_places(item: ir.Atom | ir.Slice) -> bool:
    if not isinstance(item, ir.Var) or not isinstance(item.type, ir.Array) or item.type.dtype is None:
        return False
    return item.type.dtype.kind in "iu" and bool(item.type.dims)
