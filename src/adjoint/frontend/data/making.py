"""Lists, dicts and objects that come about, grow and are changed: at compile time or at run time."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.frontend.data.objects import outlives_the_call, writable
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites, type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import OtherItems, Restart
from adjoint.frontend.interpreter.type_joins import join_types
from adjoint.frontend.interpreter.values import (
    LOCAL,
    Closure,
    Local,
    Method,
    Record,
    Ref,
    Site,
    TupleValue,
    Union,
    Value,
    is_atom,
    list_record,
)
from adjoint.frontend.iterators.iterators import is_lazy
from adjoint.frontend.library import python_functions
from adjoint.ir.nodes import Atom, Call, Const, Var
from adjoint.ir.types import (
    FLOAT,
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
)
from adjoint.runtime import display
from adjoint.runtime.objects import make_object, put_item
from adjoint.types.structure import is_namedtuple_class

MAX_DEPTH = 8
_MISSING = object()


def list_items(lo: Lowerer, value: Value) -> tuple[Value, ...] | None:
    """The items of a list that is known at compile time; None for anything else."""
    if isinstance(value, Ref):
        record = lo.store[value]
        if isinstance(record, Record) and record.cls is list:
            return tuple(lo.known_part(value, key, part) for key, part in record.parts)
    return None


def new_list(lo: Lowerer, items: list[Value] | tuple[Value, ...], node: ast.AST | None) -> Value:
    """A list display."""
    assert node is not None
    site = lo.site(node)
    if site in lo.settings.runtime_sites:
        return runtime_list(lo, site, slots(lo, items, node), node)
    ref = Ref(site)
    lo.store[ref] = list_record(items)
    return ref


def runtime_list(lo: Lowerer, site: Site, held: list[Atom], node: ast.AST | None) -> Var:
    """A list that exists at run time, made here."""
    element = joined_types([type_of(atom) for atom in held], lo, node)
    known = lo.settings.site_types.get(site)
    if isinstance(known, List):
        element = _join_optional(lo, known.element, element, node)
    elif known is None and element is None:
        element = lo.settings.guesses.get(site.place[0])
    storage = Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = Var("items", List(element, storage))
    items = tuple(as_element(lo, atom, element) for atom in held)
    lo.emit(Call((target,), display.make_list, items, (), lo.span(node)))
    return target


def as_tuple(items: Value) -> Value:
    """A list at run time that nobody else has, as the tuple that it serves as."""
    if isinstance(items, Var) and isinstance(items.type, List):
        items.type = List(items.type.element, items.type.storage, is_tuple=True)
    return items


def is_tuple(value: Value) -> bool:
    """Whether a value is a tuple whose length is known at run time only."""
    return isinstance(value, Var) and isinstance(value.type, List) and value.type.is_tuple


def _element_of(container: Var) -> Type | None:
    match container.type:
        case List(element=part) | Dict(value=part):
            return part
        case _:
            return None


def as_element(lo: Lowerer, atom: Atom, element: Type | None) -> Atom:
    """A whole number among floats as a float, so that its slot has a derivative like the others."""
    if not isinstance(element, Scalar) or element.kind != "float":
        return atom
    type_ = type_of(atom)
    if not isinstance(type_, Scalar) or type_.kind not in ("bool", "int"):
        return atom
    if isinstance(atom, Const):
        return Const(float(atom.value))
    return lo.open.call(float, atom)


def joined_types(types: list[Type], lo: Lowerer, node: ast.AST | None) -> Type | None:
    joined: Type | None = None
    for type_ in types:
        joined = _join_optional(lo, joined, type_, node)
    return joined


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


def sites_within(lo: Lowerer, *values: Value) -> tuple[Site, ...]:
    """Where the objects among these values, and those in them, are made: they exist at run time together."""
    found: dict[Site, None] = {}
    seen: set[Ref] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Ref) and value not in seen:
            seen.add(value)
            found.update(dict.fromkeys(original_sites((value.site,))))
            record = lo.store.get(value)
            if isinstance(record, Record):
                pending.extend(record.items)
        elif isinstance(value, TupleValue):
            pending.extend(value.items)
    return tuple(found)


def slots(lo: Lowerer, values: Sequence[Value], node: ast.AST | None) -> list[Atom]:
    """What a container at run time holds for each of these values; all that must exist for it are found at once."""
    if any(isinstance(value, Ref) for value in values):
        raise NeedsRuntime(sites_within(lo, *values))
    return [slot(lo, value, node) for value in values]


def slot(lo: Lowerer, value: Value, node: ast.AST | None) -> Atom:
    """What a container at run time holds for ``value``."""
    match value:
        case Ref():
            raise NeedsRuntime(sites_within(lo, value))
        case Closure() | Method() if lo.counted_loops:
            lo.unroll_innermost()
            return materialize(lo, value, node)
        case TupleValue(items=items, cls=cls) if cls is tuple or is_namedtuple_class(cls):
            atoms = slots(lo, items, node)
            if cls is tuple and all(isinstance(atom, Const) for atom in atoms):
                return Const(tuple(atom.value for atom in atoms))  # type: ignore[union-attr]
            target = Var("t", Tuple(tuple(type_of(atom) for atom in atoms), cls))
            named = () if cls is tuple else (("cls", Const(cls)),)
            lo.emit(Call((target,), display.make_tuple, tuple(atoms), named, lo.span(node)))
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
    guessed = _guessed_site(lo, type_) if isinstance(type_, List) else None
    if guessed is not None:
        lo.settings.site_types[guessed] = List(type_of(atom))
        if type_of(atom) != before:
            _guess(lo, guessed, type_of(atom))
            raise OtherItems((guessed,))
        return
    after = _join_optional(lo, before, type_of(atom), node)
    if after == before:
        return
    _remember(lo, type_, List(after) if isinstance(type_, List) else Dict(after), node)


def _guessed_site(lo: Lowerer, type_: List) -> Site | None:
    """Where a list is made of which it is only guessed what it holds."""
    home = type_.storage.find()
    sites = [site for storage, site in lo.run_data.sites_of_storage if storage.find() is home]
    if len(sites) != 1 or sites[0] in lo.settings.site_types:
        return None
    guess = lo.settings.guesses.get(sites[0].place[0])
    return sites[0] if guess is not None and type_.element is guess else None


def note_outside(lo: Lowerer, base: Var, value: Atom, node: ast.AST | None) -> None:
    """Remembers writes into what a global or captured variable holds, or may: they must carry no derivative."""
    is_called = any(each.lowering for each in lo.run_data.definitions.values())
    if is_called or is_outside(lo, base):
        lo.run_data.outside_writes.append((base, value, lo.span(node)))


def is_outside(lo: Lowerer, base: Var) -> bool:
    """Whether a value may be what a global or captured variable holds."""
    home = base.type.storage.find()  # type: ignore[attr-defined]
    return any(outlives_the_call(site) for mine, site in lo.run_data.sites_of_storage if mine.find() is home)


def _remember(lo: Lowerer, type_: List | Dict | Instance, better: Type, node: ast.AST | None) -> None:
    home = type_.storage.find()
    sites = [site for storage, site in lo.run_data.sites_of_storage if storage.find() is home]
    if not sites:
        raise lo.problem("AD0402", node, "what is stored here does not have the type of what the container holds")
    changed: list[Site] = []
    for site in sites:
        known = lo.settings.site_types.get(site)
        joined = better if known is None else _widened(known, better)
        if joined is None:
            raise lo.problem("AD0402", node, "what is stored here does not have the type of what the container holds")
        if joined != known:
            lo.settings.site_types[site] = joined
            if isinstance(joined, List):
                _guess(lo, site, joined.element)
            changed.append(site)
    if not changed:
        return
    if isinstance(type_, List) and type_.element is None:
        lo.run_data.has_grown = True  # nothing can have been read from it so far: there may be more to be found out
    else:
        raise OtherItems(tuple(changed))


def _widened(known: Type, better: Type) -> Type | None:
    """What a container holds, by what was known of it and what is put into it; an object has what either says."""
    if not isinstance(known, Instance) or not isinstance(better, Instance):
        return join_types(known, better)
    fields = {**better.fields, **known.fields}
    for name in known.fields.keys() & better.fields.keys():
        joined = join_types(known.fields[name], better.fields[name])
        if joined is None:
            return None
        fields[name] = joined
    return Instance(known.cls, fields)


def _guess(lo: Lowerer, site: Site, element: Type | None) -> None:
    """What was found last is what the next list that is made at this place is taken to hold."""
    lo.settings.guesses[site.place[0]] = element if isinstance(element, Scalar) else None


def guess_numbers(lo: Lowerer, site: Site, parts: Iterable[ast.expr]) -> None:
    """Takes a list that nobody reads before it is full to hold floats: if it does, lowering need not start again.

    They are those of a list that the expressions of its items read, or NumPy's where these read something of NumPy's.
    """
    if site in lo.settings.site_types:
        return
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    cells = [cell for name in sorted(names) if (cell := lo.cell_named(name)) is not None]
    types = [value.type for cell in cells if isinstance(value := lo.store.get(cell), Var)]
    items = [type_.element for type_ in types if isinstance(type_, List)]
    if len(items) == 1 and isinstance(items[0], Scalar) and items[0].kind == "float":
        lo.settings.guesses[site.place[0]] = items[0]
    elif site.place[0] not in lo.settings.guesses:
        dtypes = [type_.dtype for type_ in types if isinstance(type_, (Array, Scalar)) and type_.dtype is not None]
        found = next((dtype for dtype in dtypes if dtype.kind == "f"), None)
        lo.settings.guesses[site.place[0]] = FLOAT if found is None else Scalar("float", found)


MOST_GUESSES = 3
"""How often a list is lowered again by itself until what it holds is known."""


def check_guess(lo: Lowerer, items: Value) -> None:
    """Starts again where a list that is full holds nothing that would say whether it was taken for the right one."""
    if isinstance(items, Var) and isinstance(items.type, List):
        guessed = _guessed_site(lo, items.type)
        if guessed is not None:
            lo.settings.guesses[guessed.place[0]] = None
            raise OtherItems((guessed,))


def sites_of_objects_at(lo: Lowerer, sites: Collection[Site]) -> tuple[Site, ...]:
    """Where what lies in the objects that are made at these places is made: it must exist with them."""
    refs = [key for key in lo.store if isinstance(key, Ref) and not set(sites).isdisjoint(original_sites((key.site,)))]
    return sites_within(lo, *refs)


def guessed_anew(lo: Lowerer, site: Site, build: Callable[[], Value]) -> Value:
    """What ``build`` gives; where it finds out what a list holds that it makes, and nothing else, it runs again."""
    for _ in range(MOST_GUESSES):
        kept = lo.checkpoint()
        try:
            return build()
        except OtherItems as other:
            if other.sites != (site,) or knows_half(lo):
                raise
            lo.roll_back(kept)
    return build()


def knows_half(lo: Lowerer) -> bool:
    """Whether some paths are left out, as where a recursive function is lowered of which no result is known yet."""
    return any(each.lowering and each.result is None for each in lo.run_data.definitions.values())


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
    marks = [base.__dict__.get(LOCAL) for base in record.cls.__mro__]
    if any(isinstance(mark, Local) and not mark.settled for mark in marks):
        label = f"an object of the class {record.cls.__name__!r} must exist at run time"
        raise lo.problem("AD0402", node, label, helps=("define the class before the loop",))
    known = lo.settings.site_types.get(ref.site)
    if isinstance(known, Instance):
        record = _with_defaults(lo, record, known, node)
    atoms = slots(lo, record.items, node)
    fields: dict[str, Type] = {key: type_of(atom) for key, atom in zip(record.keys, atoms, strict=True)}
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


def _with_defaults(lo: Lowerer, record: Record, known: Instance, node: ast.AST | None) -> Record:
    """An object with what its class holds for the attributes that are assigned later: numbers, read until then."""
    cls: Any = record.cls
    for name in known.fields:
        found = inspect.getattr_static(cls, name, _MISSING)
        if record.get(name) is not None or found is _MISSING or inspect.isdatadescriptor(found):
            continue
        if not isinstance(found, (bool, int, float, complex, np.generic)):
            label = f"{name!r} is an attribute of the class, and assigned for an object that must exist at run time"
            raise lo.problem("AD0402", node, label, helps=(f"assign {name!r} in '__init__', a value of the same kind",))
        inputs.guard_lookup(lo, cls, name, found)
        value = inputs.captured(lo, found, ("attribute", cls, name), name, node)
        record = record.with_part(name, as_element(lo, slot(lo, value, node), known.fields[name]))
    return record


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
    keeps_keys = record.keys[: len(before.keys)] == before.keys and (record.cls is dict or record.keys == before.keys)
    if not keeps_keys or not _of_several_kinds(before):
        raise NeedsRuntime((ref.site,))
    for key, value in record.parts:
        if value is not before.get(key):
            lo.open.effect(put_item, ref.origin, Const(key), materialize(lo, value, node))


def _of_several_kinds(record: Record) -> bool:
    """Whether items have no type in common that would tell numbers from arrays."""
    if not all(is_atom(item) for item in record.items):
        return True
    joined: Type | None = type_of(record.items[0]) if record.items else None
    for item in record.items[1:]:
        joined = None if joined is None else join_types(joined, type_of(item))
    return joined is None or isinstance(joined, Number)


def extend_list(lo: Lowerer, current: Value, value: Value, node: ast.AST | None) -> Value:
    """``current += value``"""
    from adjoint.frontend.control.iteration import run_for  # circular
    from adjoint.frontend.syntax.comprehensions import append  # lazy

    refuse_if_iterated(lo, current, node)
    mine = list_items(lo, current)
    if is_lazy(value):
        assert node is not None
        run_for(lo, node, value, lambda item: append(lo, current, item, node), lambda: None)
        return current
    if mine is not None:
        assert isinstance(current, Ref)
        from adjoint.frontend.data.containers import items_if_known  # circular

        theirs = items_if_known(lo, value, node)
        if theirs is None:
            raise NeedsRuntime(tuple(original_sites((current.site,))))
        replace(lo, current, list_record([*mine, *theirs]), node)
        return current
    python_functions.call(lo, python_functions.extend, [current, value], node)
    return current


def is_dict(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a dict, known or at run time."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record):
        return record.cls is dict
    return isinstance(value, Var) and isinstance(value.type, Dict)


def repeat_list(lo: Lowerer, sequence: Value, count: Value, node: ast.AST | None) -> Value:
    """``[x] * n``"""
    result = python_functions.call(lo, python_functions.repeat, [sequence, count], node)
    return as_tuple(result) if is_tuple(sequence) else result


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
    for (key, _), held in zip(parts, slots(lo, [value for _, value in parts], node), strict=True):
        atoms.append(materialize(lo, key, node) if isinstance(key, (Var, TupleValue, Const)) else Const(key))
        atoms.append(held)
        value_type = _join_optional(lo, value_type, type_of(atoms[-1]), node)
    known = lo.settings.site_types.get(site)
    if isinstance(known, Dict):
        value_type = _join_optional(lo, known.value, value_type, node)
    atoms[1::2] = [as_element(lo, atom, value_type) for atom in atoms[1::2]]
    storage = Storage(written=True)
    lo.run_data.sites_of_storage.append((storage, site))
    target = Var("items", Dict(value_type, storage))
    lo.emit(Call((target,), display.make_dict, tuple(atoms), (), lo.span(node)))
    return target


def refuse_if_iterated(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """A list or dict grows, shrinks or is put in another order: loops through a list have to notice, others refuse."""
    loops = [(other, site) for other, site in lo.iterated if _is_same(lo, value, other) or _may_be_same(value, other)]
    for other, site in loops:
        if site is None or site in lo.settings.by_position or not is_list(lo, other):
            raise lo.problem("AD0306", node, "a loop around runs through what is changed here")
        lo.settings.by_position.add(site)
    if loops:
        raise Restart


def is_list(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a list, known item by item or at run time."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    is_record = isinstance(record, Record) and record.cls is list
    return is_record or (isinstance(value, Var) and isinstance(value.type, List))


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
