"""Special methods: reflected, in-place, indexing, iteration, context managers, comparison."""

import functools
import math
import operator

import numpy as np

from programs.registry import program


class Vec:
    def __init__(self, *items):
        self.items = list(items)

    def __add__(self, other):
        return Vec(*[a + b for a, b in zip(self.items, other.items)])

    def __iadd__(self, other):
        for i in range(len(self.items)):
            self.items[i] = self.items[i] + other.items[i]
        return self

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Vec(*[-a for a in self.items])

    def __rmul__(self, k):
        return Vec(*[k * a for a in self.items])

    def __truediv__(self, k):
        return (1.0 / k) * self

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.items, other.items))

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value

    def __len__(self):
        return len(self.items)

    def __abs__(self):
        return math.sqrt(self @ self)

    def __float__(self):
        return float(abs(self))

    def __bool__(self):
        return len(self.items) > 0

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, value):
        return value in self.items


class Dual:
    def __init__(self, value, slope):
        self.value = value
        self.slope = slope

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slope + other.slope)
        return Dual(self.value + other, self.slope)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)
        return Dual(self.value * other, self.slope * other)

    __rmul__ = __mul__

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)


class Scale:
    def __init__(self, factor):
        self.factor = factor
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self.factor

    def __exit__(self, *exc):
        self.depth -= 1
        return False


@program(1.0, 2.0)
def vector_arithmetic(x, y):
    a = Vec(x, y)
    b = 2.0 * a - Vec(y, x) / 3.0
    return a @ b + abs(b)


@program(1.0, 2.0)
def in_place_operator(x, y):
    a = Vec(x, y)
    a += Vec(y, x * y)
    a += a
    return a[0] * a[1]


@program(1.0, 2.0)
def item_methods(x, y):
    a = Vec(x, y, 1.0)
    a[2] = a[0] * a[1]
    a[0] = a[2] + len(a)
    return a[0] * a[2]


@program(1.0, 2.0)
def truth_and_comparison(x, y):
    a, b = Vec(x, y), Vec(y, y)
    if a and a < b:
        return a @ b
    return a @ a


@program(1.0, 2.0)
def iteration(x, y):
    total = 0.0
    for item in Vec(x, y, x * y):
        total += item * item
    return total


@program(1.5)
def own_dual_numbers(x):
    d = Dual(x, 1.0)
    f = 3.0 * d**3 + d * d + 1.0
    return f.slope * f.value


@program(1.5)
def context_manager(x):
    scale = Scale(x)
    with scale as k:
        y = k * x
    return y * k


@program(1.0, 2.0)
def conversion_to_float(x, y):
    return float(Vec(x, y)) * x


class Gate:
    def __init__(self, x):
        self.x = x

    def __or__(self, other):
        return Gate(self.x * other.x)

    def __lt__(self, other):
        return self.x * other.x

    def __invert__(self):
        return Gate(-2.0 * self.x)


@program(1.5, 2.0)
def operators_as_functions(x, y):
    a, b = Gate(x), Gate(y)
    return operator.or_(a, ~b).x * operator.lt(a, b) + functools.reduce(operator.or_, [a, b, operator.invert(a)]).x


class Total:
    def __init__(self, value):
        self.value = value

    def __iadd__(self, other):
        self.value += other
        return self


@program(0.7, [0.4, -0.9], np.array([0.9, -0.35]))
def in_place_by_functions(x, items, v):
    flat = functools.reduce(operator.iadd, [items, [items[0] * 2.0]], [])
    same = operator.iconcat(items, [x])
    same[0] = x * x
    scaled = functools.reduce(operator.imul, [v, 2.0], v[1:] * np.ones(2))
    one = Total(x)
    two = operator.iadd(one, operator.ipow(x, 3))
    table = operator.ior({"a": x}, {"b": two.value})
    return sum(flat) * items[0] * items[-1] + scaled @ v + one.value * table["b"] + operator.itruediv(x, 2.0)


class Measured:
    """Says itself which array it is; slices of it are scaled."""

    def __init__(self, values, scale):
        self.values, self.scale = values, scale

    def __array__(self, dtype=None, copy=None):
        return self.values * self.scale

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Measured(self.values[key], 2.0 * self.scale)
        return self.values[key] * self.scale


@program(np.array([0.9, -0.35, 0.4]), 0.7)
def objects_that_are_arrays(v, x):
    one = Measured(v, x)
    copy = np.array(one[1:])
    copy[0] *= x
    return np.sum(np.asarray(one) ** 2) + np.sum(copy**3) * one[0]
