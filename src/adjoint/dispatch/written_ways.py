"""The ways from arguments to the arrays, lists and dicts in them that a function may write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.dispatch.argument_aliasing import ANY, Way
from adjoint.ir.walk import statements_in
from adjoint.runtime.objects import put_item

ARRAYS, CONTAINERS = (ir.Array,), (ir.List, ir.Dict)


def ways_to_written(
    function: ir.Function, places: Sequence[int], kinds: tuple[type[ir.Type], ...]
) -> dict[int, frozenset[Way]]:
    """The ways from parameters to what a function may write of some kinds; ``(ANY,)`` where that is not known."""
    params = {function.params[place]: place for place in places}
    made: dict[ir.Var, ir.Statement] = {}
    written: set[ir.Var] = set()
    for statement in statements_in(function.body):
        if (
            isinstance(statement, ir.Store)
            and isinstance(statement.base, ir.Var)
            and isinstance(statement.base.type, kinds)
        ):
            written.add(statement.base)
        elif isinstance(statement, ir.Load):
            made[statement.target] = statement
            if isinstance(statement.target.type, kinds) and statement.target.type.storage.written:  # type: ignore[attr-defined]
                written.add(statement.target)
        elif isinstance(statement, ir.Call):
            made.update(dict.fromkeys(statement.targets, statement))
            if statement.callee is put_item and isinstance(statement.args[0], ir.Var) and kinds is CONTAINERS:
                written.add(statement.args[0])
    found: dict[int, set[Way]] = {place: set() for place in places}
    for var in written:
        root, way = _traced(var, made)
        if isinstance(root, ir.Var) and root in params:
            found[params[root]].add(way)
        elif root is None:
            for ways in found.values():
                ways.add((ANY,))
    return {place: frozenset(ways) for place, ways in found.items()}


def _traced(var: ir.Var, made: dict[ir.Var, ir.Statement]) -> tuple[ir.Atom | None, Way]:
    """What an array was read from at last, and by which steps; None where that cannot be told."""
    steps: list[Any] = []
    current: ir.Atom = var
    while isinstance(current, ir.Var) and current in made:
        statement = made[current]
        if isinstance(statement, ir.Load):
            if not (isinstance(statement.base, ir.Var) and isinstance(statement.base.type, ir.Array)):
                steps.append(_step(statement.key))
            current = statement.base
            continue
        assert isinstance(statement, ir.Call)
        found = effects_of(statement)
        if found.known and found.view_of is not None:
            current = statement.args[found.view_of]
        else:
            return (current if found.known and found.fresh else None), ()
    return (current if isinstance(current, ir.Var) else None), tuple(reversed(steps))


def _step(key: ir.Key) -> Any:
    match key:
        case ir.Attribute(name=name):
            return name
        case ir.Subscript(items=(ir.Const(value=value),)):
            return value
        case _:
            return ANY
