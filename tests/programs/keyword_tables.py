"""Keyword arguments from dicts whose keys are known at run time only."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from programs.registry import program

VALUES = np.array([1.1, -2.0, 3.0, 0.5])


def line(x, a=1.0, b=2.0):
    return a * x + b**2


def weighted(**parts):
    return sum(v * (i + 1) for i, v in enumerate(parts.values()))


def scaled(x, *, scale=1.0, **more):
    return x * scale + sum(more.values())


@program(VALUES)
def parameters_by_name(p):
    table = {}
    for name, v in zip(["a", "b"], p, strict=False):
        table[name] = v
    return line(3.0, **table)


@program(VALUES)
def any_names(p):
    table = {}
    for i in range(len(p)):
        table[f"part {i}"] = p[i] ** 2
    return weighted(**table)


@program(VALUES)
def some_that_are_asked_for(p):
    table = {}
    for i in range(len(p)):
        table[f"part {i}"] = p[i]
    table["scale"] = p[0] ** 2
    return scaled(p[1], extra=p[2] * p[1], **table)


class Product:
    def of(self, u, v=3.0):
        return u * v


@program(VALUES)
def of_a_method(p):
    table = {}
    for name, v in zip("uv", p, strict=False):
        table[name] = v
    return Product().of(**table)


class Line:
    def __init__(self, a, b=1.0):
        self.a, self.b = a, b


@dataclass
class Fields:
    a: float
    b: float = 2.0
    others: list = field(default_factory=list)


class Pair(NamedTuple):
    a: float
    b: float = 3.0


@program(VALUES)
def of_classes(p):
    table = {}
    for name, v in zip(["a", "b"], p[:2] if p[3] > 2.0 else p[:1], strict=False):
        table[name] = v
    line, fields, pair = Line(**table), Fields(**table), Pair(**table)
    return line.a * line.b**2 + fields.a**2 * fields.b + pair.a * pair.b * p[2] + len(fields.others)


@program(VALUES)
def some_left_out(p):
    table = {"x": p[0], "a": p[1], "b": p[2]}
    return line(**{name: v for name, v in table.items() if name != "b"})
