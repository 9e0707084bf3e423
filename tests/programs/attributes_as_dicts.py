"""``vars(x)`` and ``x.__dict__``: the attributes of an object, as a dict that is never out of date."""

import types
from dataclasses import dataclass

import numpy as np

from programs.registry import program


class Bunch:
    def __init__(self, **named):
        self.__dict__.update(named)


class Pair:
    factor = 3.0

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class Point:
    x: float
    y: float = 2.0

    def scaled(self, s):
        return Point(**{name: value * s for name, value in self.__dict__.items()})


class Stored:
    def __init__(self, a):
        self.__dict__["held"] = {"a": a}

    def __getattr__(self, name):
        try:
            return self.__dict__["held"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self.__dict__["held"][name] = value


@program(0.7, -0.4)
def named_values(x, y):
    settings = Bunch(rate=x, decay=y * x)
    settings.rate += settings.decay
    return settings.rate * settings.decay + len(vars(settings))


@program(0.7, -0.4)
def kept_and_written_on_both_sides(x, y):
    pair = Pair(x, y)
    table = vars(pair)
    pair.a = y * 3.0
    table["b"] = x * x
    pair.c = x
    return sum(table.values()) * len(table) + pair.b + table["a"] * table.get("c", 0.0) + table.get("d", 1.0)


@program(0.7, -0.4)
def changed_while_gone_through(x, y):
    pair, total = Pair(x, y), 0.0
    for _, value in vars(pair).items():
        pair.b = pair.b + value
        total = total * 2.0 + value
    for name in vars(pair):
        setattr(pair, name, getattr(pair, name) * 2.0 + x)
    return total * pair.a * pair.b * pair.factor


@program(np.array([0.9, -0.35, 0.6]))
def in_a_loop(v):
    total = 0.0
    for item in v:
        pair = Pair(item, item * item)
        total += sum(vars(pair).values())
        pair.__dict__.update(a=2.0)
        total += pair.a * pair.b
    return total


@program(0.7, -0.4)
def kept_and_restored(x, y):
    pair = Pair(x, y)
    before = vars(pair).copy()
    try:
        pair.a, pair.b = pair.a * 5.0, 2.0
        total = pair.a * pair.b
    finally:
        vars(pair).update(before)
    return total * pair.a * pair.b


@program(0.7, -0.4)
def handed_on_as_keywords(x, y):
    point = Point(x).scaled(y)
    return (lambda x, y: x * y * y)(**vars(point)) + sum({**vars(point), "z": x}.values()) + dict(vars(point))["x"]


@program(Point(0.7, -0.4), types.SimpleNamespace(p=1.3, q=np.array([0.2, 0.5])))
def of_arguments(point, settings):
    vars(point)["x"] *= point.y
    weighted = sum(k * value for k, value in enumerate(vars(point).values(), 1))
    return weighted + vars(settings)["p"] * np.sum(settings.__dict__["q"] ** 2)


@program(0.7, -0.4)
def past_methods_of_the_class(x, y):
    stored = Stored(x)
    stored.a *= y
    stored.n = x
    return stored.a * stored.n + (1.0 if hasattr(stored, "missing") else y)


@program(0.7, -0.4)
def asked_as_dicts_are(x, y):
    table = vars(Pair(x, y))
    total = x if isinstance(table, dict) and type(table) is dict and "a" in table and "c" not in table else y
    total *= 2.0 if table == {"a": x, "b": y} else 3.0
    return total * len(", ".join(f"{name}={value:.1f}" for name, value in table.items())) + table.setdefault("c", y)


@program(0.7, -0.4)
def taken_out(x, y):
    pair = Pair(x, y)
    pair.c = x * y
    a, d = pair.__dict__.pop("a"), vars(pair).pop("d", y)
    try:
        vars(pair).pop("a")
    except KeyError:
        a = a * 2.0
    del vars(pair)["c"]
    return a * d * pair.b * len(vars(pair)) * (2.0 if hasattr(pair, "c") else 1.0)
