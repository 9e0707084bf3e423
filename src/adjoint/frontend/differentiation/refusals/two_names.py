"""Objects that are varied, and reached in another way, too: they are two things, and may not be written."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.data.outside.captures import parts_of, surroundings
from adjoint.frontend.differentiation.differentiated_paths import Active
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Region
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Closure, Ref, Value


def refuse_written_under_two_names(
    lo: Lowerer,
    function: Value,
    region: Region,
    active: Active,
    before: dict[Any, Value],
    given: Sequence[Value],
    node: ast.AST | None,
) -> None:
    """Refuses what a function writes to an object that is varied and that it reaches as a constant, or twice.

    Parameters
    ----------
    function, region
        The function that is differentiated, and where it is left.
    active
        What is varied: copies of objects.
    before
        What all objects held when the function was called.
    given
        Its arguments: copies where they are varied.
    """
    if _written(region, before, list(active.originals.values())):
        raise _refusal(lo, node)
    found: list[Any] = [active.originals[copy] for copy in _written(region, before, list(active.originals))]
    found += [atom for atom in active.atoms if isinstance(atom, ir.Var) and _is_written_memory(atom)]
    if not found:
        return
    times = Counter((*active.originals.values(), *(atom for atom in active.atoms if isinstance(atom, ir.Var))))
    constant = _reached(lo, (*given, *lo.run_data.captured.values()))
    if isinstance(function, Closure):
        outside = surroundings(lo, function, given)
        constant.update(outside.objects, outside.vars)
    if any(each in constant or times[each] > 1 for each in found):
        raise _refusal(lo, node)


def _refusal(lo: Lowerer, node: ast.AST | None) -> Problem:
    label = "an object that is varied here is reached in another way, too, and written"
    return lo.problem("AD0303", node, label, helps=("pass a copy of one of them",))


def _is_written_memory(var: ir.Var) -> bool:
    storage = ir.storage_of(var.type) if ir.is_handle(var.type) else None
    return storage is not None and storage.written


def _reached(lo: Lowerer, values: Sequence[Value]) -> set[Any]:
    """The objects and the memory in values; not what functions in them find outside."""
    found: set[Any] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (Ref, ir.Var)):
            if value in found:
                continue
            found.add(value)
        if not isinstance(value, Closure) and not isinstance(value, ir.Var):
            pending.extend(parts_of(lo, value))
    return found


def _written(region: Region, before: dict[Any, Value], objects: Sequence[Ref]) -> list[Ref]:
    return [each for each in objects if any(leaf.store.get(each) is not before.get(each) for leaf in region.exits)]
