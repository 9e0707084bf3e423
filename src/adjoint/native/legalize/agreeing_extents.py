"""Extents of arguments that are known to agree: a check at the start, by which analyses know of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions.arrays import unbroadcast

if TYPE_CHECKING:
    from adjoint.native.compile.agreements import Agreement
    from adjoint.runtime.arithmetic.fused_loops import Source

_COMPARISONS = (
    *(fused_loops.common_extent, fused_loops.same_extent, fused_loops.fits_extent, fused_loops.step_along),
    fused_loops.contracts_extent,
)
"""What fused loops have instead of knowledge; so has the fitting of cotangents."""


def with_extents_agreeing(function: ir.Function, agreeing: Sequence[Agreement]) -> ir.Function:
    """The function with a check of what shall agree before all else."""
    if not agreeing:
        return function
    sources = [source for each in agreeing for source in (each.one, each.other) if source is not None]
    places = sorted({place for place, _ in sources})
    at = {place: number for number, place in enumerate(places)}

    def renumbered(source: Source | None) -> Source | None:
        return None if source is None else (at[source[0]], source[1])

    among = tuple([(renumbered(each.one), renumbered(each.other), each.more) for each in agreeing])
    args = tuple([function.params[place] for place in places])
    check = ir.Call((), fused_loops.extents_agree, args, (("among", ir.Const(among)),))
    body = ir.Block((check, *function.body.statements), function.body.terminator)
    return ir.Function(function.name, function.params, body, function.doc)


def compared_sources(function: ir.Function) -> set[Source]:
    """The extents of parameters, and the whole numbers among these, that loops over numbers compare as they run.

    Those in functions that are called are extents of arguments and whole numbers of who calls.
    """
    return _compared(function, {})


def _compared(function: ir.Function, known: dict[ir.Function, set[Source]]) -> set[Source]:
    if function in known:
        return known[function]
    known[function] = set()
    known[function] = found = _compared_in(function, known)
    return found


def _compared_in(function: ir.Function, known: dict[ir.Function, set[Source]]) -> set[Source]:
    extents = Extents(function)
    made: dict[ir.Atom, ir.Statement] = {}
    work: list[Hashable] = []
    for statement in statements_in(function.body):
        made.update(dict.fromkeys(targets_of(statement), statement))
        if isinstance(statement, ir.Call) and statement.callee in _COMPARISONS:
            work += statement.args
        elif isinstance(statement, ir.Call) and statement.callee is unbroadcast:
            work += (extent for array in statement.args for extent in extents.of(array) or ())
        elif isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
            assert statement.callee.function is not None
            for place, axis in _compared(statement.callee.function, known):
                arg = statement.args[place]
                work.append(arg if axis is None else dict(enumerate(extents.of(arg) or ())).get(axis))
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
