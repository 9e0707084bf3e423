"""Which calls of mathematical functions are worth vector code: those whose iterations do not wait for each other.

One after the other, the C library's functions are faster than ours; side by side, ours are by far.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_array, is_whole_number
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of
from adjoint.native.vectors.forms import vector_form
from adjoint.runtime.arithmetic import indices


def with_vector_calls(function: ir.Function) -> ir.Function:
    """The function with our own mathematical functions in its innermost loops."""
    return ir.Function(function.name, function.params, _block(function.body), function.doc)


_CHEAP_EXPONENTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
"""LLVM makes roots, products and quotients of these powers."""


def _block(block: ir.Block) -> ir.Block:
    statements = tuple(map(_statement, block.statements))
    return ir.Block(statements, rebuild_terminator(block.terminator, lambda atom: atom, _block))


def _statement(statement: ir.Statement) -> ir.Statement:
    if not isinstance(statement, ir.Loop) or not isinstance(statement.over, ir.Range):
        return map_blocks(statement, _block)
    if any(isinstance(part, ir.Loop) or _is_of_a_part(part) for part in statements_in(statement.body)):
        return map_blocks(statement, _block)
    waiting = chained(statement)
    return map_blocks(statement, lambda body: _replaced(body, waiting))


def _is_of_a_part(statement: ir.Statement) -> bool:
    """Whether a statement writes more than one element of an array: that is a loop in the loop."""
    if not isinstance(statement, ir.Store) or not is_array(statement.base):
        return False
    items = statement.key.items if isinstance(statement.key, ir.Subscript) else ()
    return not items or any(not is_whole_number(item) for item in items)


def _replaced(block: ir.Block, waiting: set[ir.Var]) -> ir.Block:
    """A loop's body with vector forms, but not of what waits for the iteration before."""

    def inner(part: ir.Block) -> ir.Block:
        return _replaced(part, waiting)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        if (
            isinstance(statement, ir.Call)
            and _is_real_function(statement)
            and waiting.isdisjoint(_variables(statement))
        ):
            form = vector_form(statement.callee)
            if form is not None:
                statement = ir.Call(statement.targets, form, statement.args, (), statement.span)
        statements.append(map_blocks(statement, inner))
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _variables(call: ir.Call) -> list[ir.Var]:
    return [arg for arg in call.args if isinstance(arg, ir.Var)]


def _is_real_function(call: ir.Call) -> bool:
    """Whether a call is of doubles: Python's functions compute with doubles whatever they are given."""
    if call.kwargs or not call.args or not all(map(_is_double, call.args)) or len(call.targets) != 1:
        return False
    exponents = [arg.value for arg in call.args[1:] if isinstance(arg, ir.Const)]
    return not any(exponent in _CHEAP_EXPONENTS for exponent in exponents)


def _is_double(atom: ir.Atom) -> bool:
    match atom:
        case ir.Var(type=ir.Scalar(kind="float", dtype=dtype)):
            return dtype is None or dtype == np.float64
        case _:
            return isinstance(atom, ir.Const) and type(atom.value) is float


def chained(loop: ir.Loop) -> set[ir.Var]:
    """What an iteration computes from what the iterations before it left."""
    found = set(loop.params)
    _Chains(loop, found).extend(loop.body)
    return found


class _Chains:
    """Finds what waits for iterations before: what is computed from it, or read where others may have stored it."""

    def __init__(self, loop: ir.Loop, found: set[ir.Var]) -> None:
        self.found = found
        self.same: dict[ir.Atom, ir.Atom] = {}
        self.stores: dict[Any, set[Any]] = {}
        for statement in statements_in(loop.body):
            if isinstance(statement, ir.Call) and statement.callee in (indices.natural, indices.row, indices.unsigned):
                (number,) = statement.args
                self.same[statement.targets[0]] = self.same.get(number, number)
            elif isinstance(statement, ir.Store):
                self.stores.setdefault(_memory(statement.base), set()).add(self._place(statement))

    def extend(self, block: ir.Block) -> None:
        for statement in block.statements:
            if not self.found.isdisjoint(operands(statement)) or self._reads_what_others_store(statement):
                self.found.update(targets_of(statement))
            for inner in blocks_of(statement):
                self.extend(inner)
            if isinstance(statement, ir.If):
                branches = zip(statement.targets, *map(_yielded, blocks_of(statement)), strict=False)
                self.found.update(target for target, *values in branches if not self.found.isdisjoint(values))
        for inner in blocks_of(block.terminator):
            self.extend(inner)

    def _reads_what_others_store(self, statement: ir.Statement) -> bool:
        if not isinstance(statement, ir.Load):
            return False
        return not self.stores.get(_memory(statement.base), set()) <= {self._place(statement)}

    def _place(self, access: ir.Load | ir.Store) -> tuple[ir.Atom, Any]:
        key = access.key
        if isinstance(key, ir.Subscript):
            key = ir.Subscript(
                tuple(item if isinstance(item, ir.Slice) else self.same.get(item, item) for item in key.items)
            )
        return access.base, key


def _yielded(block: ir.Block) -> tuple[Any, ...]:
    return getattr(block.terminator, "values", ())


def _memory(base: ir.Atom) -> Any:
    return ir.storage_of(base.type) if isinstance(base, ir.Var) else None
