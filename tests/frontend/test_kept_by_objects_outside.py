"""What varies, kept in objects of outside whose classes are C's, or inherit from those: followed, or refused."""

from __future__ import annotations

import array
import collections
import ctypes
import operator
import queue
import struct
import weakref
from typing import Any

import numpy as np
import pytest

import adjoint as ad


class Table(dict):
    pass


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)


class Items(list):
    pass


HELD: Any = None
"""The object of outside."""
SAME: Any = None
"""It again, by another name."""
PUSH: Any = None
"""A method of it."""


def stored(x):
    HELD[0] = x
    return x * x + HELD[0]


def added_to(x):
    HELD[0] += x
    return x * x + HELD[0]


def stored_by_operator(x):
    operator.setitem(HELD, 0, x)
    return x * x + HELD[0]


def stored_in_a_list(x):
    HELD[0] = [x]
    return x * x + HELD[0][0]


def stored_elsewhere(x):
    HELD[0] = x
    return x * x + SAME[0]


def summed(x):
    HELD[0] = x
    return x * x + sum(HELD)


def updated(x):
    HELD.update({0: x})
    return x * x + HELD[0]


def set_if_missing(x):
    HELD.setdefault(1, x)
    return x * x + HELD[1]


def popped(x):
    HELD[0] = x
    return x * x + HELD.pop(0)


def in_a_view(x):
    HELD[0] = x
    return x * x + sum(HELD.values())


def pushed(x):
    PUSH(x)
    return x * x + HELD[-1]


def pushed_elsewhere(x):
    HELD.append(x)
    return x * x + SAME[-1]


def counted(x):
    HELD[0] += 1
    return x * x * HELD[0]


TABLES = {
    "Counter": lambda: collections.Counter({0: 1}),
    "defaultdict": lambda: collections.defaultdict(float, {0: 1.0}),
    "OrderedDict": lambda: collections.OrderedDict({0: 1.0}),
    "Table": lambda: Table({0: 1.0}),
    "Doubling": lambda: Doubling({0: 1.0}),
}
SEQUENCES = {
    "Items": lambda: Items([1.0, 2.0]),
    "deque": lambda: collections.deque([1.0, 2.0]),
    "array": lambda: array.array("d", [1.0, 2.0]),
}
OF_ALL = (stored, added_to, stored_by_operator, stored_in_a_list, stored_elsewhere)
CASES = [
    *((make, way) for make in TABLES.values() for way in (*OF_ALL, updated, set_if_missing, popped, in_a_view)),
    *((make, way) for make in SEQUENCES.values() for way in (*OF_ALL, summed, pushed, pushed_elsewhere)),
    *(((ctypes.c_double * 2), way) for way in (stored, added_to, stored_by_operator, stored_elsewhere, summed)),
]


def names(value: Any) -> str:
    return value.__name__ if value.__name__ != "<lambda>" else value.__qualname__


def with_object(make, function, x):
    global HELD, SAME, PUSH
    HELD = SAME = make()
    PUSH = getattr(HELD, "append", None)
    return function(x)


@pytest.mark.parametrize(
    ("make", "function"), CASES, ids=[f"{type(make()).__name__}-{way.__name__}" for make, way in CASES]
)
def test_what_is_kept_is_not_lost(make, function):
    if function is stored_in_a_list and make in (SEQUENCES["array"], TABLES["Doubling"]):
        pytest.skip("takes numbers only")
    difference = (with_object(make, function, 1.3 + 1e-6) - with_object(make, function, 1.3 - 1e-6)) / 2e-6
    found = []
    for derivative in (ad.grad(function), lambda x: ad.jvp(function, (x,), (1.0,))[1]):
        try:
            found.append(with_object(make, derivative, 1.3))
        except ad.DifferentiationError as refusal:
            assert {each.code for each in refusal.diagnostics} <= {"AD0201", "AD0303", "AD0305", "AD0307"}
    np.testing.assert_allclose(found, difference, rtol=1e-6)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_counters_of_outside(make):
    with_object(make, counted, 1.0)
    assert ad.grad(counted)(1.5) == 3.0 * HELD[0]


def packed(x):
    buffer = bytearray(8)
    struct.pack_into("d", buffer, 0, x)
    return x * x + struct.unpack_from("d", buffer)[0]


def queued(x):
    waiting = queue.SimpleQueue()
    waiting.put(x)
    return x * x + waiting.get()


@pytest.mark.parametrize("function", [packed, queued])
def test_objects_that_are_made_here(function):
    with pytest.raises(ad.DifferentiationError, match="AD0307"):
        ad.grad(function)(1.3)


# Memory of outside that is written, and read from where nobody looks


class Node:
    a = 0.0


BUFFER = np.zeros(2)
NODE, LISTS = Node(), [[0.0], [1.0]]
IN_ARRAY, IN_BYTES = array.array("d", [0.0]), (ctypes.c_double * 2)()
OF_ARRAY, OF_BYTES = np.frombuffer(IN_ARRAY), np.ctypeslib.as_array(IN_BYTES)
LOOK = memoryview(BUFFER)
QUEUE = collections.deque([NODE, BUFFER, LISTS[0]])
ORDERED = collections.OrderedDict(node=NODE, buffer=BUFFER)
INHERITING = Table(node=NODE, buffer=BUFFER)
OBJECTS = np.array([NODE, NODE], dtype=object)
REFERENCE = weakref.ref(NODE)


def in_an_array(x):
    OF_ARRAY[0] = x
    return x * x + IN_ARRAY[0]


def in_bytes(x):
    OF_BYTES[0] = x
    return x * x + IN_BYTES[0]


def in_a_memoryview(x):
    BUFFER[0] = x
    return x * x + LOOK[0]


def in_a_queue(x):
    BUFFER[0] = x
    return x * x + QUEUE[1][0]


def list_in_a_queue(x):
    LISTS[0][0] = x
    return x * x + QUEUE[2][0]


def object_in_a_queue(x):
    NODE.a = x
    return x * x + QUEUE[0].a


def object_in_an_ordered_dict(x):
    NODE.a = x
    return x * x + ORDERED["node"].a


def object_in_a_table(x):
    NODE.a = x
    return x * x + INHERITING["node"].a


def object_in_an_array(x):
    NODE.a = x
    return x * x + OBJECTS[1].a


def object_referred_to(x):
    NODE.a = x
    return x * x + REFERENCE().a


HIDDEN = (in_an_array, in_bytes, in_a_memoryview, in_a_queue, list_in_a_queue, object_in_a_queue)
HIDDEN_OBJECTS = (object_in_an_ordered_dict, object_in_a_table, object_in_an_array, object_referred_to)


@pytest.mark.parametrize("function", [*HIDDEN, *HIDDEN_OBJECTS])
def test_what_is_read_where_nobody_looks_is_refused(function):
    for derivative in (ad.grad(function), lambda x: ad.jvp(function, (x,), (1.0,))):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            derivative(1.3)
