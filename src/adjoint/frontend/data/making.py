"""Lists, dicts and objects that come about, grow and are changed: at compile time or at run time."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.calls.opaque.arguments import refuse_stand_ins
from adjoint.frontend.data.element_types import (
    as_element,
    as_tagged,
    element_of,
    join_items,
    join_optional,
    joined_types,
    note_element,
    note_outside,
    remember,
    sites_of,
    slot,
    slots,
)
from adjoint.frontend.data.outside.circular import CIRCLES
from adjoint.frontend.data.outside.scalar_replacement import is_apart
from adjoint.frontend.data.tagged_items import first_union, put_each
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.placeholders import blank
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import (
    LOCAL,
    Local,
    Record,
    Ref,
    Site,
    TupleValue,
    Union,
    Value,
    is_atom,
    list_record,
)
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.attribute_tables import AttributeTable
from adjoint.frontend.library.in_python.collections_definitions import Table
from adjoint.frontend.library.in_python.iterator_definitions import Resumable
from adjoint.frontend.objects.fields import handed_out, writable
from adjoint.runtime import display
from adjoint.runtime.objects import make_object, put_item
from adjoint.types.structure import DICTS

_MISSING = object()


def list_items(lo: Lowerer, value: Value) -> tuple[Value, ...] | None:
    """The items of a list that is known at compile time; None for anything else."""
    if isinstance(value, Ref):
        record = lo.store[value]
        if isinstance(record, Record) and record.cls is list:
            return tuple(lo.known_part(value, part) for _, part in record.parts)
    return None


def new_list(lo: Lowerer, items: list[Value] | tuple[Value, ...], node: ast.AST | None) -> Value:
    """A list display."""
    assert node is not None
    site = lo.site(node)
    if site in lo.settings.runtime_sites:
        single = next((place for place, item in enumerate(items) if first_union(item) is not None), len(items))
        made = runtime_list(lo, site, slots(lo, items[:single], node), node)
        for item in items[single:]:
            append(lo, made, item, node)
        return made
    ref = Ref(site)
    lo.store[ref] = list_record(items)
    return ref


def runtime_list(lo: Lowerer, site: Site, held: list[ir.Atom], node: ast.AST | None) -> ir.Var:
    """A list that exists at run time, made here."""
    element = joined_types([type_of(atom) for atom in held], lo, node, are_items=True)
    known = lo.settings.site_types.get(site)
    if isinstance(known, ir.List):
        element = join_optional(lo, known.element, element, node)
    elif known is None and element is None:
        element = lo.settings.guesses.get(site.place[0])
    storage = ir.Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = ir.Var("items", ir.List(element, storage))
    lo.run_data.made.append(target)
    items = tuple(as_element(lo, atom, element) for atom in held)
    lo.emit(ir.Call((target,), display.make_list, items, (), lo.span(node)))
    return target


def append(lo: Lowerer, target: Value, value: Value, node: ast.AST | None) -> None:
    """``target.append(value)``"""
    known = list_items(lo, target)
    if known is not None:
        assert isinstance(target, Ref)
        replace(lo, target, list_record([*known, value]), node)
        return
    assert isinstance(target, ir.Var)
    _add_item(lo, list.append, (target,), value, node)


def insert(lo: Lowerer, target: ir.Var, place: ir.Atom, value: Value, node: ast.AST | None) -> None:
    """``target.insert(place, value)`` for a list that exists at run time; the place counts from the start."""
    _add_item(lo, list.insert, (target, place), value, node)


def _add_item(
    lo: Lowerer,
    method: Callable[..., None],
    where: tuple[ir.Var, *tuple[ir.Atom, ...]],
    value: Value,
    node: ast.AST | None,
) -> None:
    """Makes a list longer by one item, in one of its methods."""
    if put_each(lo, value, lambda option: _add_item(lo, method, where, option, node), node):
        return
    target, *_ = where
    atom = _slot_in(lo, target, value, node)
    assert isinstance(target.type, ir.List)
    atom = as_element(lo, atom, target.type.element)
    lo.emit(ir.Call((), method, (*where, atom), (), lo.span(node)))


def _slot_in(lo: Lowerer, container: ir.Var, value: Value, node: ast.AST | None) -> ir.Atom:
    """What a container holds for a value that is put there."""
    assert isinstance(container.type, (ir.List, ir.Dict))
    if any(site.place[:1] == ("input",) for site in sites_of(lo, container.type)):
        refuse_stand_ins(lo, value, node)
    atom = slot(lo, value, node)
    note_element(lo, container, atom, node)
    return atom


def put_in(lo: Lowerer, base: ir.Var, place: ir.Atom, value: Value, node: ast.AST | None) -> None:
    """``base[place] = value`` for a list or a dict that exists at run time."""
    if put_each(lo, value, lambda option: put_in(lo, base, place, option, node), node):
        return
    atom = _slot_in(lo, base, value, node)
    atom = as_element(lo, atom, element_of(base))
    refuse_linked(lo, [place], node)
    lo.emit(ir.Store(base, ir.Subscript((place,)), atom, "set", lo.span(node)))


def as_tuple(items: Value) -> Value:
    """A list at run time that nobody else has, as the tuple that it serves as."""
    if isinstance(items, ir.Var) and isinstance(items.type, ir.List):
        items.type = ir.List(items.type.element, items.type.storage, is_tuple=True)
    return items


def tuple_of(items: Sequence[Value], *others: Value) -> TupleValue:
    """A tuple with the items of other values; one of these where it is all of them, which is what Python gives then."""
    same = (
        other
        for other in others
        if isinstance(other, TupleValue) and other.cls is tuple and len(other.items) == len(items)
        if all(map(operator.is_, other.items, items))
    )
    return next(same, TupleValue(tuple(items), is_itself=True))


def is_tuple(value: Value) -> bool:
    """Whether a value is a tuple whose length is known at run time only."""
    return isinstance(value, ir.Var) and isinstance(value.type, ir.List) and value.type.is_tuple


def hashed(lo: Lowerer, key: Value, node: ast.AST | None) -> ir.Atom:
    """A key as a dict or a set is handed it: what stands for a tuple is one."""
    return materialize(lo, _with_tuples(lo, key), node)


def _with_tuples(lo: Lowerer, key: Value) -> Value:
    if is_tuple(key):
        return lo.open.call(tuple, key)  # type: ignore[arg-type]
    if isinstance(key, TupleValue) and any(is_tuple(item) or isinstance(item, TupleValue) for item in key.items):
        return TupleValue(tuple([_with_tuples(lo, item) for item in key.items]), key.cls)
    return key


def grow_field(lo: Lowerer, base: ir.Var, name: str, atom: ir.Atom, node: ast.AST | None) -> None:
    """An attribute of a run-time object is assigned."""
    type_ = base.type
    assert isinstance(type_, ir.Instance)
    note_outside(lo, base)
    type_.storage.mark_written()
    if type_.storage.find() in {storage.find() for storage in ir.storages(type_of(atom))}:
        label = f"an object of class {type_.cls.__name__!r} is put into itself, so that its structure has no end"
        raise lo.problem("AD0402", node, label, helps=(CIRCLES,))
    before = type_.fields.get(name)
    after = type_of(atom) if before is None else lo.types.join(before, type_of(atom))
    if after is None and before is not None:
        after = join_items(lo, before, type_of(atom), node)
    if after is None:
        raise lo.problem("AD0402", node, f"the attribute {name!r} takes values of different structures")
    if after != before:
        better = ir.Instance(type_.cls, {**type_.fields, name: after})
        if before is None:
            label = f"{name!r} is an attribute that the object did not have when the function was called"
            remember(lo, type_, better, node, label, (f"assign self.{name} in __init__, too",))
        else:
            remember(lo, type_, better, node)


def runtime_object(lo: Lowerer, ref: Ref, node: ast.AST | None) -> ir.Var:
    """The object that ``ref`` describes, made to exist at run time."""
    record = lo.store.pop(ref)
    assert isinstance(record, Record)
    marks = [base.__dict__.get(LOCAL) for base in record.cls.__mro__]
    if any(isinstance(mark, Local) and not mark.settled for mark in marks):
        label = f"an object of the class {record.cls.__name__!r} must exist at run time"
        raise lo.problem("AD0402", node, label, helps=("define the class before the loop",))
    known = lo.settings.site_types.get(ref.site)
    record = Record(record.cls, tuple([part for part in record.parts if part[1] is not ir.UNDEFINED]))
    if isinstance(known, ir.Instance):
        record = _with_defaults(lo, record, known, node)
    atoms = slots(lo, record.items, node)
    fields: dict[str, ir.Type] = {key: type_of(atom) for key, atom in zip(record.keys, atoms, strict=True)}
    if isinstance(known, ir.Instance):
        lo.run_data.set_later.update((record.cls, key) for key in known.fields if key not in fields)
        for key, type_ in known.fields.items():
            mine = fields.get(key, type_)
            fields[key] = lo.types.join(type_, mine) or join_items(lo, type_, mine, node) or ir.OPAQUE
    storage = ir.Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, ref.site))
    atoms = [as_tagged(lo, atom, fields[key]) for key, atom in zip(record.keys, atoms, strict=True)]
    target = ir.Var("obj", ir.Instance(record.cls, fields, storage))
    lo.run_data.made.append(target)
    unset = [key for key in fields if record.get(key) is None] if issubclass(record.cls, Resumable) else []
    keys, atoms = ir.Const((*record.keys, *unset)), [*atoms, *(blank(fields[key]) for key in unset)]
    lo.emit(ir.Call((target,), make_object, (ir.Const(record.cls), keys, *atoms), (), lo.span(node)))
    return target


def _with_defaults(lo: Lowerer, record: Record, known: ir.Instance, node: ast.AST | None) -> Record:
    """An object with what its class holds for attributes assigned later: numbers, tuples of them, read until then."""
    cls: Any = record.cls
    for name in known.fields:
        found = inspect.getattr_static(cls, name, _MISSING)
        if record.get(name) is not None or found is _MISSING or inspect.isdatadescriptor(found):
            continue
        is_none = found is None and lo.settings.tagged
        if not is_none and not _is_of_numbers(found):
            lo.settings.mixed.add(node)
            label = f"{name!r} is an attribute of the class, and assigned for an object that must exist at run time"
            raise lo.problem("AD0402", node, label, helps=(f"assign {name!r} in '__init__', a value of the same kind",))
        inputs.guard_lookup(lo, cls, name, found)
        value = inputs.captured(lo, found, ("attribute", cls, name), name, node)
        record = record.with_part(name, as_element(lo, slot(lo, value, node), known.fields[name]))
    return record


def _is_of_numbers(value: Any) -> bool:
    if isinstance(value, tuple):
        return type(value) is tuple and all(map(_is_of_numbers, value))
    return isinstance(value, (bool, int, float, complex, np.generic))


def replace(lo: Lowerer, ref: Ref, record: Record, node: ast.AST | None) -> None:
    """Changes what a list or dict holds."""
    if any(item is ref for item in record.items):
        raise lo.problem("AD0402", node, "a container is put into itself here")
    writable(lo, ref, node)
    if ref.origin is not None:
        _write_through(lo, ref, record, node)
    lo.store[ref] = record


def _write_through(lo: Lowerer, ref: Ref, record: Record, node: ast.AST | None) -> None:
    """Changes the user's own list or dict, where what lies in it is of several kinds."""
    before = lo.store[ref]
    assert isinstance(before, Record) and ref.origin is not None
    keeps_keys = record.keys[: len(before.keys)] == before.keys and (record.cls in DICTS or record.keys == before.keys)
    is_known = ref.site in lo.run_data.written_through or is_apart(lo, ref) or _of_several_kinds(lo, before)
    if not (keeps_keys and is_known):
        raise NeedsRuntime((ref.site,))
    lo.run_data.written_through.add(ref.site)
    for key, value in record.parts:
        if value is not before.get(key):
            lo.open.effect(put_item, ref.origin, ir.Const(key), handed_out(lo, value, node))


def _of_several_kinds(lo: Lowerer, record: Record) -> bool:
    """Whether items have no type in common that would tell numbers from arrays, and flags or integers from floats."""
    if not all(is_atom(item) for item in record.items):
        return True
    types = [type_of(item) for item in record.items]
    if len({each.kind for each in types if isinstance(each, ir.Scalar)}) > 1:
        return True
    joined: ir.Type | None = types[0] if types else None
    for each in types[1:]:
        joined = None if joined is None else lo.types.join(joined, each)
    return joined is None or isinstance(joined, ir.Number)


def plain_dict(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """A dict with the items of an object of a class that stands for dict, or for one that inherits from it."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record) and issubclass(record.cls, Table):
        return record.get("_table") or value
    if isinstance(record, Record) and record.cls is AttributeTable:
        return python_functions.call(lo, AttributeTable.copy, [value], node)
    return value


def is_dict(lo: Lowerer, value: Value, among: tuple[type, ...] = DICTS) -> bool:
    """Whether a value is a dict itself, known and of one of some classes, or at run time."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record):
        return record.cls in among
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Dict)


def repeat_list(lo: Lowerer, sequence: Value, count: Value, node: ast.AST | None) -> Value:
    """``[x] * n``"""
    result = python_functions.call(lo, python_functions.repeat, [sequence, count], node)
    path = lo.run_data.whole_inputs.get(count) if isinstance(count, ir.Var) else None
    if path is not None and isinstance(result, ir.Var) and isinstance(result.type, ir.List):
        lo.run_data.counted_lists.append((result.type.storage, path))
    return as_tuple(result) if is_tuple(sequence) else result


def new_dict(lo: Lowerer, parts: list[tuple[Any, Value]], node: ast.AST | None) -> Value:
    """A dict display; keys are values or, from another dict, constants."""
    assert node is not None
    site = lo.site(node)
    keys = [key.value if isinstance(key, ir.Const) else key for key, _ in parts]
    known = all(not isinstance(key, (ir.Var, Ref, TupleValue, Union)) for key in keys)
    if site in lo.settings.runtime_sites or not known:
        return _runtime_dict(lo, site, parts, node)
    record = Record(dict, ())
    for key, (_, value) in zip(keys, parts, strict=True):
        record = record.with_part(key, value)
    ref = Ref(site)
    lo.store[ref] = record
    return ref


def _runtime_dict(lo: Lowerer, site: Site, parts: list[tuple[Any, Value]], node: ast.AST | None) -> ir.Var:
    single = next((place for place, (_, value) in enumerate(parts) if first_union(value) is not None), len(parts))
    single = min(single, _surely_apart([key for key, _ in parts]))
    parts, more = parts[:single], parts[single:]
    atoms: list[ir.Atom] = []
    value_type: ir.Type | None = None
    for (key, _), held in zip(parts, slots(lo, [value for _, value in parts], node), strict=True):
        atoms.append(_key(lo, key, node))
        atoms.append(held)
        value_type = join_optional(lo, value_type, type_of(atoms[-1]), node)
    known = lo.settings.site_types.get(site)
    if isinstance(known, ir.Dict):
        value_type = join_optional(lo, known.value, value_type, node)
    refuse_linked(lo, atoms[::2], node)
    atoms[1::2] = [as_element(lo, atom, value_type) for atom in atoms[1::2]]
    storage = ir.Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = ir.Var("items", ir.Dict(value_type, storage))
    lo.run_data.made.append(target)
    lo.emit(ir.Call((target,), display.make_dict, tuple(atoms), (), lo.span(node)))
    for key, value in more:
        put_in(lo, target, _key(lo, key, node), value, node)
    return target


def _surely_apart(keys: Sequence[Any]) -> int:
    """How many of the first keys of a display are surely different: what one replaces is a value of its own."""
    if not all(isinstance(key, ir.Const) or not isinstance(key, (ir.Var, Ref, TupleValue)) for key in keys):
        return 1
    values = [key.value if isinstance(key, ir.Const) else key for key in keys]
    return next((place for place, value in enumerate(values) if value in values[:place]), len(values))


def _key(lo: Lowerer, key: Any, node: ast.AST | None) -> ir.Atom:
    return hashed(lo, key, node) if isinstance(key, (ir.Var, TupleValue, Ref, ir.Const)) else ir.Const(key)


def refuse_if_iterated(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """A list or dict grows, shrinks or is put in another order: loops through a list have to notice, others refuse."""
    loops: list[Site] = []
    for other, site in lo.iterated:
        if not _is_same(lo, value, other) and not _may_be_same(value, other):
            continue
        if site is None or site in lo.settings.by_position or not is_list(lo, other):
            raise lo.problem("AD0306", node, "a loop around runs through what is changed here")
        loops.append(site)
    lo.settings.by_position.update(loops)
    if loops:
        raise Restart(sites=tuple(loops))


def is_list(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a list, known item by item or at run time."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    is_record = isinstance(record, Record) and record.cls is list
    return is_record or (isinstance(value, ir.Var) and isinstance(value.type, ir.List))


def _may_be_same(one: Value, other: Value) -> bool:
    """Whether two containers at run time may be one: they may share memory."""
    types = [value.type for value in (one, other) if isinstance(value, ir.Var)]
    if len(types) < 2 or not all(isinstance(type_, (ir.List, ir.Dict)) for type_ in types):
        return False
    mine, theirs = (type_.storage.find() for type_ in types)  # type: ignore[attr-defined]
    return mine is theirs


def _is_same(lo: Lowerer, one: Value, other: Value) -> bool:
    """Whether two values are surely one: the same variable, or taken from the same place."""
    if one is other:
        return True
    if not isinstance(one, ir.Var) or not isinstance(other, ir.Var):
        return False
    mine, theirs = lo.origins.get(one), lo.origins.get(other)
    return mine is not None and theirs is not None and mine[1] == theirs[1] and _is_same(lo, mine[0], theirs[0])
