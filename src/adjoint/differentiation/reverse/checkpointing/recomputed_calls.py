"""A call that is run again in the reverse sweep: what it is given is kept as it is, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adjoint.differentiation.reverse.calls.calling_convention import Given, Request
from adjoint.differentiation.reverse.statements import NOTHING
from adjoint.differentiation.reverse.sweeps import again_of, sweeps_of, with_supports
from adjoint.ir.builder import Builder
from adjoint.ir.effects import storages, written_places
from adjoint.ir.nodes import Atom, Block, Call, Const, Definition, Function, Return, Store, Subscript, Var
from adjoint.ir.rebuild import clone_function, inline, map_leaves
from adjoint.ir.types import OPAQUE, Array, Storage, fresh, is_handle
from adjoint.ir.walk import leaves
from adjoint.optimize.simplify import simplify
from adjoint.pipeline import PREPARE_WHOLE, Context, run
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.copies import copy_as_it_lies
from adjoint.runtime.snapshots import memory_as_it_is

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.derived_functions import Family


def in_place(var: Var) -> bool:
    """Whether the cotangent of a parameter accumulates in memory that the caller has."""
    return isinstance(var.type, Array) or is_handle(var.type)


class Whole:
    """The reverse derivative of a function that runs it first, on memory that it may write.

    It takes the arguments, the cotangents of ``outputs``, the cotangents so far of the parameters in ``through``, and
    the memory in which those of the parameters in ``lent`` accumulate; it gives the cotangents of the others in
    ``wrt``. ``complete`` says that the cotangents it is given are zero only where something was left out.
    """

    def __init__(
        self,
        function: Function,
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
        handles = frozenset(params[place] for place in lent if is_handle(params[place].type))
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
                own[param] = sweeps.reverser.shadows.found.get(param) or Var(f"{param.hint}_bar", OPAQUE)
            elif param not in own:
                values.append(cotangent)
            elif cotangent is not own[param]:
                statements.append(Store(own[param], None, cotangent, "add"))
        body = Block((*sweeps.forward, *statements), Return(tuple(values)))
        taken = (*params, *sweeps.seeds, *(own[params[place]] for place in lent))
        self.definition = Definition(name, simplify(clone_function(Function(name, taken, body))))


def _results(function: Function) -> tuple[Atom, ...]:
    return next(leaf.values for leaf in leaves(function.body) if isinstance(leaf, Return))


def _with_results(function: Function, more: Sequence[Var]) -> Function:
    """A function that also returns some of its parameters."""

    def leaf(end):  # type: ignore[no-untyped-def]
        return Return((*end.values, *more), end.span) if isinstance(end, Return) else end

    return Function(function.name, function.params, map_leaves(function.body, leaf), function.doc)


def _accumulator(param: Var) -> Var:
    assert isinstance(param.type, Array)
    return Var(f"{param.hint}_bar", Array(param.type.dtype, param.type.dims, Storage(written=True)))


def memory_written(function: Function, places: Iterable[int]) -> list[int]:
    """The parameters that refer to memory which a function writes, or which parameters at ``places`` refer to."""
    written: set[Storage] = set()
    for place in (*written_places(function), *places):
        written |= storages(function.params[place].type)
    return [
        place
        for place, param in enumerate(function.params)
        if is_handle(param.type) and not written.isdisjoint(storages(param.type))
    ]


def copied(builder: Builder, memory: Sequence[Var]) -> list[Var]:
    """Copies of memory as it is."""
    homes = [storage for var in memory for storage in storages(var.type)]
    if all(isinstance(var.type, Array) for var in memory) and len(set(homes)) == len(homes):
        return [_copy(builder, copy_as_it_lies, var) for var in memory]
    before, after = Var("memory", OPAQUE), Var("memory", OPAQUE)
    builder.emit(Call((before,), display.make_tuple, tuple(memory)))
    builder.emit(Call((after,), memory_as_it_is, (before,)))
    return [
        builder.load(after, Subscript((Const(place),)), var.type, var.hint, var.named)
        for place, var in enumerate(memory)
    ]


def _copy(builder: Builder, make: object, var: Var) -> Var:
    copy = Var(var.hint, var.type, var.named)
    builder.emit(Call((copy,), make, (var,)))
    return copy


class Repeated:
    """The halves of a function that is run again."""

    def __init__(self, function: Function, request: Request, family: Family, written: Iterable[int]) -> None:
        self.function = function
        self.request = request
        self.family = family
        self.memory = memory_written(function, written)

    def halves(self) -> tuple[Function, Function]:
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

    def primal(self, name: str) -> Function:
        builder = Builder(type_of_call)
        params = [Var(var.hint, var.type, var.named) for var in self.function.params]
        kept = list(params)
        for place, copy in zip(self.memory, copied(builder, [params[p] for p in self.memory]), strict=True):
            kept[place] = copy
        results = inline(builder, self.function, params)
        pack = Var("residual", OPAQUE)
        builder.emit(Call((pack,), display.make_tuple, tuple(kept)))
        return Function(f"{name}_primal", tuple(params), builder.block(Return((*results, pack))))

    def adjoint(self, name: str, whole: Whole) -> Function:
        builder = Builder(type_of_call)
        request, params = self.request, self.function.params
        residual = Var("residual", OPAQUE)
        kept = [
            builder.load(residual, Subscript((Const(place),)), param.type, param.hint, param.named)
            for place, param in enumerate(params)
        ]
        for place, copy in zip(self.memory, copied(builder, [kept[p] for p in self.memory]), strict=True):
            kept[place] = copy
        function = whole.definition.function
        assert function is not None
        given = [Var(var.hint, var.type, var.named) for var in function.params[len(params) :]]
        seeds, rest = given[: len(request.outputs)], given[len(request.outputs) :]
        before, memory = rest[: len(self.numbers)], rest[len(self.numbers) :]
        targets = tuple(Var(f"{params[place].hint}_bar", fresh(params[place].type)) for place in self.numbers)
        builder.emit(Call(targets, whole.definition, (*kept, *given)))
        taken = (residual, *before, *seeds, *memory)
        return Function(f"{name}_adjoint", taken, builder.block(Return(targets)))
