"""Whether arrays that a function returns may lie in memory that it found: what it captured, or got from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.walk import leaves, operands, statements_in, targets_of
from adjoint.runtime import display


@lru_cache(maxsize=256)
def returns_what_it_found(function: ir.Function, given: int) -> bool:
    """Whether the value of a reverse form may lie in memory that is neither made in it nor one of its arguments.

    Parameters
    ----------
    function
        Returns the value, then the residuals.
    given
        How many of its parameters are arguments; the others are captured.
    """
    found: list[ir.Var] = [*function.params[given:]]
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and statement.callee is not deepcopy and not effects_of(statement).known:
            found += statement.targets
        if any(isinstance(atom, ir.Const) and _has_memory(atom.value) for atom in operands(statement)):
            found += targets_of(statement)
    values = [*_values(function)]
    if any(isinstance(value, ir.Const) and _has_memory(value.value) for value in values):
        return True
    variables = [value for value in values if isinstance(value, ir.Var)]
    if any(isinstance(value.type, ir.Number) for value in variables):
        return True  # which array it is, nobody knows
    aliases = Aliases(function)
    everything = {atom for statement in statements_in(function.body) for atom in targets_of(statement)}
    outside = [*found, *(var for var in everything if isinstance(var.type, (ir.Opaque, ir.Number)))]
    return not aliases.classes(variables).isdisjoint(aliases.classes(outside))


def _values(function: ir.Function) -> Iterator[ir.Atom]:
    """The numbers and arrays of the value."""
    made = {
        target: statement.args
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call) and statement.callee is display.make_tuple
        for target in statement.targets
    }

    def parts(atom: ir.Atom) -> Iterator[ir.Atom]:
        if isinstance(atom, ir.Var) and atom in made:
            for part in made[atom]:
                yield from parts(part)
        else:
            yield atom

    for end in leaves(function.body):
        for result in operands(end):
            assert isinstance(result, ir.Var)
            yield from parts(made[result][0])


def _has_memory(value: object) -> bool:
    return isinstance(value, (np.ndarray, list, dict))
