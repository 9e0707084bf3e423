"""Putting both sweeps together: in one function, or in two with what the second needs of the first between them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjoint.analysis.activity import activity, parts
from adjoint.analysis.divergence import divergent_messages
from adjoint.analysis.scalar_functions import number_flows
from adjoint.diagnostics.errors import DifferentiationError
from adjoint.differentiation.reverse.blind_spots import blind_spots
from adjoint.differentiation.reverse.calls.calling_convention import Given, Request, Treatment
from adjoint.differentiation.reverse.calls.derived_functions import Family, with_family
from adjoint.differentiation.reverse.context import Context, make_context
from adjoint.differentiation.reverse.cotangents import cotangent_type
from adjoint.differentiation.reverse.forward_edits import apply
from adjoint.differentiation.reverse.region import freeze, prune
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.differentiation.reverse.residuals.selection import Keeper
from adjoint.differentiation.reverse.residuals.shape_only import without_idle_shapes
from adjoint.differentiation.reverse.statements import NOTHING, Reverser, YieldLeaf
from adjoint.ir.builder import Builder
from adjoint.ir.checked import checked
from adjoint.ir.effects import storages
from adjoint.ir.nodes import Atom, Block, Call, Const, Function, Load, Return, Statement, Store, Subscript, Var
from adjoint.ir.types import OPAQUE, Array, Dict, Instance, List, Storage, Tuple, fresh, is_handle, storage_of
from adjoint.ir.walk import clone_function, free_vars, leaves, operands, statements_in, substitute
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.simplify import simplify
from adjoint.optimize.zeros_by_shape import with_named_shapes
from adjoint.pipeline import PREPARE_WHOLE, REVERSE, run
from adjoint.pipeline import Context as PassContext
from adjoint.records import dataclass, replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.copies import fresh_shadows
from adjoint.target import PYTHON, Target

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.residuals.recomputed_iterations import Again, Reversed


@dataclass(frozen=True, slots=True)
class Split:
    """A function in two halves.

    Attributes
    ----------
    primal
        Takes the arguments and gives the results, then the residuals.
    adjoint
        Takes the residuals and one cotangent per output, and gives one cotangent per ``wrt``. It changes nothing
        that it takes, so that it may be called again.
    residuals
        The variables of ``primal`` that it hands over.
    """

    primal: Function
    adjoint: Function
    residuals: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Sweeps:
    """Both regions of one function, as statements."""

    reverser: Reverser
    forward: tuple[Statement, ...]
    results: tuple[Atom, ...]
    backward: tuple[Statement, ...]
    seeds: tuple[Var, ...]
    cotangents: tuple[Atom, ...]
    popped: tuple[Var, ...]

    @property
    def context(self) -> Context:
        return self.reverser.context


def reverse(
    function: Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    notes: Notes | None = None,
    target: Target = PYTHON,
) -> Function:
    """The reverse derivative of a function, in one function.

    Parameters
    ----------
    function
        A core function.
    wrt
        Indices of the parameters to differentiate with respect to.
    outputs
        Indices of the results that are differentiated.
    notes
        Takes down what is kept, and why.
    target
        What the derivative is made for.

    Returns
    -------
    Function
        Its parameters are those of ``function`` and one cotangent for each of ``outputs``; its results are those
        of ``function`` and one cotangent for each of ``wrt``.

    Raises
    ------
    DifferentiationError
        If anything in the function cannot be differentiated; all such places are named.
    """
    return checked(clone_function(shared_reverse(function, wrt, outputs, notes, target)), "reverse")


def shared_reverse(
    function: Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> Function:
    """As :func:`reverse`; but the derivative shares variables with the function: for those who copy it."""
    return run(REVERSE, function, PassContext(target, wrt, outputs, notes=notes))


def reversed_whole(
    function: Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> Function:
    """The reverse derivative of a function that is prepared."""
    if not isinstance(function.body.terminator, Return):
        seeds = tuple(Var("ct", OPAQUE) for _ in outputs)
        return Function(function.name, (*function.params, *seeds), function.body, function.doc)

    def make(family: Family) -> Sweeps:
        again = again_of(family)
        sweeps = sweeps_of(
            function, tuple(wrt), tuple(outputs), family, Given(), halves=False, notes=notes, again=again
        )
        return with_supports(sweeps, family)

    sweeps = with_family(make, target, runs_once=True)
    statements = (*sweeps.forward, *sweeps.backward)
    body = Block(statements, Return((*sweeps.results, *sweeps.cotangents)))
    return Function(function.name, (*function.params, *sweeps.seeds), body, function.doc)


def split(
    function: Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    *,
    copies: bool = True,
    target: Target = PYTHON,
) -> Split:
    """The reverse derivative of a function, in two functions.

    Parameters
    ----------
    function, wrt, outputs, target
        As in :func:`reverse`.
    copies
        Whether arrays that the caller can write meanwhile (arguments, results) are copied where they are kept.
    """
    function = run(PREPARE_WHOLE, function, PassContext(target, wrt, outputs))
    if not isinstance(function.body.terminator, Return):
        raise ValueError(f"{function.name} never returns")
    shared = Given(exposed=_memory_of_the_caller(function) if copies else frozenset())

    def make(family: Family) -> Sweeps:
        sweeps = sweeps_of(function, tuple(wrt), tuple(outputs), family, shared, halves=True, again=again_of(family))
        return with_supports(sweeps, family)

    sweeps = with_family(make, target)
    sweeps = without_idle_residuals(sweeps, function)
    residuals = residuals_of(sweeps)
    forward, returned = sweeps.forward, (*sweeps.results, *residuals)
    if copies:
        forward, returned = _copied(sweeps, function, residuals)
    whole = Function(function.name, function.params, Block(forward, Return(returned)), function.doc)
    primal = checked(clone_function(whole), "primal")
    end = primal.body.terminator
    assert isinstance(end, Return)
    handed = tuple(atom for atom in end.values[len(sweeps.results) :] if isinstance(atom, Var))
    start, renamed = fresh_memory(sweeps, residuals)
    backward = substitute(Block(sweeps.backward, Return(sweeps.cotangents)), renamed)
    given = {var: Var(var.hint, fresh(var.type), var.named) for var in renamed}
    body = Block((*(substitute(made, given) for made in start), *backward.statements), backward.terminator)
    params = (*(given.get(var, var) for var in residuals), *sweeps.seeds)
    adjoint = Function(f"{function.name}_adjoint", params, body)
    return Split(primal, checked(clone_function(adjoint), "adjoint"), handed)


def reverse_again(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    complete: bool,
) -> Function:
    """The adjoint of a function that calls itself, which computes anew what it needs.

    It takes the arguments, the cotangents of the outputs, and for the parameters in ``lent``, arrays, the memory in
    which their cotangents accumulate; it gives the results, and the cotangents of the others in ``wrt``.
    """
    sweeps, memory = sweeps_again(function, wrt, outputs, lent, family, complete=complete)
    body = Block((*sweeps.forward, *sweeps.backward), Return((*sweeps.results, *sweeps.cotangents)))
    params = (*sweeps.reverser.context.function.params, *sweeps.seeds, *memory)
    return Function(f"{function.name}_adjoint", params, body)


def sweeps_again(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    complete: bool,
) -> tuple[Sweeps, tuple[Var, ...]]:
    """Both sweeps of a function that is run again, and the memory of cotangents that they are given.

    The cotangents of the sweeps are those of the parameters that have no such memory.
    """
    arrays = [function.params[place] for place in lent]
    given = frozenset(param for param in arrays if is_handle(param.type))
    function = run(PREPARE_WHOLE, function, PassContext(family.target, wrt, outputs, given))
    memory = {param: _accumulator(param) for param in arrays}
    sweeps = sweeps_of(
        function,
        wrt,
        outputs,
        family,
        Given(given),
        halves=False,
        again=partial(_reversed_iteration, family),
        lent=memory,
        nameless="out",
    )
    sweeps = with_supports(sweeps, family, complete=complete)
    backward = list(sweeps.backward)
    values: list[Atom] = []
    for place, cotangent in zip(wrt, sweeps.cotangents, strict=True):
        own = memory.get(function.params[place])
        if own is None:
            values.append(cotangent)
        elif cotangent is not own:
            backward.append(Store(own, None, cotangent, "add"))
    return replace(sweeps, backward=tuple(backward), cotangents=tuple(values)), tuple(memory.values())


def without_results(function: Function, count: int) -> Function:
    """A function without what it returns first."""
    end = function.body.terminator
    assert isinstance(end, Return)
    body = Block(function.body.statements, Return(end.values[count:], end.span))
    return simplify(clone_function(Function(function.name, function.params, body, function.doc)))


def _memory_of_the_caller(function: Function) -> frozenset[Storage]:
    """What the arguments and the results of a function refer to; arrays that nobody writes are copied as a whole."""
    returned = [value for end in leaves(function.body) if isinstance(end, Return) for value in end.values]
    references = [var for var in vars_of((*function.params, *returned)) if is_handle(var.type)]
    return frozenset(storage for var in references for storage in storages(var.type))


def vars_of(atoms: Sequence[Atom]) -> tuple[Var, ...]:
    return tuple(atom for atom in atoms if isinstance(atom, Var))


def sweeps_of(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    family: Family,
    given: Given,
    *,
    halves: bool = True,
    request: Request | None = None,
    notes: Notes | None = None,
    again: Again | None = None,
    lent: Mapping[Var, Var] = NOTHING,
    nameless: str = "t",
) -> Sweeps:
    """Both sweeps of a function that is prepared; ``nameless`` is what results are called that have no name."""
    references = () if request is None else request.references
    flows = number_flows(function)
    context = make_context(function, activity(function, wrt, outputs, flows, given.shadows, references))
    problems = blind_spots(function, wrt, outputs, flows) or divergent_messages(function, wrt)
    if problems:
        raise DifferentiationError(problems)
    reverser = Reverser(context, family, given, again, lent)
    _ask_for_shadows(reverser, request)
    end = function.body.terminator
    assert isinstance(end, Return)
    outputs = tuple(output for output in outputs if output not in references)
    seeds = tuple(_seed(end.values[output], nameless) for output in outputs)
    for output, seed in zip(outputs, seeds, strict=True):
        reverser.seed(end.values[output], seed)
    reverser.block(function.body, reverser.scope, YieldLeaf([]))
    reverser.root.span = None
    cotangents = [reverser.result(function.params[place]) for place in wrt]
    if context.problems:
        raise DifferentiationError(context.problems)
    prune(reverser.root, cotangents)
    keeper = Keeper(reverser, halves=halves, notes=notes)
    keeper.run(reverser.root, cotangents)
    backward = freeze(reverser.root, keeper.resolve)
    family.by_chance.update(reverser.supports.found)
    family.shadows.update((*reverser.shadows.found.values(), *reverser.ownership.owned.values()))
    forward = apply(function.body, context.edits, context.regions.cores)
    results = tuple(map(keeper.resolve, cotangents))
    return Sweeps(reverser, forward.statements, end.values, backward, seeds, results, tuple(keeper.popped))


def with_supports(sweeps: Sweeps, family: Family, *, complete: bool = True) -> Sweeps:
    """Both sweeps, with the supports of cotangents in memory; zeros in ``complete`` seeds are left out."""
    if complete and not family.by_chance:
        return sweeps
    from adjoint.differentiation.zeros.supports_in_memory import keep_supports  # lazy

    bound, active = sweeps.context.regions.bindings, sweeps.context.active
    backward = keep_supports(
        Block(sweeps.backward, Return(sweeps.cotangents)),
        sweeps.seeds,
        family.by_chance,
        family.shadows,
        complete=complete,
        primal=lambda var: False,
        passive=lambda var: var in bound and not active(var),
        calls=family.gives_computed_zeros,
    )
    return replace(sweeps, backward=backward.statements)


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
    return partial(_reversed_iteration, family) if family.target.machine else None


def _reversed_iteration(
    family: Family,
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    handles: dict[Var, Var],
    owned: dict[Var, Var],
    outside: frozenset[Storage],
) -> Reversed | None:
    """Both sweeps of one iteration of a loop; cotangents of arrays from outside go where the loop's do."""
    try:
        given = Given(frozenset(handles), final=outside)
        sweeps = sweeps_of(function, wrt, outputs, family, given, halves=False, lent=handles | owned)
    except DifferentiationError:
        return None
    from adjoint.differentiation.reverse.residuals.recomputed_iterations import Reversed  # lazy

    return Reversed((*sweeps.forward, *sweeps.backward), sweeps.seeds, sweeps.cotangents)


def _seed(value: Atom, nameless: str = "t") -> Var:
    if not isinstance(value, Var):
        return Var("ct", OPAQUE)
    return Var(f"{nameless if value.hint == 't' else value.hint}_bar", cotangent_type(value.type))


def _accumulator(param: Var) -> Var:
    """Memory in which the cotangent of an array accumulates: somebody writes it."""
    seed = _seed(param)
    assert isinstance(seed.type, Array)
    return Var(seed.hint, Array(seed.type.dtype, seed.type.dims, Storage(written=True)))


def without_idle_residuals(sweeps: Sweeps, function: Function) -> Sweeps:
    """Both sweeps, with nothing handed from one to the other for its shape alone."""
    between = Call((), _between, ())
    body = Block((*sweeps.forward, between, *sweeps.backward), Return((*sweeps.results, *sweeps.cotangents)))
    joined = Function(function.name, (*function.params, *sweeps.seeds), body)
    whole = with_named_shapes(without_idle_shapes(joined)).body
    assert isinstance(whole.terminator, Return)
    cut = whole.statements.index(between)
    results = whole.terminator.values[: len(sweeps.results)]
    cotangents = whole.terminator.values[len(sweeps.results) :]
    backward = Block(whole.statements[cut + 1 :], Return(cotangents))
    backward = remove_dead_code(Function("adjoint", free_vars(backward), backward)).body
    assert isinstance(backward.terminator, Return)
    return replace(
        sweeps,
        forward=whole.statements[:cut],
        backward=backward.statements,
        results=results,
        cotangents=backward.terminator.values,
    )


def _between() -> None:
    """Marks where the forward sweep ends."""


# What lies between the halves


def residuals_of(sweeps: Sweeps) -> tuple[Var, ...]:
    """The variables of the forward region that the reverse region reads."""
    read = free_vars(Block(sweeps.backward, Return(sweeps.cotangents)))
    bound = sweeps.context.regions.bindings
    return tuple(var for var in read if var in bound)


def _copied(
    sweeps: Sweeps, function: Function, residuals: tuple[Var, ...]
) -> tuple[tuple[Statement, ...], tuple[Atom, ...]]:
    """The forward region and what it returns, without sharing memory with the caller that the adjoint reads.

    What lies in containers of the caller, and arrays that are kept themselves, are copied where they are kept. Of
    arrays that may be in lists, or that recursive functions may keep, the arguments are copied where the function
    starts and the results where it ends.
    """
    ends: list[Statement] = []
    kept: list[Atom] = []
    of_caller = vars_of((*function.params, *sweeps.results))
    outside = {_storage(var) for var in of_caller} - {None}
    inside = set[Storage]().union(*(storages(var.type) for var in of_caller if is_handle(var.type)))
    for var in residuals:
        shared = storages(var.type) & (inside if var in sweeps.popped else outside | inside)
        make = _copy_of(var) if shared else None
        kept.append(var if make is None else _made(make, var, f"{var.hint}_kept", ends))
    hidden = outside if sweeps.context.packs else set()
    hidden |= {storage_of(part) for var in sweeps.popped if isinstance(var.type, List) for part in parts(var.type)}
    hidden -= {None}
    starts: list[Statement] = []
    own = {
        param: _made(np.copy, param, param.hint, starts)
        for param in function.params
        if _storage(param) in hidden and isinstance(param.type, Array) and not is_handle(param.type)
    }
    results = [
        _made(np.copy, atom, atom.hint, ends)
        if isinstance(atom, Var) and _storage(atom) in hidden and not is_handle(atom.type)
        else atom
        for atom in sweeps.results
    ]
    body = substitute(Block((*sweeps.forward, *ends), Return((*results, *kept))), own)
    assert isinstance(body.terminator, Return)
    return (*starts, *body.statements), body.terminator.values


def _made(make: object, var: Var, hint: str, statements: list[Statement]) -> Var:
    new = Var(hint, var.type, var.named)
    statements.append(Call((new,), make, (var,)))
    return new


def _storage(var: Var) -> Storage | None:
    return storage_of(var.type)


def _copy_of(var: Var) -> object:
    match var.type:
        case Array():
            return np.copy
        case List() | Dict() | Instance() | Tuple():
            return copy.deepcopy
        case _:
            return None


def _read_in_place(sweeps: Sweeps) -> set[Var]:
    """The lists of kept values that the reverse region leaves as they are."""
    emptied: set[Atom] = set()
    for statement in statements_in(Block(sweeps.backward, Return(()))):
        if not isinstance(statement, Load) and not (isinstance(statement, Call) and statement.callee is len):
            emptied.update(operands(statement))
    return set(sweeps.popped) - emptied


def fresh_memory(sweeps: Sweeps, residuals: Sequence[Var]) -> tuple[tuple[Statement, ...], dict[Var, Var]]:
    """Copies, made where the adjoint starts, of what it changes: lists that it empties, shadows that it fills."""
    statements: list[Statement] = []
    renamed: dict[Var, Var] = {}
    read_only = _read_in_place(sweeps)
    for var in residuals:
        if var in sweeps.popped and var not in read_only:
            renamed[var] = Var(var.hint, var.type)
            statements.append(Call((renamed[var],), list.copy, (var,)))
    shadows = [var for var in residuals if var in sweeps.context.forward_shadows]
    if shadows:
        together, copies = Var("shadows", OPAQUE), Var("shadows", OPAQUE)
        statements.append(Call((together,), display.make_tuple, tuple(shadows)))
        statements.append(Call((copies,), fresh_shadows, (together,)))
        builder = Builder(type_of_call)
        for place, var in enumerate(shadows):
            renamed[var] = builder.load(copies, Subscript((Const(place),)), var.type, var.hint)
        statements += builder.statements
    return tuple(statements), renamed
