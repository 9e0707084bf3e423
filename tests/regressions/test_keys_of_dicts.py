"""Keys of dicts: equal ones are one, of whichever classes, and objects that are read back keep what varies."""

from __future__ import annotations

import collections
from dataclasses import dataclass

import pytest

import adjoint as ad


class Node:
    def __init__(self, v):
        self.v = v
        self.kids = []


class Named:
    """Two of one name are equal."""

    def __init__(self, name, v=1.0):
        self.name = name
        self.v = v

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@dataclass(frozen=True)
class Place:
    row: int


def nodes(x):
    return Node(x), Node(2 * x)


def read_back(x):
    a, b = nodes(x)
    table = {a: x, b: x * x}
    return sum(k.v * table[k] for k in table)


def read_back_with_items(x):
    a, b = nodes(x)
    table = {}
    table[a] = x
    table[b] = x * x
    total = 0.0
    for k, v in table.items():
        total += k.v * v
    return total


def read_back_from_tuples(x):
    a, b = nodes(x)
    table = {(a, 1): x, (b, 2): x * x}
    return sum(k.v for k, _ in table)


def read_back_from_a_comprehension(x):
    table = {k: k.v for k in nodes(x)}
    return sum(k.v * table[k] for k in table)


def read_back_from_pairs(x):
    a, b = nodes(x)
    table = dict([(a, x), (b, x * x)])
    return sum(k.v * table[k] for k in table)


def read_back_from_one_value(x):
    table = dict.fromkeys(nodes(x), x)
    return sum(k.v * table[k] for k in table)


def read_back_by_a_maximum(x):
    a, b = nodes(x)
    table = {a: 1, b: 2}
    return max(table, key=table.get).v * x


def read_back_after_a_change(x):
    a, b = nodes(x)
    table = {a: 1, b: 2}
    a.v = x * x
    return sum(k.v for k in table)


def read_back_from_a_copy(x):
    table = {Node(x): 1.0}
    return sum(k.v for k in table.copy())


def read_back_from_another(x):
    table = {Node(x): 1.0}
    return sum(k.v for k in dict(table))


def read_back_after_an_update(x):
    table = {}
    table.update({Node(x): 1.0})
    return sum(k.v for k in table)


def read_back_from_a_union(x):
    return sum(k.v for k in {Node(x): 1.0} | {})


def read_back_from_stars(x):
    table = {Node(x): 1.0}
    return sum(k.v for k in {**table})


def read_back_with_setdefault(x):
    table = {}
    table.setdefault(Node(x), x)
    return sum(k.v for k in table)


def read_back_in_order(x):
    table = {Node(x): 1.0}
    return sum(k.v for k in sorted(table, key=lambda node: node.v))


def read_back_in_turn(x):
    table = {Node(x): 1.0}
    turned = {v: k for k, v in table.items()}
    return turned[1.0].v


def read_back_from_defaults(x):
    table = collections.defaultdict(float)
    table[Node(x)] += x
    return sum(k.v * table[k] for k in table)


def taken_out(x):
    table = {}
    table[Node(x)] = 1.0
    key, value = table.popitem()
    return key.v * value


shared, far = Node(2.0), Node(3.0)
outer = {shared: 1.0}
nested = {shared: {far: 1.5}, far: {shared: 2.5}}


def captured_and_written(x):
    shared.v = x
    total = sum(k.v * outer[k] for k in outer)
    shared.v = 2.0
    return total


def captured_in_dicts_and_written(x):
    far.v = x
    total = 0.0
    for p, row in nested.items():
        for q, w in row.items():
            total += p.v * q.v * w
    far.v = 3.0
    return total


REFUSED_IF_NOT_RIGHT = [
    f for name, f in globals().items() if name.startswith(("read_back", "taken", "captured")) and callable(f)
]


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("f", REFUSED_IF_NOT_RIGHT, ids=lambda f: f.__name__)
def test_keys_that_are_read_back(f):
    expected = difference(f)
    for derivative in (ad.grad(f), lambda x: ad.jvp(f, (x,), (1.0,))[1]):
        try:
            found = derivative(1.3)
        except ad.DifferentiationError as refusal:
            assert {problem.code for problem in refusal.diagnostics} <= {"AD0307", "AD0303"}, refusal
        else:
            assert found == pytest.approx(expected, rel=1e-6)


def difference(f, x=1.3, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


# -- what is right


def looked_up(x):
    a, b = nodes(x)
    table = {a: x, b: x * x}
    return sum(k.v * table[k] for k in [a, b])


def counted(x):
    a, b = nodes(x)
    table = {a: x, b: x * x}
    total = 0.0
    for k in table:
        total += table[k]
    for v in table.values():
        total += v
    for k, v in table.items():
        total += v * table[k]
    return total * len(table)


def summed_up(x):
    found = nodes(x)
    table = {node: 0.0 for node in found}
    for node in found:
        table[node] += node.v**2
    return sum(table.values())


def walked(x):
    a, b = nodes(x)
    a.kids.append(b)
    distance = {a: x}
    pending = [a]
    while pending:
        node = pending.pop()
        for kid in node.kids:
            distance[kid] = distance[node] * kid.v
            pending.append(kid)
    return sum(distance.values())


def of_objects(x):
    a, b = nodes(x)
    other = {a: b, b: a}
    return other[a].v * other[b].v ** 2


def equal_by_name(x):
    table = {Named("a"): x, Named("b"): x * x}
    return table[Named("a")] * table[Named("b")]


def found_by_name(x):
    table = {Named("a"): x}
    return x * x if Named("a") in table and Named("b") not in table else x


def the_last_of_equals(x):
    table = {Named("a"): x, Named("a"): x * x}
    return table[Named("a")] * 2 + len(table) * x


def frozen_dataclasses(x):
    table = {Place(1): x, Place(2): x * x}
    return table[Place(1)] * table[Place(2)]


def the_last_of_equal_numbers(x):
    n = int(x)
    table = {n: x, n + 0: x * x, 7: 3.0 * x}
    return table[1] + len(table) * x + sum(table.values())


def the_last_of_equal_constants(x):
    table = {1: x, True: x * x, 1.0: x**3}  # noqa: F601
    return table[1] + len(table) * x


def of_another_class(x):
    table = {1: x, 2.0: x * x, (1, 2): x**3, False: 2.0 * x}
    return table[1.0] + table[True] * table.get(2, 0.0) + table.pop(2) + table[1.0, 2] * table[0]


def put_under_another_class(x):
    table = {1: x}
    table[True] = x * x
    other = {1.0: x**3}
    both = {**table, **other}
    table.update(other)
    return table[1] * len(table) + both[1] * len(both) + dict([(1, x), (True, x * x)])[1]


def taken_under_another_class(x):
    table = {1.0: x, 2: x * x}
    del table[1]
    return (x if 2.0 in table else 0.0) + sum(table.values()) * len(table)


def the_last_of_equal_lists(x):
    n = int(x)
    table = {n: [x], n + 0: [x * x]}
    table[1].append(x)
    return sum(table[1])


def captured(x):
    total = 0.0
    for p in nested:
        for q, w in nested[p].items():
            total += p.v * q.v * w * x
    return total + outer[shared] * x


RIGHT = [
    *(looked_up, counted, summed_up, walked, of_objects, equal_by_name, found_by_name, the_last_of_equals),
    *(frozen_dataclasses, the_last_of_equal_numbers, the_last_of_equal_constants, the_last_of_equal_lists, captured),
    *(of_another_class, put_under_another_class, taken_under_another_class),
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_objects_as_places(f):
    expected = pytest.approx(difference(f), rel=1e-6)
    assert ad.grad(f)(1.3) == expected
    assert ad.jvp(f, (1.3,), (1.0,))[1] == expected
