"""Which whole numbers of a function are never negative, whatever its arguments."""

from __future__ import annotations

import operator

import numpy as np

from adjoint import ir
from adjoint.ir.walk import blocks_of, leaves
from adjoint.runtime.arithmetic import fused_loops, indices

_COUNTS = (
    *(indices.natural, indices.row, indices.unsigned),
    *(fused_loops.step_along, fused_loops.wrapped, fused_loops.around),
)


def naturals_of(function: ir.Function) -> set[ir.Var]:
    """The whole numbers of a function that are surely never negative."""
    naturals = _Naturals()
    naturals.block(function.body)
    return naturals.found


class _Naturals:
    """The whole numbers of a function that are never negative."""

    def __init__(self) -> None:
        self.found: set[ir.Var] = set()
        self.lowest: dict[ir.Var, int] = {}
        self.shapes: set[ir.Var] = set()
        self.rests: dict[ir.Var, ir.Atom] = {}

    def has(self, atom: ir.Atom | ir.Slice) -> bool:
        if isinstance(atom, ir.Const):
            return type(atom.value) is int and atom.value >= 0
        return isinstance(atom, ir.Var) and atom in self.found

    def block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self.statement(statement)
        for inner in blocks_of(block.terminator):
            self.block(inner)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call(targets=(target,), callee=callee):
                if callee is np.shape:
                    self.shapes.add(target)
                elif target.type == ir.INT and self.call(statement):
                    self.found.add(target)
                    if callee is operator.mod:
                        self.rests[target] = statement.args[0]
            case ir.Load(target=target, base=ir.Var() as base) if base in self.shapes and target.type == ir.INT:
                self.found.add(target)
            case ir.If(targets=targets):
                for block in blocks_of(statement):
                    self.block(block)
                ends = [leaf for block in blocks_of(statement) for leaf in leaves(block)]
                for place, target in enumerate(targets):
                    given = [end.values[place] for end in ends if isinstance(end, ir.Yield)]
                    if target.type == ir.INT and given and all(map(self.has, given)):
                        self.found.add(target)
            case ir.Loop():
                self.loop(statement)
            case _:
                for block in blocks_of(statement):
                    self.block(block)

    def call(self, call: ir.Call) -> bool:
        callee, args = call.callee, call.args
        if callee in (*_COUNTS, len, np.size, np.ndim):
            return True
        if callee in (operator.add, operator.mul, operator.floordiv, min):
            return all(map(self.has, args))
        if callee is operator.mod:
            return self.has(args[1])
        if callee is max:
            return any(map(self.has, args))
        return callee is operator.sub and self.has(args[0]) and self.is_no_more(*args)

    def is_no_more(self, number: ir.Atom, less: ir.Atom) -> bool:
        """Whether what is taken away from a natural number is a part of it, or no more than the least it can be."""
        if isinstance(less, ir.Var):
            return self.rests.get(less) == number
        least = self.lowest.get(number, 0) if isinstance(number, ir.Var) else 0
        return isinstance(less, ir.Const) and type(less.value) is int and least >= less.value

    def loop(self, loop: ir.Loop) -> None:
        """Assumes that what a loop carries stays natural, and looks again without what does not."""
        over = loop.over
        if loop.index is not None and isinstance(over, ir.Range) and counts_up(over) and self.has(over.start):
            self.found.add(loop.index)
            if isinstance(over.start, ir.Const):
                self.lowest[loop.index] = over.start.value
        hopeful = [
            slot for slot, param in enumerate(loop.params) if param.type == ir.INT and self.has(loop.inits[slot])
        ]
        known = set(self.found)
        while True:
            self.found = known | {loop.params[slot] for slot in hopeful}
            self.block(loop.body)
            ends = [leaf for leaf in leaves(loop.body) if isinstance(leaf, ir.Continue)]
            holds = [slot for slot in hopeful if all(self.has(end.values[slot]) for end in ends)]
            if holds == hopeful:
                break
            hopeful = holds
        if all(isinstance(leaf, ir.Continue) for leaf in leaves(loop.body)):
            self.found.update(loop.targets[slot] for slot in hopeful)


def counts_up(over: ir.Range) -> bool:
    """Whether a range goes up by a constant."""
    return isinstance(over.step, ir.Const) and type(over.step.value) is int and over.step.value > 0
