"""Lists of several kinds, as long as they are made: the shadows of tuples.

They are tuples here, with arrays of one element in place of numbers, which may be written. What else they hold stays at
its place.
"""

from __future__ import annotations

from collections.abc import Iterable

from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.table import RULES
from adjoint.native.llvm.values import Array, Complex, Number, Tuple, Unsupported, Value
from adjoint.native.llvm.writing.emission import Emission


def made(e: Emission, items: Iterable[Value]) -> Tuple:
    """A list of such items."""
    e.program.layouts.use_several_kinds()
    found: list[Value] = []
    places: list[int] = []
    for place, item in enumerate(items):
        if isinstance(item, (Number, Complex)):
            room = arrays.new(e, item.kind, ("1",), zero=False, checked=False)
            arrays.write(e, item.kind, room.data, item)
            places.append(place)
            found.append(room)
        else:
            found.append(item)
    return Tuple(tuple(found), tuple(places))


def number(e: Emission, x: Tuple, place: int) -> Number | Complex:
    """The number at a place."""
    room = _room(x, place)
    return arrays.item(e, room.kind.element, room.data)


def store(e: Emission, x: Tuple, place: int, value: Value, mode: str) -> None:
    """Puts a number at a place, adds it to what is there, or takes it from that."""
    room = _room(x, place)
    if mode != "set":
        value = RULES[arrays.STORED[mode]](e, number(e, x, place), value)
    arrays.write(e, room.kind.element, room.data, numbers.scalar(value))


def _room(x: Tuple, place: int) -> Array:
    room = x.items[place]
    if place not in (x.numbers or ()) or not isinstance(room, Array):
        raise Unsupported("another reference in a list of several kinds")
    return room
