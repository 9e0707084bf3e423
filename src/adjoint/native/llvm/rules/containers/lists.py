"""Lists: blocks with a length, the room there is, and the address of the items, whose parts lie in words."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.numbers import from_start
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    OBJECT,
    Array,
    ArrayKind,
    Kind,
    Known,
    List,
    ListKind,
    Number,
    Object,
    ObjectKind,
    StructKind,
    TakenAsObject,
    TupleKind,
    Unsupported,
    Value,
    joined,
    kind,
    parts,
    references,
    types_of_parts,
)
from adjoint.native.llvm.writer import Module, as_kind, whole
from adjoint.native.llvm.writing.emission import Emission, kind_of_object
from adjoint.runtime import display
from adjoint.runtime import lists as runtime_lists


def length(e: Emission, x: List) -> Number:
    return whole(e.writer.op(f"load i64, ptr {x.base}"))


def _own(x: List) -> List:
    if x.kind.read_only:
        raise TakenAsObject(x.kind.key)
    return x


def _words(found: Kind) -> int:
    return len(types_of_parts(found))


def _item_kind(x: List) -> Kind:
    if x.kind.element is None:
        raise Unsupported("an item of a list on which nothing was put")
    return x.kind.element


def _place(e: Emission, x: List, index: Number) -> str:
    """Where an item lies; raises outside of the list."""
    writer = e.writer
    size = length(e, x).name
    place = as_kind(writer, index, "i8").name
    if not index.natural:
        place = from_start(e, place, size)
    e.check(writer.compare("uge", place, size), IndexError, "list index out of range")
    return _items(e, x, place)


def _read(e: Emission, found: Kind, place: str, own: Any) -> Value:
    return e.assembled(found, e.writer.parts_at(place, types_of_parts(found)), own)


def _items(e: Emission, x: List, place: str) -> str:
    """Where the item at a place lies."""
    items = e.writer.op(f"load ptr, ptr {e.writer.place(x.base, '16')}")
    return e.writer.place(items, e.writer.mul(place, str(8 * _words(_item_kind(x)))))


def _index(e: Emission, key: ir.Key | None) -> Number:
    if not isinstance(key, ir.Subscript) or len(key.items) != 1 or isinstance(key.items[0], ir.Slice):
        raise Unsupported("parts of lists")
    value = e.value(key.items[0])
    return e.program.written("whole")(e, value) if isinstance(value, Object) else numbers.number(value)


def load(e: Emission, x: List, key: ir.Subscript) -> Value:
    """An item, which is retained: the list may lose it meanwhile."""
    found = _read(e, _item_kind(x), _place(e, x, _index(e, key)), e.owning)
    e.retain_all(found)
    return found


def item(e: Emission, x: List, place: str) -> Number:
    """The number at a place of a list of numbers."""
    return numbers.number(_read(e, _item_kind(x), _items(e, x, place), None))


def store(e: Emission, x: List, key: ir.Key | None, value: Value, mode: str) -> None:
    """Puts an item in the place of another."""
    _own(x)
    place = _place(e, x, _index(e, key))
    found = _item_kind(x)
    if mode != "set":
        old = _read(e, found, place, None)
        combine = RULES[operator.add if mode == "add" else operator.sub]
        value = combine(e, numbers.scalar(old), numbers.scalar(value))
    given = _as_item(e, x, value)
    e.retain_all(given)
    for base, _ in references(_read(e, found, place, None)):
        e.release(base)
    e.writer.put_parts(place, parts(given))


def _as_item(e: Emission, x: List, value: Value) -> Value:
    """A value as an item of a list."""
    wanted = x.kind.element
    if wanted is not None and kind(value) == wanted:
        return value
    given = kind_of_object(value)
    found = given if wanted is None else joined([wanted, given])
    if found == wanted != OBJECT:
        return e.converted(value, found)
    e.learn(("list", x.kind.key), OBJECT if found == OBJECT else ListKind(found, key=x.kind.key))
    raise AssertionError


_DESTROY = """define internal void @{name}(ptr %list) {{
entry:
  %length = load i64, ptr %list
  %items_place = getelementptr i8, ptr %list, i64 16
  %items = load ptr, ptr %items_place
  br label %more
more:
  %k = phi i64 [ 0, %entry ], [ %next, %one ]
  %some = icmp slt i64 %k, %length
  br i1 %some, label %one, label %done
one:
  %offset = mul i64 %k, {size}
{releases}
  %next = add i64 %k, 1
  br label %more
done:
  call void @free(ptr %items)
  ret void
}}"""


def declare_destructor(module: Module, found: Kind | None) -> str:
    """The function that gives up what the items of a list refer to."""
    places = [] if found is None else reference_places(found)
    size = 0 if found is None else 8 * _words(found)
    name = f"destroy_{size}_{'_'.join(map(str, places))}"
    lines = []
    for at in places:
        lines += [
            f"  %o{at} = add i64 %offset, {8 * at}",
            f"  %p{at} = getelementptr i8, ptr %items, i64 %o{at}",
            f"  %b{at} = load ptr, ptr %p{at}",
            f"  call void @release(ptr %b{at})",
        ]
    module.functions[name] = _DESTROY.format(name=name, size=size, releases="\n".join(lines))
    return name


def reference_places(found: Kind, first: int = 0) -> list[int]:
    """Which parts of a value of a kind are references to blocks."""
    match found:
        case ArrayKind() | ListKind() | StructKind() | ObjectKind():
            return [first]
        case TupleKind(items=items):
            places = []
            for item in items:
                places += reference_places(item, first)
                first += _words(item)
            return places
        case _:
            return []


def new(e: Emission, found: ListKind) -> List:
    """An empty list."""
    writer = e.writer
    block = writer.op("call noalias ptr @new_list(ptr %call)")
    e.check(writer.op(f"icmp eq ptr {block}, null"), MemoryError, "no memory for a list")
    writer.line(f"store ptr @{declare_destructor(e.writer.module, found.element)}, ptr {writer.place(block, '-56')}")
    return List(found, block, e.owning(block))


def put(e: Emission, x: List, value: Value) -> None:
    """Puts an item on a list."""
    _own(x)
    given = _as_item(e, x, value)
    e.retain_all(given)
    writer = e.writer
    place = writer.op(f"call ptr @list_end(ptr {x.base}, i64 {8 * _words(kind(given))})")
    e.check(writer.op(f"icmp eq ptr {place}, null"), MemoryError, "no memory for a list")
    writer.put_parts(place, parts(given))


def started(e: Emission, elements: Sequence[Kind] = ()) -> List:
    """An empty list for items of these kinds, or of what a sweep has learnt."""
    key = e.list_key()
    found = e.learnt.get(("list", key)) or ListKind(joined(elements) if elements else None, key=key)
    if not isinstance(found, ListKind) or found.element == OBJECT:
        raise Unsupported("a list of items of several kinds")
    return new(e, found)


@rule(display.make_list)
def _make_list(e: Emission, *items: Value) -> List:
    x = started(e, list(map(kind_of_object, items)))
    for item in items:
        put(e, x, item)
    return x


@rule(list.append)
def _append(e: Emission, x: Value, value: Value) -> Known:
    put(e, _list(x), value)
    return Known(None)


@rule(list.insert)
def _insert(e: Emission, x: Value, place: Value, value: Value) -> Known:
    """Puts an item at a place from 0 to the length, and those from there on behind it."""
    given = _own(_list(x))
    writer = e.writer
    size, at = length(e, given).name, as_kind(writer, numbers.number(place), "i8").name
    item = _as_item(e, given, value)
    put(e, given, item)  # makes room: what is behind the others now is written over, or stays where it is
    _move(e, given, at, writer.add(at, "1"), writer.sub(size, at))
    writer.put_parts(_items(e, given, at), parts(item))
    return Known(None)


@rule(list.pop)
def _pop(e: Emission, x: Value, place: Value | None = None) -> Value:
    """Takes out the last item, or that at one of the places from 0 on."""
    given = _own(_list(x))
    writer = e.writer
    size = length(e, given).name
    e.check(writer.compare("sle", size, "0"), IndexError, "pop from empty list")
    last = writer.sub(size, "1")
    if place is None:
        writer.line(f"store i64 {last}, ptr {given.base}")
        return _read(e, _item_kind(given), _items(e, given, last), e.owning)
    at = as_kind(writer, numbers.number(place), "i8").name
    e.check(writer.compare("ugt", at, last), IndexError, "pop index out of range")
    found = _read(e, _item_kind(given), _items(e, given, at), e.owning)
    _move(e, given, writer.add(at, "1"), at, writer.sub(last, at))
    writer.line(f"store i64 {last}, ptr {given.base}")
    return found


def _move(e: Emission, x: List, source: str, target: str, count: str) -> None:
    """Moves so many items of a list to other places in it."""
    size = e.writer.mul(count, str(8 * _words(_item_kind(x))))
    e.writer.module.declare("llvm.memmove.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    into, out = _items(e, x, target), _items(e, x, source)
    e.writer.line(f"call void @llvm.memmove.p0.p0.i64(ptr {into}, ptr {out}, i64 {size}, i1 false)")


@rule(runtime_lists.no_items)
def _no_items(e: Emission, sample: Value) -> List:
    return started(e, [kind(sample)])


@rule(list.copy)
def _copy(e: Emission, x: Value) -> List:
    given = _list(x)
    return cut(e, given, "0", length(e, given).name, "1")


@rule(copy.deepcopy)
def _deep_copy(e: Emission, x: Value) -> Value:
    """Of a list of numbers: other lists may hold the same object twice."""
    if isinstance(x, Array):
        return RULES[np.copy](e, x)  # type: ignore[no-any-return]
    given = _list(x)
    if not isinstance(given.kind.element, str):
        raise Unsupported("copies of what lists hold")
    return _copy(e, given)


def cut(e: Emission, x: List, first: str, count: str, step: str) -> List:
    """A list of so many items of another, which lie ``step`` places apart."""
    out = started(e, [_item_kind(x)])
    _put_items(e, out, x, first, count, step)
    return out


def _put_items(e: Emission, out: List, x: List, first: str, count: str, step: str) -> None:
    found = _item_kind(x)

    def body(place: str) -> None:
        at = e.writer.add(first, e.writer.mul(place, step))
        put(e, out, _read(e, found, _items(e, x, at), None))

    e.each(count, body)


def mapped(e: Emission, x: List, function: Callable[[Value], Value]) -> List:
    """A list of what a function makes of each item."""
    size = length(e, x).name
    found = _item_kind(x)
    out = started(e)

    def body(place: str) -> None:
        put(e, out, function(_read(e, found, _items(e, x, place), None)))

    e.each(size, body)
    return out


_product = RULES[operator.mul]


@rule(operator.mul)
def _repeated(e: Emission, a: Value, b: Value) -> Value:
    """A list whose items are those of a list, again and again; of numbers, their product."""
    if not isinstance(a, List):
        return _product(e, a, b)  # type: ignore[no-any-return]
    size = length(e, a).name
    out = started(e, [_item_kind(a)])
    e.each(e.extent(b), lambda _: _put_items(e, out, a, "0", size, "1"))
    return out


@rule(runtime_lists.any_layout)
def _any_layout(e: Emission, x: Value) -> Value:
    return x


def _list(x: Value) -> List:
    if not isinstance(x, List):
        raise Unsupported("not a list")
    return x
