"""Arguments that are bound to parameters: from dicts whose keys are known at run time only, and by `inspect`."""

import collections
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second


def line(x, a, b=2.0):
    return a * x + b**2


def called(p, names):
    table = {}
    for name in names:
        table[name] = p
    return line(3.0, **table)


@pytest.mark.parametrize("names", [["b"], ["a", "c"], ["a", "x"]])
def test_names_that_do_not_fit(names):
    with pytest.raises(TypeError):
        called(1.5, names)
    with pytest.raises(TypeError):
        ad.grad(called)(1.5, names)


def test_names_that_fit():
    assert ad.grad(called)(1.5, ["a", "b"]) == 6.0
    assert ad.grad(called)(1.5, ["a"]) == 3.0


# `inspect.signature(f).bind(...)`, as decorators of libraries check arguments with it


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    known = inspect.signature(function)

    def wrapper(*args, **named):
        bound = known.bind(*args, **named)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if value is None:
                raise ValueError(name)
        return function(*bound.args, **bound.kwargs)

    return wrapper


@checked
def scaled(x, factor=2.0, *, shift=0.5):
    return np.sum(x**2) * factor + shift


def gathered(x, *rest, c=1.0, **named):
    return x * sum(rest) * c * named["z"]


def with_defaults(x):
    return scaled(x) * scaled(x, shift=x[0], factor=3.0)


def with_names_of_any_kind(x):
    bound = inspect.signature(gathered).bind(x[0], x[1], 2.0, z=x[2], y=1)
    bound.apply_defaults()
    return gathered(*bound.args, **bound.kwargs) + bound.arguments["named"]["z"] * len(bound.arguments)


def with_some(x):
    bound = inspect.signature(gathered).bind_partial(x[0])
    before = len(bound.arguments)
    bound.apply_defaults()
    return bound.arguments["x"] ** 2 * before + x[1] * len(bound.arguments["rest"]) + x[2]


def with_a_mistake_that_is_handled(x):
    try:
        scaled(x, other=1.0)
    except TypeError:
        return np.sum(x**3)
    return np.sum(x)


@pytest.mark.parametrize("f", [with_defaults, with_names_of_any_kind, with_some, with_a_mistake_that_is_handled])
def test_bound(f: Callable[..., Any]) -> None:
    x = np.array([0.7, 1.3, -0.4])
    right(f, x)
    second(f, x)


def test_what_does_not_fit() -> None:
    message = refused(lambda: ad.grad(lambda x: scaled(x, other=1.0))(np.ones(2)))
    assert "got an unexpected keyword argument 'other'" in str(message)


class Table(dict):
    pass


TABLE = Table(k=2.0)
ORDERED = collections.OrderedDict(k=2.0)


def test_a_table_of_another_class_from_outside_says_the_way_out():
    def scaled(x, k=1.0):
        return x * k

    with pytest.raises(ad.DifferentiationError, match="a plain dict of it, outside of the function"):
        ad.grad(lambda x: scaled(x, **TABLE))(1.3)
    assert ad.grad(lambda x: scaled(x, **ORDERED))(1.3) == 2.0
    plain = dict(TABLE)
    assert ad.grad(lambda x: scaled(x, **plain))(1.3) == 2.0
