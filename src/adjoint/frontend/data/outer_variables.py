"""Variables that outlive the call, where the function assigns them: globals, and what function objects capture.

Inside the call such a variable is one like any other: it starts with what it holds when the call begins, is joined
where paths meet and carried by loops. Besides, each assignment is written to where the variable lives, at its place
among what else the function does to the world. What is written must not vary.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from typing import Any

from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.differentiation.reachability import Dependence
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.entry.captured import Captured, reader
from adjoint.frontend.entry.constants import is_constant
from adjoint.frontend.entry.inputs import captured, cell_of, fill_cell
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem, Restart
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import UNDEFINED, Cell, Value
from adjoint.ir.nodes import Atom, Attribute, Call, Const, Definition, Derived, Function, Load, Subscript, Var
from adjoint.ir.types import Opaque, Scalar
from adjoint.ir.walk import statements_in
from adjoint.runtime.outside import assign_captured, assign_global

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def open_assigned(lo: Lowerer) -> None:
    """Makes the variables known that an earlier attempt found assigned, before anything runs."""
    for found in lo.settings.assigned_outside.values():
        match found:
            case (dict() as table, str(name)):
                cell = Cell(name)
                lo.run_data.globals[id(table), name] = cell
                value = captured(lo, table[name], ("global", table, name), name, None)
                lo.run_data.outside[cell] = value
                set_unseen(lo.store, cell, value)
            case (types.CellType() as source, str(name)):
                fill_cell(lo, cell_of(lo, source, name), name, None)


def first_assignment(lo: Lowerer, name: str, node: ast.AST | None) -> Restart:
    """What to raise where a global name is assigned of which that was not known from the beginning."""
    assert lo.frame is not None
    table = lo.frame.closure.globals
    key = ("global", id(table), name)
    if lo.run_data.all_constant or key in lo.settings.assigned_outside:
        raise _refusal(lo, name, node)
    if name not in table:
        label = f"the global variable {name!r} does not exist when the derivative is made"
        raise lo.problem("AD0302", node, label, helps=(f"give it a value in the module: {name} = None",))
    lo.settings.assigned_outside[key] = (table, name)
    return Restart()


def assign_outside(lo: Lowerer, cell: Cell, value: Value, node: ast.AST | None) -> None:
    """Writes to where a variable lives that outlives the call."""
    source = lo.run_data.contents.get(cell)
    if source is not None and cell not in lo.run_data.given:
        key = ("cell", id(source))
        if key not in lo.settings.assigned_outside:
            lo.settings.assigned_outside[key] = (source, cell.name)
            raise Restart
    if not _is_plain(value) or not _is_plain(lo.store.get(cell, UNDEFINED)):
        raise _refusal(lo, cell.name, node)
    place = _place(lo, cell)
    assert isinstance(value, (Var, Const))
    lo.at(node)
    if source is not None:
        refuse_linked(lo, [value], None)
        lo.open.effect(assign_captured, place, value)
    else:
        refuse_linked(lo, [value], None)
        lo.open.effect(assign_global, place, Const(cell.name), value)


def _refusal(lo: Lowerer, name: str, node: ast.AST | None) -> Problem:
    label = f"the variable {name!r}, which outlives the call, holds or is given something other than a number or a flag"
    return lo.problem("AD0302", node, label, helps=(f"return the new value of {name!r} and assign it outside",))


def _is_plain(value: Value) -> bool:
    """Whether a value is one that nobody can change: a number, a text, a function."""
    match value:
        case Const(value=constant):
            return isinstance(constant, _PLAIN) or is_constant(constant)
        case Var(type=Scalar()):
            return True
        case Var(type=Opaque(cls=cls)):
            return cls in (str, bytes)
        case _:
            return False


def _place(lo: Lowerer, cell: Cell) -> Atom:
    """Where a variable lives: a module, or the cell of a function object."""
    known = lo.run_data.places.get(cell)
    if known is None:
        known = lo.run_data.places[cell] = _read_place(lo, cell)
    return known


def _read_place(lo: Lowerer, cell: Cell) -> Atom:
    source = lo.run_data.contents.get(cell)
    if source is None:
        return Const(_module_of(lo, cell))
    var = Var(f"{cell.name}_cell", Opaque(types.CellType), True)
    if cell in lo.run_data.given:
        base, index = lo.run_data.given[cell]
        cells = Var("cells", Opaque())
        lo.run_data.prologue.emit(Load(cells, base, Attribute("__closure__")))
        lo.run_data.prologue.emit(Load(var, cells, Subscript((Const(index),))))
        return var
    own = getattr(lo.run_data.root, "__closure__", None) or ()
    for index, mine in enumerate(own):
        if mine is source:
            path = ("own_place", index)
            lo.run_data.inputs.append(Captured(path, reader(path), var))
            return var
    return Const(source)


def _module_of(lo: Lowerer, cell: Cell) -> Any:
    """The module of a global variable; its dict where it is not the one that is imported by its name."""
    tables = [found[0] for found in lo.settings.assigned_outside.values() if isinstance(found[0], dict)]
    table = next(table for table in tables if lo.run_data.globals.get((id(table), cell.name)) is cell)
    module = sys.modules.get(table.get("__name__", ""))
    return module if module is not None and vars(module) is table else table


def refuse_varying(function: Function, count: int) -> None:
    """Refuses assignments of what varies with the first ``count`` parameters."""
    found = {problem.span: problem for problem in _varying(function, tuple(range(count)), set())}
    if found:
        raise DifferentiationError(*found.values())


def _varying(function: Function, wrt: tuple[int, ...], seen: set[tuple[int, tuple[int, ...]]]) -> Iterator[Diagnostic]:
    if not wrt or (id(function), wrt) in seen:
        return
    seen.add((id(function), wrt))
    dependence = Dependence(function, wrt, ())
    for call in statements_in(function.body):
        if not isinstance(call, Call):
            continue
        callee = call.callee
        if callee in (assign_captured, assign_global) and dependence.varies(call.args[-1]):
            yield diagnostic("AD0302", call.span, "what is stored here depends on the arguments")
        if isinstance(callee, (Derived, Definition)):
            callee = callee.function
        if isinstance(callee, Function):
            varied = [place for place, arg in enumerate(call.args) if dependence.varies(arg)]
            yield from _varying(callee, tuple(place for place in varied if place < len(callee.params)), seen)
