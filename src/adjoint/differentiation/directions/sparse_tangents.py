"""Products of matrices in a derivative leave out what is zero in a direction."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.differentiation.directions.dependence import Directed
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime.array_functions.sparse import lets_zeros_be_skipped, product_of_moving

_PRODUCTS = (operator.matmul, np.matmul, np.dot)


def with_zeros_skipped(function: ir.Function, seeds: Sequence[int]) -> ir.Function:
    """The derivative with products that may skip zeros of its direction, the parameters at ``seeds``.

    Raises
    ------
    Inseparable
        If it is not known what depends on the direction.
    """
    products = _Products(function, Directed(function, [function.params[place] for place in seeds]))
    if not products.found:
        return function
    body = products.block(function.body)
    start = tuple(products.tests_of(function.params))
    return ir.Function(
        function.name, function.params, ir.Block((*start, *body.statements), body.terminator), function.doc
    )


class _Products:
    """The products of a derivative of which one factor moves with the direction.

    Whether the other lets zeros be skipped is tested where that is made, if nothing writes to it later.
    """

    def __init__(self, function: ir.Function, directed: Directed) -> None:
        aliases = Aliases(function)
        made = {target for statement in statements_in(function.body) for target in targets_of(statement)}
        made.update(function.params)
        self.found: dict[ir.Call, tuple[ir.Var, bool]] = {}
        self._tests: dict[ir.Var, ir.Var] = {}
        for statement in statements_in(function.body):
            match statement:
                case ir.Call(callee=callee, args=(ir.Var() as a, ir.Var() as b), kwargs=()) if callee in _PRODUCTS:
                    is_left, is_right = directed.depends(a), directed.depends(b)
                    if is_left == is_right or not _are_matrices(a, b):
                        continue
                    other = b if is_left else a
                    self.found[statement] = other, is_left
                    if other in made and not aliases.is_written(other):
                        self._tests.setdefault(other, ir.Var("skips", ir.BOOL))

    def block(self, old: ir.Block) -> ir.Block:
        """A block with tests and products in their places."""
        statements = tuple(new for statement in old.statements for new in self._statements(statement))
        return ir.Block(statements, rebuild_terminator(old.terminator, same_atom, self.block))

    def tests_of(self, made: Sequence[ir.Var]) -> Iterator[ir.Statement]:
        """The tests of what is made at some place."""
        for var in made:
            if var in self._tests:
                yield ir.Call((self._tests[var],), lets_zeros_be_skipped, (var,))

    def _statements(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        if isinstance(statement, ir.Call) and statement in self.found:
            yield from self._product(statement)
        else:
            yield map_blocks(statement, self.block)
        yield from self.tests_of(targets_of(statement))

    def _product(self, call: ir.Call) -> Iterator[ir.Statement]:
        other, is_left = self.found[call]
        skips = self._tests.get(other)
        if skips is None:
            skips = ir.Var("skips", ir.BOOL)
            yield ir.Call((skips,), lets_zeros_be_skipped, (other,))
        yield ir.Call(call.targets, product_of_moving, (*call.args, skips, ir.Const(is_left)), (), call.span)


def _are_matrices(a: ir.Var, b: ir.Var) -> bool:
    """Whether factors are matrices of the same kind of floats."""
    return _is_matrix(a.type) and _is_matrix(b.type) and a.type.dtype == b.type.dtype


def _is_matrix(type_: ir.Type) -> TypeGuard[ir.Array]:
    match type_:
        case ir.Array(dtype=np.dtype(kind="f"), dims=(_, _)):
            return True
        case _:
            return False
