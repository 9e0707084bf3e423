"""One-statement rewrites: a table of what becomes of single calls, loads and stores, and one walk for all of them."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable

import numpy as np

from adjoint.ir.join import is_whole_number, type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Function, Load, Statement, Store, Subscript, Var
from adjoint.ir.types import FLOAT, Array, List, Scalar
from adjoint.native.legalize.arrays.indices import is_mask, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import plain

Rewrite = Callable[[Call | Load | Store], Iterable[Statement] | None]
"""The statements that stand for one; None where it stays."""


def rewritten(function: Function, name: str) -> Function:
    """The function, and what it calls, after the rewrite of this name."""
    return _Walk(REWRITES[name]).function(function)


class _Walk(Rewriting):
    def __init__(self, rewrite: Rewrite) -> None:
        super().__init__()
        self.rewrite = rewrite

    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        found = self.rewrite(statement)
        return (statement,) if found is None else found


def _plain_copy(statement: Call | Load | Store) -> Iterable[Statement] | None:
    """``xs.copy()`` for ``deepcopy(xs)`` where the items are numbers."""
    match statement:
        case Call(callee=copy.deepcopy, args=(Var(type=List(element=Scalar())),)):
            return (Call(statement.targets, list.copy, statement.args, (), statement.span),)
        case Call(callee=copy.deepcopy, args=(Var(type=Array()),)):
            return (Call(statement.targets, np.copy, statement.args, (), statement.span),)
        case _:
            return None


def _plain_clip(statement: Call | Load | Store) -> Iterable[Statement] | None:
    """A minimum of a maximum for ``np.clip`` of a number: Numba has instructions for these."""
    match statement:
        case Call(callee=np.clip, args=(x, low, high), kwargs=()) if all(map(_is_number, statement.args)):
            raised = Var(statement.targets[0].hint, statement.targets[0].type)
            return (
                Call((raised,), np.maximum, (x, low), (), statement.span),
                Call(statement.targets, np.minimum, (raised, high), (), statement.span),
            )
        case _:
            return None


def _is_number(atom: Atom) -> bool:
    is_nothing = isinstance(atom, Const) and atom.value is None
    return not is_nothing and isinstance(type_of_atom(atom), Scalar)


def _quotient(statement: Call | Load | Store) -> Iterable[Statement] | None:
    """``1 / x**n`` for ``x**-n``: Numba's own raises at zero, also where NumPy's is infinite."""
    match statement:
        case Call(targets=(target,), callee=callee, args=(base, Const(value=int() as exponent))) if exponent < 0:
            kind = type_of_atom(base)
            if callee not in POWERS or not isinstance(kind, Scalar):
                return None
            before: list[Statement] = []
            if kind.kind in ("int", "bool") and kind.dtype is None:
                number = Var(target.hint, FLOAT)
                before.append(Call((number,), float, (base,), (), statement.span))
                base, kind = number, FLOAT
            if kind.kind != "float":
                return None
            power = Var(target.hint, kind)
            one = Const(1.0 if kind.dtype is None else kind.dtype.type(1.0))
            before.append(Call((power,), operator.pow, (base, Const(-exponent)), (), statement.span))
            return *before, Call((target,), operator.truediv, (one, power), (), statement.span)
        case _:
            return None


def _raised(statement: Call | Load | Store) -> Iterable[Statement] | None:
    """A call for the power of a float by a whole number that is not known: as above."""
    match statement:
        case Call(targets=targets, callee=callee, args=(base, Var() as exponent)) if callee in POWERS:
            kind = type_of_atom(base)
            if isinstance(kind, Scalar) and kind.kind == "float" and is_whole_number(exponent):
                return (Call(targets, numbers.raised, (base, exponent), (), statement.span),)
    return None


POWERS = (operator.pow, pow)


def _selected(statement: Call | Load | Store) -> Iterable[Statement] | None:
    """A call of loops for what is read or written where a matrix of truth values is true: Numba takes one axis."""
    match statement:
        case Load(target=target, base=base, key=Subscript(items=(Var() as mask,)) as key):
            if _selects(base, key, mask):
                return (Call((target,), plain.selected, (base, mask), (), statement.span),)
        case Store(base=base, key=Subscript(items=(Var() as mask,)) as key, mode=mode) if mode in _SELECTING:
            if _selects(base, key, mask) and _can_be_stored(base, statement.value):
                return (Call((), _SELECTING[mode], (base, statement.value, mask), (), statement.span),)
    return None


_SELECTING = {"set": plain.put_selected, "add": plain.add_selected, "sub": plain.take_selected}


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


REWRITES: dict[str, Rewrite] = {
    "plain-copies": _plain_copy,
    "plain-clips": _plain_clip,
    "negative-powers": _quotient,
    "plain-masks": _selected,
    "raised-numbers": _raised,
}
"""By the name of the pass that does it."""
