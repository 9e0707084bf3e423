"""What an iterable gives: its items one by one where they are known, else by their number at run time."""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.data import containers, making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import Several, on_each_option
from adjoint.frontend.interpreter.options.growing_tuples import note_growing_value
from adjoint.frontend.interpreter.state.signals import Restart, Unreached
from adjoint.frontend.interpreter.values import (
    ENDLESS,
    NONE,
    GeneratorValue,
    IteratorValue,
    RangeValue,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.iterators.iterator_objects import iterated
from adjoint.frontend.iterators.iterators import drawn, is_endless, is_lazy
from adjoint.frontend.library import python_functions
from adjoint.frontend.syntax.identities import is_number
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.records import dataclass
from adjoint.runtime.display import keys_of, make_tuple
from adjoint.runtime.objects import check_length, first_items
from adjoint.types.structure import DICTS

MAX_UNROLLED = 32

Getter = Callable[[], Value]
"""Gives an item at the time when it is asked for."""


@dataclass(frozen=True, slots=True)
class Perhaps:
    """Gives an item that is there if its place is below these lengths, which are known at run time."""

    get: Getter
    place: int
    lengths: tuple[ir.Atom, ...]

    def __call__(self) -> Value:
        return self.get()


@dataclass(frozen=True, slots=True)
class Indexed:
    """A sequence at run time: its length, and how to get an item."""

    length: Callable[[], ir.Atom]
    item: Callable[[Value], Value]
    bounds: tuple[ir.Atom, ir.Atom, ir.Atom] | None = None
    """For a range by itself: its own start, stop and step, which the loop counts through."""


def is_sequence(value: Value) -> bool:
    """Whether a loop leaves a value as it is; an iterator ends for all who have it, and numbers have no items."""
    if isinstance(value, ir.Var):
        return not isinstance(value.type, ir.Scalar)
    return isinstance(value, (RangeValue, Ref, TupleValue))


def known_range(iterable: Value) -> range | None:
    """The integers of a range whose bounds are known, if they are few."""
    integers = _constant_range(iterable)
    return integers if integers is not None and len(integers) <= MAX_UNROLLED else None


def _constant_range(iterable: Value) -> range | None:
    match iterable:
        case RangeValue(start=ir.Const(value=start), stop=ir.Const(value=stop), step=ir.Const(value=step)):
            return range(start, stop, step)
        case _:
            return None


def kept(lo: Lowerer, value: Value) -> Value:
    """What a value iterates over, for whoever asks for an item after the other."""
    return iterated(lo, value, None)


def sequence(lo: Lowerer, value: Value) -> Value:
    """The same, all items computed."""
    return all_of(lo, kept(lo, value), None)


def all_of(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """All items, computed now; of what has no end there are as many as of what is beside it."""
    parts = value.parts if isinstance(value, IteratorValue) and value.kind == "zip" else ()
    endless = [part for part in parts if is_lazy(part) and is_endless(part)]
    where = node or next((part.node for part in endless if isinstance(part, GeneratorValue)), None)
    if not endless or where is None:
        return drawn(lo, value, node)
    from adjoint.frontend.syntax.comprehensions import list_of_items  # lazy

    found = list_of_items(lo, value, where)
    if lo.block is None:
        raise Unreached  # all of it has no end
    return found


def known_items(lo: Lowerer, value: Value, node: ast.AST | None, count: int | None = None) -> list[Value]:
    """The items of something of known length (or of which exactly ``count`` are wanted)."""
    found = items_if_known(lo, value, node, count)
    if found is None:
        look_where_it_comes_from(lo, value)
        note_growing_value(lo, value)
        raise lo.problem("AD0301", node, "the number of items is not known here")
    return found


def items_if_known(lo: Lowerer, value: Value, node: ast.AST | None, count: int | None = None) -> list[Value] | None:
    """The same, None where the number of items is not known."""
    value = all_of(lo, iterated(lo, value, node), node)
    containers.refuse_number(lo, value, "cannot be iterated over", node)
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Dict):
        value = lo.open.call(keys_of, value)
    match value:
        case TupleValue(items=items):
            return list(items)
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls is list:
                return list(record.items)
            if record.cls in DICTS:
                return [containers.known_key(lo, key, node) for key in record.keys]
        case ir.Const(value=constant) if isinstance(constant, (tuple, list, str, range)):
            return [ir.Const(item) for item in constant]
        case ir.Const(value=type() as cls) if issubclass(cls, enum.Enum):
            return [ir.Const(member) for member in cls]
        case RangeValue(start=ir.Const(value=start), stop=ir.Const(value=stop), step=ir.Const(value=step)):
            return [ir.Const(i) for i in range(start, stop, step)]
        case ir.Var(type=ir.Tuple()):
            return containers.tuple_items(lo, value, node)
        case ir.Var(type=ir.List(storage=storage)) if count is None:
            _fix_length(lo, storage)
        case ir.Var() if count is not None:
            if isinstance(value.type, ir.Opaque) and value.type.cls in (set, frozenset):
                value = lo.open.call(tuple, value)
            lo.open.effect(check_length, value, ir.Const(count))
            return [containers.subscript(lo, value, ir.Const(i), node) for i in range(count)]
        case IteratorValue(kind="flat") if count is not None:
            elements = materialize(lo, value, node)
            return items_if_known(lo, elements, node, count)
        case IteratorValue() | Union():
            found = static_items(lo, value, node) if count is None else unpacked_items(lo, value, node)
            is_open = found is None and count is not None and isinstance(value, Union)
            return _items_by_structure(lo, value, node, count) if is_open else found  # type: ignore[arg-type]
    return None


def _items_by_structure(lo: Lowerer, value: Union, node: ast.AST | None, count: int) -> list[Value] | None:
    """So many items of what is one of several containers, the lengths of which are known at run time only."""

    def items_of(option: Value) -> Value:
        return TupleValue(tuple(known_items(lo, option, node, count)))

    found = on_each_option(lo, value, items_of, node)
    if lo.block is None:
        raise Unreached
    return list(found.items) if isinstance(found, TupleValue) else None


def _fix_length(lo: Lowerer, storage: ir.Storage) -> None:
    """The length of a list that is given, or repeated as often as is, must be known: starts again with that."""
    home = storage.find()
    counts = {path for mine, path in lo.run_data.counted_lists if mine.find() is home}
    if not counts <= lo.settings.constant_inputs:
        lo.settings.constant_inputs |= counts
        raise Restart
    sites = {site for mine, site in lo.run_data.sites_of_storage if mine.find() is home}
    inputs = {site for site in sites if site.place[:2] == ("input", "argument")}
    at_run_time = any(site in lo.settings.runtime_sites for site in inputs)
    if inputs and not inputs <= lo.settings.fixed_sites and not at_run_time:
        lo.settings.fixed_sites |= inputs
        raise Restart


def static_items(lo: Lowerer, value: Value, node: ast.AST | None) -> list[Value] | None:
    """The items, where they are known one by one, as they are now."""
    getters = static_getters(lo, value, node)
    return None if getters is None or any(map(lengths_of, getters)) else [get() for get in getters]


def unpacked_items(lo: Lowerer, value: Value, node: ast.AST | None) -> list[Value] | None:
    """The same where there must be as many as there may be."""
    getters = static_getters(lo, value, node)
    if getters is None:
        return None
    for length in dict.fromkeys(length for get in getters for length in lengths_of(get)):
        python_functions.call(lo, python_functions.check_reaches, [length, ir.Const(len(getters))], node)
    return [get() for get in getters]


def lengths_of(get: Getter) -> tuple[ir.Atom, ...]:
    """The lengths that tell whether an item is there."""
    return get.lengths if isinstance(get, Perhaps) else ()


def written_out(lo: Lowerer, value: Value, node: ast.AST | None) -> list[Value] | None:
    """The same, of ranges too if they are short."""
    few = known_range(value)
    return static_items(lo, value, node) if few is None else [ir.Const(i) for i in few]


def static_getters(lo: Lowerer, value: Value, node: ast.AST | None) -> list[Getter] | None:
    """The same for whoever asks for one after the other: what was written meanwhile is seen.

    Those that are :class:`Perhaps` are only there where something else that ``zip`` goes through has as many items.
    """
    match value:
        case TupleValue(items=items):
            return given_now(items)
        case Union():
            return _items_of_each(lo, value, node)
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in DICTS:
                return given_now([containers.known_key(lo, key, node) for key in record.keys])
            return _parts(lo, value, record.keys) if record.cls is list else None
        case ir.Const(value=constant) if isinstance(constant, (tuple, list, str, frozenset, dict)):
            return given_now([ir.Const(item) for item in constant])
        case ir.Const(value=type() as cls) if issubclass(cls, enum.Enum):
            return given_now([ir.Const(member) for member in cls])  # not its other names, nor unions of flags
        case ir.Var(type=ir.Tuple()):
            return given_now(containers.tuple_items(lo, value, node))
        case IteratorValue(kind="enumerate", parts=(inner, ir.Const(value=int() as start))):
            return _each(static_getters(lo, inner, node), lambda i, get: TupleValue((ir.Const(start + i), get())))
        case IteratorValue(kind="zip", parts=parts):
            return _zipped(lo, parts, node)
        case IteratorValue(kind="reversed", parts=(inner,)):
            forward = static_getters(lo, inner, node)
            return None if forward is None else forward[::-1]
        case IteratorValue(kind="items", parts=(Ref() as table,)):
            names = _record(lo, table).keys
            keys = [containers.known_key(lo, name, node) for name in names]
            return _each(_parts(lo, table, names), lambda i, get: TupleValue((keys[i], get())))
        case IteratorValue(kind="values", parts=(Ref() as table,)):
            return _parts(lo, table, _record(lo, table).keys)
        case IteratorValue(kind="keys" | "iter", parts=(inner,)):
            return static_getters(lo, inner, node)
        case _:
            return None


def given_now(items: Iterable[Value]) -> list[Getter]:
    """Getters of items that stay what they are."""
    return [partial(_same, item) for item in items]


def _same(item: Value) -> Value:
    return item


def _record(lo: Lowerer, ref: Ref) -> Record:
    record = lo.store[ref]
    assert isinstance(record, Record)
    return record


def _items_of_each(lo: Lowerer, value: Union, node: ast.AST | None) -> list[Getter] | None:
    """The items of one of several tuples of one length: each item is one of several."""
    lengths = {_length_of_tuple(option) for option in value.options}
    count = lengths.pop()
    if lengths or count is None:
        return None

    def item(place: int) -> Value:
        return on_each_option(lo, value, lambda option: containers.tuple_items(lo, option, node)[place], node)

    return given_now([item(place) for place in range(count)])


def _length_of_tuple(value: Value) -> int | None:
    match value:
        case TupleValue(items=items) | ir.Var(type=ir.Tuple(items=items)):
            return len(items)
        case _:
            return None


def _parts(lo: Lowerer, ref: Ref, keys: Sequence[Any]) -> list[Getter]:
    return [partial(_part, lo, ref, key) for key in keys]


def _part(lo: Lowerer, ref: Ref, key: Any) -> Value:
    part = _record(lo, ref).get(key)
    assert part is not None, "nothing is taken out of what is iterated over"
    return part


def _each(getters: list[Getter] | None, change: Callable[[int, Getter], Value]) -> list[Getter] | None:
    if getters is None:
        return None
    return [_if_there(partial(change, i, get), i, [get]) for i, get in enumerate(getters)]


def _if_there(get: Getter, place: int, parts: Sequence[Getter], more: Iterable[ir.Atom] = ()) -> Getter:
    """A getter of what is there if all its parts are."""
    lengths = tuple(dict.fromkeys((*more, *(length for part in parts for length in lengths_of(part)))))
    return Perhaps(get, place, lengths) if lengths else get


def _zipped(lo: Lowerer, parts: Sequence[Value], node: ast.AST | None) -> list[Getter] | None:
    """The getters of ``zip``: where one column is known one by one, the others are asked whether they have as many."""
    found = [static_getters(lo, part, node) for part in parts]
    known = [column for column in found if column is not None]
    if not known:
        return None
    ranges = [len(numbers) for part in parts if (numbers := _constant_range(part)) is not None]
    count = min([*map(len, known), *ranges])
    columns: list[list[Getter]] = []
    lengths: list[ir.Atom] = []
    for part, column in zip(parts, found, strict=True):
        asked = _asked(lo, part, count, lengths, node) if column is None else column
        if asked is None:
            return None
        columns.append(asked)
    rows = [[column[i] for column in columns] for i in range(count)]
    return [_if_there(partial(_row, row), i, row, lengths) for i, row in enumerate(rows)]


def _row(getters: Sequence[Getter]) -> Value:
    return TupleValue(tuple([get() for get in getters]))


def _asked(lo: Lowerer, part: Value, count: int, lengths: list[ir.Atom], node: ast.AST | None) -> list[Getter] | None:
    """The first items of what may end before them; then its length is one of ``lengths``."""
    numbers = _constant_range(part)
    if numbers is not None:
        return given_now([ir.Const(i) for i in numbers[:count]])
    row = by_index(lo, part, node)
    if row is None:
        return None
    length = row.length()
    if length != ENDLESS:
        lengths.append(length)
    return [partial(row.item, ir.Const(i)) for i in range(count)]


_ONE_KIND = ("give it the same kind on each path: a list of one item, [x], for a number",)


def by_index(lo: Lowerer, value: Value, node: ast.AST | None) -> Indexed | None:
    """How a sequence at run time is asked for its items; None where it cannot be."""
    match value:
        case RangeValue(start=start, stop=stop, step=step):

            def count() -> ir.Atom:
                if start == ir.Const(0) and step == ir.Const(1):
                    return call(lo, max, [stop, ir.Const(0)], node) if not isinstance(stop, ir.Const) else stop
                return call(lo, len, [materialize(lo, value, node)], node)

            def at(index: Value) -> Value:
                scaled = call(lo, operator.mul, [index, step], node) if step != ir.Const(1) else index  # type: ignore[list-item]
                return call(lo, operator.add, [start, scaled], node) if start != ir.Const(0) else scaled  # type: ignore[list-item]

            return Indexed(count, at, (start, stop, step))
        case ir.Var(type=ir.Array() | ir.List() | ir.Number()):
            return _by_subscript(lo, value, node)
        case ir.Var(type=ir.Dict()):
            return _by_subscript(lo, lo.open.call(keys_of, value), node)
        case IteratorValue(kind="enumerate", parts=(inner, start)):
            inside = by_index(lo, inner, node)
            if inside is None:
                return None
            item_at = inside.item

            def numbered(index: Value) -> Value:
                number = index if start == ir.Const(0) else call(lo, operator.add, [index, start], node)  # type: ignore[list-item]
                return TupleValue((number, item_at(index)))

            return Indexed(inside.length, numbered)
        case IteratorValue(kind="zip", parts=parts):
            rows = _rows(lo, parts, node)
            return Indexed(
                lambda: _shortest(lo, [row.length() for row in rows], node),
                lambda index: TupleValue(tuple(row.item(index) for row in rows)),
            )
        case IteratorValue(kind="reversed", parts=(inner,)):
            turned = by_index(lo, inner, node)
            if turned is None:
                return None
            back, length = turned.item, turned.length()
            last = call(lo, operator.sub, [length, ir.Const(1)], node)
            return Indexed(lambda: length, lambda i: back(call(lo, operator.sub, [last, i], node)))  # type: ignore[list-item]
        case IteratorValue(kind="items" | "values" as kind, parts=(ir.Var(type=ir.Dict()) as table,)):
            keys = lo.open.call(keys_of, table)

            def entry(index: Value) -> Value:
                key = containers.subscript(lo, keys, index, node)
                item = containers.subscript(lo, table, key, node)
                return TupleValue((key, item)) if kind == "items" else item

            return Indexed(lambda: lo.open.call(len, keys), entry)
        case IteratorValue(kind="keys" | "iter", parts=(inner,)):
            return by_index(lo, inner, node)
        case IteratorValue(kind="count", parts=(start, step)):
            return Indexed(lambda: ENDLESS, lambda index: _counted(lo, index, start, step, node))
        case IteratorValue(kind="cycle", parts=(TupleValue(items=items) as cycle,)):
            if len(items) == 1:
                return Indexed(lambda: ENDLESS, lambda index: items[0])
            return Indexed(lambda: ENDLESS, lambda index: _cycled(lo, index, cycle, node))
        case IteratorValue(kind="ndenumerate", parts=(array,)):
            from adjoint.frontend.library.arrays import writers as array_writers  # lazy

            return Indexed(
                lambda: materialize(lo, containers.length(lo, value, node), node),
                lambda index: array_writers.entry(lo, array, index, node),
            )
        case IteratorValue(kind="flat"):
            return Indexed(
                lambda: materialize(lo, containers.length(lo, value, node), node),
                lambda index: containers.subscript(lo, value, index, node),
            )
        case Union():
            label = "this is no list, or not the same, on each path that leads here"
            problem = lo.problem("AD0402", node, label, helps=_ONE_KIND)
            is_clear = all(is_sequence(each) or each == NONE or is_number(each) for each in value.options)
            raise Several(problem, value) if is_clear else problem
        case _:
            return None


def _counted(lo: Lowerer, index: Value, start: Value, step: Value, node: ast.AST | None) -> Value:
    """An item of ``itertools.count``."""
    scaled = index if step == ir.Const(1) else apply_operator(lo, operator.mul, [index, step], node)
    return scaled if start == ir.Const(0) else apply_operator(lo, operator.add, [scaled, start], node)


def _cycled(lo: Lowerer, index: Value, items: TupleValue, node: ast.AST | None) -> Value:
    """An item of ``itertools.cycle``."""
    place = apply_operator(lo, operator.mod, [index, ir.Const(len(items.items))], node)
    return containers.subscript(lo, items, place, node)


def _rows(lo: Lowerer, parts: Sequence[Value], node: ast.AST | None) -> list[Indexed]:
    """What ``zip`` goes through; of what may have no end, not more is drawn than the others ask for."""
    found = [by_index(lo, part, node) for part in parts]
    if all(found):
        return [row for row in found if row is not None]
    lengths = [None if row is None else row.length() for row in found]

    def ends(some: Sequence[ir.Atom | None]) -> ir.Atom:
        return lo.open.call(make_tuple, *[length for length in some if length not in (None, ENDLESS)])

    rows = []
    for place, (part, row) in enumerate(zip(parts, found, strict=True)):
        opaque = isinstance(part, ir.Var) and any(length not in (None, ENDLESS) for length in lengths)
        if row is None and opaque:
            before, after = ends(lengths[:place]), ends(lengths[place + 1 :])
            drawn_ = lo.open.call(first_items, materialize(lo, part, node), before, after)
            assert isinstance(drawn_, ir.Var)
            row = _by_subscript(lo, drawn_, node)
        rows.append(row or _listed(lo, part, node))
    return rows


def _by_subscript(lo: Lowerer, value: ir.Var, node: ast.AST | None) -> Indexed:
    return Indexed(
        lambda: lo.open.call(len, value),
        lambda index: containers.subscript(lo, value, index, node),
    )


def _listed(lo: Lowerer, value: Value, node: ast.AST | None) -> Indexed:
    """An iterable that carries no derivative, drawn out into a list."""
    items = static_items(lo, value, node)
    if items is not None:
        record = making.new_list(lo, items, node)
        atom = materialize(lo, record, node)
        assert isinstance(atom, ir.Var)
        return _by_subscript(lo, atom, node)
    return _by_subscript(lo, lo.open.call(list, materialize(lo, value, node)), node)


def _shortest(lo: Lowerer, lengths: list[ir.Atom], node: ast.AST | None) -> ir.Atom:
    distinct = [length for length in dict.fromkeys(lengths) if length != ENDLESS] or [ENDLESS]
    if len(distinct) == 1:
        return distinct[0]
    return call(lo, min, distinct, node)
