"""Arrays of one size that a loop makes in each iteration are made once, before it.

So are tapes: a list to which each iteration appends an array becomes one array, of which that array is a row.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_argument
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_body, rebuild_terminator, substitute
from adjoint.ir.walk import defined_by, operands, targets_of
from adjoint.native.loops.uses import Uses
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.arithmetic import bundles
from adjoint.types.classes.safe_lookups import found_in

_FILLS: dict[Any, bool] = {np.empty: False, np.zeros: True, np.empty_like: False, np.zeros_like: True}
_FILLS |= {bundles.no_bundles_yet: False, bundles.zero_bundles: True}
"""Functions that make an array, and whether they fill it."""
UNFILLED: dict[Any, Any] = {np.zeros: np.empty, np.zeros_like: np.empty_like}
UNFILLED[bundles.zero_bundles] = bundles.no_bundles_yet
"""Functions that make an array of zeros, and what makes it without them."""


_ANY: ir.Dim = "any"
_FACTS = (len, np.shape, display.make_tuple, max)
"""Functions that may be called earlier, and where they were not called."""


Sizes = tuple[ir.Atom | tuple[ir.Atom, int], ...]
"""The extents of an array: numbers, or axes of another array."""


def without_allocations_in_loops(function: ir.Function) -> ir.Function:
    """The function with its work arrays and tapes made outside of the loops that fill them."""
    while True:
        hoisting = _Hoisting(Uses(function.body))
        body = hoisting.block(function.body)
        if not hoisting.changed:
            return function
        function = ir.Function(function.name, function.params, substitute(body, hoisting.rows), function.doc)


class _Hoisting:
    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.rows: dict[ir.Var, ir.Atom] = {}
        self.changed = False

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Loop) and isinstance(statement.over, ir.Range):
                self.loop(statement, statements)
            else:
                statements.append(map_blocks(statement, self.block))
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def loop(self, loop: ir.Loop, before: list[ir.Statement]) -> None:
        """Puts a loop after ``before``, and there what need not be in it."""
        inside = defined_by(loop)
        tapes = self.tapes(loop, before, inside)
        if tapes and loop.index is None:
            loop = replace(loop, index=ir.Var("i", ir.INT))
        body: list[ir.Statement] = []
        for statement in loop.body.statements:
            (target, *_) = targets_of(statement) or (None,)
            if target in tapes:
                assert isinstance(statement, ir.Call) and target is not None
                self.as_row(statement, tapes[target], loop, before)
                body.append(ir.Load(target, self.rows[tapes[target]], ir.Subscript((loop.index,)), statement.span))  # type: ignore[arg-type]
                body += _fill(statement)
            elif isinstance(statement, ir.Call) and statement.callee is list.append and statement.args[0] in self.rows:
                continue
            elif self.is_work_array(statement, inside) or is_fact(statement, inside):
                before += self.made_outside(statement, inside)
                body += _fill(statement)
                inside.difference_update(targets_of(statement))
                self.changed = True
            else:
                body.append(statement)
        inner = self.block(ir.Block(tuple(body), loop.body.terminator))
        before.append(map_body(loop, inner))

    def is_work_array(self, statement: ir.Statement, inside: set[ir.Var]) -> bool:
        """Whether a statement makes an array of the same size in each iteration, for this iteration only."""
        alike = _makes_alike(statement, inside) or self.row_shape(statement, inside) is not None
        return alike and self.uses.stays(targets_of(statement)[0])

    def made_outside(self, statement: ir.Statement, inside: set[ir.Var]) -> list[ir.Statement]:
        """The statement that makes the array, or finds the fact, before the loop."""
        sizes = None if _makes_alike(statement, inside) else self.row_shape(statement, inside)
        if sizes is None or not isinstance(statement, ir.Call):
            return [_unfilled(statement)]
        builder = Builder(type_of_call, statement.span)
        extents = [self.extent(builder, size) for size in sizes]
        shape = extents[0] if len(extents) == 1 else builder.call(display.make_tuple, *extents, hint="shape")
        builder.emit(
            ir.Call(statement.targets, np.empty, (shape, *_dtype_argument(statement.targets[0])), (), statement.span)
        )
        return builder.statements

    def row_shape(self, statement: ir.Statement, inside: set[ir.Var]) -> Sizes | None:
        """The extents, known outside, of an array like a row of another."""
        if not isinstance(statement, ir.Call) or statement.callee not in (np.zeros_like, np.empty_like):
            return None
        row = self.uses.made.get(statement.args[0]) if isinstance(statement.args[0], ir.Var) else None
        match row:
            case ir.Load(
                base=ir.Var(type=ir.Array(dims=tuple() as dims)) as base,
                key=ir.Subscript(items=(ir.Var(type=ir.Scalar(kind="int")),)),
            ) if len(dims) > 1 and base not in inside:
                made = self.uses.made.get(base)
            case _:
                return None
        sizes = self.sizes(made) if isinstance(made, ir.Call) and made.callee is np.empty else None
        if sizes is None or len(sizes) != len(dims) or any(size in inside for size in sizes):
            return tuple((base, axis) for axis in range(1, len(dims)))
        return sizes[1:]

    # Tapes of arrays

    def tapes(self, loop: ir.Loop, before: list[ir.Statement], inside: set[ir.Var]) -> dict[ir.Var, ir.Var]:
        """The lists to which each iteration of a loop appends an array that it makes, by those arrays."""
        over = loop.over
        assert isinstance(over, ir.Range)
        if over.start != ir.Const(0) or over.step != ir.Const(1) or over.backward:
            return {}
        if not isinstance(loop.body.terminator, ir.Continue):
            return {}
        fresh = {
            s.targets[0] for s in before if isinstance(s, ir.Call) and s.callee is display.make_list and not s.args
        }
        made = {s.targets[0]: s for s in loop.body.statements if isinstance(s, ir.Call) and _makes_alike(s, inside)}
        found: dict[ir.Var, ir.Var] = {}
        for statement in loop.body.statements:
            match statement:
                case ir.Call(callee=callee, args=(ir.Var() as tape, ir.Var() as array)) if (
                    callee is list.append and tape in fresh and array in made and array not in found
                ):
                    sizes = self.sizes(made[array])
                    if (
                        sizes is not None
                        and self.is_tape(tape, statement)
                        and self.uses.stays(array, lent_to=(statement,))
                    ):
                        found[array] = tape
        return found

    def is_tape(self, tape: ir.Var, append: ir.Statement) -> bool:
        """Whether a list is only filled by one statement, and then read."""
        for node in self.uses.of[tape]:
            match node:
                case ir.Load(
                    base=base, target=target, key=ir.Subscript(items=(ir.Var(type=ir.Scalar(kind="int")),))
                ) if base is tape:
                    if not self.uses.stays(target):
                        return False
                case _ if node is append:
                    pass
                case _:
                    return False
        return True

    def as_row(self, call: ir.Call, tape: ir.Var, loop: ir.Loop, before: list[ir.Statement]) -> None:
        """Makes one array of all that a loop makes."""
        (array,) = call.targets
        assert isinstance(array.type, ir.Array) and isinstance(loop.over, ir.Range)
        sizes = self.sizes(call)
        assert sizes is not None
        builder = Builder(type_of_call, call.span)
        count = builder.call(max, loop.over.stop, ir.Const(0), hint="size")
        extents = [self.extent(builder, size) for size in sizes]
        shape = builder.call(display.make_tuple, count, *extents, hint="shape")
        dims: tuple[ir.Dim, ...] = (_ANY,) * (1 + len(sizes))
        rows = ir.Var(f"{array.hint}_rows", ir.Array(array.type.dtype, dims, array.type.storage))
        builder.emit(ir.Call((rows,), np.empty, (shape, *_dtype_argument(array)), (), call.span))
        before[:] = [s for s in before if not (isinstance(s, ir.Call) and s.targets == (tape,))]
        before += builder.statements
        self.rows[tape] = rows
        self.changed = True

    def sizes(self, call: ir.Call) -> Sizes | None:
        """The extents of an array that is made: numbers, or axes of another array."""
        size = call.args[0]
        if call.callee in (np.empty_like, np.zeros_like):
            dims = size.type.dims if isinstance(size, ir.Var) and isinstance(size.type, ir.Array) else None
            return None if dims is None else tuple((size, axis) for axis in range(len(dims)))
        if isinstance(size, ir.Const):
            return (size,) if type(size.value) is int else None
        if isinstance(size, ir.Var) and size.type == ir.INT:
            return (size,)
        made = self.uses.made.get(size) if isinstance(size, ir.Var) else None
        return made.args if isinstance(made, ir.Call) and made.callee is display.make_tuple else None

    def extent(self, builder: Builder, size: ir.Atom | tuple[ir.Atom, int]) -> ir.Atom:
        if not isinstance(size, tuple):
            return size
        shape = builder.call(np.shape, size[0], hint="shape")
        return builder.item(shape, ir.Const(size[1]), ir.INT, "size")


def _makes_alike(statement: ir.Statement, inside: set[ir.Var]) -> bool:
    """Whether a statement makes an array of one size whatever the iteration."""
    if not isinstance(statement, ir.Call) or found_in(_FILLS, statement.callee) is None:
        return False
    return not any(isinstance(atom, ir.Var) and atom in inside for atom in operands(statement))


def _dtype_argument(array: ir.Var) -> tuple[ir.Atom, ...]:
    assert isinstance(array.type, ir.Array)
    return dtype_argument(array.type.dtype)


def is_fact(statement: ir.Statement, inside: Collection[Any]) -> bool:
    """Whether a statement finds out about shapes what is the same for all iterations."""
    match statement:
        case ir.Call(callee=callee, args=args) if callee in _FACTS:
            numbers = all(type_of_atom(arg) == ir.INT for arg in args)
            plain = (
                numbers
                if callee is max
                else callee not in (len, np.shape) or isinstance(type_of_atom(args[0]), ir.Array)
            )
        case ir.Load(
            target=ir.Var(type=type_), base=ir.Var(type=ir.Tuple()), key=ir.Subscript(items=(ir.Const(),))
        ) if type_ == ir.INT:
            plain = True
        case _:
            return False
    return plain and not any(isinstance(atom, ir.Var) and atom in inside for atom in operands(statement))


def _unfilled(statement: ir.Statement) -> ir.Statement:
    if not isinstance(statement, ir.Call) or not found_in(_FILLS, statement.callee):
        return statement
    return ir.Call(statement.targets, UNFILLED[statement.callee], statement.args, statement.kwargs, statement.span)


def _fill(statement: ir.Statement) -> list[ir.Statement]:
    """What puts zeros where they were made."""
    if not isinstance(statement, ir.Call) or not found_in(_FILLS, statement.callee):
        return []
    return [ir.Store(statement.targets[0], ir.WHOLE, ir.Const(0.0), "set", statement.span)]
