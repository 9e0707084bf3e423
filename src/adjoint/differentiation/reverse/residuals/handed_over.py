"""What the primal half hands to the adjoint half: the residuals, copied where memory may change in between."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import parts
from adjoint.differentiation.reverse.residuals.shapes.kept_shapes import read_elements, with_kept_shapes
from adjoint.differentiation.reverse.residuals.shapes.shape_only import without_idle_shapes
from adjoint.differentiation.reverse.sweeps import Sweeps
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import free_vars, leaves, operands, statements_in, vars_of
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.touch_up.zeros_by_shape import with_named_shapes
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.array_functions import arrays
from adjoint.runtime.copies import fresh_shadows


def memory_of_the_caller(function: ir.Function) -> frozenset[ir.Storage]:
    """What the arguments and the results of a function refer to; arrays that nobody writes are copied as a whole."""
    returned = [value for end in leaves(function.body) if isinstance(end, ir.Return) for value in end.values]
    references = [var for var in vars_of((*function.params, *returned)) if ir.is_handle(var.type)]
    return frozenset(storage for var in references for storage in ir.storages(var.type))


def without_idle_residuals(sweeps: Sweeps, function: ir.Function) -> Sweeps:
    """Both sweeps, with nothing handed from one to the other for its shape alone."""
    between = ir.Call((), _between, ())
    body = ir.Block((*sweeps.forward, between, *sweeps.backward), ir.Return((*sweeps.results, *sweeps.cotangents)))
    joined = ir.Function(function.name, (*function.params, *sweeps.seeds, *sweeps.supports), body)
    whole = with_kept_shapes(with_named_shapes(without_idle_shapes(joined))).body
    assert isinstance(whole.terminator, ir.Return)
    cut = whole.statements.index(between)
    results = whole.terminator.values[: len(sweeps.results)]
    cotangents = whole.terminator.values[len(sweeps.results) :]
    backward = ir.Block(whole.statements[cut + 1 :], ir.Return(cotangents))
    backward = remove_dead_code(ir.Function("adjoint", free_vars(backward), backward)).body
    assert isinstance(backward.terminator, ir.Return)
    return replace(
        sweeps,
        forward=whole.statements[:cut],
        backward=backward.statements,
        results=results,
        cotangents=backward.terminator.values,
    )


def _between() -> None:
    """Marks where the forward sweep ends."""


def residuals_of(sweeps: Sweeps) -> tuple[ir.Var, ...]:
    """The variables of the forward region that the reverse region reads."""
    read = free_vars(ir.Block(sweeps.backward, ir.Return(sweeps.cotangents)))
    bound = sweeps.context.regions.bindings
    return tuple(var for var in read if var in bound)


def copied(
    sweeps: Sweeps, function: ir.Function, residuals: tuple[ir.Var, ...]
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...]]:
    """The forward region and what it returns, without sharing memory with the caller that the adjoint reads.

    What lies in containers of the caller, and arrays that are kept themselves, are copied where they are kept, without
    their elements where nothing reads these. Of
    arrays that may be in lists, or that recursive functions may keep, the arguments are copied where the function
    starts and the results where it ends.
    """
    ends: list[ir.Statement] = []
    kept: list[ir.Atom] = []
    of_caller = vars_of((*function.params, *sweeps.results))
    outside = {_storage(var) for var in of_caller} - {None}
    inside = set[ir.Storage]().union(*(ir.storages(var.type) for var in of_caller if ir.is_handle(var.type)))
    read = read_elements(ir.Block(sweeps.backward, ir.Return(sweeps.cotangents)))
    for var in residuals:
        shared = ir.storages(var.type) & (inside if var in sweeps.popped else outside | inside)
        make = _copy_of(var) if shared else None
        if var not in read and isinstance(var.type, ir.Array):
            make = arrays.shape_only
        kept.append(var if make is None else _made(make, var, f"{var.hint}_kept", ends))
    hidden = outside if sweeps.context.packs else set()
    hidden |= {
        ir.storage_of(part) for var in sweeps.popped if isinstance(var.type, ir.List) for part in parts(var.type)
    }
    hidden -= {None}
    starts: list[ir.Statement] = []
    own = {
        param: _made(np.copy, param, param.hint, starts)
        for param in function.params
        if _storage(param) in hidden and isinstance(param.type, ir.Array) and not ir.is_handle(param.type)
    }
    results = [
        _made(np.copy, atom, atom.hint, ends)
        if isinstance(atom, ir.Var) and _storage(atom) in hidden and not ir.is_handle(atom.type)
        else atom
        for atom in sweeps.results
    ]
    body = substitute(ir.Block((*sweeps.forward, *ends), ir.Return((*results, *kept))), own)
    assert isinstance(body.terminator, ir.Return)
    return (*starts, *body.statements), body.terminator.values


def _made(make: object, var: ir.Var, hint: str, statements: list[ir.Statement]) -> ir.Var:
    new = ir.Var(hint, var.type, var.named)
    statements.append(ir.Call((new,), make, (var,)))
    return new


def _storage(var: ir.Var) -> ir.Storage | None:
    return ir.storage_of(var.type)


def _copy_of(var: ir.Var) -> object:
    match var.type:
        case ir.Array():
            return np.copy
        case ir.List() | ir.Dict() | ir.Instance() | ir.Tuple():
            return copy.deepcopy
        case _:
            return None


def _read_in_place(sweeps: Sweeps) -> set[ir.Var]:
    """The lists of kept values that the reverse region leaves as they are."""
    emptied: set[ir.Atom] = set()
    for statement in statements_in(ir.Block(sweeps.backward, ir.Return(()))):
        if not isinstance(statement, ir.Load) and not (isinstance(statement, ir.Call) and statement.callee is len):
            emptied.update(operands(statement))
    return set(sweeps.popped) - emptied


def fresh_memory(sweeps: Sweeps, residuals: Sequence[ir.Var]) -> tuple[tuple[ir.Statement, ...], dict[ir.Var, ir.Var]]:
    """Copies, made where the adjoint starts, of what it changes: lists that it empties, shadows that it fills."""
    statements: list[ir.Statement] = []
    renamed: dict[ir.Var, ir.Var] = {}
    read_only = _read_in_place(sweeps)
    for var in residuals:
        if var in sweeps.popped and var not in read_only:
            renamed[var] = ir.Var(var.hint, var.type)
            statements.append(ir.Call((renamed[var],), list.copy, (var,)))
    shadows = [var for var in residuals if var in sweeps.context.forward_shadows]
    if shadows:
        together, copies = ir.Var("shadows", ir.OPAQUE), ir.Var("shadows", ir.OPAQUE)
        statements.append(ir.Call((together,), display.make_tuple, tuple(shadows)))
        statements.append(ir.Call((copies,), fresh_shadows, (together,)))
        builder = Builder(type_of_call)
        for place, var in enumerate(shadows):
            renamed[var] = builder.load(copies, ir.Subscript((ir.Const(place),)), var.type, var.hint)
        statements += builder.statements
    return tuple(statements), renamed
