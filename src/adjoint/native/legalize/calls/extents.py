"""Interprocedural propagation of extents: what agrees at all calls of a function is told at its start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.analysis.called_functions import calls_of_functions
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.terms import as_number
from adjoint.differentiation.definitions import called_by
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.arithmetic.fused_loops import Source

Sizes = Mapping[Source, Linear]
"""The extents of arrays, and whole numbers, that a call hands over, in terms of who calls."""


def with_extents_told(function: ir.Function) -> ir.Function:
    """The function with what its calls have in common told at the start of the functions that it calls.

    A function that calls itself is told nothing.
    """
    told: dict[ir.Definition, ir.Function] = {}
    calls: dict[ir.Definition, list[Sizes]] = defaultdict(list)
    _note_calls(function, calls)
    for definition in _callers_first(function):
        body = definition.function
        assert body is not None
        agreeing = [] if definition in called_by(body) else _common(calls[definition])
        if agreeing:
            told[definition] = body = with_agreement(body, agreeing)
        _note_calls(body, calls)
    return _Telling(told).function(function) if told else function


def _callers_first(function: ir.Function) -> list[ir.Definition]:
    """The functions that are called, each behind those that call it; in reverse postorder."""
    seen: set[ir.Definition] = set()
    done: list[ir.Definition] = []

    def visit(caller: ir.Function) -> None:
        for call in _calls_in(caller):
            if call.callee not in seen:
                seen.add(call.callee)
                visit(call.callee.function)
                done.append(call.callee)

    visit(function)
    return done[::-1]


def with_agreement(function: ir.Function, agreeing: Sequence[tuple[Source, Source | None, int]]) -> ir.Function:
    """The function with a statement before all others of which of its extents agree."""
    places = sorted({source[0] for one, other, _ in agreeing for source in (one, other) if source is not None})
    at = {place: number for number, place in enumerate(places)}

    def renumbered(source: Source | None) -> Source | None:
        return None if source is None else (at[source[0]], source[1])

    among = tuple([(renumbered(one), renumbered(other), more) for one, other, more in agreeing])
    args = tuple([function.params[place] for place in places])
    check = ir.Call((), fused_loops.extents_agree, args, (("among", ir.Const(among)),))
    body = ir.Block((check, *function.body.statements), function.body.terminator)
    return ir.Function(function.name, function.params, body, function.doc)


class _Telling(Rewriting):
    def __init__(self, told: Mapping[ir.Definition, ir.Function]) -> None:
        super().__init__()
        self.told = told

    def _definition(self, definition: ir.Definition) -> ir.Definition:
        body = self.told.get(definition, definition.function)
        if definition not in self._made and body is not None:
            self._made[definition] = ir.Definition(definition.name)
            self._made[definition].function = self.function(body)
        return self._made.get(definition, definition)


def _calls_in(function: ir.Function) -> list[ir.Call]:
    """The calls of functions that stay functions."""
    return [
        call
        for call in calls_of_functions(function)
        if isinstance(call.callee, ir.Definition) and call.callee.function is not None
    ]


def _note_calls(function: ir.Function, calls: dict[ir.Definition, list[Sizes]]) -> None:
    found = _calls_in(function)
    if not found:
        return
    extents = Extents(function)
    for call in found:
        calls[call.callee].append(_sizes(call, call.callee.function, extents))


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


def _common(calls: Sequence[Sizes]) -> list[tuple[Source, Source | None, int]]:
    """What agrees at all calls: extents and numbers that are others and so much more, or so much."""
    known: dict[object, list[tuple[Source, tuple[int, ...]]]] = defaultdict(list)
    agreeing: list[tuple[Source, Source | None, int]] = []
    for source in sorted(set.intersection(*(set(each) for each in calls)), key=lambda each: (each[1] is None, each)):
        sizes = [each[source] for each in calls]
        constants = tuple([size.constant for size in sizes])
        if not any(size.terms for size in sizes):
            if len(set(constants)) == 1:
                agreeing.append((source, None, constants[0]))
            continue
        bases = known[tuple([frozenset(size.terms.items()) for size in sizes])]
        for base, its in bases:
            more = {mine - other for mine, other in zip(constants, its, strict=True)}
            if len(more) == 1:
                agreeing.append((source, base, more.pop()))
                break
        else:
            bases.append((source, constants))
    return agreeing
