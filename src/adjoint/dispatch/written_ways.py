"""The ways from arguments to the arrays, lists and dicts in them that a function may write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.dispatch.argument_aliasing import ANY, Way
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Atom, Attribute, Call, Const, Function, Key, Load, Statement, Store, Subscript, Var
from adjoint.ir.types import Array, Dict, List, Type
from adjoint.ir.walk import statements_in
from adjoint.runtime.objects import put_item

ARRAYS, CONTAINERS = (Array,), (List, Dict)


def ways_to_written(
    function: Function, places: Sequence[int], kinds: tuple[type[Type], ...]
) -> dict[int, frozenset[Way]]:
    """The ways from parameters to what a function may write of some kinds; ``(ANY,)`` where that is not known."""
    params = {function.params[place]: place for place in places}
    made: dict[Var, Statement] = {}
    written: set[Var] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, Store) and isinstance(statement.base, Var) and isinstance(statement.base.type, kinds):
            written.add(statement.base)
        elif isinstance(statement, Load):
            made[statement.target] = statement
            if isinstance(statement.target.type, kinds) and statement.target.type.storage.written:  # type: ignore[attr-defined]
                written.add(statement.target)
        elif isinstance(statement, Call):
            made.update(dict.fromkeys(statement.targets, statement))
            if statement.callee is put_item and isinstance(statement.args[0], Var) and kinds is CONTAINERS:
                written.add(statement.args[0])
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
