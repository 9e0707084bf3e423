"""Dicts whose keys vary: a key that is looked up is a place; one that is read back has lost its derivative.

So have the attributes of an object that is a key. Its other names keep them.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.diagnostics import diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, statements_run, targets_of
from adjoint.runtime import copies, display, tangents
from adjoint.types.classes.safe_lookups import is_one_of

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
_HAND_ON_KEYS: tuple[Any, ...] = (dict, dict.copy, dict.update, operator.or_, operator.ior, copy.copy, copies.snapshot)
_HELPS = ("keep the values that vary in a list of their own, and put their places into the dict",)
_HELPS_FOR_OBJECTS = ("keep the objects in a list, too, and go through that: for node in nodes: ... table[node]",)


def key_problems(function: ir.Function, dependence: Dependence) -> list[Any]:
    """Where the keys of a dict that vary are read back; where these are objects, what is read of them must count."""
    statements = list(statements_in(function.body))
    numbers: set[Slot] = set()
    objects: set[Slot] = set()
    unknown: set[Slot] = set()
    for statement in statements:
        for base, key in _keys_put(statement):
            slot, type_ = _slot(dependence, base), type_of_atom(key)
            if slot is not None and type_ == ir.OPAQUE:
                unknown.add(slot)
            elif slot is not None and dependence.varies(key):
                (numbers if _is_known(type_) else objects if _holds_object(type_) else set()).add(slot)
    if not numbers and not objects:
        return []
    reading = [(statement, base) for statement in statements for base in _dicts_whose_keys_are_read(statement)]
    if any(_slot(dependence, base) in objects for _, base in reading):
        objects |= unknown  # what is read back there may be put in here
    _add_copies(dependence, statements, objects)
    return [
        diagnostic("AD0307", statement.span, "keys of this dict vary, and are read back here", helps=helps)
        for statement, base in reading
        if (helps := _ways_out(dependence, statement, _slot(dependence, base), numbers, objects))
    ]


def _add_copies(dependence: Dependence, statements: Sequence[ir.Statement], slots: set[Slot]) -> None:
    """Adds the dicts that take over the keys of others."""
    pairs = []
    for statement in statements:
        if isinstance(statement, ir.Call) and statement.callee in _HAND_ON_KEYS:
            tables = [slot for atom in statement.args if (slot := _slot(dependence, atom)) is not None]
            given = [slot for target in statement.targets if (slot := _slot(dependence, target)) is not None]
            pairs.append((tables, given or tables[:1]))
    for _ in pairs:
        for tables, given in pairs:
            if not slots.isdisjoint(tables):
                slots.update(given)


def _ways_out(
    dependence: Dependence, statement: ir.Statement, slot: Slot | None, numbers: set[Slot], objects: set[Slot]
) -> tuple[str, ...]:
    if slot in numbers:
        return _HELPS
    given = statement.index if isinstance(statement, ir.Loop) else None
    targets = targets_of(statement) if given is None else (given,)
    counts = any(node in dependence.useful for target in targets for node in dependence.nodes(target))
    return _HELPS_FOR_OBJECTS if slot in objects and counts else ()


def _holds_object(type_: ir.Type | None) -> bool:
    """Whether it is an object, or a tuple with one."""
    return isinstance(type_, ir.Instance) or (isinstance(type_, ir.Tuple) and any(map(_holds_object, type_.items)))


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
        case ir.Call(callee=ir.Definition(function=ir.Function() as inner)):
            if not any(map(_dicts_whose_keys_are_read, _others_run(inner))):
                return []
            read = operands(statement)
        case ir.Call(callee=callee) if not is_one_of(callee, _LEAVE_KEYS):
            read = operands(statement)
        case _:
            return []
    return [atom for atom in read if isinstance(type_of_atom(atom), ir.Dict)]


def _others_run(function: ir.Function) -> Iterator[ir.Statement]:
    """The statements of a function and of those that it calls; without the calls, of which these are the statements."""
    for statement in statements_run(function):
        if not (isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition)):
            yield statement
