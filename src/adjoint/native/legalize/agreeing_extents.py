"""Extents of arguments that are known to agree: a check at the start, by which analyses know of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions.arrays import unbroadcast

if TYPE_CHECKING:
    from adjoint.native.compile.agreements import Agreement, Source

_COMPARISONS = (
    *(fused_loops.common_extent, fused_loops.same_extent, fused_loops.fits_extent, fused_loops.step_along),
    fused_loops.contracts_extent,
)
"""What fused loops have instead of knowledge; so has the fitting of cotangents."""


def with_extents_agreeing(function: ir.Function, agreeing: Sequence[Agreement]) -> ir.Function:
    """The function with a check of what shall agree before all else."""
    if not agreeing:
        return function
    statements: list[ir.Statement] = []
    known: dict[Source, ir.Atom] = {}

    def number(source: Source) -> ir.Atom:
        place, axis = source
        param = function.params[place]
        if axis is None:
            return param
        if source not in known:
            assert isinstance(param.type, ir.Array) and param.type.dims is not None
            shape, extent = ir.Var("shape", ir.Tuple((ir.INT,) * len(param.type.dims))), ir.Var("n", ir.INT)
            statements.append(ir.Call((shape,), np.shape, (param,)))
            statements.append(ir.Load(extent, shape, ir.Subscript((ir.Const(axis),))))
            known[source] = extent
        return known[source]

    for each in agreeing:
        one, other = number(each.one), number(each.other)
        statements.append(ir.Call((), fused_loops.agrees, (one, other, ir.Const(each.more))))
    body = ir.Block((*statements, *function.body.statements), function.body.terminator)
    return ir.Function(function.name, function.params, body, function.doc)


def compared_sources(function: ir.Function) -> set[Source]:
    """The extents of parameters, and the whole numbers among these, that loops over numbers compare as they run."""
    extents = Extents(function)
    made: dict[ir.Atom, ir.Statement] = {}
    work: list[Hashable] = []
    for statement in statements_in(function.body):
        made.update(dict.fromkeys(targets_of(statement), statement))
        if isinstance(statement, ir.Call) and statement.callee in _COMPARISONS:
            work += statement.args
        elif isinstance(statement, ir.Call) and statement.callee is unbroadcast:
            work += (extent for array in statement.args for extent in extents.of(array) or ())
    places = {param: place for place, param in enumerate(function.params)}
    found: set[Source] = set()
    seen: set[Hashable] = set()
    while work:
        term = work.pop()
        if term in seen:
            continue
        seen.add(term)
        match term:
            case ("extent", ir.Var() as array, int() as axis) if array in places:
                found.add((places[array], axis))
            case ("number", ir.Var() as number) if number in places:
                found.add((places[number], None))
            case ("number", ir.Var() as number):
                call = made.get(number)
                work += call.args if isinstance(call, ir.Call) else ()
            case tuple():
                work += term
            case ir.Var(type=ir.Scalar(kind="int")):
                work += extents.whole.of(term).terms
    return found
