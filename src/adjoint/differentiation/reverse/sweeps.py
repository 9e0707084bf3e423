"""The two sweeps of a function: its statements with what is kept, and those of the reverse sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.dependence.activity import activity
from adjoint.analysis.dependence.scalar_functions import number_flows
from adjoint.analysis.divergence import divergent_messages
from adjoint.diagnostics.errors import DifferentiationError
from adjoint.differentiation.reverse.blind_spots import blind_spots
from adjoint.differentiation.reverse.calls.calling_convention import Given, Request, Treatment
from adjoint.differentiation.reverse.context import Context, make_context
from adjoint.differentiation.reverse.cotangents import cotangent_type
from adjoint.differentiation.reverse.forward_edits import apply
from adjoint.differentiation.reverse.memory.joined_sums import with_sums_joined
from adjoint.differentiation.reverse.region import freeze, known_values, prune
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.differentiation.reverse.residuals.selection import Keeper
from adjoint.differentiation.reverse.statements import NOTHING, Reverser, YieldLeaf
from adjoint.ir.walk import operands
from adjoint.records import dataclass, replace

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family
    from adjoint.differentiation.reverse.residuals.recomputed_iterations import Again, Reversed


@dataclass(frozen=True, slots=True)
class Sweeps:
    """Both regions of one function, as statements."""

    reverser: Reverser
    forward: tuple[ir.Statement, ...]
    results: tuple[ir.Atom, ...]
    backward: tuple[ir.Statement, ...]
    seeds: tuple[ir.Var, ...]
    cotangents: tuple[ir.Atom, ...]
    popped: tuple[ir.Var, ...]
    supports: tuple[ir.Var, ...] = ()
    """What the second is given beside cotangents, and memory of cotangents; what it gives beside is behind them."""
    partial: bool = False
    """Whether a selection may have left something out of a cotangent that the second gives, or adds to memory."""

    @property
    def context(self) -> Context:
        return self.reverser.context


def sweeps_of(
    function: ir.Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    family: Family,
    given: Given,
    *,
    halves: bool = True,
    request: Request | None = None,
    notes: Notes | None = None,
    again: Again | None = None,
    lent: Mapping[ir.Var, ir.Var] = NOTHING,
    nameless: str = "t",
    partial: bool = False,
) -> Sweeps:
    """Both sweeps of a function that is prepared; ``nameless`` is what results are called that have no name.

    ``partial`` says that a selection may have left something out of what the second is given.
    """
    references = () if request is None else request.references
    flows = number_flows(function)
    context = make_context(function, activity(function, wrt, outputs, flows, given.shadows, references))
    problems = blind_spots(function, wrt, outputs, flows) or divergent_messages(function, wrt)
    if problems:
        raise DifferentiationError(problems)
    reverser = Reverser(context, family, given, again, lent)
    _ask_for_shadows(reverser, request)
    end = function.body.terminator
    assert isinstance(end, ir.Return)
    outputs = tuple(output for output in outputs if output not in references)
    seeds = tuple(_seed(end.values[output], nameless) for output in outputs)
    for output, seed in zip(outputs, seeds, strict=True):
        reverser.seed(end.values[output], seed)
    if partial:
        reverser.supports.partial.update((*seeds, *map(reverser.shadows.of, given.shadows), *lent.values()))
    reverser.block(function.body, reverser.scope, YieldLeaf([]))
    reverser.root.span = None
    cotangents = [reverser.result(function.params[place]) for place in wrt]
    left_out, writes = reverser.supports.partial, bool(given.shadows or lent)
    is_partial = bool(left_out) if writes else not left_out.isdisjoint(filter(None, cotangents))
    if context.problems:
        raise DifferentiationError(context.problems)
    prune(reverser.root, cotangents)
    known = known_values(reverser.root, context.regions.bindings)
    keeper = Keeper(reverser, known, halves=halves, notes=notes)
    keeper.run(reverser.root, cotangents)
    backward = with_sums_joined(freeze(reverser.root, keeper.resolve))
    family.by_chance.update(reverser.supports.found)
    family.shadows.update((*reverser.shadows.found.values(), *reverser.ownership.owned.values()))
    forward = apply(function.body, context.edits, context.regions.cores)
    results = tuple(map(keeper.resolve, cotangents))
    popped = tuple(keeper.popped)
    return Sweeps(reverser, forward.statements, end.values, backward, seeds, results, popped, partial=is_partial)


def with_supports(
    sweeps: Sweeps,
    family: Family,
    *,
    called: ir.Definition | None = None,
    carries: bool = False,
    complete: bool = True,
    memory: Sequence[ir.Var] = (),
) -> Sweeps:
    """Both sweeps, with the supports of cotangents in memory; zeros in ``complete`` seeds are left out.

    Parameters
    ----------
    called
        The function whose sweeps they are, if it is called.
    carries
        Whether the second is given supports of seeds, and of ``memory``, and gives those of cotangents.
    memory
        The memory of cotangents that the second is given.
    """
    if called is not None:
        complete &= not family.treatment(called).computed_zeros
        if sweeps.partial:
            family.leaves_out(called)
    if complete and not carries and not family.by_chance and not family.carries:
        return sweeps
    from adjoint.differentiation.zeros.supports_in_memory import keep_supports  # lazy

    bound, active = sweeps.context.regions.bindings, sweeps.context.active
    found = keep_supports(
        ir.Block(sweeps.backward, ir.Return(sweeps.cotangents)),
        sweeps.seeds if complete else (*sweeps.seeds, *memory),
        family.by_chance,
        family.shadows,
        complete=complete,
        primal=lambda var: False,
        passive=lambda var: var in bound and not active(var),
        callees=family,
        results=len(sweeps.cotangents),
        carried=(*sweeps.seeds, *memory) if carries else None,
    )
    if found.lost and called is not None:
        family.lose(called)
    ends = operands(found.block.terminator)
    return replace(sweeps, backward=found.block.statements, cotangents=ends, supports=found.given)


def _ask_for_shadows(reverser: Reverser, request: Request | None) -> None:
    """References move in the memory of parameters: their shadows must be there when the function runs."""
    late = reverser.shadows.late
    if request is not None:
        params = reverser.context.function.params
        reverser.family.learn(request.definition, Treatment(first={params.index(var) for var in late}))
    for var in late:
        reverser.context.problem("AD0303", None, f"references move in the memory of {var.hint!r}")


def again_of(family: Family) -> Again | None:
    """What reverses an iteration that is run again, where that is good."""
    return partial(reversed_iteration, family) if family.target.machine else None


def reversed_iteration(
    family: Family,
    function: ir.Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    handles: dict[ir.Var, ir.Var],
    owned: dict[ir.Var, ir.Var],
    outside: frozenset[ir.Storage],
    partial: bool,
) -> Reversed | None:
    """Both sweeps of one iteration of a loop; cotangents of arrays from outside go where the loop's do."""
    try:
        given = Given(frozenset(handles), final=outside)
        sweeps = sweeps_of(function, wrt, outputs, family, given, halves=False, lent=handles | owned, partial=partial)
    except DifferentiationError:
        return None
    from adjoint.differentiation.reverse.residuals.recomputed_iterations import Reversed  # lazy

    return Reversed((*sweeps.forward, *sweeps.backward), sweeps.seeds, sweeps.cotangents, sweeps.partial)


def _seed(value: ir.Atom, nameless: str = "t") -> ir.Var:
    if not isinstance(value, ir.Var):
        return ir.Var("ct", ir.OPAQUE)
    return ir.Var(f"{nameless if value.hint == 't' else value.hint}_bar", cotangent_type(value.type))


def accumulator(param: ir.Var) -> ir.Var:
    """Memory in which the cotangent of an array accumulates: somebody writes it."""
    seed = _seed(param)
    assert isinstance(seed.type, ir.Array)
    return ir.Var(seed.hint, ir.Array(seed.type.dtype, seed.type.dims, ir.Storage(written=True)))
