"""What the function of an inner derivative changes of objects and containers that it finds outside of itself.

Numbers and arrays that it puts there are handed out as further results, beside its value, and put there behind the
derivative: once, while a derivative of the derivative runs the function again. Of everything else nothing is known from
there on: who reads it has the object exist at run time, and so does an object that is given.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.data.making import replace
from adjoint.frontend.differentiation.differentiated_paths import Active
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import with_each_structure
from adjoint.frontend.interpreter.state.blocks import Exiting, Region
from adjoint.frontend.interpreter.values import FORGOTTEN, NONE, Cell, Forgotten, Record, Ref, Value
from adjoint.frontend.objects.fields import put_attribute
from adjoint.ir.rebuild import without_statements
from adjoint.ir.walk import operands, statements_in
from adjoint.records import dataclass
from adjoint.runtime.objects import put_attribute as put_attribute_through
from adjoint.runtime.objects import put_item
from adjoint.types.structure import CONTAINERS

DIFFERENTIATED = "the function that is differentiated here"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A part of an object that is changed, and what it holds where the function is left, at each of its exits."""

    original: Ref
    name: Any
    shape: joins.Shape
    values: tuple[Value, ...]

    def atoms(self, place: int, leaf: Exiting, lo: Lowerer) -> Iterator[ir.Atom]:
        """The further results at an exit."""
        return joins.flatten(self.values[place], self.shape, leaf.store, leaf.block, lo.types)


def note_changes(
    lo: Lowerer, region: Region, active: Active, before: dict[Any, Value], node: ast.AST | None, what: str
) -> None:
    """Takes down which arguments a function has changed where it is left; refuses what else it has."""
    for leaf in region.exits:
        after = dict(leaf.store)
        for copy, original in active.originals.items():
            was, now = before[copy], after.pop(copy)
            assert isinstance(was, Record)
            assert isinstance(now, Record)
            if was is not now:
                lo.run_data.changed.append((original, was, now))
        _check_effects(lo, before, after, node, what)


def _check_effects(
    lo: Lowerer, before: dict[Any, Value], after: dict[Any, Value], node: ast.AST | None, what: str
) -> None:
    """What an inner function changes outside of itself would be lost."""
    runs_once = lo.frame is None and not lo.run_data.declared
    # What is assigned where variables live that outlive the call is there, and what is written to objects that are
    # given; behind the operator nobody reads it.
    written: Collection[Cell] = (*lo.assigned_outside(), *lo.run_data.presence.values()) if runs_once else ()
    for key, value in after.items():
        if key not in before or before[key] is value or key in written:
            continue
        if isinstance(key, Ref) and key.origin is not None and runs_once:
            continue
        if isinstance(key, Ref) and what == DIFFERENTIATED:
            was = before[key]
            assert isinstance(was, Record)
            assert isinstance(value, Record)
            lo.run_data.changed.append((key, was, value))
            continue
        sites = tuple(joins.original_sites((key.site,))) if isinstance(key, Ref) else ()
        if any(site not in lo.settings.runtime_sites for site in sites):
            raise joins.NeedsRuntime(sites)  # memory is written inside of derivatives as anywhere
        raise lo.problem("AD0302", node, f"{what} changes a variable or object from outside")


def handed_out(lo: Lowerer, region: Region, active: Active) -> tuple[HandedOut, ...]:
    """The parts that a function changed, as far as they are numbers and arrays wherever it is left."""
    copies = {original: copy for copy, original in active.originals.items()}
    parts = {
        (original, name): None
        for original, was, now in lo.run_data.changed
        for name, value in now.parts
        if was.get(name) is not value
    }
    found = []
    for original, name in parts:
        records = [leaf.store[copies.get(original, original)] for leaf in region.exits]
        values = [value for record in records if isinstance(record, Record) if (value := record.get(name)) is not None]
        shape = _common_shape(lo, values, region.exits)
        if shape is not None:
            found.append(HandedOut(original, name, shape, tuple(values)))
        elif original.origin is not None:
            raise joins.NeedsRuntime(tuple(joins.original_sites((original.site,))))
    return tuple(found)


def without_puts(block: ir.Block, found: Sequence[HandedOut]) -> ir.Block:
    """The body of the function without what puts the changed parts into objects that are given."""
    given = {part.original.origin: part.original for part in found if part.original.origin is not None}
    names = {(part.original.origin, part.name) for part in found}

    def puts(statement: ir.Statement) -> bool:
        if not (isinstance(statement, ir.Call) and statement.callee in (put_attribute_through, put_item)):
            return False
        base, name, _ = statement.args
        return isinstance(name, ir.Const) and (base, name.value) in names

    for statement in statements_in(block) if given else ():
        seen = next((atom for atom in operands(statement) if atom in given), None)
        if seen is not None and not puts(statement):  # somebody may look what the object holds
            raise joins.NeedsRuntime(tuple(joins.original_sites((given[seen].site,))))

    return without_statements(block, puts) if given else block


def _common_shape(lo: Lowerer, values: Sequence[Value], leaves: Sequence[Exiting]) -> joins.Shape | None:
    """The structure of a value that each exit has; None where it is not plain."""
    if len(values) < len(leaves) or any(isinstance(value, Forgotten) for value in values):
        return None
    shapes = [joins.shape_of(value, leaf.store) for value, leaf in zip(values, leaves, strict=True)]
    if not all(map(_is_plain, shapes)):
        return None
    joined = shapes[0]
    try:
        for other in shapes[1:]:
            joined = joins.join(joined, other, lo.types)
    except joins.TooManyOptions:
        return None
    return joined if _is_plain(joined) else None


def _is_plain(shape: joins.Shape) -> bool:
    """Whether a value is a number, None, or an array that nobody writes; one of these, or a tuple of them."""
    match shape:
        case joins.Leaf(type=ir.Array(storage=storage)):
            return not storage.written
        case joins.Leaf(type=type_):
            return isinstance(type_, (ir.Scalar, ir.Number))
        case joins.Same(value=ir.Const()):
            return True
        case joins.UnionShape(options=parts) | joins.TupleShape(items=parts):
            return all(map(_is_plain, parts))
        case _:
            return False


def take_over(lo: Lowerer, found: Sequence[HandedOut], results: Iterator[ir.Atom], node: ast.AST | None) -> None:
    """Puts what a derivative hands out into the objects of which it changed parts."""
    for each in found:
        value = joins.build(each.shape, results, lo.store)
        with_each_structure(lo, value, functools.partial(_put, lo, each, node), node)
        lo.run_data.taken_over.add((each.original, each.name))


def _put(lo: Lowerer, part: HandedOut, node: ast.AST | None, value: Value) -> Value:
    """Puts one into its object, by one of the structures that it may have."""
    record = lo.store[part.original]
    assert isinstance(record, Record)
    if record.cls in CONTAINERS:
        replace(lo, part.original, record.with_part(part.name, value), node)
    else:
        put_attribute(lo, part.original, part.name, value, node)
    return NONE


def settle_changes(lo: Lowerer) -> None:
    """From here on nothing is known of changed parts that were not handed out."""
    while lo.run_data.changed:
        original, before, after = lo.run_data.changed.pop()
        if before.cls in CONTAINERS and before.keys != after.keys:
            raise joins.NeedsRuntime((original.site,))
        record = lo.store[original]
        assert isinstance(record, Record)
        for name, value in after.parts:
            if before.get(name) is not value and (original, name) not in lo.run_data.taken_over:
                record = record.with_part(name, FORGOTTEN)
        lo.store[original] = record
    lo.run_data.taken_over.clear()
