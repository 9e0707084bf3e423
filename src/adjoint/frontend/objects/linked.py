"""Objects that refer to others of their class: nodes of lists, trees and graphs that are made while the program runs.

How many there are, and which leads to which, is known at run time only. So all objects of such a class lie in one list,
and what refers to one of them is a whole number, its place there (:class:`adjoint.ir.types.Reference`): a number beyond
all places stands for None. For everything behind the front end these are ordinary lists of objects.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from adjoint import ir
from adjoint.frontend.data.element_types import as_element, join_items, slots
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.state.signals import OtherItems
from adjoint.frontend.interpreter.values import NONE, Record, Ref, Site, Value, is_atom
from adjoint.runtime import display
from adjoint.runtime.objects import make_object


def is_reference(value: Value) -> bool:
    """Whether a value is one of the objects of such a class, or None."""
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Reference)


def _objects_in(lo: Lowerer, home: Site) -> tuple[ir.Var, ir.Instance]:
    """The list of all objects of a class that a function makes, which is made where that begins, and their type.

    Once more is found out about what they hold, another list stands for them: the next time it is the first.
    """
    pool = lo.run_data.pools.get(lo.noted(home))
    known = lo.settings.site_types.get(home)
    fields = known.fields if isinstance(known, ir.Instance) else {}
    if pool is None or _fields_in(pool) != fields:
        _, cls, scope = home.place
        type_ = ir.Instance(cls, fields, ir.Storage(written=True))
        lo.run_data.sites_of_storage.append((type_.storage, home))
        pool = lo.run_data.pools[home] = ir.Var(
            f"{cls.__name__.lower()}s", ir.List(type_, ir.Storage(written=True)), True
        )
        lo.run_data.starts[scope].append(ir.Call((pool,), display.make_list, (), (), None))
    assert isinstance(pool.type, ir.List)
    assert isinstance(pool.type.element, ir.Instance)
    return pool, pool.type.element


def _fields_in(pool: ir.Var) -> Mapping[str, ir.Type]:
    assert isinstance(pool.type, ir.List)
    assert isinstance(pool.type.element, ir.Instance)
    return pool.type.element.fields


def field_type(lo: Lowerer, reference: ir.Var, name: str) -> ir.Type | None:
    """What the objects of which this is one hold as their own attribute of this name; None where they have none."""
    assert isinstance(reference.type, ir.Reference)
    return _objects_in(lo, reference.type.home)[1].fields.get(name)


def linked_object(lo: Lowerer, ref: Ref, node: ast.AST | None) -> ir.Var:
    """What refers to the object that ``ref`` describes, put into the list of its class."""
    record = lo.store.pop(ref)
    assert isinstance(record, Record)
    home = Site(("linked", record.cls, lo.run_data.scope))
    pool, type_ = _objects_in(lo, home)
    atoms = slots(lo, record.items, node)
    fields = _joined_fields(lo, home, type_, dict(zip(record.keys, map(type_of, atoms), strict=True)), node)
    parts = [as_element(lo, atom, fields[key]) for key, atom in zip(record.keys, atoms, strict=True)]
    span = lo.span(node)
    made, place = ir.Var("obj", type_), ir.Var(record.cls.__name__.lower(), ir.Reference("int", None, record.cls, home))
    lo.emit(ir.Call((made,), make_object, (ir.Const(record.cls), ir.Const(record.keys), *parts), (), span))
    lo.emit(ir.Call((place,), len, (pool,), (), span))
    lo.emit(ir.Call((), list.append, (pool, made), (), span))
    return place


def _joined_fields(
    lo: Lowerer, home: Site, known: ir.Instance, found: dict[str, ir.Type], node: ast.AST | None
) -> dict[str, ir.Type]:
    """What the fields of all objects of a class hold; starts again where that is more than was known of them."""
    fields = dict(known.fields)
    for name, type_ in found.items():
        joined = lo.types.join(fields[name], type_) if name in fields else type_
        if joined is None:
            joined = join_items(lo, fields[name], type_, node)
        if joined is None:
            raise lo.problem("AD0402", node, f"the attribute {name!r} takes values of different structures")
        fields[name] = joined
    if fields != known.fields:
        lo.settings.site_types[home] = ir.Instance(known.cls, fields)
        raise OtherItems((home,))
    return fields


def referent(lo: Lowerer, reference: ir.Var, node: ast.AST | None) -> ir.Var:
    """The object that is referred to; where that is None, Python raises, and so does what is emitted."""
    assert isinstance(reference.type, ir.Reference)
    if lo.run_data.handled:
        refuse_none(lo, reference, node)
    pool, type_ = _objects_in(lo, reference.type.home)
    target = ir.Var(reference.hint, type_)
    lo.emit(ir.Load(target, pool, ir.Subscript((reference,)), lo.span(node)))
    return target


def refuse_none(lo: Lowerer, reference: ir.Var, node: ast.AST | None) -> None:
    """Raises where something is asked of None."""

    def stop() -> Value:
        said = ir.Const("'NoneType' object has no such attribute")
        lo.stop(ir.Raise(lo.open.call(AttributeError, said), None, lo.span(node)))
        return ir.UNDEFINED

    lo.branch(is_none(lo, reference), stop, lambda: ir.UNDEFINED, node)


def is_none(lo: Lowerer, reference: ir.Var) -> ir.Atom:
    return lo.open.call(operator.eq, reference, ir.Const(ir.NOWHERE))


def identity(lo: Lowerer, op: Callable[..., Any], left: Value, right: Value, node: ast.AST | None = None) -> Value:
    """``left is right``, of which one at least is such a reference; ``is not``, ``==`` and ``!=`` likewise."""
    wants_same = op in (operator.is_, operator.eq)
    left, right = (ir.Const(ir.NOWHERE) if side == NONE else side for side in (left, right))
    other = next((side for side in (left, right) if not is_reference(side) and side != ir.Const(ir.NOWHERE)), None)
    if other is not None:
        if isinstance(other, ir.Var) and isinstance(other.type, ir.Opaque):
            raise lo.problem("AD0301", node, "whether this is one of several objects that refer to each other, or None")
        return ir.Const(not wants_same)
    assert is_atom(left)
    assert is_atom(right)
    homes = {
        side.type.home for side in (left, right) if isinstance(side, ir.Var) and isinstance(side.type, ir.Reference)
    }
    if len(homes) < 2:
        return lo.open.call(operator.eq if wants_same else operator.ne, left, right)  # type: ignore[arg-type]
    both_none = lo.open.call(operator.and_, is_none(lo, left), is_none(lo, right))  # type: ignore[arg-type]
    return both_none if wants_same else lo.open.call(operator.not_, both_none)
