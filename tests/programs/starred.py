"""Starred parts of displays, argument lists and targets, of what has no length that is known beforehand."""

import math
from dataclasses import dataclass

import numpy as np

from programs.registry import program

A = np.array([0.3, 0.2, 0.4])
T = np.linspace(0.0, 1.0, 5)


@dataclass
class Line:
    slope: float
    height: float
    bend: float = 0.5

    def at(self, x, scale):
        return (self.slope * x + self.height + self.bend * x * x) * scale


def decay(t, a, b, c):
    return a * np.exp(-b * t) + c


@program(A)
def array_in_a_list(a):
    items = [*a]
    items[0] *= items[1]
    return items[0] * a[0] + items[2]


@program(0.3, A)
def array_among_others_in_a_list(x, a):
    items = [x, *a, x * x]
    return sum(items) * items[1] * items[-1] * len(items)


@program(0.3, A)
def array_among_others_in_an_array(x, a):
    whole = np.array([x, *a, x * x])
    return np.sum(whole * whole)


@program(0.3, A)
def array_in_a_tuple(x, a):
    pair = (x, *a)
    return pair[0] * pair[1] * len(pair)


@program(0.3, 3)
def list_at_run_time_in_a_list(x, n):
    powers = []
    for i in range(n):
        powers.append(x * i)
    whole = [x, *powers, *powers]
    return whole[0] * whole[2] * whole[-1] * len(whole)


@program(A)
def parameters_of_a_model(p):
    return np.sum((decay(T, *p) - 1.0) ** 2)


@program(A)
def parameters_before_others(p):
    return np.sum(decay(*p[:2], p[2], c=p[0]))


@program(A)
def parameters_of_a_lambda(p):
    return (lambda a, b, c: a * b + c)(*p)


@program(A)
def parameters_of_a_class_and_of_a_method(p):
    line = Line(*p[1:])
    return line.at(*p[:2])


@program(lambda rng: rng.normal(size=(2, 3)))
def rows_as_arguments(m):
    def product(a, b):
        return np.sum(a * b)

    return product(*m)


@program(A)
def the_greatest_and_the_least(a):
    return max(*a) * min(*a)


@program(A)
def first_and_rest(a):
    first, *rest = a
    return first * rest[0] * len(rest)


@program(A)
def first_rest_last(a):
    first, *rest, last = a
    return first * rest[0] * math.sin(last)


@program(0.3, 4)
def first_and_rest_of_a_list(x, n):
    items = []
    for i in range(n):
        items.append(x * i + 1.0)
    first, *rest = items
    return first * rest[0] * rest[-1]


@program(0.3, A)
def list_extended_by_an_array(x, a):
    items = [x]
    items.extend(a)
    items += list(a)
    return items[0] * items[1] * items[-1] * len(items)


def weighted_squares(*items):
    total = 0.0
    for i, v in enumerate(items):
        total += (i + 1) * v * v
    return total


def folded(a, *rest, scale=2.0):
    for v in rest:
        a = a * v + scale
    return a + len(rest)


@program(np.array([0.5, 1.2, 2.3]), 3)
def as_many_as_there_are(x, n):
    items = []
    for i in range(n):
        items.append(x[i] ** 2)
    return weighted_squares(*items) + weighted_squares(x[0], *items) * folded(*items, scale=x[1]) + folded(*items)


@program(np.array([0.5, 1.2, 2.3]))
def as_many_handed_on(x):
    def outer(*a):
        return weighted_squares(*a) + a[0] * a[-1]

    def again(n, *a):
        return sum(a) if n == 0 else again(n - 1, *a) * a[0]

    return outer(*[v * v for v in x]) + again(3, *[v for v in x if v > 1.0])


@program(np.array([0.5, 1.2, 2.3]), 3)
def columns_of_rows(x, n):
    rows = []
    for i in range(n):
        rows.append((x[i], x[i] ** 2, i))
    a, b, _ = zip(*rows)
    total = sum(a) * sum(b)
    for column in zip(*rows):
        total = total + sum(column) ** 2
    return total


def blocks_of(matrix, count=1):
    return np.hstack([*[matrix] * count])


@program(0.7, 3)
def as_many_as_are_asked_for(x, n):
    matrix = np.array([[x, 1.0], [0.0, x * x]])
    first, second, third = np.atleast_2d(matrix, x * matrix, matrix)
    a, b, c, d = np.atleast_2d(first, second, third, matrix)
    return np.sum(blocks_of(matrix) ** 2) + np.sum(np.vstack([*[a * b] * n]) ** 2) + np.sum(c @ d)
