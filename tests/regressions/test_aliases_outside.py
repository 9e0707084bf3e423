"""What lies in several places outside, or where nobody looks, and is written: one thing, or refused."""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

import adjoint as ad


class Node:
    """An object with what it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Table(dict):
    pass


def writes(write, read):
    def f(x):
        write(x)
        return 2.6 * x + read()

    return f


# -- lists, dicts and arrays in containers that are looked into


def of_a_list():
    inner = [1.0]
    outer = [[2.0], inner]

    def f(x):
        outer[-1][0] = x
        return 2.6 * x + inner[0]

    return f


def of_a_list_deeper():
    inner = [1.0]
    outer = [[inner], 3.0]

    def f(x):
        outer[0][0][0] = x
        return 2.6 * x + inner[0]

    return f


def in_a_loop():
    inner = [1.0]
    outer = [inner, [2.0]]

    def f(x):
        for each in outer:
            each[0] = x
        return 2.6 * x + inner[0]

    return f


def at_an_index_known_late():
    inner = [1.0]
    outer = [inner, [2.0]]

    def f(x):
        outer[0 if x < 100 else 1][0] = x
        return 2.6 * x + inner[0]

    return f


def chosen_by_a_branch():
    inner = [1.0]
    outer = [inner, [2.0]]

    def f(x):
        chosen = outer[0] if x > 0 else outer[1]
        chosen[0] = x
        return 2.6 * x + inner[0]

    return f


def at_the_end_of_a_linked_list():
    inner = [1.0]
    first = Node(held=[1.0], next=Node(held=inner, next=None))

    def f(x):
        node = first
        while node.next is not None:
            node = node.next
        node.held[0] = x
        return 2.6 * x + inner[0]

    return f


def array_of_a_list():
    inner = np.ones(2)
    outer = [np.ones(2), inner]

    def f(x):
        outer[-1][0] = x
        return 2.6 * x + inner[0]

    return f


def views_in_an_object():
    square = np.ones((2, 2))
    node = Node(row=square[0], columns=[square[:, 0]])

    def f(x):
        node.columns[-1][0] = x
        return 2.6 * x + node.row[0]

    return f


def of_a_tuple_twice():
    pair = (1.0, [1.0])
    pairs = (pair, pair)

    def f(x):
        pairs[0][1][0] = x
        return 2.6 * x + pairs[1][1][0]

    return f


def array_of_a_tuple_twice():
    pair = (np.ones(2), 2.0)
    pairs = {"a": pair, "b": pair}

    def f(x):
        pairs["b"][0][0] = x
        return 2.6 * x + pairs["a"][0][0]

    return f


def of_a_list_twice():
    inner = [[1.0]]
    outer = [inner, inner]

    def f(x):
        outer[0][0][0] = x
        return 2.6 * x + outer[1][0][0]

    return f


def of_a_namespace():
    inner = [1.0]
    namespace = types.SimpleNamespace(a=inner, b={"c": [inner]})

    def f(x):
        namespace.b["c"][0][0] = x
        return 2.6 * x + namespace.a[0] + inner[0]

    return f


def of_a_default():
    inner = [1.0]

    def read(held=(inner,)):
        return held[0][0]

    def f(x):
        inner[0] = x
        return 2.6 * x + read()

    return f


OPEN = (
    of_a_list,
    of_a_list_deeper,
    in_a_loop,
    at_an_index_known_late,
    chosen_by_a_branch,
    at_the_end_of_a_linked_list,
    array_of_a_list,
    views_in_an_object,
    of_a_tuple_twice,
    array_of_a_tuple_twice,
    of_a_list_twice,
    of_a_namespace,
    of_a_default,
)

# -- in objects that nobody looks into: written there, and read openly; or the other way round

HOLDERS = {
    "deque": lambda one: (deque([one], maxlen=3), lambda held: held[0]),
    "OrderedDict": lambda one: (OrderedDict(a=one), lambda held: held["a"]),
    "defaultdict": lambda one: (defaultdict(list, a=one), lambda held: held["a"]),
    "Table": lambda one: (Table(a=one), lambda held: held["a"]),
    "mappingproxy": lambda one: (types.MappingProxyType({"a": one}), lambda held: held["a"]),
    "array": lambda one: (np.array([one, None], dtype=object), lambda held: held[0]),
    "iterator": lambda one: (iter([one] * 99), lambda held: next(held)),
    "map": lambda one: (map(lambda _: one, range(99)), lambda held: next(held)),
    "cycle": lambda one: (itertools.cycle([one]), lambda held: next(held)),
    "generator": lambda one: ((one for _ in range(99)), lambda held: next(held)),
    "lru_cache": lambda one: (functools.lru_cache(lambda: one), lambda held: held()),
}
ITEMS = {"list": lambda: [1.0], "object": lambda: Node(v=1.0), "array": lambda: np.ones(2)}


def put(one, x):
    if isinstance(one, Node):
        one.v = x
    else:
        one[0] = x


def got(one):
    return one.v if isinstance(one, Node) else one[0]


def pushed_there(held, get, one):
    def f(x):
        get(held).append(x)
        return 2.6 * x + one[-1]

    return f


def written_there(held, get, one):
    def f(x):
        put(get(held), x)
        return 2.6 * x + got(one)

    return f


def read_there(held, get, one):
    def f(x):
        put(one, x)
        return 2.6 * x + got(get(held))

    return f


def of(holder, item, way):
    one = ITEMS[item]()
    held, get = HOLDERS[holder](one)
    return way(held, get, one)


WAYS = [
    *((item, way) for item in ITEMS for way in (written_there, read_there)),
    ("list", pushed_there),
]


def of_a_weak_reference():
    node = Node(v=1.0, held=None)
    node.held = Node(owner=weakref.ref(node))

    def f(x):
        node.v = x
        return 2.6 * x + node.held.owner().v

    return f


def of_a_weak_table():
    node = Node(v=1.0)
    table = weakref.WeakValueDictionary(a=node)

    def f(x):
        node.v = x
        return 2.6 * x + table["a"].v

    return f


def by_a_method_looked_up_before():
    inner = [1.0]
    push = inner.append

    def f(x):
        push(x)
        return 2.6 * x + inner[-1]

    return f


HIDDEN = (of_a_weak_reference, of_a_weak_table, by_a_method_looked_up_before)


def derivatives(f):
    return (ad.grad(f), ad.grad(f, native=True), lambda x: ad.jvp(f, (x,), (1.0,))[1])


def is_refused(derivative):
    try:
        return derivative(1.3), False
    except ad.DifferentiationError as refusal:
        assert {each.code for each in refusal.diagnostics} <= {"AD0201", "AD0303", "AD0307"}, refusal
        return None, True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", [*OPEN, *HIDDEN])
def test_what_is_written_is_one_thing_or_refused(made):
    for derivative in derivatives(made()):
        found, refused = is_refused(derivative)
        assert refused or found == pytest.approx(3.6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_written_where_nobody_looks_is_one_thing_or_refused(holder):
    for item, way in WAYS:
        for derivative in derivatives(of(holder, item, way))[::2]:
            found, refused = is_refused(derivative)
            assert refused or found == pytest.approx(3.6), (item, way)


# -- what has no second name is right beside all of these


def beside_a_history():
    history, held = deque(maxlen=3), [1.0]

    def f(x):
        history.append(x)
        held[0] = x
        return 2.6 * x + held[0]

    return f


def beside_others_in_a_queue():
    rows, queue = [[1.0], [2.0]], deque([[1.0], [2.0]])

    def f(x):
        rows[0][0] = x
        return 1.6 * x + rows[0][0] * queue[0][0] + rows[-2][0]

    return f


def beside_a_reference_that_is_not_followed():
    parent = Node(children=[], v=1.0)
    child = Node(parent=weakref.ref(parent), v=1.0)
    parent.children.append(child)

    def f(x):
        child.v = x
        return 2.6 * x + child.v

    return f


def beside_what_is_read_by_two_names():
    row = np.ones(2)
    rows = {"a": row, "b": (row, row), "c": [1.0], "d": np.ones(1)}

    def f(x):
        rows["c"][0] = x
        rows["d"][0] = x
        return 1.6 * x + rows["a"][0] * rows["c"][0] + rows["b"][1][0] * rows["d"][0]

    return f


SOLE = (
    beside_a_history,
    beside_others_in_a_queue,
    beside_a_reference_that_is_not_followed,
    beside_what_is_read_by_two_names,
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", SOLE)
def test_what_has_one_name_is_differentiated(made):
    for derivative in derivatives(made()):
        assert derivative(1.3) == pytest.approx(3.6)
        assert derivative(1.3) == pytest.approx(3.6)
