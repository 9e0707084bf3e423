"""The cotangents of values at one point of the reverse region.

A scope belongs to one open block. What it learns about variables from outside is handed on where the block closes: by
an ``If`` as the values of its targets, by a loop as values that it carries.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint.differentiation.reverse.bindings import Regions
from adjoint.differentiation.reverse.region import ReverseLoop, Sweep
from adjoint.ir.nodes import Atom, Var
from adjoint.ir.types import Array, Type

Zero = Callable[[Sweep, Var], Atom]


def cotangent_type(type_: Type) -> Type:
    """The type of a cotangent: that of its value, in memory of its own."""
    return Array(type_.dtype, type_.dims) if isinstance(type_, Array) else type_


def cotangent_var(var: Var) -> Var:
    """A variable for a cotangent of ``var``."""
    return Var(f"{var.hint}_bar", cotangent_type(var.type))


class Scope:
    """The cotangents in the function's block or in a branch."""

    def __init__(self, sweep: Sweep, parent: Scope | None = None) -> None:
        self.sweep = sweep
        self.parent = parent
        self.values: dict[Var, Atom] = {}

    def get(self, var: Var) -> Atom | None:
        """The cotangent so far; None for zero."""
        if var in self.values:
            return self.values[var]
        return self.parent.get(var) if self.parent is not None else None

    def set(self, var: Var, value: Atom) -> None:
        self.values[var] = value

    def take(self, var: Var) -> Atom | None:
        """The cotangent of a variable whose binding is being reversed: nothing more will be added to it."""
        return self.values.pop(var, None)


class LoopScope(Scope):
    """The cotangents in the body of a loop; those of variables from outside are carried from the first use on."""

    def __init__(self, sweep: Sweep, parent: Scope, loop: ReverseLoop, regions: Regions, zero: Zero) -> None:
        super().__init__(sweep, parent)
        self.loop = loop
        self.regions = regions
        self.zero = zero
        self.carried: list[Var] = []

    def get(self, var: Var) -> Atom | None:
        if var in self.values or self.regions.bindings[var].region.within(self.sweep.region):
            return self.values.get(var)
        assert self.parent is not None
        outer = self.parent.get(var)
        param = cotangent_var(var)
        self.loop.params.append(param)
        self.loop.inits.append(self.zero(self.parent.sweep, var) if outer is None else outer)
        self.carried.append(var)
        self.values[var] = param
        return param

    def close(self) -> dict[Var, Var]:
        """Carries what was learnt; gives the variables that hold it after the loop."""
        found = {}
        for var in self.carried:
            target = cotangent_var(var)
            self.loop.values.append(self.values[var])
            self.loop.targets.append(target)
            found[var] = target
        return found
