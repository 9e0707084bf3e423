"""Neighbouring loops as one, and sums to neighbouring places at one, leave the same in memory, to the bit."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.ir.builder import Builder
from adjoint.ir.verifier import verify
from adjoint.ir.walk import statements_in
from adjoint.native.loops.merging.loop_fusion import with_loops_in_step
from adjoint.native.loops.scatter_to_gather import with_neighbours_summed
from adjoint.rules.typing import type_of_call

ONE, ZERO = ir.Const(1), ir.Const(0)
SPECIAL = [0.0, -0.0, np.inf, np.nan]


class Program:
    """Loops along some arrays: of the caller, of the function, and made anew each time around."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.count, self.size = ir.Var("n", ir.INT), ir.Var("size", ir.INT)
        self.given = [ir.Var(name, ir.Array(np.dtype(float), ("any",), ir.Storage(written=True))) for name in "abc"]

    def function(self) -> ir.Function:
        outer = Builder(type_of_call)
        own = [outer.call(np.zeros, self.size, hint=name) for name in "uvw"]
        inner = Builder(type_of_call)
        fresh = inner.call(np.zeros, self.size, hint="fresh")
        self.numbers: list[ir.Var] = []
        for _ in range(self.choose.randint(2, 5)):
            self.row(inner, [*self.given, *own, *own, fresh])
            if self.choose.random() < 0.6:
                self.between(inner, [*self.given, *own, *own, fresh])
        body = ir.Block(tuple(inner.statements), ir.Continue(()))
        outer.emit(ir.Loop(ir.Range(ZERO, ir.Const(2), ONE), ir.Var("k", ir.INT), (), (), body, ()))
        return ir.Function("f", (self.count, self.size, *self.given), outer.block(ir.Return((ZERO,))))

    def row(self, builder: Builder, arrays: list[ir.Var]) -> None:
        body, index = builder.nested(), ir.Var("i", ir.INT)
        start = self.choose.choice([0, 1, 1, 2])

        def place() -> ir.Subscript:
            offset = self.choose.choice([0, 0, 0, -1, 1] if start else [0, 0, 1])
            if not offset:
                return ir.Subscript((index,))
            return ir.Subscript((body.call(operator.add if offset > 0 else operator.sub, index, ONE),))

        sums, target = self.choose.random() < 0.3, self.choose.choice(arrays)
        for _ in range(self.choose.randint(2, 4) if sums else self.choose.randint(1, 2)):
            first = body.load(self.choose.choice(arrays), place(), ir.FLOAT)
            second = body.load(self.choose.choice(arrays), place(), ir.FLOAT)
            value = body.call(self.choose.choice([operator.add, operator.mul, operator.sub]), first, second)
            mode = self.choose.choice(["add", "sub"] if sums else ["set", "set", "add", "sub"])
            body.store(target if sums else self.choose.choice(arrays), place(), value, mode)
        backward = self.choose.random() < 0.2
        builder.emit(
            ir.Loop(
                ir.Range(ir.Const(start), self.count, ONE, backward), index, (), (), body.block(ir.Continue(())), ()
            )
        )

    def between(self, builder: Builder, arrays: list[ir.Var]) -> None:
        place = ir.Subscript((ir.Const(self.choose.choice([0, 0, 1, 3])),))
        if self.choose.random() < 0.5:
            self.numbers.append(builder.load(self.choose.choice(arrays), place, ir.FLOAT))
        else:
            value = self.choose.choice(self.numbers) if self.numbers else ir.Const(0.5)
            builder.store(self.choose.choice(arrays), place, value, self.choose.choice(["set", "add"]))


def largest_loop(function: ir.Function) -> int:
    """How many statements the longest of the inner loops has."""
    loops = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Loop)]
    return max(
        len(loop.body.statements) for loop in loops if not any(isinstance(s, ir.Loop) for s in loop.body.statements)
    )


def after(function: ir.Function, count: int, seed: int) -> list[np.ndarray]:
    """The caller's arrays as a function leaves them."""
    generator = np.random.default_rng(seed)
    arrays = [generator.normal(size=count + 4) for _ in "abc"]
    if seed % 3 == 0:
        arrays[seed % 2][generator.integers(count + 4)] = SPECIAL[seed % 4]
    with np.errstate(all="ignore"):
        load(emit(function))(count, count + 4, *arrays)
    return arrays


@pytest.mark.parametrize("seed", range(200))
def test_the_same_is_left_in_memory(seed: int) -> None:
    function = Program(seed).function()
    verify(function, "the program")
    joined = with_neighbours_summed(with_loops_in_step(function))
    verify(joined, "loops in step, and sums")
    for count in (0, 1, 2, 3, 6):
        for one, other in zip(after(joined, count, seed), after(function, count, seed), strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(np.signbit(one[one == one]), np.signbit(other[other == other]))


def test_many_of_these_programs_have_loops_in_step() -> None:
    functions = [Program(seed).function() for seed in range(200)]
    assert sum(largest_loop(with_loops_in_step(function)) > largest_loop(function) for function in functions) > 30
    assert sum(emit(with_neighbours_summed(function)).text != emit(function).text for function in functions) > 30
