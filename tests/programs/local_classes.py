"""Classes defined inside the function: plain ones, dataclasses, named tuples, with methods that capture."""

import abc
import functools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import adjoint as ad
from programs.registry import program


class Shape(abc.ABC):
    weight = 2.0

    @abc.abstractmethod
    def area(self): ...

    def weighted(self):
        return self.weight * self.area()


@program(1.3, 0.7)
def everything_a_class_has(x, y):
    class Point(Shape):
        slope = 3.0 * x
        count = 2

        def __init__(self, a, b=y):
            self.a = a
            self.b = b

        def area(self):
            return self.a * self.b * y + self.slope

        def __add__(self, other):
            return Point(self.a + other.a, self.b * other.b)

        @property
        def size(self):
            return math.sqrt(self.a**2 + self.b**2)

        @size.setter
        def size(self, value):
            self.a = value * y

        @staticmethod
        def of(t):
            return Point(t, t * x)

        @classmethod
        def unit(cls):
            return cls(1.0)

        def weighted(self):
            return super().weighted() * self.count

    p = Point(x) + Point.of(y) + Point.unit()
    p.size = p.size * x
    return p.weighted() * Point.slope * p.size * p.weight


@program(1.3, 0.7)
def frozen_dataclass(x, y):
    @dataclass(frozen=True)
    class Pair:
        a: float
        b: float = x * y
        offsets: list = field(default_factory=lambda: [1.0, y])

        def dot(self, other: "Pair"):
            return self.a * other.a + self.b * other.b * x + self.offsets[1]

    @dataclass(frozen=True)
    class Triple(Pair):
        c: float = 2.0

    p, q = Pair(x), Triple(y, b=x, c=x * x)
    return p.dot(q) * q.dot(q) * q.c


@program(1.3, 0.7)
def named_tuple(x, y):
    class Box(NamedTuple):
        a: float
        b: float = 2.0 * x

        def area(self):
            return self.a * self.b * y

    box = Box(x * y)
    a, b = box
    return box.area() * box._replace(b=x).area() + a * b


@program(1.3, 0.7)
def many_at_run_time(x, y):
    class Body:
        def __init__(self, position):
            self.position = position

        def step(self, dt):
            self.position = self.position + dt * math.sin(self.position) * y

        @property
        def doubled(self):
            return self.position * 2.0

    bodies = []
    for i in range(5):
        bodies.append(Body(x * i))
    for _ in range(3):
        for body in bodies:
            body.step(0.1 * x)
    return sum(body.doubled**2 for body in bodies)


@program(1.3, 0.7)
def grown_while_it_holds(x, y):
    @dataclass
    class State:
        a: float
        b: float

        def energy(self):
            return self.a * self.b * x

    states = [State(x, y)]
    for _ in range(5):
        last = states[-1]
        if last.a < 2.0:
            states.append(State(last.a * 1.5, last.b * y))
    return sum(state.energy() for state in states)


def measured(x, k):
    @dataclass
    class Scaled:
        a: float

        def value(self):
            return self.a * k

    return Scaled(x)


@program(1.3, 0.7)
def one_class_for_each_call(x, y):
    s = 0.0
    for k in (1.0, 2.0, y):
        s = s + measured(x, k).value()
    for i in range(4):
        s = s + measured(x, y * i).value() * s
    first, second = measured(x, 2.0), measured(y, x)
    return s * first.value() * second.value()


@program(1.3, 0.7)
def captured_as_they_are_when_called(x, y):
    @dataclass
    class Sum:
        total: float = 0.0

        def add(self, t):
            self.total += t * y

    def change():
        nonlocal y
        y = 3.0 * x

    acc = Sum()
    for i in range(4):
        acc.add(x**i)
        y = y * 1.1
    change()
    acc.add(x)
    return acc.total


@program(1.3, 0.7)
def differentiated_inside(x, y):
    @dataclass
    class Pair:
        a: float
        b: float

    g = ad.grad(lambda p: p.a**2 * p.b * x)(Pair(x, y))
    return g.a * g.b


@program(1.3, 0.7)
@program(0.6, 1.7)
def defined_in_a_branch(x, y):
    if x > 1.0:

        class Gain:
            def of(self, t):
                return t * x

    else:

        class Gain:
            def of(self, t):
                return t * y * y

    return Gain().of(x) * Gain().of(y)


@program(1.3, 0.7)
def scopes(x, y):
    scale = 2.0

    class P:
        scale = 3.0 * x
        scaled = lambda self, t: t * scale
        sine = math.sin

        def default(self, t, s=scale):
            return t * s * scale * self.scale

        class Inner:
            def value(self):
                return x * scale

    return P().scaled(y) + P().default(x) * P.sine(y) + P.Inner().value()


@program(1.3, 0.7)
def special_methods(x, y):
    class Table:
        def __call__(self, t):
            return t * t * x

        def __getitem__(self, i):
            return i * y

        def __len__(self):
            return 3

        def __iter__(self):
            return iter([x, y])

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            self.left = x

        __mul__ = __call__

    table = Table()
    with table as entered:
        z = entered * y
    for value in table:
        z = z + value * table.left
    return table(y) + table[2] + len(table) * z


@program(1.3, 0.7)
@program(0.6, 1.7)
def exception_class(x, y):
    class TooLarge(ValueError):
        pass

    def squared(t):
        if t > 1.0:
            raise TooLarge("too large")
        return t * t

    try:
        z = squared(x)
    except TooLarge:
        z = x * y
    return z * x


def twice(method):
    def both(self, t):
        return method(self, method(self, t))

    return both


@program(1.3, 0.7)
def decorated_methods(x, y):
    class Model:
        __slots__ = ("w",)

        def __init__(self, w):
            self.w = w

        @twice
        def forward(self, t):
            return math.tanh(self.w * t) * x

    class Cached:
        @functools.cached_property
        def value(self):
            return x * y

    return Model(y).forward(x) * Cached().value


@program(1.3, 0.7)
def recursive_method(x, y):
    @dataclass
    class Tree:
        value: float
        children: tuple = ()

        def total(self):
            return self.value * y + sum(child.total() for child in self.children)

    return Tree(x, (Tree(y), Tree(x * y, (Tree(2.0),)))).total()


@program(1.3, 0.7)
def told_apart_by_class(x, y):
    class Disk(Shape):
        def __init__(self, r):
            self.r = r

        def area(self):
            return math.pi * self.r**2 * y

    class Square(Shape):
        def __init__(self, a):
            self.a = a

        def area(self):
            return self.a**2

    total = 0.0
    for shape in (Disk(x), Square(y), Disk(x * y)):
        match shape:
            case Disk(r=r):
                total += shape.weighted() * r
            case Square():
                total += shape.weighted()
        total *= 2.0 if isinstance(shape, Disk) else 1.0
    return total
