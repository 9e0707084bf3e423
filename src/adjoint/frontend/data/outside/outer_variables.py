"""Variables that outlive the call, where the function assigns them.

They are globals, attributes of functions and classes, and what function objects capture. Inside the call such a
variable is one like any other: it starts with what it holds when the call begins, is joined where paths meet and
carried by loops. Besides, each assignment is written to where the variable lives, at its place among what else the
function does to the world: plain values, whatever varies.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.entry.captured import Captured, Path, reader
from adjoint.frontend.entry.constants import is_constant
from adjoint.frontend.entry.inputs import captured, cell_of, fill_cell, guard_presence
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem, Restart
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.runtime.outside import (
    IMMUTABLE,
    assign_attribute,
    assign_captured,
    assign_global,
    check_immutable,
    help_for_outside,
    label_of_outside,
)


def open_assigned(lo: Lowerer) -> None:
    """Makes the variables known that an earlier attempt found assigned, before anything runs."""
    for found in lo.settings.assigned_outside.values():
        match found:
            case (dict() as table, str(name)) if name in table:
                _open(lo, table, name, ("global", table, name), table[name])
            case (dict() as table, str(name)):
                _open_missing(lo, table, name, _module_of(table))
            case (types.CellType() as source, str(name)):
                fill_cell(lo, cell_of(lo, source, name), name, None)
            case (owner, str(name)):
                _open_attribute(lo, owner, name)


def _open(lo: Lowerer, owner: Any, name: str, path: Path, value: Any) -> None:
    cell = lo.run_data.globals[id(owner), name] = Cell(name)
    held = lo.run_data.outside[cell] = captured(lo, value, path, name, None)
    set_unseen(lo.store, cell, held)


def _open_attribute(lo: Lowerer, owner: Any, name: str) -> None:
    """An attribute of a function or class; where it has none, that is remembered."""
    if name in vars(owner):
        _open(lo, owner, name, ("attribute", owner, name), vars(owner)[name])
        return
    _open_missing(lo, owner, name, owner)


def _open_missing(lo: Lowerer, owner: Any, name: str, holder: Any) -> None:
    """A variable that does not exist when the call begins; ``holder`` tells by ``hasattr`` whether it does."""
    guard_presence(lo, holder, name)
    cell = lo.run_data.globals[id(owner), name] = Cell(name)
    flag = lo.run_data.presence[cell] = Cell(f"has_{name}")
    for key, held in ((cell, ir.UNDEFINED), (flag, ir.Const(False))):
        lo.run_data.outside[key] = held
        set_unseen(lo.store, key, held)


def first_assignment(lo: Lowerer, owner: Any, name: str, node: ast.AST | None) -> Restart:
    """What to raise where a variable is assigned of which that was not known from the beginning.

    ``owner`` is a function or class whose attribute it is, or the dict of the module of a global variable.
    """
    is_global = isinstance(owner, dict)
    key = ("global" if is_global else "attribute", id(owner), name)
    if lo.run_data.all_constant or key in lo.settings.assigned_outside:
        raise _refusal(lo, name, node)
    if is_global and name not in owner and (_module_of(owner) is None or hasattr(_module_of(owner), name)):
        label = f"the global variable {name!r} does not exist when the derivative is made"
        raise lo.problem("AD0301", node, label, helps=(f"give it a value in the module: {name} = None",))
    lo.settings.assigned_outside[key] = (owner, name)
    return Restart()


def assign_outside(lo: Lowerer, cell: Cell, value: Value, node: ast.AST | None) -> None:
    """Writes to where a variable lives that outlives the call."""
    source = lo.run_data.contents.get(cell)
    if source is not None and cell not in lo.run_data.given:
        key = ("cell", id(source))
        if key not in lo.settings.assigned_outside:
            lo.settings.assigned_outside[key] = (source, cell.name)
            raise Restart
    before, flag = lo.store.get(cell, ir.UNDEFINED), lo.run_data.presence.get(cell)
    is_known = _is_plain(before) or _is_unseen(before) or (flag is not None and before is ir.UNDEFINED)
    if not is_known or not (_is_plain(value) or _is_unseen(value)):
        raise _refusal(lo, cell.name, node)
    if flag is not None:
        lo.store[flag] = ir.Const(True)
    place = _place(lo, cell)
    assert isinstance(value, (ir.Var, ir.Const))
    lo.at(node)
    refuse_linked(lo, [value], None)
    if _is_unseen(value):
        lo.open.effect(check_immutable, value, ir.Const(cell.name))
    if source is not None:
        lo.open.effect(assign_captured, place, value)
    else:
        write = assign_global if _is_global(lo, cell) else assign_attribute
        lo.open.effect(write, place, ir.Const(cell.name), value)


def _refusal(lo: Lowerer, name: str, node: ast.AST | None) -> Problem:
    return lo.problem("AD0301", node, label_of_outside(name), helps=(help_for_outside(name),))


def _is_unseen(value: Value) -> bool:
    """Whether only the call tells what a value is; of what a variable holds, it is checked where it is assigned."""
    return isinstance(value, ir.Var) and value.type == ir.OPAQUE


def _is_plain(value: Value) -> bool:
    """Whether a value is a number, an array, a text or a function: those of which no other object may stand there."""
    match value:
        case ir.Const(value=constant):
            return isinstance(constant, IMMUTABLE) or is_constant(constant)
        case ir.Var(type=ir.Scalar() | ir.Array() | ir.Number()):
            return True
        case ir.Var(type=ir.Opaque(cls=cls)):
            return cls in (str, bytes)
        case _:
            return False


def _place(lo: Lowerer, cell: Cell) -> ir.Atom:
    """Where a variable lives: a module, or the cell of a function object."""
    known = lo.run_data.places.get(cell)
    if known is None:
        known = lo.run_data.places[cell] = _read_place(lo, cell)
    return known


def _read_place(lo: Lowerer, cell: Cell) -> ir.Atom:
    source = lo.run_data.contents.get(cell)
    if source is None:
        owner = _owner_of(lo, cell)
        if isinstance(owner, (dict, types.ModuleType)) or _is_found_by_name(owner):
            return ir.Const(owner)
        held = ir.Var(owner.__name__ if owner.__name__.isidentifier() else "owner", ir.Opaque(type(owner)), True)
        path = ("object", owner)
        lo.run_data.inputs.append(Captured(path, reader(path), held))
        return held
    var = ir.Var(f"{cell.name}_cell", ir.Opaque(types.CellType), True)
    if cell in lo.run_data.given:
        base, index = lo.run_data.given[cell]
        cells = ir.Var("cells", ir.Opaque())
        lo.run_data.prologue.emit(ir.Load(cells, base, ir.Attribute("__closure__")))
        lo.run_data.prologue.emit(ir.Load(var, cells, ir.Subscript((ir.Const(index),))))
        return var
    own = getattr(lo.run_data.root, "__closure__", None) or ()
    for index, mine in enumerate(own):
        if mine is source:
            path = ("own_place", index)
            lo.run_data.inputs.append(Captured(path, reader(path), var))
            return var
    return ir.Const(source)


def _owner_of(lo: Lowerer, cell: Cell) -> Any:
    """What has a variable: a function, a class, a module, or the dict of one that is not imported by its name."""
    owners = [found[0] for found in lo.settings.assigned_outside.values()]
    owner = next(owner for owner in owners if lo.run_data.globals.get((id(owner), cell.name)) is cell)
    if not isinstance(owner, dict):
        return owner
    return _module_of(owner) or owner


def _module_of(table: dict[str, Any]) -> types.ModuleType | None:
    """The module that has these global variables, if it is found by its name."""
    module = sys.modules.get(table.get("__name__", ""))
    return module if module is not None and vars(module) is table else None


def _is_found_by_name(owner: Any) -> bool:
    """Whether a function or class is what its module has under its name."""
    return getattr(sys.modules.get(owner.__module__), owner.__qualname__, None) is owner


def _is_global(lo: Lowerer, cell: Cell) -> bool:
    return isinstance(_owner_of(lo, cell), (dict, types.ModuleType))
