"""What == and its kin say of objects decides which way a program goes."""

from dataclasses import dataclass, field
from typing import NamedTuple

from programs.registry import program


class Quantity:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Quantity) and self.value == other.value

    __hash__ = None


@dataclass(order=True)
class Entry:
    size: float
    parts: list = field(default_factory=list)
    note: float = field(compare=False, default=0.0)


@dataclass(eq=False)
class Handle:
    size: float


class Pair(NamedTuple):
    a: float
    b: float


class Plain:
    pass


@program(1.5)
def unequal_by_method(x):
    first = x if Quantity(x) != Quantity(x) else x * x
    second = x if Quantity(x) != Quantity(2.0 * x) else x**3
    return first + 10 * second + (x if Quantity(x) not in [Quantity(1.0), Quantity(x)] else 100 * x)


@program(1.5)
def dataclasses_compare_their_fields(x):
    total = x if Entry(x, [x]) == Entry(x, [x]) else x * x
    total += 10 * x if Entry(x, [x]) != Entry(x, [x]) else 20 * x
    total += 100 * x if Entry(x, [1.0]) == Entry(x, [x]) else 200 * x * x
    total += 1000 * x if Entry(x, [], 1.0) == Entry(x, [], 2.0) else 2000 * x
    total += 10 * x if Entry(x) in [Entry(2.0), Entry(x)] else 3 * x
    return total * (x if Handle(x) == Handle(x) else x * x)


@program(1.5)
def dataclasses_are_in_order(x):
    total = x if Entry(x) < Entry(2 * x) else x * x
    total += 10 * x if Entry(x, [x]) >= Entry(x, [2.0]) else 20 * x
    ordered = sorted([Entry(x * x), Entry(-x), Entry(x)])
    return total + ordered[0].size + 2 * ordered[1].size + 3 * ordered[2].size


@program(1.5)
def the_largest_of_objects_that_are_sorted_too(x):
    entries = [Entry(4 - x), Entry(x), Entry(x * x)]
    return max(entries).size + 2 * sorted(entries)[1].size + 3 * min(entries[0], entries[1]).size


@program(1.5)
def tuples_lists_and_dicts_compare_their_items(x):
    total = x if (x, 1) < (x, 2) and Pair(x, 1) == (x, 1) else x * x
    total += 10 * x if [x] < [x, 1.0] and [x, 2] != [x] else 20 * x
    total += 100 * x if {"a": x} == {"a": x} and {"a": x} != {"b": x} else 200 * x
    return total


@program(1.5)
def objects_are_themselves(x):
    one = Plain()
    same = one
    total = x if one == same else x * x
    return total + (10 * x if one == Plain() else 20 * x) + (x if one in [Plain(), same] else 100 * x)


@program(1.5)
def truth_values_are_themselves(x):
    larger = bool(x > 1.0)
    return (x if larger is True else 5 * x) * (x if larger is not False else 7 * x) + (x if None is not larger else 1.0)
