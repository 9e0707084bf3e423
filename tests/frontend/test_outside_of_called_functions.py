"""Functions that stay functions and what they find outside: closures of one place are one, and none is stale."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adjoint.differentiation.definitions import called_by
from adjoint.frontend.entry.entry import lower_operator
from adjoint.testing import check_grads
from frontend.kept_functions import as_usual_and_kept, layer
from fuzz.inlining import repeating

SCALE = 2.0


class Settings:
    def __init__(self, scale: float) -> None:
        self.scale = scale


SETTINGS, OTHERS = Settings(1.5), Settings(2.5)


# What is found by two names, and stays the same by one of them


def captured_and_global(x):
    a = SCALE
    y = x + 1.0

    def step(y):
        return math.sin(y) * a + SCALE * y + a * a - SCALE

    y = step(y)
    a = x * 3.0
    return step(y)


def captured_twice(x):
    y = x + 1.0
    a = x * 2.0
    b = a

    def step(y):
        return math.sin(y) * a + b * y + a * a - b

    y = step(y)
    a = x * 3.0
    return step(y)


def the_global_object_or_another(x):
    y = x + 1.0
    current = SETTINGS

    def step(y):
        if current is SETTINGS:
            return math.sin(y) * current.scale + y
        return y * current.scale * 2.0

    y = step(y)
    current = OTHERS
    return step(y)


def another_object_or_the_global_one(x):
    y = x + 1.0
    current = OTHERS

    def step(y):
        return y * current.scale + (SETTINGS.scale if current is SETTINGS else 0.0) * math.sin(y)

    y = step(y)
    current = SETTINGS
    return step(y)


# What shows only on the way


def attribute_of_a_class(x):
    y = x + 1.0

    class Local:
        k = 1.0

    Local.k = x * 2.0

    def step(y):
        return math.sin(y) * Local.k + y

    y = step(y)
    Local.k = x * 3.0
    return step(y)


def constant_attribute_of_a_class(x):
    y = x + 1.0

    class Local:
        k = 1.0

    def step(y):
        return math.sin(y) * Local.k + y

    y = step(y)
    Local.k = 5.0
    return step(y)


def by_method(obj, y):
    return obj.times(y) + math.sin(y)


def what_a_method_captures(x):
    y = x + 1.0
    a = x * 2.0

    class Local:
        def times(self, y):
            return y * a

    obj = Local()
    y = by_method(obj, y)
    a = x * 3.0
    return by_method(obj, y)


def through_by_method(obj, y):
    return by_method(obj, y) * 0.5 + y


def what_a_method_captures_further_down(x):
    y = x + 1.0
    a = x * 2.0

    class Local:
        def times(self, y):
            return y * a

    obj = Local()
    y = through_by_method(obj, y)
    a = x * 3.0
    return through_by_method(obj, y)


def attribute_of_a_function(x):
    y = x + 1.0

    def law(y):
        return y * law.k

    law.k = x

    def step(y):
        return law(y) + math.sin(y)

    y = step(y)
    law.k = 2.0 * x
    return step(y)


def recursion_and_an_attribute(x):
    class Local:
        k = 1.0

    def down(n, y):
        if n == 0:
            return y
        return down(n - 1, math.sin(y) * Local.k + y)

    n = int(x)
    y = down(n + 1, x)
    Local.k = x * 2.0
    return down(n + 2, y)


def mutual_recursion_and_an_attribute(x):
    class Local:
        k = 1.0

    def even(n, y):
        return y if n == 0 else odd(n - 1, y * Local.k + math.sin(y))

    def odd(n, y):
        return y * 0.5 if n == 0 else even(n - 1, y + 0.1)

    n = int(x)
    y = even(n + 1, x)
    Local.k = x * 2.0
    return odd(n + 2, y) + even(n + 2, y)


# What a function gives back


def what_is_returned_is_a_captured_function(x):
    def law_of(k):
        return lambda y: y * k

    law = law_of(x)

    def pick(y):
        return law, math.sin(y) * y

    first, y = pick(x)
    law = law_of(x * x)
    second, z = pick(y)
    return first(y) + second(z)


# Closures of one place


def made_inside(x):
    return layer(x, 1.0)(layer(x * 2.0, x)(layer(0.5, x * x)(x)))


LAYERS = [layer(0.3 + 0.1 * i, 0.2 * i) for i in range(6)]


def made_outside(x):
    for run in LAYERS:
        x = run(x)
    return x


def whole_numbers_and_floats(x):
    return layer(x, 1)(layer(2, x)(layer(1.5, x)(layer(x, 2)(x))))


def flags_captured(x):
    def make(k, is_flipped):
        def run(y):
            return math.sin(y) * k if is_flipped else math.cos(y) + k

        return run

    return make(x, True)(make(2.0 * x, False)(make(x * x, True)(x)))


def array_layer(w, b):
    def run(v):
        h = w @ v + b
        return np.where(h > 0.0, np.tanh(h), 0.1 * h) + v

    return run


def arrays_captured(w, v):
    for i in range(2):
        v = array_layer(w[i], v * 0.1)(v)
    v = array_layer(w[0] * 2.0, v)(array_layer(w[1], w[0, 0])(v))
    return np.sum(v * v)


def arrays_that_overlap(v):
    def make(one, other):
        def run(k):
            one[0] = one[0] * other[1] + k
            return one[0] * other[0] + other[1]

        return run

    v = v * 1.0
    w = v * 2.0
    s = make(v, w)(v[1]) + make(w, v)(w[1])
    s = s + make(v, v)(2.0) * make(v[1:], v[:2])(3.0)
    return s + np.sum(v * w)


def buffers_captured(x):
    def make(buffer, k):
        def run(y):
            buffer[0] = buffer[0] * k + math.sin(y)
            return buffer[0] * y

        return run

    one, other = np.zeros(1), np.ones(1)
    first, second = make(one, x), make(other, 2.0)
    return first(x) + second(x) * first(2.0 * x) + other[0] * one[0]


def objects_captured(x):
    def make(settings, k):
        def run(y):
            return math.sin(y) * settings.scale * k + settings.scale

        return run

    one, other = Settings(x), Settings(3.0)
    y = make(one, 1.0)(make(other, x)(x))
    one.scale = y * 2.0
    return make(one, 2.0)(y) + make(SETTINGS, y)(y)


def dicts_captured(x):
    def make(table, k):
        def run(y):
            return math.sin(y) * table["a"] * k + table["b"]

        return run

    return make({"a": x, "b": 1.0}, 1.0)(make({"a": 2.0, "b": x}, x)(x))


def functions_captured(x):
    def make(law, k):
        def run(y):
            return law(y) * k + math.sin(y)

        return run

    one, other = (lambda y: y * x), (lambda y: y + x)
    return make(one, x * x)(make(other, x)(make(one, x * 2.0)(make(math.cos, x)(x))))


def closures_of_closures(x):
    def make(law, k):
        def run(y):
            return law(y) * k + math.sin(y)

        return run

    law = make(make(math.cos, x), 2.0)
    return law(make(law, x)(x)) + make(make(math.cos, 2.0 * x), x)(x)


def called_by_one_another(x):
    def make(k):
        def run(n, y):
            return y * k if n == 0 else run(n - 1, math.sin(y) + k)

        return run

    n = int(x)
    return make(x)(n + 1, x) + make(x * 2.0)(n + 1, x) * make(3.0)(n + 1, x)


def defaults(x):
    laws = []

    def make(k):
        def run(y, scale=k):
            return math.sin(y) * scale + k

        return run

    laws = [make(x), make(2.0), make(x * x)]
    return laws[0](laws[1](laws[2](x))) + laws[0](x, 3.0)


def partials(x):
    def make(k):
        def run(a, y):
            return math.sin(y) * a + k

        return functools.partial(run, k * 2.0)

    return make(x)(make(3.0)(make(x * x)(x)))


def the_same_captured_twice(x):
    return layer(x, x)(layer(x, 2.0)(layer(2.0, x)(layer(x * x, x * x)(x))))


STALE = [
    captured_and_global,
    captured_twice,
    the_global_object_or_another,
    another_object_or_the_global_one,
    attribute_of_a_class,
    constant_attribute_of_a_class,
    what_a_method_captures,
    what_a_method_captures_further_down,
    attribute_of_a_function,
    recursion_and_an_attribute,
    mutual_recursion_and_an_attribute,
    what_is_returned_is_a_captured_function,
]
ALIKE = [
    made_inside,
    made_outside,
    whole_numbers_and_floats,
    flags_captured,
    buffers_captured,
    objects_captured,
    dicts_captured,
    functions_captured,
    closures_of_closures,
    called_by_one_another,
    defaults,
    partials,
    the_same_captured_twice,
]
W = np.array([[[0.3, -0.2], [0.5, 0.1]], [[0.7, 0.4], [-0.6, 0.2]]])
V = np.array([0.4, -0.9, 1.3])
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((function, (1.3,)) for function in (*STALE, *ALIKE)),
    (arrays_captured, (W, V[:2])),
    (arrays_that_overlap, (V,)),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=[function.__name__ for function, _ in CASES])
@as_usual_and_kept
def test_derivatives_go_by_what_is_there_now(function: Any, args: tuple[Any, ...], most: int | None) -> None:
    with repeating(most):
        check_grads(function, args, order=2)


@pytest.mark.parametrize(
    ("function", "most"),
    [(made_outside, 1), (called_by_one_another, 2), (flags_captured, 2), (functions_captured, 3)],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_closures_of_one_place_are_one_function(function: Any, most: int) -> None:
    with repeating(0):
        entry = lower_operator("call", function, (), (1.3,), {})

    assert sum(each.name == "run" for each in called_by(entry.function)) == most
