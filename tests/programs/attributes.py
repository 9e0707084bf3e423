"""Attributes that may be missing, are computed once, are set by name, or have no place in ``__slots__``."""

from functools import cached_property

import numpy as np

from programs.registry import program


class Part:
    pass


class Measured:
    def __init__(self, size):
        self.size = size
        self.reads = 0

    @cached_property
    def area(self):
        self.reads += 1
        return self.size * self.size


class Scaled:
    @property
    def size(self):
        return 2 * self._size

    @size.setter
    def size(self, value):
        self._size = 3 * value


class Narrow:
    __slots__ = ("size",)

    def __init__(self, size):
        self.size = size


@program(0.5)
@program(1.5)
def asked_whether_it_is_there(x):
    part = Part()
    if x > 1:
        part.size = 2 * x
    return x if hasattr(part, "size") else 5 * x


@program(0.5)
@program(1.5)
def taken_if_it_is_there(x):
    part = Part()
    if x > 1:
        part.size = x * x
    return getattr(part, "size", 5 * x) * x


@program(0.5)
@program(1.5)
def missed_and_handled(x):
    part = Part()
    if x > 1:
        part.size = x * x
    try:
        return part.size
    except AttributeError:
        return 3 * x


@program(0.5)
@program(1.5)
def looked_at_and_not_used(x):
    part = Part()
    if x > 1:
        part.size = 2 * x
    try:
        part.size
        return x * x
    except AttributeError:
        return 3 * x


@program(np.array([1.1, 2.2, 3.3]))
def remembered_from_one_round_to_the_next(x):
    part, total = Part(), 0.0
    for v in x:
        total += getattr(part, "last", v) * v
        if v > 1.5:
            part.last = v * v
    return total


@program(1.5)
def computed_once(x):
    part = Measured(x)
    first = part.area
    part.size = 10 * x
    return first * part.area + part.reads * part.size


@program(Measured(1.5))
def computed_once_for_an_argument(part):
    first = part.area
    part.size = part.size * 2
    return first * part.area * part.size


@program(1.5)
def properties_set_by_name(x):
    part = Scaled()
    setattr(part, "size", x)
    object.__setattr__(part, "size", part.size * x)
    return part.size


@program(1.5)
def no_place_for_it(x):
    part = Narrow(x)
    try:
        part.other = 1.0
    except AttributeError:
        part.size *= 3
    return part.size * x


@program(1.5)
def table_of_results_by_number(x):
    table = {}

    def cubed(v):
        if v not in table:
            table[v] = v * v * v
        return table[v]

    return cubed(x) + cubed(2 * x) * cubed(x)


class Once:
    """A property that becomes an attribute of the object when it is read first."""

    def __init__(self, getter):
        self.getter, self.name = getter, getter.__name__

    def __get__(self, owner, cls=None):
        if owner is None:
            return self
        value = self.getter(owner)
        setattr(owner, self.name, value)
        return value


class Squared:
    def __init__(self, x):
        self.x = x

    @Once
    def square(self):
        return self.x**2


@program(0.7)
def descriptor_of_its_own(x):
    point = Squared(x)
    before = point.square
    point.x = 2.0 * x
    return before * point.square + point.x
