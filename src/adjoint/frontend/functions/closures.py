"""Function objects as closures: the syntax tree, the captured variables and the default values."""

from __future__ import annotations

import ast
import types
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Cell, Closure, Value, is_stand_in
from adjoint.sources.definitions import find


def _defaults_of(function: types.FunctionType) -> list[tuple[int, str, Any]]:
    """The default values of parameters that may be given by position: where they stand, the names of these, the values.

    A decorator may hand a function more default values than it has parameters: the last ones count.
    """
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    count = min(len(names), len(values))
    first = len(values) - count
    return [(first + place, name, values[first + place]) for place, name in enumerate(names[len(names) - count :])]


def closure_of(lo: Lowerer, function: types.FunctionType, node: ast.AST | None) -> Closure:
    """The closure of a function object."""
    known = lo.run_data.closures.get(function)
    if known is not None:
        return known
    if is_stand_in(function):
        raise lo.problem("AD0402", node, f"{function.__name__!r} belongs to a class of an earlier iteration or call")
    try:
        found = find(function)
    except DifferentiationError as error:
        raise Problem(error.diagnostics[0]) from None
    cells: dict[str, Cell] = {}
    owner = None
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "__class__":
            owner = cell.cell_contents
            continue
        cells[name] = inputs.cell_of(lo, cell, name)
    origin = ("own_default",) if function is lo.run_data.root else ("default", function)
    defaults = tuple(
        inputs.captured(lo, value, (*origin, place), name, node) for place, name, value in _defaults_of(function)
    )
    kw_defaults = {
        name: inputs.captured(lo, value, (*origin, name), name, node)
        for name, value in (function.__kwdefaults__ or {}).items()
    }
    closure = Closure(found, cells, function.__globals__, defaults, kw_defaults, owner, function)
    lo.run_data.closures[function] = closure
    return closure


# Default values of functions that are made while a program runs: each in a variable, as what functions capture is


def as_default(lo: Lowerer, value: Value) -> Value | Cell:
    """What a function keeps for a default value: a variable, where paths may meet behind what computes it."""
    if isinstance(value, ir.Const):
        return value
    cell = Cell("default")
    lo.store[cell] = value
    return cell


def default_of(lo: Lowerer, held: Value | Cell) -> Value:
    """A default value of a function."""
    return lo.store[held] if isinstance(held, Cell) else held
