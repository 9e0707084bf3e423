"""Small programs, each with constructs that a new version of Python may read or compile in another way."""

# mypy: allow-untyped-defs, allow-untyped-calls

import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

_RATE = 0.7
X = 1.3
V = np.array([0.5, 1.2, -0.7])
M = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.1, 0.3, 1.8]])


class Pair(NamedTuple):
    first: float
    second: float


@dataclass
class Spring:
    stiffness: float
    length: float = 1.0

    def energy(self, x: float) -> float:
        return 0.5 * self.stiffness * (x - self.length) ** 2

    @property
    def period(self) -> float:
        return 2 * math.pi / math.sqrt(self.stiffness)


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __getitem__(self, place):
        return self.y if place else self.x


class Shape:
    def area(self):
        return self.size * self.size

    def __init__(self, size):
        self.size = size


class Disc(Shape):
    def area(self):
        return math.pi * super().area()


def arithmetic(x):
    y = (x**2 + 3 * x - 1 / x) % 2.5 // 1 + x // 0.4 * x
    return -y + +x - abs(x - 2) * (x if x > 1 else -x)


def functions_of_math(x):
    return math.sin(x) * math.exp(-x) + math.hypot(x, 2.0) + math.log1p(x) - math.atan2(x, 2.0)


def loop_over_a_range(x):
    total = 0.0
    for i in range(1, 8, 2):
        total += x**i / (i + 1)
    return total


def loop_that_is_left(x):
    n = 0
    while True:
        x = math.sqrt(x + 1)
        n += 1
        if n == 3:
            continue
        if n > 5:
            break
    else:
        x = 0.0
    return x * n


def comparisons_in_a_chain(x):
    if 0 < x < 1 or not x <= 2:
        return x
    elif x == 5 or (x >= 1 and x != 7):
        return x * x
    return 0.0


def assigned_in_an_expression(x):
    if (y := x * x) > 1:
        return y * math.sin(y)
    return y


def comprehensions(x):
    squares = [x * i for i in range(5) if i % 2]
    table = {f"{i}": s * s for i, s in enumerate(squares)}
    return sum(s for s in squares) + sum(table.values()) + max(i * x for i in (1, 2))


def nested_comprehension(x):
    return sum([sum([x**i * j for i in range(3)]) for j in range(1, 3)])


def unpacked_and_starred(x):
    first, *rest = [x, x * x, x**3]
    (a, b), c = (rest[0], rest[-1]), first
    return np.dot(np.array([*rest, c]), np.array((a, b, 1.0)))


def _weighted(x, /, y=2.0, *others, scale=1.0, **named):
    return scale * (x + y * sum(others)) * named.get("power", 1.0)


def arguments_of_all_kinds(x):
    given = {"scale": x, "power": 2.0}
    return _weighted(x, *[1.0, x], **given) + _weighted(x, y=x)


def closures(x):
    count = 0.0

    def add(y):
        nonlocal count
        count += y * x

    for y in (1.0, x):
        add(y)
    return count + (lambda z: z * count)(x)


def generator(x):
    def powers(n):
        y = 1.0
        for _ in range(n):
            y *= x
            yield y
        yield from [x, x * _RATE]

    return sum(powers(4))


def recursion(x, n=5):
    return x if n == 0 else x * recursion(math.cos(x), n - 1) + n


def exceptions(x):
    total = 0.0
    for y in (x, -1.0, 0.0):
        try:
            total += math.sqrt(y) / y
        except ValueError:
            total += x * y
        except ZeroDivisionError as problem:
            total += x * len(problem.args)
        finally:
            total *= 1.1
    return total


@contextlib.contextmanager
def _scaled(x):
    yield x * 2.0


def contexts(x):
    with _scaled(x) as y, np.errstate(all="ignore"):
        return y * y


def patterns(x):
    total = 0.0
    shapes: tuple[Any, ...] = (Pair(x, 2.0), [x, x], {"size": x}, x)
    for shape in shapes:
        match shape:
            case Pair(first=a, second=b):
                total += a * b
            case [a, *_]:
                total += a**3
            case {"size": size}:
                total += 2 * size
            case _:
                total -= shape
    return total


def objects(x):
    spring = Spring(x, length=0.5)
    spring.length *= x
    moved = Vector(x, 1.0) + Vector(spring.period, x * x)
    return spring.energy(2.0) + moved[0] * moved[1] + Disc(x).area()


def growing_list(x):
    values = []
    for i in range(4):
        values.append(x * i)  # noqa: PERF401
    values[1] = values.pop() * 2
    values += values[::-1]
    return sum(v * v for v in values[1:])


def table_by_name(x):
    table = {"a": x, "b": x * x}
    table["c"] = table.pop("a") + table["b"]
    table |= {"d": 2.0 * x}
    return sum(value * len(key) for key, value in table.items()) * table["c"]


def decorated(x):
    def twice(f):
        @functools.wraps(f)
        def g(*args):
            return f(*args) * 2.0

        return g

    @twice
    def h(y):
        return y * y

    return h(x) + functools.partial(_weighted, y=x)(x)


def class_in_a_function(x):
    @dataclass
    class Point:
        x: float
        y: float = 2.0

    point = Point(x)
    return point.x * point.y**2


def texts(x):
    name, width = "x", 6
    return x * len(f"{name!r}: {x:>{width}.2f}") + x * ("x" in name)


def elements(v):
    total = 0.0
    for i in range(len(v)):
        for j in range(i):
            total += v[i] * v[j] ** 2
    return total


def slices(v):
    w = v[::-1] * v
    w[1:] += v[:-1]
    w[[0, 2]] *= 2.0
    w[w > 0.5] = v[0]
    return np.sum(w * w) + v[-1]


def array_functions(v):
    w = np.where(v > 0, np.exp(v), v**2)
    return np.sum(np.cumsum(w)) + np.linalg.norm(v) + np.max(w) * np.mean(np.sort(v)) + np.prod(v)


def matrices(m):
    x = np.linalg.solve(m, m[0])
    return x @ m @ x + np.trace(m.T @ m) + np.einsum("ij,ji->", m, m) + np.linalg.det(m)


def stencil(v):
    u = np.concatenate([v, v[:1], np.zeros(2)])
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**3)


PROGRAMS: tuple[tuple[Callable[..., Any], Any], ...] = (
    *((f, X) for f in (arithmetic, functions_of_math, loop_over_a_range, loop_that_is_left, comparisons_in_a_chain)),
    *((f, X) for f in (assigned_in_an_expression, comprehensions, nested_comprehension, unpacked_and_starred)),
    *((f, X) for f in (arguments_of_all_kinds, closures, generator, recursion, exceptions, contexts, patterns)),
    *((f, X) for f in (objects, growing_list, table_by_name, decorated, class_in_a_function, texts)),
    *((f, V) for f in (elements, slices, array_functions, stencil)),
    (matrices, M),
)
"""The programs, each with the argument with respect to which it is differentiated."""
