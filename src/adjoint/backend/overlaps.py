"""Augmented assignment between parts of one array, for a compiler that computes it element by element.

NumPy reads all of ``a[:-1]`` before it writes in ``a[1:] += a[:-1]``; Numba does not.
"""

from __future__ import annotations

import numpy as np

from adjoint.ir.nodes import Atom, Block, Branch, Call, Definition, Function, Statement, Store, Var
from adjoint.ir.types import Array
from adjoint.ir.walk import map_blocks


def without_overlaps(function: Function) -> Function:
    """The function with copies of what is added to memory that it may lie in itself."""
    return _Separation().function(function)


class _Separation:
    def __init__(self) -> None:
        self.made: dict[Definition, Definition] = {}

    def function(self, function: Function) -> Function:
        return Function(function.name, function.params, self.block(function.body), function.doc)

    def definition(self, definition: Definition) -> Definition:
        known = self.made.get(definition)
        if known is None:
            known = self.made[definition] = Definition(definition.name)
            known.function = None if definition.function is None else self.function(definition.function)
        return known

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Store(base=base, key=key, value=value, mode="add" | "sub" as mode, span=span):
                    if _may_overlap(base, value) and not (key is None and value is base):
                        assert isinstance(value, Var)
                        copy = Var(value.hint, Array(value.type.dtype, value.type.dims))  # type: ignore[attr-defined]
                        statements.append(Call((copy,), np.copy, (value,), (), span))
                        statement = Store(base, key, copy, mode, span)
                    statements.append(statement)
                case Call(targets=targets, callee=Definition() as callee, args=args, kwargs=kwargs, span=span):
                    statements.append(Call(targets, self.definition(callee), args, kwargs, span))
                case _:
                    statements.append(map_blocks(statement, self.block))
        end = block.terminator
        if isinstance(end, Branch):
            end = Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
        return Block(tuple(statements), end)


def _may_overlap(base: Atom, value: Atom) -> bool:
    if not isinstance(base, Var) or not isinstance(value, Var):
        return False
    if not isinstance(base.type, Array) or not isinstance(value.type, Array):
        return False
    return base.type.storage.find() is value.type.storage.find()
