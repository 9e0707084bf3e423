"""What the primal half hands to the adjoint half: the residuals, copied where memory may change in between."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint.analysis.memory.reachable import parts
from adjoint.differentiation.reverse.residuals.shape_only import without_idle_shapes
from adjoint.ir.builder import Builder
from adjoint.ir.effects import storages
from adjoint.ir.nodes import Atom, Block, Call, Const, Function, Load, Return, Statement, Subscript, Var
from adjoint.ir.rebuild import substitute
from adjoint.ir.types import OPAQUE, Array, Dict, Instance, List, Storage, Tuple, is_handle, storage_of
from adjoint.ir.walk import free_vars, leaves, operands, statements_in
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.zeros_by_shape import with_named_shapes
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.copies import fresh_shadows

if TYPE_CHECKING:
    pass
from adjoint.differentiation.reverse.sweeps import Sweeps


def memory_of_the_caller(function: Function) -> frozenset[Storage]:
    """What the arguments and the results of a function refer to; arrays that nobody writes are copied as a whole."""
    returned = [value for end in leaves(function.body) if isinstance(end, Return) for value in end.values]
    references = [var for var in vars_of((*function.params, *returned)) if is_handle(var.type)]
    return frozenset(storage for var in references for storage in storages(var.type))


def vars_of(atoms: Sequence[Atom]) -> tuple[Var, ...]:
    return tuple(atom for atom in atoms if isinstance(atom, Var))


def without_idle_residuals(sweeps: Sweeps, function: Function) -> Sweeps:
    """Both sweeps, with nothing handed from one to the other for its shape alone."""
    between = Call((), _between, ())
    body = Block((*sweeps.forward, between, *sweeps.backward), Return((*sweeps.results, *sweeps.cotangents)))
    joined = Function(function.name, (*function.params, *sweeps.seeds, *sweeps.supports), body)
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


def residuals_of(sweeps: Sweeps) -> tuple[Var, ...]:
    """The variables of the forward region that the reverse region reads."""
    read = free_vars(Block(sweeps.backward, Return(sweeps.cotangents)))
    bound = sweeps.context.regions.bindings
    return tuple(var for var in read if var in bound)


def copied(
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
