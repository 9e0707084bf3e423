"""The cotangents of values at one point of the reverse region.

A scope belongs to one open block. What it learns about variables from outside is handed on where the block closes: by
an ``If`` as the values of its targets, by a loop as values that it carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.region import ReverseLoop, Sweep
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.runtime.array_functions.arrays import unbroadcast

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.context import Context


def fitted(sweep: Builder, cotangent: ir.Atom, var: ir.Var, *, shaped: bool = False) -> ir.Atom:
    """A cotangent with the shape and kind of its value; ``shaped`` says that a rule answers for the shape."""
    type_ = type_of_atom(cotangent)
    if type_ is var.type and type(type_) is ir.Scalar:
        return cotangent
    if same_kind(type_, var.type) or (shaped and _same_but_extents(type_, var.type)):
        return cotangent
    return sweep.call(unbroadcast, cotangent, var, hint=f"{var.hint}_bar")


def _same_but_extents(cotangent: ir.Type | None, type_: ir.Type) -> bool:
    match cotangent, type_:
        case ir.Array(dtype=dtype, dims=dims), ir.Array(dtype=own, dims=mine):
            known = dtype is not None and dims is not None and mine is not None
            return known and ir.same_dtype(dtype, own) and len(dims or ()) == len(mine or ())
        case _:
            return False


def same_kind(cotangent: ir.Type | None, type_: ir.Type) -> bool:
    """Whether types prove that a cotangent has the shape and kind of its value."""
    match cotangent, type_:
        case ir.Scalar(kind=mine, dtype=None), ir.Scalar(kind=kind, dtype=None):
            return mine == kind or (mine == "int" and kind == "float")
        case ir.Scalar(kind=mine, dtype=dtype), ir.Scalar(kind=kind, dtype=own):
            return mine == kind and dtype == own  # NumPy finds float64 equal to None: a Python float is one
        case ir.Array(dtype=dtype, dims=dims), ir.Array(dtype=own, dims=mine):
            return (
                dtype is not None
                and ir.same_dtype(dtype, own)
                and dims is not None
                and dims == mine
                and "any" not in dims
            )
        case _:
            return False


def cotangent_type(type_: ir.Type) -> ir.Type:
    """The type of a cotangent: that of its value, in memory of its own."""
    return ir.Array(type_.dtype, type_.dims) if isinstance(type_, ir.Array) else type_


def cotangent_var(var: ir.Var, *values: ir.Atom) -> ir.Var:
    """A variable for a cotangent of ``var`` that is one of these values: of an array, one may be the number 0."""
    is_number = any(isinstance(type_of_atom(value), (ir.Scalar, ir.Number)) for value in values)
    type_ = ir.Number() if is_number and isinstance(var.type, ir.Array) else cotangent_type(var.type)
    return ir.Var(f"{var.hint}_bar", type_)


class Scope:
    """The cotangents in the function's block or in a branch."""

    def __init__(self, sweep: Sweep, parent: Scope | None = None) -> None:
        self.sweep = sweep
        self.parent = parent
        self.values: dict[ir.Var, ir.Atom] = {}

    def get(self, var: ir.Var) -> ir.Atom | None:
        """The cotangent so far; None for zero."""
        if var in self.values:
            return self.values[var]
        return self.parent.get(var) if self.parent is not None else None

    def set(self, var: ir.Var, value: ir.Atom) -> None:
        self.values[var] = value

    def take(self, var: ir.Var) -> ir.Atom | None:
        """The cotangent of a variable whose binding is being reversed: nothing more will be added to it."""
        return self.values.pop(var, None)


class LoopScope(Scope):
    """The cotangents in the body of a loop; those of variables from outside are carried from the first use on."""

    def __init__(self, sweep: Sweep, parent: Scope, loop: ReverseLoop, context: Context) -> None:
        super().__init__(sweep, parent)
        self.loop = loop
        self.context = context
        self.carried: list[ir.Var] = []

    def get(self, var: ir.Var) -> ir.Atom | None:
        if var in self.values or self.context.regions.bindings[var].region.within(self.sweep.region):
            return self.values.get(var)
        assert self.parent is not None
        outer = self.parent.get(var)
        param = self.context.carried_cotangent(var)
        self.loop.params.append(param)
        self.loop.inits.append(self.context.zero(self.parent.sweep, var) if outer is None else outer)
        self.carried.append(var)
        self.values[var] = param
        return param

    def close(self) -> dict[ir.Var, ir.Var]:
        """Carries what was learnt; gives the variables that hold it after the loop."""
        found = {}
        for var in self.carried:
            target = self.context.carried_cotangent(var)
            self.loop.values.append(self.values[var])
            self.loop.targets.append(target)
            found[var] = target
        return found
