"""The reverse of calls of functions that stay functions, in one of three ways.

In general such a function is split in two: a primal that gives its results and what its adjoint needs, and the adjoint,
which takes that, and arguments and results.
Where its reverse sweep needs nothing but arguments and results there is a pullback, and the function itself is called.
For machine code, the adjoint of a function without effects runs it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.reverse.calls.calling_convention import Halves, Request, Treatment
from adjoint.differentiation.reverse.cotangents import cotangent_var
from adjoint.differentiation.reverse.memory.overwritten_values import content
from adjoint.ir.join import type_of_atom

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.pullbacks import Pullback
    from adjoint.differentiation.reverse.cotangents import Scope
    from adjoint.differentiation.reverse.statements import Reverser


def reverse_definition(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """The reverse of a call of a function that stays one."""
    if call.kwargs:
        raise AssertionError("a function that stays one is called with positional arguments")
    if reverser.is_idle(call):
        return
    if isinstance(call.callee, ir.Definition) and call.callee.checkpoints is not None:
        from adjoint.differentiation.reverse.checkpointing.checkpoints import reverse_checkpointed  # lazy

        _note_treatment(reverser, call)
        reverse_checkpointed(reverser, call, scope, _request(reverser, call))
        return
    if reverser.compiled and _run_again(reverser, call, scope):
        return
    if not _pull_back(reverser, call, scope):
        _call_halves(reverser, call, scope)


def _run_again(reverser: Reverser, call: ir.Call, scope: Scope) -> bool:
    """Calls an adjoint that computes anew what it needs, where the function does nothing but give its results."""
    found = effects_of(call)
    if not found.known or not found.pure or not _has_plain_values(call):
        return False
    wrt, outputs = _places(reverser, call)
    lent = tuple(place for place in wrt if isinstance(type_of_atom(call.args[place]), ir.Array))
    memory = [own for arg in _variables(call, lent) if (own := reverser.memory(arg)) is not None]
    if len(memory) < len(lent):
        return False
    seeds = _seeds(reverser, call, outputs, scope)
    if not wrt or seeds is None:
        return True
    whole = reverser.family.whole(call.callee, wrt, outputs, lent)
    args = (content(reverser, arg, call) for arg in call.args)
    unused = tuple(ir.Var(result.hint, result.type) for result in whole.results)
    values = _variables(call, [place for place in wrt if place not in lent])
    _emit(reverser, scope, call, whole.adjoint, args, seeds, memory, values, unused)
    return True


def _pull_back(reverser: Reverser, call: ir.Call, scope: Scope) -> bool:
    """Calls a pullback that needs nothing but the arguments and results of the function."""
    if not _has_plain_values(call):
        return False
    wrt, outputs = _places(reverser, call)
    lent = tuple(place for place in wrt if _refers(call, place))
    if any(call.args[place] in reverser.shadows.forward for place in lent):
        return False
    known = reverser.family.pullback(call.callee, wrt, outputs, lent)
    if known is None:
        return False
    seeds = _seeds(reverser, call, outputs, scope, always=bool(lent))
    if not wrt or seeds is None:
        return True
    args = _arguments(reverser, call, known)
    results = (content(reverser, call.targets[place], call, result=True) for place in known.results)
    shadows = list(map(reverser.shadows.of, _variables(call, lent)))
    values = _variables(call, [place for place in wrt if place not in lent])
    _emit(reverser, scope, call, known.definition, (*args, *results), seeds, shadows, values)
    return True


def _call_halves(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Calls the primal in the place of the function, and the adjoint."""
    request, shadows = _request(reverser, call), reverser.shadows
    results, varying = [call.targets[place] for place in request.references], _variables(call, request.wrt)
    references = _variables(call, [place for place in request.wrt if _refers(call, place)])
    numbers = [place for place in request.outputs if place not in request.references]
    seeds = _seeds(reverser, call, numbers, scope, always=bool(references or results))
    if seeds is None or not (varying or results):
        return
    _note_treatment(reverser, call)
    halves = reverser.family.of(request)
    kept: tuple[ir.Var, ...] = ()
    if halves.keeps:
        kept = _kept(reverser, call, request)
        first = map(shadows.of, _variables(call, request.first))
        made = (*call.targets, *map(shadows.of, results), *kept)
        reverser.context.edits.replace[id(call)] = ir.Call(made, halves.primal, (*call.args, *first), (), call.span)
    if not varying:
        return  # only the shadows of what it makes are asked for
    again = (
        *_arguments(reverser, call, halves),
        *(content(reverser, call.targets[place], call, result=True) for place in halves.results),
    )
    memory = list(map(shadows.of, (*results, *references)))
    values = _variables(call, [place for place in request.wrt if not _refers(call, place)])
    _emit(reverser, scope, call, halves.adjoint, (*again, *kept), seeds, memory, values)


def _places(reverser: Reverser, call: ir.Call) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the arguments, and of the results, that vary."""
    wrt = tuple(place for place, arg in enumerate(call.args) if reverser.active(arg))
    return wrt, tuple(place for place, target in enumerate(call.targets) if reverser.active(target))


def _arguments(reverser: Reverser, call: ir.Call, known: Pullback | Halves) -> Iterable[ir.Atom]:
    """The arguments that a pullback or an adjoint takes; shapes are still what they were."""
    for place in known.args:
        yield call.args[place] if place in known.asked else content(reverser, call.args[place], call)


def _refers(call: ir.Call, place: int) -> bool:
    """Whether a function counts an argument as memory that it shares with its callers."""
    assert isinstance(call.callee, ir.Definition)
    assert call.callee.function is not None
    return ir.is_handle(call.callee.function.params[place].type)


def _variables(call: ir.Call, places: Iterable[int]) -> list[ir.Var]:
    return [arg for place in places if isinstance(arg := call.args[place], ir.Var)]


def _has_plain_values(call: ir.Call) -> bool:
    """Whether a call is given numbers and arrays, and gives such that nobody writes."""
    if any(ir.is_handle(target.type) for target in call.targets):
        return False
    return all(isinstance(type_of_atom(arg), (ir.Scalar, ir.Array, ir.Opaque)) for arg in call.args)


def _seeds(
    reverser: Reverser, call: ir.Call, outputs: Sequence[int], scope: Scope, *, always: bool = False
) -> list[ir.Atom] | None:
    """Takes the cotangents of results; None where all are zero, unless ``always``."""
    targets = [call.targets[place] for place in outputs]
    taken = [reverser.take(scope, target) for target in targets]
    if not always and all(cotangent is None for cotangent in taken):
        return None
    return [
        reverser.context.zero(scope.sweep, target) if cotangent is None else cotangent
        for target, cotangent in zip(targets, taken, strict=True)
    ]


def _emit(
    reverser: Reverser,
    scope: Scope,
    call: ir.Call,
    callee: ir.Definition,
    read: Iterable[ir.Atom],
    seeds: Sequence[ir.Atom],
    memory: Sequence[ir.Var],
    values: Sequence[ir.Var],
    unused: tuple[ir.Var, ...] = (),
) -> None:
    """Calls what gives the cotangents of arguments, from what it has to read, seeds and memory, and adds them."""
    targets, partial = tuple(map(cotangent_var, values)), reverser.supports.partial
    assert isinstance(call.callee, ir.Definition)
    if not partial.isdisjoint((*seeds, *memory)):
        reverser.family.leaves_out(call.callee)
    if reverser.family.treatment(call.callee).partial:
        partial.update((*targets, *memory))
    scope.sweep.emit(ir.Call((*unused, *targets), callee, (*read, *seeds, *memory), (), call.span))
    for value, target in zip(values, targets, strict=True):
        reverser.add(scope, value, target, shaped=True)


def _request(reverser: Reverser, call: ir.Call) -> Request:
    wrt, outputs = _places(reverser, call)
    references = tuple(place for place in outputs if ir.is_handle(call.targets[place].type))
    first = tuple(place for place in wrt if _refers(call, place) and call.args[place] in reverser.shadows.forward)
    assert isinstance(call.callee, ir.Definition)
    return Request(call.callee, wrt, outputs, references, first)


def _kept(reverser: Reverser, call: ir.Call, request: Request) -> tuple[ir.Var, ...]:
    """What the primal keeps for the adjoint: values, and shadows where it has any in its hands."""
    kept, shadows = ir.Var("kept", ir.OPAQUE), ir.Var("shadows", ir.OPAQUE)
    reverser.bind_at(kept, call, after=True)
    reverser.context.packs.add(kept)
    if not request.moves_shadows:
        return (kept,)
    reverser.bind_at(shadows, call, after=True)
    reverser.context.forward_shadows.add(shadows)
    return kept, shadows


def _note_treatment(reverser: Reverser, call: ir.Call) -> None:
    """Takes down which memory of a call is written later, while the function still reads it to be reversed."""

    def written(atoms: Sequence[ir.Atom]) -> set[int]:
        return {
            place
            for place, atom in enumerate(atoms)
            for storage in ir.storages(type_of_atom(atom))
            if storage in reverser.given.exposed or reverser.writes.after(call, storage)
        }

    treatment = Treatment(arguments=written(call.args), results=written(call.targets))
    assert isinstance(call.callee, ir.Definition)
    reverser.family.learn(call.callee, treatment)
