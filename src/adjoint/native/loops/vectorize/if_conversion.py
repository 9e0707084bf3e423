"""Choices that differ between the iterations of a bundle: both sides are computed, and each iteration takes its own.

A side is left out if no iteration takes it: what it reads is there only if one does. Little arithmetic is not.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterator

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import joins
from adjoint.analysis.memory.reachable import all_memory
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.ir.join import is_python_number, kind_of_numbers, type_of_atom
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import blocks_of, operands, targets_of
from adjoint.native.costs import MOST_AT_ONCE
from adjoint.native.loops.reductions import NEUTRAL
from adjoint.records import replace
from adjoint.runtime.arithmetic import bundles

_LIGHT = (
    *(operator.add, operator.sub, operator.mul, operator.neg),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
)
Place = tuple[ir.Atom, tuple[ir.Atom | ir.Slice, ...]]
"""An array, and an index."""


def differing(body: ir.Block, index: ir.Var, shared: Collection[ir.Storage]) -> set[ir.Var]:
    """What may differ between iterations: what is computed from their numbers, or lies in memory that is not shared."""
    found: set[ir.Var] = {index}
    before = 0
    while len(found) > before:
        before = len(found)
        _extend(found, body, shared)
    return found


def _extend(found: set[ir.Var], block: ir.Block, shared: Collection[ir.Storage]) -> None:
    for statement in block.statements:
        for inner in blocks_of(statement):
            _extend(found, inner, shared)
        if isinstance(statement, (ir.If, ir.Loop)):
            if isinstance(statement, ir.If) and statement.cond in found:
                found.update(statement.targets)
            found.update(var for value, var in joins(statement) if value in found)
        elif not found.isdisjoint(operands(statement)) or _reads_own(statement, shared):
            found.update(targets_of(statement))


def _reads_own(statement: ir.Statement, shared: Collection[ir.Storage]) -> bool:
    if not isinstance(statement, ir.Load) or not isinstance(statement.base, ir.Var):
        return False
    return any(storage.find() not in shared for storage in all_memory(statement.base.type))


def places_of(block: ir.Block) -> set[Place]:
    """The places that a block reads or writes whatever is chosen, however often loops run."""
    return {
        (part.base, part.key.items)
        for part in block.statements
        if isinstance(part, (ir.Load, ir.Store)) and isinstance(part.key, ir.Subscript)
    }


def chosen(choice: ir.If, differing: Collection[ir.Atom], sure: Collection[Place]) -> Iterator[ir.Statement]:
    """What stands for a choice that differs between iterations.

    Parameters
    ----------
    choice
        The choice.
    differing
        What differs between iterations.
    sure
        Places that there are, whatever is chosen: others that iterations have of their own may not be there for those
        that do not take a side.

    Raises
    ------
    Inseparable
        If a side does more than to compute numbers and to store elements, or computes what may be refused: that must be
        left to the iterations that take it.
    """
    sides, nothing = [], tuple(map(_nothing, choice.targets))
    for block, condition in ((choice.then, choice.cond), (choice.orelse, ir.Var("others", ir.BOOL))):
        if not isinstance(block.terminator, ir.Yield) or ir.UNDEFINED in block.terminator.values:
            raise Inseparable
        if condition is not choice.cond and block.statements:
            yield ir.Call((condition,), bundles.bundle_not, (choice.cond,), (), choice.span)  # type: ignore[arg-type]
        values = block.terminator.values
        side = _Side(condition, differing, sure)
        if all(map(_is_light, block.statements)) and len(block.statements) <= MOST_AT_ONCE:
            yield from side.block(block).statements
        else:
            some = ir.Var("some", ir.BOOL)
            yield ir.Call((some,), bundles.bundle_any, (condition,), (), choice.span)
            results = tuple(ir.Var(target.hint, target.type, target.named) for target in choice.targets)
            yield ir.If(some, side.block(block), ir.Block((), ir.Yield(nothing)), results, choice.span)
            values = results
        sides.append(values)
    for target, *of_sides in zip(choice.targets, *sides, strict=True):
        yield ir.Call((target,), bundles.bundle_choice, (choice.cond, *of_sides), (), choice.span)


def _is_light(statement: ir.Statement) -> bool:
    """Whether a statement is arithmetic that nobody refuses."""
    match statement:
        case ir.Call(callee=operator.truediv, args=args):
            return not all(map(is_python_number, args))
        case ir.Call(callee=callee):
            return callee in _LIGHT
        case _:
            return False


def _nothing(target: ir.Var) -> ir.Const:
    """What stands for a result that no iteration takes."""
    if kind_of_numbers(target) == "bool":
        return ir.Const(False)
    if not isinstance(target.type, ir.Scalar) or target.type.kind != "float":
        raise Inseparable
    return ir.Const(0.0)


class _Side:
    """One side of a choice, for all iterations: those that do not take it store what leaves everything as it is."""

    def __init__(self, condition: ir.Atom, differing: Collection[ir.Atom], sure: Collection[Place]) -> None:
        self._condition = condition
        self._differing = differing
        self._sure = sure

    def block(self, block: ir.Block) -> ir.Block:
        return ir.Block(tuple(new for old in block.statements for new in self._statement(old)), block.terminator)

    def _statement(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        match statement:
            case ir.If(cond=cond) if cond in self._differing:
                for part in chosen(statement, self._differing, self._sure):
                    yield from self._statement(part)
            case ir.If():
                yield map_blocks(statement, self.block)
            case ir.Call(callee=bundles.bundle_any, args=(inner,)):
                both = ir.Var("both", ir.BOOL)
                yield ir.Call((both,), bundles.bundle_both, (self._condition, inner), (), statement.span)
                yield replace(statement, args=(both,))
            case ir.Call():
                if not effects_of(statement).pure or self._may_be_refused(statement):
                    raise Inseparable
                yield statement
            case ir.Load() if self._is_there(statement):
                yield statement
            case ir.Store() if self._is_there(statement):
                yield from self._store(statement)
            case _:
                raise Inseparable

    def _is_there(self, access: ir.Load | ir.Store) -> bool:
        """Whether a place is there for all iterations if it is for one of them."""
        if not isinstance(access.key, ir.Subscript):
            return False
        items = access.key.items
        return (access.base, items) in self._sure or not any(item in self._differing for item in items)

    def _may_be_refused(self, call: ir.Call) -> bool:
        """Whether a call computes, of what differs, something that Python refuses for some numbers."""
        callee = call.callee
        if callee not in (operator.truediv, operator.pow) and getattr(callee, "__module__", None) != math.__name__:
            return False
        return any(arg in self._differing for arg in call.args) and all(map(is_python_number, call.args))

    def _store(self, store: ir.Store) -> Iterator[ir.Statement]:
        kept: ir.Atom
        assert isinstance(store.key, ir.Subscript)
        if not all(map(_is_place, store.key.items)):
            raise Inseparable
        if store.mode in NEUTRAL:
            kept = NEUTRAL[store.mode]
        elif store.mode == "set":
            kept = ir.Var("element", ir.FLOAT)
            yield ir.Load(kept, store.base, store.key, store.span)
        else:
            raise Inseparable
        value = ir.Var("element", ir.FLOAT)
        yield ir.Call((value,), bundles.bundle_choice, (self._condition, store.value, kept), (), store.span)
        yield replace(store, value=value)


def _is_place(item: object) -> bool:
    return isinstance(item, (ir.Var, ir.Const)) and type_of_atom(item) == ir.INT
