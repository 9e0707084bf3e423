"""Cotangents of numbers that scale arrays are dot products.

The rule of ``c * x`` sums ``ct * x`` to the shape of ``c``. Of a product of two arrays with numbers,
``rt.unbroadcast(-x_bar * x / (c * c), c)``, the sum is ``-(x_bar @ x) / (c * c)``: no array is made, and the numbers
are multiplied once; ``rt.sum_of_products`` where one array may be broadcast to the other. It is legal for 64-bit
floats, and where nothing between the products and the sum may write.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.extents import Extents, are_of_one_shape
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import read_counts
from adjoint.records import dataclass, field
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.array_functions.products import sum_of_products

_FLOAT = np.dtype(np.float64)
_OF_NUMPY = ir.Scalar("float", _FLOAT)
_NUMBERS = (ir.FLOAT, _OF_NUMPY, ir.INT)


def with_dot_products(function: ir.Function) -> ir.Function:
    """The function with sums of products, down to one number, as dot products."""
    rewriter = _Rewriter(function)
    body = rewriter.block(function.body)
    return ir.Function(function.name, function.params, body, function.doc) if rewriter.changed else function


@dataclass(eq=False, slots=True)
class _Product:
    """A product as it is taken apart: its arrays, and what numbers do to it, the last first."""

    arrays: list[ir.Atom] = field(default_factory=list)
    scaled: list[tuple[Any, ir.Atom]] = field(default_factory=list)
    negative: bool = False

    def steps(self) -> list[tuple[Any, tuple[ir.Atom, ...]]]:
        """What is done to the sum of the product of the arrays; the sign goes to a constant where there is one."""
        steps: list[tuple[Any, tuple[ir.Atom, ...]]] = [(done, (number,)) for done, number in reversed(self.scaled)]
        if not self.negative:
            return steps
        for place, (done, (number,)) in enumerate(steps):
            if isinstance(number, ir.Const):
                return [*steps[:place], (done, (ir.Const(-number.value),)), *steps[place + 1 :]]
        return [(operator.neg, ()), *steps]


class _Rewriter:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.counts = read_counts(function.body)
        self.changed = False

    @cached_property
    def extents(self) -> Extents:
        return Extents(self.function)

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            is_sum = isinstance(statement, ir.Call) and statement.callee is unbroadcast
            if not (is_sum and self.sum(statement, statements)):
                statements.append(map_blocks(statement, self.block))
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def sum(self, call: ir.Statement, before: list[ir.Statement]) -> bool:
        """Whether what stands for a sum of products was added to the statements before it."""
        assert isinstance(call, ir.Call)
        ct, like = call.args
        kind = getattr(like, "type", None)
        if kind not in (ir.FLOAT, _OF_NUMPY):
            return False
        product = _Product()
        self.take_apart(ct, _made_of_late(before), product)
        summed = self.summed(product)
        if summed is None:
            return False
        total = ir.Var("t", _OF_NUMPY)
        before.append(ir.Call((total,), summed, tuple(product.arrays), (), call.span))
        steps = product.steps()
        steps += [(float, ())] * (kind == ir.FLOAT)
        for callee, numbers in steps:
            args = (*numbers, total) if callee is operator.mul else (total, *numbers)
            total = ir.Var("t", ir.FLOAT if callee is float else _OF_NUMPY)
            before.append(ir.Call((total,), callee, args, (), call.span))
        last = before.pop()
        assert isinstance(last, ir.Call)
        before.append(ir.Call(call.targets, last.callee, last.args, (), call.span))
        self.changed = True
        return True

    def summed(self, product: _Product) -> Any:
        """What gives the sum over all elements of a product; None where it is best left as it is."""
        ranks = [ir.rank_of(type_) for each in product.arrays if (type_ := _array_type(each)) is not None]
        if len(ranks) != len(product.arrays) or 0 in ranks:
            return None
        if len(ranks) == 1:
            return np.sum if product.scaled or product.negative else None
        if len(ranks) > 2 or (ranks[0] != ranks[1] and None not in ranks):
            return None
        if ranks[0] is None or not are_of_one_shape(product.arrays[0], product.arrays[-1], lambda: self.extents):
            return sum_of_products
        return operator.matmul if ranks[0] == 1 else np.vdot

    def take_apart(self, atom: ir.Atom, made: dict[ir.Var, ir.Call], product: _Product) -> None:
        """Takes down what an array is a product of, as far as nobody else reads the products."""
        call = made.get(atom) if isinstance(atom, ir.Var) and self.counts[atom] == 1 and not atom.named else None
        match call:
            case ir.Call(callee=operator.neg, args=(one,)):
                product.negative = not product.negative
                self.take_apart(one, made, product)
            case ir.Call(callee=operator.mul, args=(one, other)):
                for number, rest in ((one, other), (other, one)):
                    if _is_number(number):
                        product.scaled.append((operator.mul, number))
                        self.take_apart(rest, made, product)
                        return
                self.take_apart(one, made, product)
                self.take_apart(other, made, product)
            case ir.Call(callee=operator.truediv, args=(one, other)) if _is_number(other):
                product.scaled.append((operator.truediv, other))
                self.take_apart(one, made, product)
            case _:
                product.arrays.append(atom)


def _array_type(atom: ir.Atom) -> ir.Array | None:
    """The type of an array of 64-bit floats."""
    type_ = getattr(atom, "type", None)
    return type_ if isinstance(type_, ir.Array) and type_.dtype == _FLOAT else None


def _made_of_late(before: list[ir.Statement]) -> dict[ir.Var, ir.Call]:
    """The results of calls behind the last statement that may write, by their variables."""
    made: dict[ir.Var, ir.Call] = {}
    for statement in reversed(before):
        if isinstance(statement, ir.Call):
            if not effects_of(statement).pure:
                break
            if len(statement.targets) == 1:
                made[statement.targets[0]] = statement
        elif not isinstance(statement, ir.Load):
            break
    return made


def _is_number(atom: ir.Atom) -> bool:
    if isinstance(atom, ir.Const):
        return type(atom.value) in (int, float)
    return getattr(atom, "type", None) in _NUMBERS
