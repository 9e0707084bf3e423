"""Dicts whose keys vary: a key that is looked up is a place; one that is read back has lost its derivative."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.diagnostics import diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in
from adjoint.runtime import copies, display, tangents

if TYPE_CHECKING:
    from adjoint.differentiation.memory.slots import Slot
    from adjoint.differentiation.reachability import Dependence

_PUT_IN = (dict.setdefault,)
_LEAVE_KEYS = (
    *(dict.get, dict.pop, dict.setdefault, dict.update, dict.clear, dict.values, dict.copy),
    *(len, bool, operator.truth, operator.not_, operator.is_, operator.is_not, operator.contains, operator.getitem),
    *(
        copy.copy,
        copies.snapshot,
        display.make_dict,
        tangents.pour,
        tangents.shadow,
        tangents.shadow_with,
        tangents.shadow_like,
    ),
)
"""What gives no key back."""
_HELPS = ("keep the values that vary in a list of their own, and put their places into the dict",)


def key_problems(function: ir.Function, dependence: Dependence) -> list[Any]:
    """Where the keys of a dict that vary are read back."""
    statements = list(statements_in(function.body))
    varied = {
        slot
        for statement in statements
        for base, key in _keys_put(statement)
        if _is_known(type_of_atom(key)) and dependence.varies(key) and (slot := _slot(dependence, base)) is not None
    }
    if not varied:
        return []
    return [
        diagnostic("AD0307", statement.span, "keys of this dict vary, and are read back here", helps=_HELPS)
        for statement in statements
        if any(_slot(dependence, base) in varied for base in _dicts_whose_keys_are_read(statement))
    ]


def _is_known(type_: ir.Type | None) -> bool:
    """Whether it is known to be a number, or a tuple of them: what comes from elsewhere is a name as a rule."""
    return isinstance(type_, ir.Scalar) or (isinstance(type_, ir.Tuple) and all(map(_is_known, type_.items)))


def _slot(dependence: Dependence, base: ir.Atom) -> Slot | None:
    return dependence.slot(type_of_atom(base), None)


def _keys_put(statement: ir.Statement) -> Iterator[tuple[ir.Atom, ir.Atom]]:
    match statement:
        case ir.Store(base=base, key=ir.Subscript(items=(key,))) if isinstance(type_of_atom(base), ir.Dict):
            assert not isinstance(key, ir.Slice)  # Python has no hash for it
            yield base, key
        case ir.Call(callee=display.make_dict, args=args, targets=(target,)):
            for key in args[::2]:
                yield target, key
        case ir.Call(callee=callee, args=(base, key, *_)) if callee in _PUT_IN and isinstance(
            type_of_atom(base), ir.Dict
        ):
            yield base, key


def _dicts_whose_keys_are_read(statement: ir.Statement) -> list[ir.Atom]:
    match statement:
        case ir.Loop(over=ir.Items(iterable=iterable)):
            read: tuple[ir.Atom, ...] = (iterable,)
        case ir.Call(callee=callee) if not _leaves_keys(callee):
            read = operands(statement)
        case _:
            return []
    return [atom for atom in read if isinstance(type_of_atom(atom), ir.Dict)]


def _leaves_keys(callee: Any) -> bool:
    try:
        return callee in _LEAVE_KEYS
    except TypeError:  # not hashable
        return False
