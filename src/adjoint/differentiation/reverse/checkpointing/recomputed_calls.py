"""A call that is run again in the reverse sweep: what it is given is kept as it is, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.differentiation.reverse.calls.calling_convention import Given, Request
from adjoint.differentiation.reverse.statements import NOTHING
from adjoint.differentiation.reverse.sweeps import again_of, sweeps_of, with_supports
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import clone_function, inline, map_leaves
from adjoint.ir.walk import leaves
from adjoint.optimize.simplify import simplify
from adjoint.passes import Context
from adjoint.pipeline import PREPARE_WHOLE, run
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.copies import copy_as_it_lies
from adjoint.runtime.snapshots import memory_as_it_is

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family


def in_place(var: ir.Var) -> bool:
    """Whether the cotangent of a parameter accumulates in memory that the caller has."""
    return isinstance(var.type, ir.Array) or ir.is_handle(var.type)


class Whole:
    """The reverse derivative of a function that runs it first, on memory that it may write.

    It takes the arguments, the cotangents of ``outputs``, the cotangents so far of the parameters in ``through``, and
    the memory in which those of the parameters in ``lent`` accumulate; it gives the cotangents of the others in
    ``wrt``. ``complete`` says that the cotangents it is given are zero only where something was left out.
    """

    def __init__(
        self,
        function: ir.Function,
        wrt: Sequence[int],
        outputs: Sequence[int],
        through: Sequence[int],
        lent: Sequence[int],
        family: Family,
        name: str,
        *,
        complete: bool,
    ) -> None:
        count, params = len(_results(function)), function.params
        function = _with_results(function, [params[place] for place in through])
        handles = frozenset(params[place] for place in lent if ir.is_handle(params[place].type))
        outputs = (*outputs, *range(count, count + len(through)))
        function = run(PREPARE_WHOLE, function, Context(family.target, wrt, outputs, handles))
        own = {params[place]: _accumulator(params[place]) for place in lent if params[place] not in handles}
        memory_of = own or NOTHING
        sweeps = sweeps_of(
            function,
            tuple(wrt),
            outputs,
            family,
            Given(handles),
            halves=False,
            again=again_of(family),
            lent=memory_of,
        )
        sweeps = with_supports(sweeps, family, complete=complete)
        statements = list(sweeps.backward)
        values = []
        for place, cotangent in zip(wrt, sweeps.cotangents, strict=True):
            param = params[place]
            if param in handles:
                own[param] = sweeps.reverser.shadows.found.get(param) or ir.Var(f"{param.hint}_bar", ir.OPAQUE)
            elif param not in own:
                values.append(cotangent)
            elif cotangent is not own[param]:
                statements.append(ir.Store(own[param], None, cotangent, "add"))
        body = ir.Block((*sweeps.forward, *statements), ir.Return(tuple(values)))
        taken = (*params, *sweeps.seeds, *(own[params[place]] for place in lent))
        self.definition = ir.Definition(name, simplify(clone_function(ir.Function(name, taken, body))))


def _results(function: ir.Function) -> tuple[ir.Atom, ...]:
    return next(leaf.values for leaf in leaves(function.body) if isinstance(leaf, ir.Return))


def _with_results(function: ir.Function, more: Sequence[ir.Var]) -> ir.Function:
    """A function that also returns some of its parameters."""

    def leaf(end):  # type: ignore[no-untyped-def]
        return ir.Return((*end.values, *more), end.span) if isinstance(end, ir.Return) else end

    return ir.Function(function.name, function.params, map_leaves(function.body, leaf), function.doc)


def _accumulator(param: ir.Var) -> ir.Var:
    assert isinstance(param.type, ir.Array)
    return ir.Var(f"{param.hint}_bar", ir.Array(param.type.dtype, param.type.dims, ir.Storage(written=True)))


def memory_written(function: ir.Function, places: Iterable[int]) -> list[int]:
    """The parameters that refer to memory which a function writes, or which parameters at ``places`` refer to."""
    written: set[ir.Storage] = set()
    for place in (*written_places(function), *places):
        written |= ir.storages(function.params[place].type)
    return [
        place
        for place, param in enumerate(function.params)
        if ir.is_handle(param.type) and not written.isdisjoint(ir.storages(param.type))
    ]


def copied(builder: Builder, memory: Sequence[ir.Var]) -> list[ir.Var]:
    """Copies of memory as it is."""
    homes = [storage for var in memory for storage in ir.storages(var.type)]
    if all(isinstance(var.type, ir.Array) for var in memory) and len(set(homes)) == len(homes):
        return [_copy(builder, copy_as_it_lies, var) for var in memory]
    before, after = ir.Var("memory", ir.OPAQUE), ir.Var("memory", ir.OPAQUE)
    builder.emit(ir.Call((before,), display.make_tuple, tuple(memory)))
    builder.emit(ir.Call((after,), memory_as_it_is, (before,)))
    return [
        builder.load(after, ir.Subscript((ir.Const(place),)), var.type, var.hint, var.named)
        for place, var in enumerate(memory)
    ]


def _copy(builder: Builder, make: object, var: ir.Var) -> ir.Var:
    copy = ir.Var(var.hint, var.type, var.named)
    builder.emit(ir.Call((copy,), make, (var,)))
    return copy


class Repeated:
    """The halves of a function that is run again."""

    def __init__(self, function: ir.Function, request: Request, family: Family, written: Iterable[int]) -> None:
        self.function = function
        self.request = request
        self.family = family
        self.memory = memory_written(function, written)

    def halves(self) -> tuple[ir.Function, ir.Function]:
        name, request, params = self.function.name, self.request, self.function.params
        self.numbers = [place for place in request.wrt if not in_place(params[place])]
        lent = [place for place in request.wrt if in_place(params[place])]
        outputs = request.outputs
        complete = not self.family.treatments[request.definition].computed_zeros
        whole = Whole(
            self.function,
            request.wrt,
            outputs,
            self.numbers,
            lent,
            self.family,
            f"{name}_again",
            complete=complete,
        )
        return self.primal(name), self.adjoint(name, whole)

    def primal(self, name: str) -> ir.Function:
        builder = Builder(type_of_call)
        params = [ir.Var(var.hint, var.type, var.named) for var in self.function.params]
        kept = list(params)
        for place, copy in zip(self.memory, copied(builder, [params[p] for p in self.memory]), strict=True):
            kept[place] = copy
        results = inline(builder, self.function, params)
        pack = ir.Var("residual", ir.OPAQUE)
        builder.emit(ir.Call((pack,), display.make_tuple, tuple(kept)))
        return ir.Function(f"{name}_primal", tuple(params), builder.block(ir.Return((*results, pack))))

    def adjoint(self, name: str, whole: Whole) -> ir.Function:
        builder = Builder(type_of_call)
        request, params = self.request, self.function.params
        residual = ir.Var("residual", ir.OPAQUE)
        kept = [
            builder.load(residual, ir.Subscript((ir.Const(place),)), param.type, param.hint, param.named)
            for place, param in enumerate(params)
        ]
        for place, copy in zip(self.memory, copied(builder, [kept[p] for p in self.memory]), strict=True):
            kept[place] = copy
        function = whole.definition.function
        assert function is not None
        given = [ir.Var(var.hint, var.type, var.named) for var in function.params[len(params) :]]
        seeds, rest = given[: len(request.outputs)], given[len(request.outputs) :]
        before, memory = rest[: len(self.numbers)], rest[len(self.numbers) :]
        targets = tuple(ir.Var(f"{params[place].hint}_bar", ir.fresh(params[place].type)) for place in self.numbers)
        builder.emit(ir.Call(targets, whole.definition, (*kept, *given)))
        taken = (residual, *before, *seeds, *memory)
        return ir.Function(f"{name}_adjoint", taken, builder.block(ir.Return(targets)))
