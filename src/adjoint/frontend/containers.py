"""Lists, tuples, dicts and arrays: their items, known at compile time or not."""

from __future__ import annotations

import ast
import operator
from typing import Any, NoReturn

from adjoint.frontend import library
from adjoint.frontend.core import Lowerer, Restart, Unreached
from adjoint.frontend.indexing import array_key, type_of_item
from adjoint.frontend.materialize import materialize
from adjoint.frontend.objects import outlives_the_call, special_method, writable
from adjoint.frontend.shapes import NeedsRuntime, join_types, original_sites, type_of
from adjoint.frontend.values import (
    Closure,
    IteratorValue,
    Method,
    RangeValue,
    Record,
    Ref,
    Site,
    SliceValue,
    TupleValue,
    Union,
    Value,
    is_atom,
    list_record,
)
from adjoint.ir.nodes import Atom, Call, Const, Load, Raise, Store, Subscript, Var
from adjoint.ir.types import (
    INT,
    OPAQUE,
    Array,
    Dict,
    Instance,
    List,
    Number,
    Scalar,
    Storage,
    Tuple,
    Type,
    carries_derivative,
    depth_of,
    is_float_dtype,
)
from adjoint.runtime import display
from adjoint.runtime.objects import check_length, make_object, slice_bounds

MAX_DISPATCH = 16


# -- lists ------------------------------------------------------------------------------------------------------------


def list_items(lo: Lowerer, value: Value) -> tuple[Value, ...] | None:
    """The items of a list that is known at compile time; None for anything else."""
    if isinstance(value, Ref):
        record = lo.store[value]
        if isinstance(record, Record) and record.cls is list:
            return record.items
    return None


def new_list(lo: Lowerer, items: list[Value] | tuple[Value, ...], node: ast.AST | None) -> Value:
    """A list display."""
    assert node is not None
    site = lo.site(node)
    if site in lo.settings.runtime_sites:
        slots = [slot(lo, item, node) for item in items]
        return _runtime_list(lo, site, slots, node)
    ref = Ref(site)
    lo.store[ref] = list_record(items)
    return ref


def _runtime_list(lo: Lowerer, site: Site, slots: list[Atom], node: ast.AST | None) -> Var:
    element = _joined([type_of(atom) for atom in slots], lo, node)
    known = lo.settings.site_types.get(site)
    if isinstance(known, List):
        element = _join_optional(lo, known.element, element, node)
    storage = Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = Var("items", List(element, storage))
    items = tuple(as_element(lo, atom, element) for atom in slots)
    lo.emit(Call((target,), display.make_list, items, (), lo.span(node)))
    return target


def _element_of(container: Var) -> Type | None:
    match container.type:
        case List(element=part) | Dict(value=part):
            return part
        case _:
            return None


def as_element(lo: Lowerer, atom: Atom, element: Type | None) -> Atom:
    """An integer among floats as a float, so that its slot has a derivative like the others."""
    if not isinstance(element, Scalar) or element.kind != "float":
        return atom
    type_ = type_of(atom)
    if not isinstance(type_, Scalar) or type_.kind != "int":
        return atom
    if isinstance(atom, Const):
        return Const(float(atom.value))
    return lo.open.call(float, atom)


def _joined(types: list[Type], lo: Lowerer, node: ast.AST | None) -> Type | None:
    joined: Type | None = None
    for type_ in types:
        joined = _join_optional(lo, joined, type_, node)
    return joined


MAX_DEPTH = 8


def _join_optional(lo: Lowerer, one: Type | None, other: Type | None, node: ast.AST | None) -> Type | None:
    if max(depth_of(one), depth_of(other)) > MAX_DEPTH:
        raise lo.problem("AD0402", node, "containers are put into each other here without end")
    if one is None or other is None:
        return one if other is None else other
    joined = join_types(one, other)
    if joined is None:
        if not carries_derivative(one) and not carries_derivative(other):
            return OPAQUE
        raise lo.problem("AD0402", node, "the elements of this container have different structures")
    return joined


def slot(lo: Lowerer, value: Value, node: ast.AST | None) -> Atom:
    """What a container at run time holds for ``value``."""
    match value:
        case Ref(origin=None):
            raise NeedsRuntime(tuple(original_sites((value.site,))))
        case Ref(origin=origin):
            assert origin is not None
            raise NeedsRuntime(tuple(original_sites((value.site,))))
        case Closure() | Method() if lo.counted_loops:
            lo.unroll_innermost()
            return materialize(lo, value, node)
        case TupleValue(items=items, cls=cls) if cls is tuple:
            atoms = [slot(lo, item, node) for item in items]
            if all(isinstance(atom, Const) for atom in atoms):
                return Const(tuple(atom.value for atom in atoms))  # type: ignore[union-attr]
            target = Var("t", Tuple(tuple(type_of(atom) for atom in atoms)))
            lo.emit(Call((target,), display.make_tuple, tuple(atoms), (), lo.span(node)))
            return target
        case _:
            return materialize(lo, value, node)


def note_element(lo: Lowerer, container: Var, atom: Atom, node: ast.AST | None) -> None:
    """Something is put into a container: its type must allow for it."""
    type_ = container.type
    assert isinstance(type_, (List, Dict))
    note_outside(lo, container, atom, node)
    type_.storage.mark_written()
    before = type_.element if isinstance(type_, List) else type_.value
    after = _join_optional(lo, before, type_of(atom), node)
    if after == before:
        return
    _remember(lo, type_, List(after) if isinstance(type_, List) else Dict(after), node)


def note_outside(lo: Lowerer, base: Var, value: Atom, node: ast.AST | None) -> None:
    """Remembers writes into what a global or captured variable holds: they must carry no derivative."""
    home = base.type.storage.find()  # type: ignore[attr-defined]
    if any(outlives_the_call(site) for mine, site in lo.run_data.sites_of_storage if mine.find() is home):
        lo.run_data.outside_writes.append((base, value, lo.span(node)))


def _remember(lo: Lowerer, type_: List | Dict | Instance, better: Type, node: ast.AST | None) -> None:
    home = type_.storage.find()
    sites = [site for storage, site in lo.run_data.sites_of_storage if storage.find() is home]
    if not sites:
        raise lo.problem("AD0402", node, "what is stored here does not have the type of what the container holds")
    changed = False
    for site in sites:
        known = lo.settings.site_types.get(site)
        joined = better if known is None else join_types(known, better)
        if joined is None:
            raise lo.problem("AD0402", node, "what is stored here does not have the type of what the container holds")
        if joined != known:
            lo.settings.site_types[site] = joined
            changed = True
    if changed:
        raise Restart


def grow_field(lo: Lowerer, base: Var, name: str, atom: Atom) -> None:
    """An attribute of a run-time object is assigned."""
    type_ = base.type
    assert isinstance(type_, Instance)
    note_outside(lo, base, atom, None)
    type_.storage.mark_written()
    before = type_.fields.get(name)
    after = type_of(atom) if before is None else join_types(before, type_of(atom))
    if after is None:
        raise lo.problem("AD0402", None, f"the attribute {name!r} takes values of different structures")
    if after != before:
        _remember(lo, type_, Instance(type_.cls, {**type_.fields, name: after}), None)


def runtime_object(lo: Lowerer, ref: Ref, node: ast.AST | None) -> Var:
    """The object that ``ref`` describes, made to exist at run time."""
    record = lo.store.pop(ref)
    assert isinstance(record, Record)
    atoms = [slot(lo, item, node) for item in record.items]
    fields: dict[str, Type] = {key: type_of(atom) for key, atom in zip(record.keys, atoms, strict=True)}
    known = lo.settings.site_types.get(ref.site)
    if isinstance(known, Instance):
        joined = {
            key: join_types(type_, fields[key]) if key in fields else type_ for key, type_ in known.fields.items()
        }
        fields = {key: type_ if type_ is not None else OPAQUE for key, type_ in {**fields, **joined}.items()}
    storage = Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, ref.site))
    target = Var("obj", Instance(record.cls, fields, storage))
    span = lo.span(node)
    lo.emit(Call((target,), make_object, (Const(record.cls), Const(record.keys), *atoms), (), span))
    return target


def replace(lo: Lowerer, ref: Ref, record: Record, node: ast.AST | None) -> None:
    """Changes what a list or dict holds."""
    if any(item is ref for item in record.items):
        raise lo.problem("AD0402", node, "a container is put into itself here")
    writable(lo, ref, node)
    if ref.origin is not None:
        raise NeedsRuntime((ref.site,))
    lo.store[ref] = record


def extend_list(lo: Lowerer, current: Value, value: Value, node: ast.AST | None) -> Value:
    """``current += value``"""
    refuse_if_iterated(lo, current, node)
    mine = list_items(lo, current)
    if mine is not None:
        assert isinstance(current, Ref)
        try:
            theirs = known_items(lo, value, node)
        except NeedsRuntime:
            raise
        replace(lo, current, list_record([*mine, *theirs]), node)
        return current
    library.call(lo, library.extend, [current, value], node)
    return current


def repeat_list(lo: Lowerer, sequence: Value, count: Value, node: ast.AST | None) -> Value:
    """``[x] * n``"""
    return library.call(lo, library.repeat, [sequence, count], node)


def new_dict(lo: Lowerer, parts: list[tuple[Any, Value]], node: ast.AST | None) -> Value:
    """A dict display; keys are values or, from another dict, constants."""
    assert node is not None
    site = lo.site(node)
    keys = [key.value if isinstance(key, Const) else key for key, _ in parts]
    known = all(not isinstance(key, (Var, Ref, TupleValue, Union)) for key in keys)
    if site in lo.settings.runtime_sites or not known:
        return _runtime_dict(lo, site, parts, node)
    record = Record(dict, ())
    for key, (_, value) in zip(keys, parts, strict=True):
        record = record.with_part(key, value)
    ref = Ref(site)
    lo.store[ref] = record
    return ref


def _runtime_dict(lo: Lowerer, site: Site, parts: list[tuple[Any, Value]], node: ast.AST | None) -> Var:
    atoms: list[Atom] = []
    value_type: Type | None = None
    for key, value in parts:
        atoms.append(materialize(lo, key, node) if isinstance(key, (Var, TupleValue, Const)) else Const(key))
        atoms.append(slot(lo, value, node))
        value_type = _join_optional(lo, value_type, type_of(atoms[-1]), node)
    known = lo.settings.site_types.get(site)
    if isinstance(known, Dict):
        value_type = _join_optional(lo, known.value, value_type, node)
    storage = Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = Var("items", Dict(value_type, storage))
    lo.emit(Call((target,), display.make_dict, tuple(atoms), (), lo.span(node)))
    return target


def refuse_if_iterated(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """A list or dict grows, shrinks or is put in another order: not while a loop runs through it."""
    if any(_is_same(lo, value, other) or _may_be_same(value, other) for other in lo.iterated):
        raise lo.problem("AD0306", node, "a loop around runs through what is changed here")


def _may_be_same(one: Value, other: Value) -> bool:
    """Whether two containers at run time may be one: they may share memory."""
    types = [value.type for value in (one, other) if isinstance(value, Var)]
    if len(types) < 2 or not all(isinstance(type_, (List, Dict)) for type_ in types):
        return False
    mine, theirs = (type_.storage.find() for type_ in types)  # type: ignore[attr-defined]
    return mine is theirs


def _is_same(lo: Lowerer, one: Value, other: Value) -> bool:
    """Whether two values are surely one: the same variable, or taken from the same place."""
    if one is other:
        return True
    if not isinstance(one, Var) or not isinstance(other, Var):
        return False
    mine, theirs = lo.origins.get(one), lo.origins.get(other)
    return mine is not None and theirs is not None and mine[1] == theirs[1] and _is_same(lo, mine[0], theirs[0])


# -- items ------------------------------------------------------------------------------------------------------------


def known_items(lo: Lowerer, value: Value, node: ast.AST | None, count: int | None = None) -> list[Value]:
    """The items of something of known length (or of which exactly ``count`` are wanted)."""
    from adjoint.frontend.iteration import iterated

    value = iterated(lo, value, node)
    refuse_number(lo, value, "cannot be iterated over", node)
    match value:
        case TupleValue(items=items):
            return list(items)
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls is list:
                return list(record.items)
            if record.cls is dict:
                return [Const(key) for key in record.keys]
        case Const(value=constant) if isinstance(constant, (tuple, list, str, range)):
            return [Const(item) for item in constant]
        case RangeValue(start=Const(value=start), stop=Const(value=stop), step=Const(value=step)):
            return [Const(i) for i in range(start, stop, step)]
        case Var(type=Tuple(items=types)):
            return [_load(lo, value, Const(i), type_, node) for i, type_ in enumerate(types)]
        case Var(type=List(storage=storage)) if count is None:
            _fix_length(lo, storage)
        case Var() if count is not None:
            lo.open.effect(check_length, value, Const(count))
            return [subscript(lo, value, Const(i), node) for i in range(count)]
        case IteratorValue():
            from adjoint.frontend.iteration import static_items

            items_ = static_items(lo, value, node)
            if items_ is not None:
                return items_
    raise lo.problem("AD0301", node, "the number of items is not known here")


def refuse_number(lo: Lowerer, value: Value, what: str, node: ast.AST | None) -> None:
    """Python's own numbers are no sequences; those of NumPy answer for themselves."""
    if isinstance(value, Var) and isinstance(value.type, Scalar) and value.type.dtype is None:
        raise lo.problem("AD0203", node, f"a value of class {value.type.kind!r} {what}")


def _fix_length(lo: Lowerer, storage: Storage) -> None:
    """The length of a list that is an argument must be known: lowering starts again with that."""
    home = storage.find()
    sites = {site for mine, site in lo.run_data.sites_of_storage if mine.find() is home}
    inputs = {site for site in sites if site.place[:2] == ("input", "argument")}
    if inputs and not inputs <= lo.settings.fixed_sites and not inputs & lo.settings.runtime_sites:
        lo.settings.fixed_sites |= inputs
        raise Restart


def _load(lo: Lowerer, base: Var, index: Atom, type_: Type, node: ast.AST | None) -> Var:
    target = Var("t", type_)
    lo.emit(Load(target, base, Subscript((index,)), lo.span(node)))
    return target


def subscript(lo: Lowerer, base: Value, index: Value, node: ast.AST | None) -> Value:
    """``base[index]``"""
    from adjoint.frontend.calls import call_value
    from adjoint.frontend.expressions import call, on_each_option

    refuse_number(lo, base, "has no items", node)
    match base:
        case Union():
            return on_each_option(lo, base, lambda option: subscript(lo, option, index, node), node)
        case TupleValue(items=items):
            return _item_of_tuple(lo, base, items, index, node)
        case Ref():
            record = lo.store[base]
            assert isinstance(record, Record)
            if record.cls is list:
                return _item_of_list(lo, base, record, index, node)
            if record.cls is dict:
                return _item_of_dict(lo, base, record, index, node)
        case Const(value=constant):
            atom = materialize(lo, index, node)
            if isinstance(atom, Const):
                try:
                    return Const(constant[atom.value])
                except (TypeError, LookupError) as error:
                    raise lo.problem("AD0203", node, str(error)) from None
            if isinstance(constant, (tuple, list)) and constant:
                types = [type_of(Const(item)) for item in constant]
                return _load_any(lo, base, atom, _joined(types, lo, node) or OPAQUE, node)
            return call(lo, operator.getitem, [base, atom], node)
        case Var(type=Array() | Number()):
            key = array_key(lo, index, node)
            target = Var("t", type_of_item(base.type, key))
            lo.emit(Load(target, base, key, lo.span(node)))
            return target
        case Var(type=List(element=element)):
            if isinstance(index, SliceValue):
                return library.call(lo, library.part, [base, _bounds(lo, index, base)], node)
            return _load(lo, base, materialize(lo, index, node), _reached(element), node)
        case Var(type=Dict(value=value)):
            return _load(lo, base, materialize(lo, index, node), _reached(value), node)
        case Var(type=Tuple(items=types_)):
            if isinstance(index, Const) and isinstance(index.value, int):
                return _load(lo, base, index, types_[index.value], node)
            if isinstance(index, SliceValue):
                return subscript(lo, TupleValue(tuple(known_items(lo, base, node))), index, node)
            joined = _joined(list(types_), lo, node)
            return _load(lo, base, materialize(lo, index, node), joined or OPAQUE, node)
        case RangeValue():
            return call(lo, operator.getitem, [materialize(lo, base, node), materialize(lo, index, node)], node)
    method = special_method(lo, base, "__getitem__")
    if method is not None:
        return call_value(lo, method, [index], {}, node)
    if isinstance(base, Var):
        target = Var("t", OPAQUE)
        lo.emit(Load(target, base, array_key(lo, index, node), lo.span(node)))
        return target
    raise lo.problem("AD0301", node, "this value has no items")


def _reached(element: Type | None) -> Type:
    """The type of an item of a container; of one that is always empty nothing is ever read."""
    if element is None:
        raise Unreached
    return element


def _load_any(lo: Lowerer, base: Atom, index: Atom, type_: Type, node: ast.AST | None) -> Var:
    target = Var("t", type_)
    lo.emit(Load(target, base, Subscript((index,)), lo.span(node)))
    return target


def _bounds(lo: Lowerer, index: SliceValue, base: Var) -> RangeValue:
    """The places that a slice of a list selects."""
    bounds = Var("bounds", Tuple((INT, INT, INT)))
    lo.emit(Call((bounds,), slice_bounds, (base, index.lower, index.upper, index.step), (), lo.open.span))
    return RangeValue(*(_load(lo, bounds, Const(i), INT, None) for i in range(3)))


def _constant_slice(index: SliceValue) -> slice | None:
    parts = (index.lower, index.upper, index.step)
    if all(isinstance(part, Const) for part in parts):
        return slice(*(part.value for part in parts))  # type: ignore[union-attr]
    return None


def _item_of_tuple(lo: Lowerer, base: Value, items: tuple[Value, ...], index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, SliceValue):
        part = _constant_slice(index)
        if part is None:
            raise lo.problem("AD0301", node, "a slice of a tuple whose bounds are not known")
        return TupleValue(items[part])
    if isinstance(index, Const):
        try:
            item: Value = items[index.value]
            return item
        except IndexError as error:
            raise_error(lo, IndexError, str(error), node)
        except TypeError as error:
            raise lo.problem("AD0203", node, str(error)) from None
    atom = materialize(lo, index, node)
    if all(is_atom(item) for item in items) and items:
        container = materialize(lo, base, node)
        types = [type_of(item) for item in items]
        return _load_any(lo, container, atom, _joined(types, lo, node) or OPAQUE, node)
    if 0 < len(items) <= MAX_DISPATCH:
        return Union(atom, items)
    raise lo.problem("AD0301", node, "an index that is not known at compile time into a tuple of structures")


def _item_of_list(lo: Lowerer, base: Ref, record: Record, index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, SliceValue):
        part = _constant_slice(index)
        if part is None:
            raise NeedsRuntime(tuple(original_sites((base.site,))))
        return new_list(lo, record.items[part], node)
    if isinstance(index, Const):
        try:
            item: Value = record.items[index.value]
            return item
        except IndexError as error:
            raise_error(lo, IndexError, str(error), node)
        except TypeError as error:
            raise lo.problem("AD0203", node, str(error)) from None
    if any(
        isinstance(item, (Closure, Method)) or (isinstance(item, Const) and callable(item.value))
        for item in record.items
    ):
        return Union(materialize(lo, index, node), record.items)
    raise NeedsRuntime(tuple(original_sites((base.site,))))


def _item_of_dict(lo: Lowerer, base: Ref, record: Record, index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, TupleValue):
        index = materialize(lo, index, node)
    if not isinstance(index, Const):
        raise NeedsRuntime(tuple(original_sites((base.site,))))
    found = record.get(index.value)
    if found is None:
        raise_error(lo, KeyError, index.value, node)
    return found


def raise_error(lo: Lowerer, cls: type[Exception], argument: Any, node: ast.AST | None) -> NoReturn:
    """What is certain to raise when it runs: this path ends with that exception."""
    lo.stop(Raise(lo.open.call(cls, Const(argument)), None, lo.span(node)))
    raise Unreached


def set_item(lo: Lowerer, base: Value, index: Value, value: Value, node: ast.AST | None) -> None:
    """``base[index] = value``"""
    from adjoint.frontend.calls import call_value

    match base:
        case Ref():
            record = lo.store[base]
            assert isinstance(record, Record)
            if record.cls in (list, dict):
                _set_known(lo, base, record, index, value, node)
                return
        case Var(type=Array()):
            key = array_key(lo, index, node)
            atom = materialize(lo, value, node)
            mark_array_written(lo, base, atom, node)
            lo.emit(Store(base, key, atom, "set", lo.span(node)))
            return
        case Var(type=List() | Dict()):
            if isinstance(index, SliceValue):
                raise lo.problem("AD0303", node, "assignment to a slice of a list")
            atom = slot(lo, value, node)
            note_element(lo, base, atom, node)
            atom = as_element(lo, atom, _element_of(base))
            lo.emit(Store(base, Subscript((materialize(lo, index, node),)), atom, "set", lo.span(node)))
            return
        case Const():
            raise lo.problem("AD0302", node, "an item of an object that outlives the call is assigned")
    method = special_method(lo, base, "__setitem__")
    if method is not None:
        call_value(lo, method, [index, value], {}, node)
        return
    if isinstance(base, Var):
        lo.emit(Store(base, array_key(lo, index, node), materialize(lo, value, node), "set", lo.span(node)))
        return
    raise lo.problem("AD0301", node, "an item of this value cannot be assigned")


def _set_known(lo: Lowerer, base: Ref, record: Record, index: Value, value: Value, node: ast.AST | None) -> None:
    if isinstance(index, TupleValue):
        index = materialize(lo, index, node)
    if not isinstance(index, Const):
        raise NeedsRuntime(tuple(original_sites((base.site,))))
    key = index.value
    if record.cls is list:
        if not isinstance(key, int) or not -len(record.parts) <= key < len(record.parts):
            raise lo.problem("AD0203", node, "list assignment index out of range")
        key %= len(record.parts)
    elif record.get(key) is None:
        refuse_if_iterated(lo, base, node)
    replace(lo, base, record.with_part(key, value), node)


def mark_array_written(lo: Lowerer, array: Var, value: Atom, node: ast.AST | None) -> None:
    """An array is written in place with ``value``."""
    assert isinstance(array.type, Array)
    type_ = type_of(value)
    floating = (isinstance(type_, Scalar) and type_.kind == "float") or is_float_dtype(getattr(type_, "dtype", None))
    dtype = array.type.dtype
    if floating and dtype is not None and not is_float_dtype(dtype) and dtype.kind != "O":
        raise lo.problem(
            "AD0408",
            node,
            f"a float is stored into an array of {dtype}, which cuts it off",
            helps=("make the array with a floating dtype: np.zeros(n)",),
        )
    note_outside(lo, array, value, node)
    array.type.storage.mark_written()


def contains(lo: Lowerer, container: Value, item: Value, node: ast.AST | None) -> Value:
    """``item in container``"""
    from adjoint.frontend.calls import call_value
    from adjoint.frontend.expressions import apply_operator, call

    if isinstance(container, Ref):
        record = lo.store[container]
        assert isinstance(record, Record)
        if record.cls is dict:
            keys = Const(record.keys)
            return call(lo, operator.contains, [keys, materialize(lo, item, node)], node)
    items = list(container.items) if isinstance(container, TupleValue) else list_items(lo, container)
    if items is not None:
        result: Value = Const(False)
        for candidate in items:
            equal = apply_operator(lo, operator.eq, [candidate, item], node)
            if equal == Const(True):
                return equal
            if equal != Const(False):
                result = equal if result == Const(False) else call(lo, operator.or_, [result, equal], node)  # type: ignore[list-item]
        return result
    method = special_method(lo, container, "__contains__")
    if method is not None:
        return call_value(lo, method, [item], {}, node)
    return call(lo, operator.contains, [materialize(lo, container, node), materialize(lo, item, node)], node)


def length(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """``len(value)``"""
    from adjoint.frontend.calls import call_value
    from adjoint.frontend.expressions import on_each_option

    refuse_number(lo, value, "has no length", node)
    match value:
        case TupleValue(items=items):
            return Const(len(items))
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in (list, dict):
                return Const(len(record.parts))
        case Union():
            return on_each_option(lo, value, lambda option: length(lo, option, node), node)
        case Var(type=Tuple(items=items)):
            return Const(len(items))
        case Const(value=constant) if isinstance(constant, (str, tuple, list, dict, bytes, range)):
            return Const(len(constant))
    method = special_method(lo, value, "__len__")
    if method is not None:
        return call_value(lo, method, [], {}, node)
    target = Var("n", INT)
    lo.emit(Call((target,), len, (materialize(lo, value, node),), (), lo.span(node)))
    return target
