"""Functions of one text that say the same are written once."""

import math

import numpy as np
import pytest

import adjoint as ad
from fuzz.inlining import repeating
from sampling import check_grads


def law_of(c):
    def law(x, y):
        t = x * y * c + math.sin(x)
        t = t * t + math.exp(-y * y)
        t = t / (1.0 + x * x) + math.cos(t)
        t = t * math.tanh(t) - 0.1 * y * t
        return math.sqrt(1.0 + t * t) + x

    return law


def closures_of_one_place(x, y):
    f, g = law_of(x), law_of(y)
    return f(x, y) + 0.1 * f(y, x) * g(x, x) + f(x * 0.5, y) + g(y, 0.3) + f(g(x, y), y)


def recursive(n):
    def down(x, y):
        return x * n if x < 0.12 else y * down(x * 0.5, y) + math.sin(x)

    return down


def recursions_of_one_place(x, y):
    f, g = recursive(x), recursive(y)
    return f(x, y) + g(y, x)


def two_places(x, y):
    def law(u, v):
        return u * v + math.sin(u)

    first = law

    def law(u, v):
        return u * v + math.sin(u)

    return first(x, y) * law(y, x) + first(y, y) * law(x, x)


def names(text):
    return [line.split("(")[0] for line in text.splitlines() if line.startswith("def ")]


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (closures_of_one_place, ["law", "law_pullback", "law_pullback_wrt_x_c"]),
        (recursions_of_one_place, ["down_primal", "down_adjoint"]),
        (two_places, ["law", "law_1", "law_pullback", "law_pullback_1"]),
    ],
)
def test_closures_of_one_place_are_one_function(f, expected):
    with repeating(0):
        check_grads(f, (0.3, 0.4))
        text = ad.source(ad.grad(f, wrt=(0, 1)), 0.3, 0.4)
    assert [name.removeprefix("def ") for name in names(text)][1:] == expected
    assert "def law(x, y, c):" in text or f is not closures_of_one_place  # what is captured keeps its name


def test_other_numbers_in_the_same_place_are_another_function():
    def scaled(x, flag):
        t = x * (2.0 if flag else -0.0) + np.sin(x)
        return t * t

    def program(x):
        return scaled(x, True) * scaled(x * 2.0, False) + scaled(x, False)

    with repeating(0):
        check_grads(program, (0.3,))
        text = ad.source(ad.grad(program), 0.3)
    assert sum(name.startswith("def scaled_pullback") for name in names(text)) == 2


def response(x, a):
    r = np.empty(2)
    r[0] = math.exp(x) * a
    r[1] = math.sin(x) - a * x
    return r


def searched(x, a):
    """The response decides, and counts, too."""
    t = 1.0
    while response(x * t, a)[1] > 0.0 or t > 0.7:
        t = 0.5 * t
    r = response(x * t, a)
    return r[0] * r[1]


def test_a_function_that_decides_is_the_primal_half():
    with repeating(0):
        check_grads(searched, (0.7, 1.3))
        text = ad.source(ad.grad(searched), 0.7, 1.3)
    assert [name.removeprefix("def ") for name in names(text)][1:] == ["response_primal", "response_adjoint"]
