"""What is asked only for its shape is not computed.

The cotangent of a sum is spread over the shape of what was summed: where nothing else reads that, an array of its shape
and dtype does as well. An operand of an element-wise function that is known to have the shape is at hand; in place of
other results, and of products of matrices, stand arrays that nobody fills. The operands are asked only for their shapes
then, and so on backwards: through what is reshaped, and through tapes.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.shape_arguments import may_have_no_shape, shape_argument
from adjoint.analysis.shapes.tapes import taken_from_tape, tapes_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, substitute
from adjoint.ir.walk import blocks_of, read_counts, statements_in
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime import tangents
from adjoint.runtime.array_functions import arrays
from adjoint.runtime.cotangents import check_cotangent

_LAID_OUT_LIKE = (arrays.zeros_in_memory, arrays.zeros_like, np.zeros_like, tangents.shadow_or_zeros, check_cotangent)
"""Of the functions that ask for a shape, those whose result, or message, tells more than shape and dtype."""
_LIKE = (arrays.zeros_in_memory, arrays.zeros_like, np.zeros_like)
"""Of those, the ones that tell no more where there is but one axis."""
_EMPTY = (arrays.empty_product, arrays.empty_sum)
_PRODUCTS = (operator.matmul, np.matmul)
_RESHAPED = (np.reshape, np.ndarray.reshape)
_OF_ONE_SHAPE = (np.triu, np.tril, np.flip, np.roll, np.sort, np.cumsum, np.cumprod)
"""Functions besides element-wise ones whose results may have the shape of their argument."""


def without_unread_results(function: ir.Function) -> ir.Function:
    """The function in which no product of matrices and no element-wise result is computed for its shape."""
    if not any(True for statement in statements_in(function.body) for _ in asked_by(statement, ())):
        return function
    unread = _Unread(function)
    unread.block(function.body)
    if not unread.found:
        return function
    body = substitute(unread.written(function.body), unread.settled())
    return ir.Function(function.name, function.params, body, function.doc)


def asked_by(statement: ir.Statement, tapes: Collection[ir.Var]) -> Iterator[ir.Var]:
    """The arrays of which a statement asks only the shape; ``tapes``: those of which nothing else is asked."""
    if isinstance(statement, ir.Call) and isinstance(statement.callee, Hashable):
        asked: tuple[ir.Atom, ...] = ()
        place = shape_argument(statement.callee)
        if statement.callee is list.append and statement.args[0] in tapes:
            asked = statement.args[1:]
        elif statement.callee in _EMPTY:
            asked = statement.args
        elif place is not None:
            asked = statement.args[place : place + 1]
            if statement.callee in _LAID_OUT_LIKE and not (
                statement.callee in _LIKE and all(map(_has_one_axis, asked))
            ):
                return
        for arg in asked:
            if isinstance(arg, ir.Var) and isinstance(arg.type, ir.Array):
                yield arg


def tapes_of_one_shape(function: ir.Function) -> list[ir.Var]:
    """The tapes of arrays of one shape, whatever the iteration, of which nothing else is asked."""
    if not tapes_of(function.body):
        return []
    unread = _Unread(function)
    asked = unread.tapes(function)
    known = unread.extents.tapes
    return [tape for tape in known.known if tape in asked and known.of_all_items(tape) is not None]


class _Unread:
    """``found`` has what stands for each result that nobody reads: an operand, or a call that fills nothing."""

    def __init__(self, function: ir.Function) -> None:
        self.extents = Extents(function)
        self.read = Counter(read_counts(function.body))
        self.asked = Counter(var for each in statements_in(function.body) for var in asked_by(each, ()))
        tapes = self.tapes(function)
        if tapes:
            self.asked = Counter(var for each in statements_in(function.body) for var in asked_by(each, tapes))
        self.found: dict[ir.Var, ir.Var | ir.Call] = {}

        self._body = function.body

    @cached_property
    def shapeless(self) -> set[ir.Var]:
        return may_have_no_shape(self._body)

    def tapes(self, function: ir.Function) -> set[ir.Var]:
        """The tapes of which each array that is taken back is asked only for its shape."""
        others: set[ir.Atom] = set()
        for statement in statements_in(function.body):
            taken = taken_from_tape(statement)
            if taken is not None and (self.asked[taken[1]] < self.read[taken[1]] or not _is_plain(taken[1])):
                others.add(taken[0])
        return {tape for tape in self.extents.tapes.known if tape not in others}

    def block(self, block: ir.Block) -> None:
        """From the last statement on: what a result is computed from is read less often once it is not computed."""
        if isinstance(block.terminator, ir.Branch):
            self.block(block.terminator.then)
            self.block(block.terminator.orelse)
        for statement in reversed(block.statements):
            for inner in blocks_of(statement):
                self.block(inner)
            if isinstance(statement, ir.Call) and len(statement.targets) == 1:
                self.call(statement)

    def call(self, call: ir.Call) -> None:
        (target,) = call.targets
        if not self.asked[target] or self.asked[target] < self.read[target] or not _is_plain(target):
            return
        stands = self.instead(call, target)
        if stands is None:
            return
        self.found[target] = stands
        for arg in _vars(call):
            self.read[arg] -= 1
        if isinstance(stands, ir.Var):
            self.read[stands] += self.read[target]
            self.asked[stands] += self.asked[target]
        else:
            for arg in _vars(stands):
                self.read[arg] += 1
                self.asked[arg] += 1

    def instead(self, call: ir.Call, target: ir.Var) -> ir.Var | ir.Call | None:
        operands = [arg for arg in call.args if isinstance(arg, ir.Var) and isinstance(arg.type, ir.Array)]
        if not operands or not all(map(_is_plain, operands)):
            return None
        if call.callee in _OF_ONE_SHAPE:
            is_alike = _dtype(operands[0]) == _dtype(target) and self.extents.alike(operands[0], target) is not None
            return operands[0] if is_alike else None
        if call.kwargs:
            return None
        if np.result_type(*map(_dtype, operands)) != _dtype(target):
            return None
        if call.callee in _RESHAPED:
            return call
        if call.callee in _PRODUCTS and len(operands) == len(call.args) == 2:
            return ir.Call(call.targets, arrays.empty_product, call.args, (), call.span)
        others = [arg for arg in call.args if arg not in operands]
        if not isinstance(rule_for(call.callee), Elementwise) or not all(map(_is_number, others)):
            return None
        for arg in operands:
            if self.extents.alike(arg, target) is not None and arg not in self.shapeless:
                return arg
        if len(operands) != 2:
            return None
        return ir.Call(call.targets, arrays.empty_sum, tuple(operands), (), call.span)

    def written(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            stands = (
                self.found.get(statement.targets[0]) if isinstance(statement, ir.Call) and statement.targets else None
            )
            if isinstance(stands, ir.Call):
                statements.append(stands)
            elif stands is None:
                statements.append(map_blocks(statement, self.written) if blocks_of(statement) else statement)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.written(end.then), self.written(end.orelse), end.span)
        return ir.Block(tuple(statements), end)

    def settled(self) -> dict[ir.Var, ir.Atom]:
        def last(var: ir.Var) -> ir.Var:
            stands = self.found.get(var)
            return last(stands) if isinstance(stands, ir.Var) else var

        return {var: last(var) for var, stands in self.found.items() if isinstance(stands, ir.Var)}


def _vars(call: ir.Call) -> Iterator[ir.Var]:
    return (arg for arg in (*call.args, *(value for _, value in call.kwargs)) if isinstance(arg, ir.Var))


def _is_plain(var: ir.Var) -> bool:
    """Whether it is surely an array, of a dtype that is known."""
    return isinstance(var.type, ir.Array) and bool(var.type.dims) and var.type.dtype is not None


def _has_one_axis(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array) and len(atom.type.dims or ()) == 1


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), ir.Scalar)


def _dtype(var: ir.Var) -> Any:
    return var.type.dtype if isinstance(var.type, ir.Array) else None


__all__ = ["asked_by", "tapes_of_one_shape", "without_unread_results"]
