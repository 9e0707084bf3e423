"""One-statement rewrites: a table of what becomes of single calls, loads and stores, and one walk for all of them."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_whole_number, type_of_atom
from adjoint.native.legalize.arrays.indices import is_mask, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import plain

Rewrite = Callable[[ir.Call | ir.Load | ir.Store], Iterable[ir.Statement] | None]
"""The statements that stand for one; None where it stays."""


def rewritten(function: ir.Function, name: str) -> ir.Function:
    """The function, and what it calls, after the rewrite of this name."""
    return _Walk(REWRITES[name]).function(function)


class _Walk(Rewriting):
    def __init__(self, rewrite: Rewrite) -> None:
        super().__init__()
        self.rewrite = rewrite

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        found = self.rewrite(statement)
        return (statement,) if found is None else found


def _plain_copy(statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement] | None:
    """``xs.copy()`` for ``deepcopy(xs)`` where the items are numbers."""
    match statement:
        case ir.Call(callee=copy.deepcopy, args=(ir.Var(type=ir.List(element=ir.Scalar())),)):
            return (ir.Call(statement.targets, list.copy, statement.args, (), statement.span),)
        case ir.Call(callee=copy.deepcopy, args=(ir.Var(type=ir.Array()),)):
            return (ir.Call(statement.targets, np.copy, statement.args, (), statement.span),)
        case _:
            return None


def _plain_clip(statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement] | None:
    """A minimum of a maximum for ``np.clip`` of a number: there are instructions for these."""
    match statement:
        case ir.Call(callee=np.clip, args=(x, low, high), kwargs=()) if all(map(_is_number, statement.args)):
            raised = ir.Var(statement.targets[0].hint, statement.targets[0].type)
            return (
                ir.Call((raised,), np.maximum, (x, low), (), statement.span),
                ir.Call(statement.targets, np.minimum, (raised, high), (), statement.span),
            )
        case _:
            return None


def _is_number(atom: ir.Atom) -> bool:
    is_nothing = isinstance(atom, ir.Const) and atom.value is None
    return not is_nothing and isinstance(type_of_atom(atom), ir.Scalar)


def _quotient(statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement] | None:
    """``1 / x**n`` for ``x**-n``: the power itself raises at zero, also where NumPy's is infinite."""
    match statement:
        case ir.Call(targets=(target,), callee=callee, args=(base, ir.Const(value=int() as exponent))) if exponent < 0:
            kind = type_of_atom(base)
            if callee not in POWERS or not isinstance(kind, ir.Scalar):
                return None
            before: list[ir.Statement] = []
            if kind.kind in ("int", "bool") and kind.dtype is None:
                number = ir.Var(target.hint, ir.FLOAT)
                before.append(ir.Call((number,), float, (base,), (), statement.span))
                base, kind = number, ir.FLOAT
            if kind.kind != "float":
                return None
            power = ir.Var(target.hint, kind)
            one = ir.Const(1.0 if kind.dtype is None else kind.dtype.type(1.0))
            before.append(ir.Call((power,), operator.pow, (base, ir.Const(-exponent)), (), statement.span))
            return *before, ir.Call((target,), operator.truediv, (one, power), (), statement.span)
        case _:
            return None


def _raised(statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement] | None:
    """A call for the power of a float by a whole number that is not known: as above."""
    match statement:
        case ir.Call(targets=targets, callee=callee, args=(base, ir.Var() as exponent)) if callee in POWERS:
            kind = type_of_atom(base)
            if isinstance(kind, ir.Scalar) and kind.kind == "float" and is_whole_number(exponent):
                return (ir.Call(targets, numbers.raised, (base, exponent), (), statement.span),)
    return None


POWERS = (operator.pow, pow)


def _selected(statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement] | None:
    """A call of loops for what is read or written where a matrix of truth values is true: loops go along one axis."""
    match statement:
        case ir.Load(target=target, base=base, key=ir.Subscript(items=(ir.Var() as mask,)) as key):
            if _selects(base, key, mask):
                return (ir.Call((target,), plain.selected, (base, mask), (), statement.span),)
        case ir.Store(base=base, key=ir.Subscript(items=(ir.Var() as mask,)) as key, mode=mode) if mode in _SELECTING:
            if _selects(base, key, mask) and _can_be_stored(base, statement.value):
                return (ir.Call((), _SELECTING[mode], (base, statement.value, mask), (), statement.span),)
    return None


_SELECTING = {"set": plain.put_selected, "add": plain.add_selected, "sub": plain.take_selected}


def _selects(base: ir.Atom, key: ir.Subscript, mask: ir.Var) -> bool:
    """Whether an index is a mask of more than one axis, and how many it has and the array has is known."""
    mine, whole = rank_of(mask), rank_of(base)
    return is_mask(base, key) and mine is not None and whole is not None and mine <= whole


def _can_be_stored(base: ir.Atom, value: ir.Atom) -> bool:
    """Whether what is stored is a number, or an array of known rank, that the array can hold."""
    type_, held = type_of_atom(value), type_of_atom(base)
    if not isinstance(held, ir.Array) or held.dtype is None:
        return False
    if isinstance(type_, ir.Scalar):
        return held.dtype.kind == "c" or type_.kind != "complex"
    if not isinstance(type_, ir.Array) or type_.dtype is None or type_.dims is None:
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
