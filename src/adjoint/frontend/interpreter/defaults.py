"""Default values of functions that are made while a program runs: each in a variable, as what functions capture is."""

from __future__ import annotations

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Cell, Value


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
