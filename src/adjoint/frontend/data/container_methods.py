"""Lists and dicts: how they are made of others, and their methods."""

from __future__ import annotations

import ast
import collections
import sys
from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.diagnostics.similar import did_you_mean, one_of
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import containers, making
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.data.list_extension import extend_list
from adjoint.frontend.data.outside.imported_modules import module_now
from adjoint.frontend.data.tagged_items import taken as item_taken
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.values import NONE, IteratorValue, Record, Ref, TupleValue, Value, list_record
from adjoint.frontend.iterators.items import kept, known_items, sequence, static_items
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.special_methods import special_method
from adjoint.types.structure import CONTAINERS, DICTS


@handles(dict)
def make_dict(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``dict(...)``"""
    parts: list[tuple[Any, Value]] = []
    if args:
        args = [making.plain_dict(lo, args[0], node), *args[1:]]
        record = lo.store.get(args[0])
        if isinstance(record, Record) and record.cls in DICTS:
            parts.extend(record.parts)
        elif _is_run_time_dict(args[0]) or special_method(lo, args[0], "keys") is not None:
            return _with_entries(lo, python_functions.entries, args[0], kwargs, node)
        else:
            given = sequence(lo, args[0])
            pairs = static_items(lo, given, node)
            if pairs is None and (_is_list(given) or isinstance(given, IteratorValue)):
                return _with_entries(lo, python_functions.table, given, kwargs, node)
            if pairs is None:
                return NotImplemented
            for pair in pairs:
                entry = known_items(lo, pair, node)
                if len(entry) != 2:
                    raise lo.mistake(ValueError, node, "a dict is made of pairs")
                key, value = entry
                parts.append((key, value))
    parts.extend(kwargs.items())
    return making.new_dict(lo, parts, node)


def _with_entries(
    lo: Lowerer, function: Callable[..., Any], given: Value, named: dict[str, Value], node: ast.AST | None
) -> Value:
    """A dict that a function of the library makes of what is given, and what has names."""
    table = python_functions.call(lo, function, [given], node)
    for name, value in named.items():
        set_item(lo, table, ir.Const(name), value, node)
    return table


def _method(cls: type, name: str) -> Callable[[Handler], Handler]:
    return handles(getattr(cls, name))


@_method(list, "append")
def _append(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    making.refuse_if_iterated(lo, args[0], node)
    items = making.list_items(lo, args[0])
    if items is not None:
        assert isinstance(args[0], Ref)
        making.replace(lo, args[0], list_record([*items, args[1]]), node)
        return NONE
    if isinstance(args[0], ir.Var) and isinstance(args[0].type, ir.List):
        making.append(lo, args[0], args[1], node)
        return NONE
    return NotImplemented


@_method(list, "pop")
def _pop(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    making.refuse_if_iterated(lo, args[0], node)
    items = making.list_items(lo, args[0])
    place = args[1] if len(args) > 1 else ir.Const(-1)
    if items is not None:
        assert isinstance(args[0], Ref)
        if not isinstance(place, ir.Const):
            return _at_run_time(args[0])
        left = list(items)
        try:
            taken = left.pop(place.value)
        except IndexError as error:
            label = f"the list has {len(items)} item{'s' if len(items) != 1 else ''}"
            containers.raise_error(lo, IndexError, str(error), node, label, place.value)
        making.replace(lo, args[0], list_record(left), node)
        return taken
    if isinstance(args[0], ir.Var) and isinstance(args[0].type, ir.List):
        if isinstance(place, ir.Const) and type(place.value) is int and place.value >= 0:
            return _taken(lo, args[0], (place,), node)
        if place != ir.Const(-1):
            return python_functions.call(lo, python_functions.pop, [args[0], place], node)
        return _taken(lo, args[0], (), node)
    return NotImplemented


def _taken(lo: Lowerer, items: ir.Var, place: tuple[ir.Atom, ...], node: ast.AST | None) -> Value:
    """The item that is taken out of a list that exists at run time: the last one, or that at a place."""
    assert isinstance(items.type, ir.List)
    items.type.storage.mark_written()
    target = ir.Var("t", containers.reached(lo, items, ir.Const("pop from empty list"), node))
    lo.emit(ir.Call((target,), list.pop, (items, *place), (), lo.span(node)))
    return item_taken(lo, target, node)


@handles(python_functions.take_out)
def _take_item_out(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    items, place = args
    assert isinstance(items, ir.Var) and isinstance(place, (ir.Var, ir.Const))
    return _taken(lo, items, (place,), node)


@handles(python_functions.put_in)
def _put_in(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    items, place, item = args
    if not _is_list(items):
        return _insert(lo, args, kwargs, node)
    making.refuse_if_iterated(lo, items, node)
    assert isinstance(items, ir.Var) and isinstance(place, (ir.Var, ir.Const))
    making.insert(lo, items, place, item, node)
    return NONE


def _at_run_time(ref: Ref) -> Any:
    raise NeedsRuntime(tuple(original_sites((ref.site,))))


@_method(list, "extend")
def _extend(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    extend_list(lo, args[0], kept(lo, args[1]), node)
    return NONE


@_method(list, "insert")
def _insert(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if making.list_items(lo, args[0]) is not None and not isinstance(args[1], ir.Const):
        assert isinstance(args[0], Ref)
        return _at_run_time(args[0])

    def inserted(items: list[Value]) -> list[Value]:
        assert isinstance(args[1], ir.Const)
        items.insert(args[1].value, args[2])
        return items

    first = args[1] == ir.Const(0)  # where nothing is to be counted
    return _changed(lo, args, node, inserted, python_functions.put_in if first else python_functions.insert)


@_method(list, "reverse")
def _reverse(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return _changed(lo, args, node, lambda items: items[::-1], python_functions.reverse)


@_method(list, "clear")
def _clear(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return _changed(lo, args, node, lambda _: [], python_functions.clear)


def _changed(
    lo: Lowerer,
    args: list[Value],
    node: ast.AST | None,
    change: Callable[[list[Value]], list[Value]],
    at_run_time: Callable[..., Any],
) -> Any:
    """What a method gives that changes its list: nothing."""
    making.refuse_if_iterated(lo, args[0], node)
    items = making.list_items(lo, args[0])
    if items is None:
        return python_functions.call(lo, at_run_time, args, node) if _is_list(args[0]) else NotImplemented
    assert isinstance(args[0], Ref)
    making.replace(lo, args[0], list_record(change(list(items))), node)
    return NONE


@handles(list.copy, dict.copy)
def _copy(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    record = lo.store.get(args[0]) if isinstance(args[0], Ref) else None
    if isinstance(record, Record) and record.cls in CONTAINERS:
        if record.cls is list:
            return making.new_list(lo, record.items, node)
        return making.new_dict(lo, [(ir.Const(k), v) for k, v in record.parts], node)
    if _is_run_time_dict(args[0]):
        return python_functions.call(lo, python_functions.entries, [args[0]], node)
    return python_functions.call(lo, python_functions.copied, [args[0]], node) if _is_list(args[0]) else NotImplemented


def _is_list(value: Value) -> bool:
    return isinstance(value, ir.Var) and isinstance(value.type, ir.List)


def _dict_view(kind: str) -> Handler:
    def view(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return IteratorValue(kind, (args[0],)) if making.is_dict(lo, args[0]) else NotImplemented

    return view


for _kind in ("items", "keys", "values"):
    HANDLERS[getattr(dict, _kind)] = _dict_view(_kind)


@handles(dict.get)
def _get(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    default = args[2] if len(args) > 2 else NONE
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    if isinstance(args[0], Ref) and isinstance(args[1], ir.Const):
        record = lo.store[args[0]]
        assert isinstance(record, Record)
        found = record.get(args[1].value)
        return default if found is None else found
    if isinstance(args[0], ir.Var) and args[0].type == ir.Dict(None) and isinstance(default, (ir.Var, ir.Const)):
        found = lo.open.call(dict.get, args[0], making.hashed(lo, args[1], node), default)
        return NONE if default == NONE else found  # nothing was put in so far: what is starts this again
    return python_functions.call(lo, python_functions.get, [args[0], args[1], default], node)


@handles(sys.modules.get)
def _get_module(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    module = module_now(lo, args[0])
    if module is None:
        return NotImplemented
    return args[1] if module == NONE and len(args) > 1 else module


@handles(dict.pop)
def _dict_pop(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    making.refuse_if_iterated(lo, args[0], node)
    record = lo.store.get(args[0])
    if isinstance(args[0], ir.Var):
        if len(args) > 2:
            return python_functions.call(lo, python_functions.pop_or, args, node)
        return _take_out(lo, args[0], args[1], node)
    assert isinstance(record, Record)
    if not isinstance(args[1], ir.Const):
        assert isinstance(args[0], Ref)
        return _at_run_time(args[0])
    found = record.get(args[1].value)
    if found is None:
        if len(args) > 2:
            return args[2]
        key = args[1].value
        helps = did_you_mean(key, record.keys) or one_of(record.keys)
        label = f"the dict has no key {key!r} here"
        raise lo.mistake(KeyError, node, label, code="AD0212", helps=helps, name=key)
    assert isinstance(args[0], Ref)
    kept = tuple((k, v) for k, v in record.parts if k != args[1].value)
    making.replace(lo, args[0], Record(record.cls, kept), node)
    return found


def _take_out(lo: Lowerer, table: ir.Var, key: Value, node: ast.AST | None) -> Value:
    """``table.pop(key)`` of a dict that exists at run time."""
    assert isinstance(table.type, ir.Dict)
    table.type.storage.mark_written()
    name = making.hashed(lo, key, node)
    target = ir.Var("t", containers.reached(lo, table, name, node))
    lo.emit(ir.Call((target,), dict.pop, (table, name), (), lo.span(node)))
    return item_taken(lo, target, node)


@handles(dict.clear)
def _clear_dict(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    making.refuse_if_iterated(lo, args[0], node)
    if isinstance(args[0], ir.Var):
        return python_functions.call(lo, python_functions.clear_table, args, node)
    record = lo.store[args[0]]
    assert isinstance(args[0], Ref) and isinstance(record, Record)
    making.replace(lo, args[0], Record(record.cls, ()), node)
    return NONE


@handles(dict.setdefault)
def _setdefault(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    default = args[2] if len(args) > 2 else NONE
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    return python_functions.call(lo, python_functions.setdefault, [args[0], args[1], default], node)


@handles(dict.update)
def _dict_update(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    parts: list[tuple[Any, Value]] = []
    if len(args) > 1:
        if _is_run_time_dict(args[1]):
            python_functions.call(lo, python_functions.update, args, node)
        else:
            record = lo.store.get(make_dict(lo, args[1:], {}, node))
            if not isinstance(record, Record):
                raise lo.problem("AD0303", node, "'update' with a dict whose keys are not known")
            parts.extend(record.parts)
    parts.extend(kwargs.items())
    for key, value in parts:
        set_item(lo, args[0], _as_key(key), value, node)
    return NONE


def _is_run_time_dict(value: Value) -> bool:
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Dict)


def _as_key(key: Any) -> Value:
    return key if isinstance(key, (ir.Var, ir.Const)) else ir.Const(key)


@handles(dict.popitem)
def _popitem(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not making.is_dict(lo, args[0]):
        return NotImplemented
    making.refuse_if_iterated(lo, args[0], node)
    record = lo.store.get(args[0])
    if isinstance(args[0], ir.Var):
        return python_functions.call(lo, python_functions.pop_last, [args[0]], node)
    assert isinstance(record, Record)
    assert isinstance(args[0], Ref)
    if not record.parts:
        raise lo.mistake(KeyError, node, "the dict is empty here")
    key, value = record.parts[-1]
    making.replace(lo, args[0], Record(record.cls, record.parts[:-1]), node)
    return TupleValue((containers.known_key(lo, key, node), value))


@handles(dict.fromkeys)
def _fromkeys(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    value = args[1] if len(args) > 1 else NONE
    keys = known_items(lo, args[0], node)
    return making.new_dict(lo, [(key, value) for key in keys], node)


@handles(list.remove)
def _remove(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    making.refuse_if_iterated(lo, args[0], node)
    if making.list_items(lo, args[0]) is None and not _is_list(args[0]):
        return NotImplemented
    return python_functions.call(lo, python_functions.remove, args, node)


@handles(list.index)
def _index(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Where an item is in a list of constants that is known."""
    items = making.list_items(lo, args[0])
    if items is None or len(args) != 2 or not isinstance(args[1], ir.Const):
        return NotImplemented
    for place, item in enumerate(items):
        if not isinstance(item, ir.Const):
            return NotImplemented
        if item.value is args[1].value or item.value == args[1].value:
            return ir.Const(place)
    return NotImplemented


@handles(list.sort)
def _sort(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    making.refuse_if_iterated(lo, args[0], node)
    items = making.list_items(lo, args[0])
    if items is None and not _is_list(args[0]):
        return NotImplemented
    from adjoint.frontend.iterators.folds import sorted_list  # lazy

    ordered = sorted_list(lo, args, kwargs, node)
    new = making.list_items(lo, ordered)
    if items is None or new is None:
        return python_functions.call(lo, python_functions.overwrite, [args[0], ordered], node)
    assert isinstance(args[0], Ref)
    making.replace(lo, args[0], list_record(new), node)
    return NONE


for _name in ("items", "keys", "values", "setdefault", "update", "clear", "pop"):
    HANDLERS[getattr(collections.OrderedDict, _name)] = HANDLERS[getattr(dict, _name)]
