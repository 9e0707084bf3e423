"""Pullbacks of functions that stay calls, and whose reverse sweep needs nothing but arguments and results.

Such a pullback takes the arguments, the results that it reads, and the cotangents; what else it reads it computes
again, where that takes a few operations on numbers. Then nothing is kept: the function itself is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.differentiation.reverse.build import Sweeps, sweeps_again, vars_of
from adjoint.differentiation.reverse.calls.calling_convention import Treatment
from adjoint.differentiation.reverse.memory.overwritten_values import shape_argument
from adjoint.ir.effects import effects_of, storages
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Applied,
    Atom,
    Block,
    Call,
    Definition,
    Derived,
    Function,
    If,
    Load,
    Return,
    Statement,
    Store,
    Var,
)
from adjoint.ir.types import Array, Scalar, Storage, is_handle
from adjoint.ir.walk import clone_function, free_vars, operands, statements_in, substitute
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.simplify import simplify
from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.derived_functions import Family

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

    definition: Definition
    args: tuple[int, ...]
    results: tuple[int, ...]
    asked: frozenset[int]


def pullback_of(
    definition: Definition,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
) -> Pullback | None:
    """The pullback of a function; None where it would have to compute too much again."""
    function = definition.function
    if function is None or definition.checkpoints is not None or _calls_others(function):
        return None
    if not isinstance(function.body.terminator, Return):
        return None
    written = _written_only(function)
    if written is None:
        return None
    treatment = family.treatments.get(definition, Treatment())
    sweeps, memory = sweeps_again(function, wrt, outputs, lent, family, complete=not treatment.computed_zeros)
    prepared = sweeps.reverser.context.function
    known = {
        value: Var(value.hint, value.type, value.named)
        for value in vars_of(sweeps.results)
        if value not in prepared.params and not is_handle(value.type) and isinstance(value.type, (Scalar, Array))
    }
    backward = substitute(Block(sweeps.backward, Return(sweeps.cotangents)), known)
    forward = _again(sweeps, backward, written)
    if forward is None:
        return None
    params = (*prepared.params, *known.values(), *sweeps.seeds, *memory)
    body = Block((*forward, *backward.statements), backward.terminator)
    whole = simplify(clone_function(Function(f"{function.name}_pullback", params, body)))
    used = set(free_vars(whole.body))
    count = len(prepared.params)
    args = tuple(place for place, param in enumerate(whole.params[:count]) if param in used)
    names = dict(zip(known, whole.params[count : count + len(known)], strict=True))
    results = tuple(
        place for place, value in enumerate(sweeps.results) if isinstance(value, Var) and names.get(value) in used
    )
    taken = (
        *(whole.params[place] for place in args),
        *(names[sweeps.results[place]] for place in results),  # type: ignore[index]
        *whole.params[count + len(known) :],
    )
    taken = tuple(dict.fromkeys(taken))
    if len(set(results)) < len(results) or len(taken) < len(args) + len(results) + len(sweeps.seeds) + len(memory):
        return None  # one result is given twice
    asked = frozenset(place for place in args if _memory(function.params[place]) & written)
    return Pullback(Definition(whole.name, Function(whole.name, taken, whole.body)), args, results, asked)


def _calls_others(function: Function) -> bool:
    """Whether a function calls what has a derivative of its own."""
    return any(
        isinstance(statement, Call) and isinstance(statement.callee, (Applied, Definition, Derived, Function))
        for statement in statements_in(function.body)
    )


def _written_only(function: Function) -> set[Storage] | None:
    """The memory of the caller that a function writes; None where it reads that, too."""
    given = {storage.find() for param in function.params for storage in storages(param.type)}
    written: set[Storage] = set()
    read: set[Storage] = set()
    for statement in statements_in(function.body):
        match statement:
            case Store(base=base, value=value):
                written |= _memory(base)
                read |= _memory(value)
            case Load(target=target, base=base):
                if not is_handle(target.type):
                    read |= _memory(base)
            case Call():
                asked = shape_argument(statement.callee)
                atoms = operands(statement)
                read |= {found for place, atom in enumerate(atoms) if place != asked for found in _memory(atom)}
            case _:
                read |= {found for atom in operands(statement) for found in _memory(atom)}
    end = function.body.terminator
    read |= {found for atom in operands(end) for found in _memory(atom)}
    written &= given
    return None if written & read else written


def _memory(atom: Atom) -> set[Storage]:
    return {storage.find() for storage in storages(type_of_atom(atom))}


def _again(sweeps: Sweeps, backward: Block, written: set[Storage]) -> tuple[Statement, ...] | None:
    """What the backward sweep needs of the forward sweep; None where that is too much, or acts on something."""
    forward = Block(
        tuple(each for each in sweeps.forward if not (isinstance(each, Store) and _memory(each.base) & written)),
        Return(()),
    )
    inside = [each for each in statements_in(forward) if isinstance(each, Store) and _memory(each.base) & written]
    if inside:
        return None
    needed = tuple(free_vars(backward))
    params = sweeps.reverser.context.function.params
    alone = remove_dead_code(Function("again", params, Block(forward.statements, Return(needed)))).body.statements
    statements = list(statements_in(Block(alone, Return(()))))
    if len(statements) > MOST_AGAIN or not all(map(_is_cheap, statements)):
        return None
    return alone


def _is_cheap(statement: Statement) -> bool:
    """Whether a statement computes numbers from numbers and arrays, or tells where memory is."""
    match statement:
        case Call(targets=targets):
            given = all(isinstance(type_of_atom(atom), (Scalar, Array)) for atom in operands(statement))
            return given and effects_of(statement).pure and all(isinstance(var.type, Scalar) for var in targets)
        case Load(base=base):
            return isinstance(type_of_atom(base), Array)
        case _:
            return isinstance(statement, If)
