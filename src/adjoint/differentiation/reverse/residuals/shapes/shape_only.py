"""Nothing is kept for its shape alone.

Where terms prove that a cotangent has the shape of its value, it needs no fitting; where a function asks an array for
its shape only, any array of that shape does, and one that is at hand spares keeping another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.memory.array_layout import layouts_read
from adjoint.analysis.shapes.extents import Extents, Shape
from adjoint.analysis.shapes.shape_arguments import may_have_no_shape, shape_argument
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, with_renamed
from adjoint.ir.walk import blocks_of, read_counts, statements_in, targets_of
from adjoint.runtime.array_functions.arrays import unbroadcast

if TYPE_CHECKING:
    Key = tuple[Shape, object]


def without_idle_shapes(function: ir.Function) -> ir.Function:
    """The function with fewer questions about shapes."""
    if not any(_asks_an_array(statement) for statement in statements_in(function.body)):
        return function
    fitter = _Fitter(function)
    body = fitter.block(function.body, {})
    if not fitter.changed:
        return function
    return ir.Function(function.name, function.params, with_renamed(body, fitter.renamed), function.doc)


def _asks(statement: ir.Statement) -> int | None:
    """The argument of which a statement asks the shape."""
    if not isinstance(statement, ir.Call):
        return None
    place = shape_argument(statement.callee)
    return place if place is not None and place < len(statement.args) else None


def _asks_an_array(statement: ir.Statement) -> bool:
    place = _asks(statement)
    return place is not None and isinstance(type_of_atom(statement.args[place]), ir.Array)  # type: ignore[union-attr]


def _asking(body: ir.Block) -> Iterator[tuple[ir.Call, int]]:
    """The calls that ask the shape of an argument, and the place of that argument."""
    for statement in statements_in(body):
        place = _asks(statement)
        if place is not None and isinstance(statement, ir.Call):
            yield statement, place


class _Fitter:
    def __init__(self, function: ir.Function) -> None:
        self.extents = Extents(function)
        self.shapeless = may_have_no_shape(function.body)
        self.function = function
        self.params = function.params
        self.shown: set[ir.Storage] | None = None
        self.read: Counter[ir.Atom] = Counter(read_counts(function.body))
        self.read.subtract(statement.args[place] for statement, place in _asking(function.body))
        self.renamed: dict[ir.Var, ir.Atom] = {}
        self.taken: set[ir.Var] = set()
        self.changed = False

    def block(self, block: ir.Block, known: dict[Key, ir.Var]) -> ir.Block:
        known = dict(known)
        if not known:
            for param in self.params:
                self.note(param, known)
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Call) and self.fits(statement):
                self.renamed[statement.targets[0]] = statement.args[0]
                self.changed = True
                continue
            if isinstance(statement, ir.Call):
                statement = self.asked_elsewhere(statement, known)
            if self.takes(statement):
                self.taken.update(targets_of(statement))
            statements.append(self.inside(statement, known) if blocks_of(statement) else statement)
            if not isinstance(statement, ir.Loop):
                for target in targets_of(statement):
                    self.note(target, known)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.block(end.then, known), self.block(end.orelse, known), end.span)
        return ir.Block(tuple(statements), end)

    def inside(self, statement: ir.Statement, known: dict[Key, ir.Var]) -> ir.Statement:
        places = count()

        def block(inner: ir.Block) -> ir.Block:
            with self.extents.on_path(statement, next(places)):
                return self.block(inner, known)

        return map_blocks(statement, block)

    def takes(self, statement: ir.Statement) -> bool:
        """Whether a statement reads what was kept."""
        base = statement.base if isinstance(statement, ir.Load) else None
        if isinstance(statement, ir.Call) and statement.callee is list.pop:
            base = statement.args[0]
        return base in self.extents.tapes

    def note(self, var: ir.Var, known: dict[Key, ir.Var]) -> None:
        kept_for_shape = var in self.taken and self.read[var] <= 0
        if kept_for_shape or var in self.shapeless:
            return
        shape = self.extents.of(var)
        if shape and isinstance(var.type, ir.Array) and var.type.dtype is not None:
            known.setdefault((shape, var.type.dtype), var)

    def fits(self, call: ir.Call) -> bool:
        """Whether a cotangent has the shape and dtype of its value as it is."""
        if call.callee is not unbroadcast or len(call.args) != 2:
            return False
        ct, like = call.args
        is_known = getattr(getattr(ct, "type", None), "dtype", None) is not None
        if ct in self.shapeless and like not in self.shapeless:
            return False
        return is_known and self.extents.alike(*call.args) is not None

    def asked_elsewhere(self, call: ir.Call, known: dict[Key, ir.Var]) -> ir.Call:
        """The call with another array of the same shape and dtype in place of one that was kept."""
        place = _asks(call)
        like = None if place is None else call.args[place]
        if (
            place is None
            or not isinstance(like, ir.Var)
            or like not in self.taken
            or not isinstance(like.type, ir.Array)
            or self.layout_shows(call)
        ):
            return call
        shape = self.extents.of(like)
        other = known.get((shape, like.type.dtype)) if shape is not None and like.type.dtype is not None else None
        if other is None:
            return call
        self.changed = True
        return ir.Call(
            call.targets, call.callee, (*call.args[:place], other, *call.args[place + 1 :]), call.kwargs, call.span
        )

    def layout_shows(self, call: ir.Call) -> bool:
        """Whether a call lays out like its argument what is written through views that depend on the layout."""
        if not any(ir.is_written_array(target.type) for target in call.targets):
            return False
        if self.shown is None:
            self.shown = layouts_read(self.function)
        return any(storage.find() in self.shown for target in call.targets for storage in ir.storages(target.type))


__all__ = ["without_idle_shapes"]
