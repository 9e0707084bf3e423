"""Functions that stay functions and are handed numbers that are known: captured, in objects, or by other functions."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.differentiation.definitions import called_by
from adjoint.frontend.entry.entry import lower_operator
from adjoint.testing import check_grads
from frontend.kept_functions import as_usual_and_kept, layer
from fuzz.inlining import repeating


def both(f, g, y):
    return f(y) * g(y + 1.0) + f(y)


def captured_further_down(x):
    def make(a, b):
        inner = layer(a, b)

        def run(y):
            return inner(y) * b + math.cos(y)

        return run

    return make(0.3, 0.1)(make(0.4, x)(make(0.5, 0.7)(x)))


def one_number_of_several_types(x):
    return layer(1, 2)(x) * layer(1.0, 2)(x) * layer(True, 2)(x) * layer(2, 2.0)(x) * layer(1, 3)(x)


def exponents(x):
    def make(n):
        def run(y):
            return y**n + math.sin(y) * n

        return run

    return make(2)(x) + make(3)(x) + make(0)(x) + make(0.5)(x) + make(1.5)(x) + make(-1)(x)


def counts(x):
    def make(n):
        def run(y):
            for i in range(n):
                y = math.sin(y) + 0.1 * i
            return y

        return run

    return make(2)(x) + make(3)(x) + make(0)(x) + make(5)(x)


def places(x):
    t = (x, 2 * x, x * x)

    def make(n):
        def run(y):
            return t[n] * y + [1.0, y, 3.0][n]

        return run

    return make(0)(x) + make(1)(x) + make(2)(x) + make(-1)(x)


def lengths(x):
    def make(n):
        def run(y):
            a = np.zeros(n)
            a[0] = y
            for i in range(1, n):
                a[i] = a[i - 1] * y
            return np.sum(a)

        return run

    return make(1)(x) + make(2)(x) + make(4)(x)


def parts_of_texts(x):
    def make(n):
        names = {"w0": 2.0, "w1": 3.0}

        def run(y):
            return names[f"w{n}"] * math.sin(y)

        return run

    return make(0)(x) * make(1)(x)


def kinds_told_by_numbers(x):
    def make(k, s):
        def run(y):
            if k == 0:
                return math.sin(y) * s
            elif k == 1:
                return (y, s)[0] * s
            else:
                return [y * s][0]

        return run

    return make(0, 0.1)(x) * make(1, 0.2)(x) * make(2, 0.3)(x)


def structures_told_by_numbers(x):
    def make(k):
        def run(y):
            if k == 0:
                return (y, y * y)
            return (y, y, y)

        return run

    return sum(make(0)(x)) * sum(make(1)(x)) * sum(make(2)(2 * x))


def in_objects(x):
    @dataclass
    class P:
        a: float
        n: int

        def run(self, y):
            for _ in range(self.n):
                y = math.sin(self.a * y)
            return y

    return P(0.1, 1).run(x) * P(0.2, 2).run(x) * P(x, 3).run(x) * P(0.2, 3).run(2 * x)


def in_lists(x):
    def make(ws):
        def run(y):
            s = 0.0
            for w in ws:
                s = s * y + w
            return s

        return run

    return (
        make([1.0, 2.0, 3.0])(x)
        * make([0.5, 2.0, 1.0])(x)
        * make([x, 2.0, 1.0])(x)
        * make((1.0, 2.0))(x)
        * make((1.5, 2.0))(x)
    )


def in_lists_that_are_written(x):
    def make(acc):
        def run(y):
            acc[0] = acc[0] + y
            return acc[0] * y

        return run

    f, g = make([0.1]), make([0.2])
    return f(x) * g(x) * f(2 * x) * g(x)


def added_to_what_changes(x):
    def make(k):
        n = 0.5

        def run(y):
            nonlocal n
            n = n + k
            return math.sin(y) * n

        return run

    f, g = make(0.1), make(0.2)
    return f(x) * g(x) * f(x) * g(2 * x)


def returned(x):
    def make(k):
        def run(y):
            return k, y * k

        return run

    a, b = make(0.1)(x)
    c, d = make(0.2)(x)
    e, h = make(3)(x)
    return a * b + c * d * x + e * h


def compose(fs):
    def run(y):
        for f in fs:
            y = f(y)
        return y

    return run


def composed(x):
    return compose([layer(0.1, 0.2), layer(0.3, 0.4)])(compose([layer(0.3, x), layer(0.5, 0.4)])(x))


def of_recursive_functions(x):
    def make(a):
        def go(n, y):
            return y * a if n == 0 else go(n - 1, math.sin(y) + a)

        return go

    n = int(x + 2)
    return make(0.1)(n, x) * make(0.2)(n, x) * make(0.3)(n + 1, x)


def newton(f, df, y):
    for _ in range(20):
        d = f(y) / df(y)
        y = y - d
        if abs(d) < 1e-13:
            break
    return y


def newtons(x):
    s = 0.0
    for i in range(1, 5):
        s += newton(lambda y: y * y - (x + i), lambda y: 2 * y, 1.0 + i)
    return s


def in_partials(x):
    def law(a, b, y):
        return a * math.sin(y) + b

    s = x
    for i in range(4):
        s = both(functools.partial(law, 0.1 * i, 1.0), functools.partial(law, x, 0.2 * i), s)
    return s


def of_one_of_two_functions(x):
    f = layer(0.1, x) if x > 0.3 else layer(0.2, x)
    g = layer(0.3, x) if x > 0.9 else layer(0.4, x)
    return both(f, g, x) * both(g, f, x)


def of_functions_in_dicts(x):
    def ap(d, y):
        return d["f"](y) * d["k"]

    return ap({"f": layer(0.1, x), "k": 2.0}, x) * ap({"f": layer(0.2, x), "k": x}, x)


def of_defaults(x):
    def ap(y, f=layer(0.1, 0.3)):
        return f(y)

    return ap(x) * ap(x, layer(0.2, x)) * ap(x, layer(x, 0.3))


def beside_none(x):
    def make(a, b=None):
        def run(y):
            return y * a if b is None else math.sin(y) * a * b

        return run

    return make(0.1)(x) * make(0.2, x)(x) * make(0.3, 0.4)(x)


def without_bounds(x):
    def make(lo, hi):
        def run(y):
            return min(max(y * y, lo), hi) + y

        return run

    return make(-math.inf, 0.3)(x) * make(0.0, math.inf)(x) * make(-0.0, 1.0)(x)


class Law:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def force(self, y):
        return layer(self.a, self.b)(y)


def integrate(law, y):
    k = law(y + 0.05 * law(y))
    return y + 0.1 * k if k < 3.0 else y * 0.5 + 0.01 * k


def closures_handed_over(x):
    return integrate(layer(x, 0.1), integrate(layer(0.3, x), integrate(layer(0.5, 0.2), x)))


def methods_handed_over(x):
    law = Law(0.3, 0.4)
    y = integrate(law.force, integrate(Law(x, 0.2).force, x))
    law.a = y
    return integrate(law.force, y)


def partials_handed_over(x):
    def law(a, b, y):
        return a * math.sin(y) + b

    for a, b in ((x, 0.1), (0.3, x), (0.5, 0.2)):
        x = integrate(functools.partial(law, a, b), x)
    return x


CASES: list[Callable[..., Any]] = [
    captured_further_down,
    one_number_of_several_types,
    exponents,
    counts,
    places,
    lengths,
    parts_of_texts,
    kinds_told_by_numbers,
    structures_told_by_numbers,
    in_objects,
    in_lists,
    in_lists_that_are_written,
    added_to_what_changes,
    returned,
    composed,
    of_recursive_functions,
    newtons,
    in_partials,
    of_one_of_two_functions,
    of_functions_in_dicts,
    of_defaults,
    beside_none,
    without_bounds,
    closures_handed_over,
    methods_handed_over,
    partials_handed_over,
]


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
@as_usual_and_kept
def test_numbers_that_are_known_count_as_in_each_call(function: Any, most: int | None) -> None:
    with repeating(most):
        check_grads(function, (0.7,), order=2)


def closures(x):
    for i in range(12):
        x = layer(0.3 + 0.01 * i, 0.1 * i)(x)
    return x


def methods(x):
    for i in range(12):
        x = Law(0.3 + 0.01 * i, 0.1 * i).force(x)
    return x


def functions(x):
    for i in range(12):
        x = integrate(layer(0.3 + 0.01 * i, 0.1 * i), x)
    return x


def methods_of_many(x):
    for i in range(12):
        x = integrate(Law(0.3 + 0.01 * i, 0.1 * i).force, x)
    return x


@pytest.mark.parametrize("function", [closures, methods, functions, methods_of_many], ids=lambda each: each.__name__)
def test_one_function_serves_calls_with_other_numbers(function: Any) -> None:
    with repeating(0):
        entry = lower_operator("call", function, (), (0.7,), {})
    found = [each.name for each in called_by(entry.function)]

    assert found
    assert sorted(set(found)) == sorted(found)


def alike(x):
    return layer(0.3, 0.1)(layer(0.3, 0.1)(layer(0.3, 0.2)(x)))


def test_what_is_the_same_in_all_calls_stays_part_of_the_function() -> None:
    with repeating(0):
        text = ad.source(ad.value_and_grad(alike), 0.7)

    assert "0.3 *" in text
    assert "0.1 *" not in text
