"""Keyword arguments from dicts whose keys are known at run time only."""

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
