"""Pullbacks of functions that stay calls, and whose reverse sweep needs nothing but arguments and results.

Such a pullback takes the arguments, the results that it reads, and the cotangents; what else it reads it computes
again, where that takes a few operations on numbers. Then nothing is kept: the function itself is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.differentiation.reverse.calls.rerun_sweeps import sweeps_again
from adjoint.differentiation.reverse.memory.overwritten_values import only_asked
from adjoint.differentiation.reverse.normalize import returning
from adjoint.differentiation.reverse.sweeps import Sweeps
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import clone_function, substitute
from adjoint.ir.walk import free_vars, operands, statements_in
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.simplify import simplify
from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family

MOST_AGAIN = 40
"""How many statements a pullback may compute again: as many as packing and unpacking them would cost."""


@dataclass(frozen=True, slots=True)
class Pullback:
    """A pullback, and what it is given.

    Attributes
    ----------
    definition
        Takes arguments, results, cotangents of the outputs, and the memory of cotangents of arrays that are written.
    args, results
        The places of the arguments and results that it takes.
    asked
        The places of arguments that it asks for their shapes only.
    """

    definition: ir.Definition
    args: tuple[int, ...]
    results: tuple[int, ...]
    asked: frozenset[int]


def pullback_of(
    definition: ir.Definition,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    carries: bool,
) -> Pullback | None:
    """The pullback of a function; None where it would have to compute too much again.

    If it ``carries`` supports, those of what it takes and gives are behind it.
    """
    if definition.function is None or definition.checkpoints is not None or _calls_others(definition.function):
        return None
    function = returning(definition.function)
    if not isinstance(function.body.terminator, ir.Return):
        return None
    written = _written_only(function)
    if written is None:
        return None
    sweeps, memory = sweeps_again(function, wrt, outputs, lent, family, called=definition, carries=carries)
    prepared = sweeps.reverser.context.function
    places = _places_of_results(sweeps)
    known = {value: ir.Var(value.hint, value.type, value.named) for value in places}
    backward = substitute(ir.Block(sweeps.backward, ir.Return(sweeps.cotangents)), known)
    forward = _again(sweeps, backward, written)
    if forward is None:
        return None
    params = (*prepared.params, *known.values(), *sweeps.seeds, *memory, *sweeps.supports)
    name = f"{function.name}_pullback{family.difference(definition, wrt)}"
    body = ir.Block((*forward, *backward.statements), backward.terminator)
    whole = simplify(clone_function(ir.Function(name, params, body)))
    used = set(free_vars(whole.body))
    arguments, given = whole.params[: len(prepared.params)], whole.params[len(prepared.params) :]
    args = {place: param for place, param in enumerate(arguments) if param in used}
    results = {place: param for place, param in zip(places.values(), given, strict=False) if param in used}
    params = (*args.values(), *results.values(), *given[len(known) :])
    pullback = ir.Function(whole.name, params, whole.body)
    shapes = only_asked(pullback)
    asked = frozenset(
        place for place, param in args.items() if param in shapes or _memory(function.params[place]) & written
    )
    return Pullback(ir.Definition(whole.name, pullback), tuple(args), tuple(results), asked)


def _places_of_results(sweeps: Sweeps) -> dict[ir.Var, int]:
    """The results that a caller can hand over, by where they stand first."""
    params = sweeps.context.function.params
    found: dict[ir.Var, int] = {}
    for place, value in enumerate(sweeps.results):
        if not isinstance(value, ir.Var) or value in params or ir.is_handle(value.type):
            continue
        if isinstance(value.type, (ir.Scalar, ir.Array)):
            found.setdefault(value, place)
    return found


def _calls_others(function: ir.Function) -> bool:
    """Whether a function calls what has a derivative of its own."""
    return any(
        isinstance(statement, ir.Call)
        and isinstance(statement.callee, (ir.Applied, ir.Definition, ir.Derived, ir.Function))
        for statement in statements_in(function.body)
    )


def _written_only(function: ir.Function) -> set[ir.Storage] | None:
    """The memory of the caller that a function writes; None where it reads that, too."""
    given = {storage.find() for param in function.params for storage in ir.storages(param.type)}
    written: set[ir.Storage] = set()
    read: set[ir.Storage] = set()
    for statement in statements_in(function.body):
        match statement:
            case ir.Store(base=base, value=value):
                written |= _memory(base)
                read |= _memory(value)
            case ir.Load(target=target, base=base):
                if not ir.is_handle(target.type):
                    read |= _memory(base)
            case ir.Call():
                asked = shape_argument(statement.callee)
                atoms = operands(statement)
                read |= {found for place, atom in enumerate(atoms) if place != asked for found in _memory(atom)}
            case _:
                read |= {found for atom in operands(statement) for found in _memory(atom)}
    end = function.body.terminator
    read |= {found for atom in operands(end) for found in _memory(atom)}
    written &= given
    return None if written & read else written


def _memory(atom: ir.Atom) -> set[ir.Storage]:
    return {storage.find() for storage in ir.storages(type_of_atom(atom))}


def _again(sweeps: Sweeps, backward: ir.Block, written: set[ir.Storage]) -> tuple[ir.Statement, ...] | None:
    """What the backward sweep needs of the forward sweep; None where that is too much, or acts on something."""
    kept = [each for each in sweeps.forward if not (isinstance(each, ir.Store) and _memory(each.base) & written)]
    needed = tuple(free_vars(backward))
    params = sweeps.reverser.context.function.params
    alone = remove_dead_code(ir.Function("again", params, ir.Block(tuple(kept), ir.Return(needed)))).body.statements
    statements = list(statements_in(ir.Block(alone, ir.Return(()))))
    if len(statements) > MOST_AGAIN or not all(map(_is_cheap, statements)):
        return None
    return alone


def _is_cheap(statement: ir.Statement) -> bool:
    """Whether a statement computes numbers from numbers and arrays, or tells where memory is."""
    match statement:
        case ir.Call(targets=targets):
            given = all(isinstance(type_of_atom(atom), (ir.Scalar, ir.Array)) for atom in operands(statement))
            return given and effects_of(statement).pure and all(isinstance(var.type, ir.Scalar) for var in targets)
        case ir.Load(base=base):
            return isinstance(type_of_atom(base), ir.Array)
        case _:
            return isinstance(statement, ir.If)
