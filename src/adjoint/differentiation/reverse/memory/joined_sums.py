"""What is added to one place of a cotangent is added at once: ``x[0] += a; x[0] -= b`` is ``x[0] += a - b``.

That is done for arrays of a reverse sweep's own that nothing else refers to meanwhile, at places that are known.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import blocks_of, operands, statements_in, terminators_in

_SUMS: Mapping[tuple[str, str], tuple[Callable[..., object], Literal["add", "sub"], bool]] = {
    ("add", "add"): (operator.add, "add", False),
    ("add", "sub"): (operator.sub, "add", False),
    ("sub", "sub"): (operator.add, "sub", False),
    ("sub", "add"): (operator.sub, "add", True),
}
"""By the signs of two terms: how they are put together, with what sign, and whether in the other order."""

_Place = tuple[int, ...]


def with_sums_joined(statements: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
    """Statements of a reverse sweep with fewer of them that add to one place."""
    calls = [each for each in statements if isinstance(each, ir.Call) and each.callee is np.zeros_like]
    made = {target for call in calls for target in call.targets}
    blocks = [block for each in statements for block in blocks_of(each)]
    inside = [atom for block in blocks for each in statements_in(block) for atom in _handed_on(each)]
    ends = [atom for block in blocks for end in terminators_in(block) for atom in operands(end)]
    own = made.difference(inside, ends)
    return _joined(statements, own) if own else statements


def _handed_on(statement: ir.Statement) -> tuple[ir.Atom, ...]:
    """What a statement does something else with than to read or write an element."""
    match statement:
        case ir.Store(key=ir.Subscript(), value=value):
            return (value,)
        case ir.Load(target=target, key=ir.Subscript()) if isinstance(target.type, ir.Scalar):
            return ()
        case _:
            return operands(statement)


def _joined(statements: tuple[ir.Statement, ...], own: set[ir.Var]) -> tuple[ir.Statement, ...]:
    own, found = set(own), list[ir.Statement | None]()
    latest: dict[ir.Var, dict[_Place, int]] = {}
    for statement in statements:
        if blocks_of(statement):
            latest.clear()
            statement = map_blocks(statement, lambda block: ir.Block(_joined(block.statements, own), block.terminator))
        own.difference_update(_handed_on(statement))
        base = statement.base if isinstance(statement, (ir.Load, ir.Store)) else None
        if isinstance(base, ir.Var) and base in own:
            places = latest.setdefault(base, {})
            place = _place(statement)
            if place is None or any(len(other) != len(place) for other in places):
                places.clear()
            elif isinstance(statement, ir.Load) or not _is_sum(statement):
                places.pop(place, None)
            else:
                first = places.get(place)
                if first is not None:
                    earlier = found[first]
                    assert isinstance(earlier, ir.Store)
                    assert isinstance(statement, ir.Store)
                    total, statement = _together(earlier, statement)
                    found[first] = None
                    found.append(total)
                places[place] = len(found)
        found.append(statement)
    return tuple(each for each in found if each is not None)


def _place(statement: ir.Statement) -> _Place | None:
    """The place of an array that a statement reads or writes, where its numbers are known and count from the start."""
    key = statement.key if isinstance(statement, (ir.Load, ir.Store)) else None
    if not isinstance(key, ir.Subscript) or not key.items:
        return None
    if not all(isinstance(item, ir.Const) and type(item.value) is int and item.value >= 0 for item in key.items):
        return None
    return tuple(item.value for item in key.items if isinstance(item, ir.Const))


def _is_sum(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Store) or statement.mode not in ("add", "sub"):
        return False
    is_array = isinstance(statement.base, ir.Var) and isinstance(statement.base.type, ir.Array)
    return is_array and isinstance(type_of_atom(statement.value), ir.Scalar)


def _together(first: ir.Store, second: ir.Store) -> tuple[ir.Call, ir.Store]:
    """One store for two, and the sum that it adds."""
    combine, mode, swaps = _SUMS[first.mode, second.mode]
    terms = (second.value, first.value) if swaps else (first.value, second.value)
    type_ = type_of_atom(first.value)
    assert type_ is not None
    total = ir.Var("t_bar", type_)
    return ir.Call((total,), combine, terms, (), second.span), ir.Store(
        second.base, second.key, total, mode, second.span
    )
