"""Arrays inside one argument that share memory: a derivative takes them for arrays of their own.

That is right as long as nobody writes one of them. Which arrays of an argument a function may write is found when it is
compiled, as ways from the argument; whether these share memory with others is asked at each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.frontend.entry.inputs import has_fields
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Atom, Attribute, Call, Const, Function, Key, Load, Statement, Store, Subscript, Var
from adjoint.ir.types import Array
from adjoint.ir.walk import statements_in
from adjoint.types.structure import fields_of

Way = tuple[Any, ...]
ANY: Any = Ellipsis
"""Stands for a step that is not known before the function runs."""


def ways_to_written(function: Function, places: Sequence[int]) -> dict[int, frozenset[Way]]:
    """The ways from parameters to the arrays in them that a function may write; ``(ANY,)`` where that is not known."""
    params = {function.params[place]: place for place in places}
    made: dict[Var, Statement] = {}
    written: set[Var] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, Store) and isinstance(statement.base, Var) and isinstance(statement.base.type, Array):
            written.add(statement.base)
        elif isinstance(statement, Load):
            made[statement.target] = statement
            if isinstance(statement.target.type, Array) and statement.target.type.storage.written:
                written.add(statement.target)
        elif isinstance(statement, Call):
            made.update(dict.fromkeys(statement.targets, statement))
    found: dict[int, set[Way]] = {place: set() for place in places}
    for var in written:
        root, way = _traced(var, made)
        if isinstance(root, Var) and root in params:
            found[params[root]].add(way)
        elif root is None:
            for ways in found.values():
                ways.add((ANY,))
    return {place: frozenset(ways) for place, ways in found.items()}


def _traced(var: Var, made: dict[Var, Statement]) -> tuple[Atom | None, Way]:
    """What an array was read from at last, and by which steps; None where that cannot be told."""
    steps: list[Any] = []
    current: Atom = var
    while isinstance(current, Var) and current in made:
        statement = made[current]
        if isinstance(statement, Load):
            if not (isinstance(statement.base, Var) and isinstance(statement.base.type, Array)):
                steps.append(_step(statement.key))
            current = statement.base
            continue
        assert isinstance(statement, Call)
        found = effects_of(statement)
        if found.known and found.view_of is not None:
            current = statement.args[found.view_of]
        else:
            return (current if found.known and found.fresh else None), ()
    return (current if isinstance(current, Var) else None), tuple(reversed(steps))


def _step(key: Key) -> Any:
    match key:
        case Attribute(name=name):
            return name
        case Subscript(items=(Const(value=value),)):
            return value
        case _:
            return ANY


def written_and_shared(value: Any, ways: frozenset[Way]) -> bool:
    """Whether an array in a value to which one of the ways leads shares memory with another one in it."""
    arrays = list(arrays_in(value))
    if len(arrays) < 2:
        return False
    return any(
        one != other and np.may_share_memory(array, another) and np.shares_memory(array, another)
        for one, (place, array) in enumerate(arrays)
        if any(_leads_to(way, place) for way in ways)
        for other, (_, another) in enumerate(arrays)
    )


def _leads_to(way: Way, place: Way) -> bool:
    if way == (ANY,):
        return True
    return len(way) == len(place) and all(step is ANY or step == there for step, there in zip(way, place, strict=True))


def arrays_in(value: Any) -> Iterator[tuple[Way, Any]]:
    """The arrays in a value, each with its place; objects that are reached again are one."""
    return _arrays(value, (), set())


def _arrays(value: Any, place: Way, seen: set[int]) -> Iterator[tuple[Way, Any]]:
    if isinstance(value, np.ndarray):
        yield place, value
        return
    if id(value) in seen:
        return
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, (list, tuple)):
        parts = list(enumerate(value))
    elif has_fields(value):
        parts = list(fields_of(value).items())
    else:
        return
    seen.add(id(value))
    for key, part in parts:
        yield from _arrays(part, (*place, key), seen)
