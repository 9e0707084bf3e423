"""Arrays of truth values as indices: calls of loops, where Numba has no form for more than one axis."""

from __future__ import annotations

from collections.abc import Iterable

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Call, Function, Load, Statement, Store, Subscript, Var
from adjoint.ir.types import Array, Scalar
from adjoint.native.legalize.arrays.indices import is_mask, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.array_functions import plain

_FORMS = {"set": plain.put_selected, "add": plain.add_selected, "sub": plain.take_selected}


def with_plain_masks(function: Function) -> Function:
    """The function with calls for what is read and written where a matrix of truth values is true."""
    return _Masks().function(function)


class _Masks(Rewriting):
    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        match statement:
            case Load(target=target, base=base, key=Subscript(items=(Var() as mask,)) as key):
                if _selects(base, key, mask):
                    return (Call((target,), plain.selected, (base, mask), (), statement.span),)
            case Store(base=base, key=Subscript(items=(Var() as mask,)) as key, mode=mode) if mode in _FORMS:
                if _selects(base, key, mask) and _can_be_stored(base, statement.value):
                    return (Call((), _FORMS[mode], (base, statement.value, mask), (), statement.span),)
        return (statement,)


def _selects(base: Atom, key: Subscript, mask: Var) -> bool:
    """Whether an index is a mask of more than one axis, and how many it has and the array has is known."""
    mine, whole = rank_of(mask), rank_of(base)
    return is_mask(base, key) and mine is not None and whole is not None and mine <= whole


def _can_be_stored(base: Atom, value: Atom) -> bool:
    """Whether what is stored is a number, or an array of known rank, that the array can hold."""
    type_, held = type_of_atom(value), type_of_atom(base)
    if not isinstance(held, Array) or held.dtype is None:
        return False
    if isinstance(type_, Scalar):
        return held.dtype.kind == "c" or type_.kind != "complex"
    if not isinstance(type_, Array) or type_.dtype is None or type_.dims is None:
        return False
    return held.dtype.kind == "c" or type_.dtype.kind != "c"
