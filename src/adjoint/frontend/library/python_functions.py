"""What some of Python's own functions do, in Python: lowered like a user's code where their arguments are active."""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.runtime.display import last_key
from adjoint.runtime.lists import first_of_same


def call(lo: Lowerer, function: Any, arguments: list[Value], node: ast.AST | None) -> Value:
    """Inlines one of the functions below."""
    return lo.call(ir.Const(function), arguments, {}, node)


def extend(items: Any, more: Any) -> None:
    for item in more:
        items.append(item)


def extend_by_list(items: Any, more: Any) -> None:
    """Both may be the same list."""
    for i in range(len(more)):
        items.append(more[i])


def insert(items: Any, place: Any, item: Any) -> None:
    size = len(items)
    put_in(items, max(place + size, 0) if place < 0 else min(place, size), item)


def put_in(items: Any, place: Any, item: Any) -> None:
    """Inserts an item at a place from 0 to the length of the list."""
    items.insert(place, item)


def pop(items: Any, place: Any) -> Any:
    size = len(items)
    first = place + size if place < 0 else place
    if first < 0 or first >= size:
        raise IndexError("pop index out of range" if size else "pop from empty list")
    return take_out(items, first)


def take_out(items: Any, place: Any) -> Any:
    """The item at one of the places from 0 on, which is taken out of the list."""
    return items.pop(place)


def put_first(items: Any, value: Any) -> None:
    """Puts a value into a list of one item, or of none so far."""
    if items:
        items[0] = value
    else:
        items.append(value)


def place_of(index: Any, count: Any, message: Any) -> Any:
    """The place that an index stands for, which may count from the end, among so many."""
    place = index + count if index < 0 else index
    if place < 0 or place >= count:
        raise IndexError(message)
    return place


def place_of_key(key: Any, keys: Any) -> Any:
    """The place of a key among those of a dict."""
    for i, each in enumerate(keys):
        if key == each:
            return i
    raise KeyError(key)


def place_of_value(value: Any, values: Any, name: Any) -> Any:
    """The place of a value among those of the members of an enumeration."""
    for i, each in enumerate(values):
        if value == each:
            return i
    raise ValueError(f"{value!r} is not a valid {name}")


def delete(items: Any, place: Any) -> None:
    take_out(items, place_of(place, len(items), "list assignment index out of range"))


def delete_slice(items: Any, start: Any, stop: Any, step: Any) -> None:
    gone = range(start, stop, step)
    kept = [items[i] for i in range(len(items)) if i not in gone]
    clear(items)
    for item in kept:
        items.append(item)


def delete_entry(table: Any, key: Any) -> None:
    table.pop(key)


def clear(items: Any) -> None:
    for _ in range(len(items)):
        items.pop()


def reverse(items: Any) -> None:
    size = len(items)
    for i in range(size // 2):
        items[i], items[size - 1 - i] = items[size - 1 - i], items[i]


def overwrite(items: Any, others: Any) -> None:
    for i in range(len(items)):
        items[i] = others[i]


def remove(items: Any, item: Any) -> None:
    items.pop(items.index(item))


def set_slice(items: Any, start: Any, stop: Any, step: Any, more: Any) -> None:
    new = [item for item in more]  # noqa: C416
    if step != 1:
        if len(range(start, stop, step)) != len(new):
            raise ValueError("attempt to assign sequence to an extended slice of another size")
        for i in range(len(new)):
            items[start + i * step] = new[i]
    else:
        rest = [items[i] for i in range(max(start, stop), len(items))]
        for _ in range(len(items) - start):
            items.pop()
        for item in new:
            items.append(item)
        for item in rest:
            items.append(item)


def setdefault(table: Any, key: Any, default: Any) -> Any:
    if key not in table:
        table[key] = default
    return table[key]


def without_keys(table: Any, keys: Any) -> Any:
    """What a mapping pattern leaves."""
    return {key: value for key, value in table.items() if key not in keys}


def pop_or(table: Any, key: Any, default: Any) -> Any:
    return table.pop(key) if key in table else default


def argument(table: Any, name: Any, function: Any) -> Any:
    if name not in table:
        raise TypeError(f"{function}() missing required argument: {name!r}")
    return table.pop(name)


def check_once(table: Any, name: Any, function: Any) -> None:
    if name in table:
        raise TypeError(f"{function}() got multiple values for argument {name!r}")


def check_no_more(table: Any, function: Any) -> None:
    for name in table:
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def has_attribute(owner: Any, name: Any) -> Any:
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True


def attribute_or(owner: Any, name: Any, default: Any) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        return default


def pop_last(table: Any) -> Any:
    if len(table) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = last_key(table)
    return key, table.pop(key)


def clear_table(table: Any) -> None:
    for key in list(table):
        table.pop(key)


def repeat(items: Any, count: Any) -> Any:
    result = []
    for _ in range(count):
        for item in items:
            result.append(item)  # noqa: PERF402
    return result


def repeat_in_place(items: Any, count: Any) -> None:
    size = len(items)
    if count < 1:
        for _ in range(size):
            items.pop()
    for _ in range(count - 1):
        for i in range(size):
            items.append(items[i])


def part(items: Any, places: Any) -> Any:
    return [items[i] for i in places]


def check_reaches(length: Any, count: Any) -> None:
    if length < count:
        raise ValueError("not enough values to unpack")


def table(pairs: Any) -> Any:
    return {key: value for key, value in pairs}  # noqa: C416


def joined(items: Any, more: Any) -> Any:
    result = []
    for item in items:
        result.append(item)  # noqa: PERF402
    for item in more:
        result.append(item)  # noqa: PERF402
    return result


def but_first(items: Any) -> Any:
    return items[1:]


def check_as_long(items: Any, first: Any, shorter: Any, longer: Any) -> None:
    if len(items) < len(first):
        raise ValueError(shorter)
    if len(items) > len(first):
        raise ValueError(longer)


def merged(table: Any, other: Any) -> Any:
    result = dict(table)
    result.update(other)
    return result


def entries(table: Any) -> Any:
    return {key: value for key, value in table.items()}  # noqa: C416


def update(table: Any, other: Any) -> None:
    for key, value in other.items():
        table[key] = value


def number(item: Any) -> Any:
    return item.item()


def floats(array: Any) -> Any:
    return [float(item) for item in array]


def rows_of_floats(matrix: Any) -> Any:
    return [[float(item) for item in row] for row in matrix]


def numbers(array: Any) -> Any:
    return [item.item() for item in array]


def rows_of_numbers(matrix: Any) -> Any:
    return [[item.item() for item in row] for row in matrix]


def namedtuple_replace(items: Any, **changes: Any) -> Any:
    values = [changes.pop(name, getattr(items, name)) for name in type(items)._fields]
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return tuple.__new__(type(items), values)


def namedtuple_asdict(items: Any) -> Any:
    return {name: getattr(items, name) for name in type(items)._fields}


def retupled(rows_: Any, places: Any) -> Any:
    return [tuple([None if i is None else row[i] for i in places]) for row in rows_]


def item_at(place: Any, items: Any) -> Any:
    return items[place]


def items_at(places: Any, items: Any) -> Any:
    return tuple([items[place] for place in places])


def attribute_at(names: Any, value: Any) -> Any:
    for name in names:
        value = getattr(value, name)
    return value


def attributes_at(paths: Any, value: Any) -> Any:
    return tuple([attribute_at(names, value) for names in paths])


def method_called(name: Any, given: Any, value: Any, **named: Any) -> Any:
    return getattr(value, name)(*given, **named)


def column(rows_: Any, place: Any) -> Any:
    return [row[place] for row in rows_]


def transposed(rows_: Any) -> Any:
    width = min([len(row) for row in rows_]) if len(rows_) > 0 else 0
    return [tuple([row[i] for row in rows_]) for i in range(width)]


def copied(items: Any) -> Any:
    return [item for item in items]  # noqa: C416


def copied_deep(items: Any, copy: Any) -> Any:
    firsts = first_of_same(items)
    result: list[Any] = []
    for i in range(len(items)):
        if firsts[i] == i:
            result.append(copy(items[i]))
        else:
            result.append(result[firsts[i]])
    return result


def copied_deep_table(table: Any, copy: Any) -> Any:
    keys = list(table)
    values = copied_deep([table[key] for key in keys], copy)
    return {keys[i]: values[i] for i in range(len(keys))}


def total(items: Any, start: Any) -> Any:
    result = start
    for item in items:
        result = result + item
    return result


def largest(items: Any) -> Any:
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    for i in range(1, len(items)):
        if items[i] > best:
            best = items[i]
    return best


def smallest(items: Any) -> Any:
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    for i in range(1, len(items)):
        if items[i] < best:
            best = items[i]
    return best


def larger(one: Any, other: Any) -> Any:
    return other if other > one else one


def smaller(one: Any, other: Any) -> Any:
    return other if other < one else one


def larger_by(one: Any, other: Any) -> Any:
    return other if other[1] > one[1] else one


def smaller_by(one: Any, other: Any) -> Any:
    return other if other[1] < one[1] else one


def largest_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    best_key = key(best)
    for i in range(1, len(items)):
        item_key = key(items[i])
        if item_key > best_key:
            best = items[i]
            best_key = item_key
    return best


def smallest_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    best_key = key(best)
    for i in range(1, len(items)):
        item_key = key(items[i])
        if item_key < best_key:
            best = items[i]
            best_key = item_key
    return best


def any_of(items: Any) -> bool:
    for item in items:  # noqa: SIM110
        if item:
            return True
    return False


def all_of(items: Any) -> bool:
    for item in items:  # noqa: SIM110
        if not item:
            return False
    return True


def first(items: Any) -> Any:
    for item in items:
        return item
    raise StopIteration


def first_or(items: Any, default: Any) -> Any:
    for item in items:
        return item
    return default


def found(items: Any, item: Any) -> bool:
    for each in items:  # noqa: SIM110
        if item in (each,):  # which may be nan
            return True
    return False


def mapped(function: Any, items: Any) -> Any:
    return [function(item) for item in items]


def mapped_rows(function: Any, rows: Any) -> Any:
    return [function(*row) for row in rows]


def filtered(function: Any, items: Any) -> Any:
    return [item for item in items if function(item)]


def in_order(items: Any, places: Any) -> Any:
    return [items[i] for i in places]


def reduce(function: Any, items: Any, start: Any) -> Any:
    result = start
    for item in items:
        result = function(result, item)
    return result


def same(value: Any) -> Any:
    return value


def get(table: Any, key: Any, default: Any) -> Any:
    return table[key] if key in table else default  # noqa: SIM401


def each(pullback: Any, cotangents: Any, width: Any = None) -> Any:
    return [pullback(cotangent) for cotangent in cotangents]
