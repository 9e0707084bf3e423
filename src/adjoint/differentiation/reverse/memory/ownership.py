"""Which arrays own the memory of their cotangent.

The cotangent of an array that is read by element, or used in a loop that it comes from outside of, accumulates in
place: in zeros that are made where the reverse of the array's region starts. Else each read would cost an array.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.bindings import Region
from adjoint.differentiation.reverse.context import Context
from adjoint.ir.walk import blocks_of, operands
from adjoint.runtime.array_functions.arrays import zeros_in_memory, zeros_like


class Ownership:
    """The owned cotangents of a function's arrays; arrays that are written have shadows instead."""

    def __init__(self, context: Context, lent: Mapping[ir.Var, ir.Var], *, recursive: bool) -> None:
        self.context = context
        self.recursive = recursive
        self.lent = lent
        self.owned: dict[ir.Var, ir.Var] = {}
        self.part_of: dict[ir.Var, ir.Var] = {}
        self.touched: set[ir.Var] = set()
        for var in lent:
            self.own(var)
        if any(isinstance(var.type, ir.Array) for var in context.regions.bindings):
            self.scan(context.function.body)

    def scan(self, block: ir.Block) -> None:
        region = self.context.region(block)
        for node in (*block.statements, block.terminator):
            for atom in operands(node):
                if not isinstance(atom, ir.Var) or atom not in self.context.regions.bindings:
                    continue
                home = self.context.regions.bindings[atom].region
                if not region.within(home):
                    raise AssertionError(f"{atom!r} is read outside of the block that binds it")
                by_element = isinstance(node, ir.Load) and node.base is atom
                if isinstance(node, ir.Call) and isinstance(node.callee, ir.Definition):
                    by_element |= self.recursive or node.callee.checkpoints is not None
                from_outside = self.crosses_loop(region, home)
                if by_element or (from_outside and not self.only_asks(node)):
                    self.own(atom)
            for inner in blocks_of(node):
                self.scan(inner)

    def crosses_loop(self, region: Region, home: Region) -> bool:
        """Whether there is a loop between a variable's region and one that reads it."""
        around: Region | None = region
        while around is not None and around is not home:
            if around.kind == "loop":
                return True
            around = around.parent
        return False

    def only_asks(self, node: ir.Statement | ir.Terminator) -> bool:
        """Whether a statement gives nothing that varies."""
        return isinstance(node, ir.Call) and not any(map(self.context.active, node.targets)) and bool(node.targets)

    def own(self, var: ir.Var) -> None:
        if (
            var in self.owned
            or not isinstance(var.type, ir.Array)
            or ir.is_handle(var.type)
            or not self.context.active(var)
        ):
            return
        if var in self.lent:
            self.owned[var] = self.lent[var]
            return
        binding = self.context.regions.bindings[var]
        place = (binding.region, (binding.order, 1))
        base = self.viewed(binding.statement)
        memory = None if base is None else ir.storage_of(self.owned[base].type)
        type_ = ir.Array(var.type.dtype, var.type.dims, memory or ir.Storage(written=True))
        owned = self.owned[var] = ir.Var(f"{var.hint}_bar", type_)
        if base is not None and isinstance(binding.statement, ir.Load):
            self.part_of[var] = base
            self.context.recipes[owned] = (*place, ir.Load(owned, self.owned[base], binding.statement.key))
            return
        known = ir.is_float_dtype(var.type.dtype) and not self.context.may_be_undefined(var)
        make = np.zeros_like if known else zeros_in_memory if var.type.dims is None else zeros_like
        self.context.recipes[owned] = (*place, ir.Call((owned,), make, (var,)))

    def viewed(self, statement: ir.Statement | None) -> ir.Var | None:
        """The array of which a statement gives a view, if its cotangent has memory: then the view's is in there."""
        if not isinstance(statement, ir.Load) or not isinstance(statement.base, ir.Var) or not _is_basic(statement.key):
            return None
        self.own(statement.base)
        return statement.base if statement.base in self.owned else None

    def accumulator(self, var: ir.Var) -> ir.Var | None:
        """The owned cotangent of an array that is going to be added to."""
        owned = self.owned.get(var)
        if owned is not None:
            self.touched.add(var)
            if var in self.part_of:
                self.accumulator(self.part_of[var])
        return owned

    def taken(self, var: ir.Var) -> ir.Var | None:
        """The owned cotangent of an array, where anything was added to it."""
        return self.owned.get(var) if var in self.touched else None


def _is_basic(key: ir.Key) -> bool:
    """Whether an index surely gives a view."""
    if not isinstance(key, ir.Subscript):
        return False
    return all(isinstance(item, ir.Slice) or _is_number(item) for item in key.items)


def _is_number(item: ir.Atom) -> bool:
    if isinstance(item, ir.Const):
        return item.value is None or item.value is Ellipsis or type(item.value) is int
    return isinstance(item, ir.Var) and item.type == ir.INT
