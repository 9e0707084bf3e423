"""Interprocedural propagation of extents: what agrees at all calls of a function is told at its start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.analysis.called_functions import calls_of_functions, function_behind, functions_run
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.terms import as_number
from adjoint.differentiation.definitions import everywhere, with_called
from adjoint.native.compile.agreements import Agreement
from adjoint.native.legalize.agreeing_extents import with_extents_agreeing
from adjoint.runtime.arithmetic.fused_loops import Source

Sizes = Mapping[Source, Linear]
"""The extents of arrays, and whole numbers, that a call hands over, in terms of who calls."""


def with_extents_told(function: ir.Function) -> ir.Function:
    """The function with what its calls have in common told at the start of the functions that it calls.

    Callers go first. A function that calls itself is told nothing.
    """
    told: dict[ir.Function, ir.Function] = {}
    calls: dict[ir.Function, list[Sizes]] = defaultdict(list)
    for each in reversed(functions_run(function)):
        is_told = each in calls and each not in with_called(each)[1:]
        told[each] = with_extents_agreeing(each, _common(calls[each])) if is_told else each
        _note_calls(told[each], calls)
    return everywhere(function, lambda each: told[each])


def _note_calls(function: ir.Function, calls: dict[ir.Function, list[Sizes]]) -> None:
    """Takes down what the calls in a function hand over."""
    found = [call for call in calls_of_functions(function) if isinstance(call.callee, ir.Definition)]
    if not found:
        return
    extents = Extents(function)
    for call in found:
        callee = function_behind(call.callee)
        if callee is not None:
            calls[callee].append(_sizes(call, callee, extents))


def _sizes(call: ir.Call, callee: ir.Function, extents: Extents) -> Sizes:
    found: dict[Source, Linear] = {}
    for place, (param, arg) in enumerate(zip(callee.params, call.args, strict=True)):
        if param.type == ir.INT:
            found[place, None] = extents.whole.of(arg)
        elif isinstance(param.type, ir.Array) and param.type.dims is not None:
            shape = extents.of(arg) or ()
            for axis, (dim, extent) in enumerate(zip(param.type.dims, shape, strict=False)):
                if dim != "one":
                    found[place, axis] = as_number(extent)
    return found


def _common(calls: Sequence[Sizes]) -> list[Agreement]:
    """What agrees at all calls: extents and numbers that are others and so much more, or so much."""
    known: dict[object, list[tuple[Source, tuple[int, ...]]]] = defaultdict(list)
    agreeing: list[Agreement] = []
    for source in sorted(set.intersection(*(set(each) for each in calls)), key=lambda each: (each[1] is None, each)):
        sizes = [each[source] for each in calls]
        constants = tuple([size.constant for size in sizes])
        if not any(size.terms for size in sizes):
            if len(set(constants)) == 1:
                agreeing.append(Agreement(source, None, constants[0]))
            continue
        bases = known[tuple([frozenset(size.terms.items()) for size in sizes])]
        for base, its in bases:
            more = {mine - other for mine, other in zip(constants, its, strict=True)}
            if len(more) == 1:
                agreeing.append(Agreement(source, base, more.pop()))
                break
        else:
            bases.append((source, constants))
    return agreeing
