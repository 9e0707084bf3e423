"""Calls of functions of the user: several results, defaults, keywords, stars."""

import math

import numpy as np

from programs.registry import program


def square(x):
    return x * x


def both(x, y):
    return x * y, x + y


def affine(x, slope=2.0, offset=1.0):
    return slope * x + offset


def polynomial(x, *coefficients):
    y = 0.0
    for c in coefficients:
        y = y * x + c
    return y


def weighted(x, **weights):
    total = 0.0
    for name, weight in weights.items():
        total += weight * x ** len(name)
    return total


def early(x):
    if x > 1.0:
        return x * x
    return 3.0 * x


def loop_inside(x, n):
    for _ in range(n):
        x = math.sin(x) + 0.1 * x
    return x


def keyword_only(x, *, scale, shift=0.5):
    return scale * x * x + shift


def positional_only(x, y, /):
    return x / y


@program(1.5)
def call(x):
    return square(x) + square(2.0 * x)


@program(1.5)
def call_of_call(x):
    return square(square(square(x)))


@program(1.5, 0.5)
def several_results(x, y):
    p, s = both(x, y)
    return p * p + s * x


@program(1.5, 0.5)
def one_of_several_results(x, y):
    p, _ = both(x, y)
    return p + both(y, x)[1] * p


@program(1.5)
def defaults(x):
    return affine(x) + affine(x, 3.0) + affine(x, offset=x)


@program(1.5, 0.5)
def keywords(x, y):
    return affine(offset=x * y, x=x, slope=y)


@program(1.5, 0.5)
def variadic(x, y):
    return polynomial(x, 1.0, y, 2.0, x * y)


@program(1.5, [1.0, 2.0, 0.5])
def variadic_star(x, cs):
    return polynomial(x, *cs)


@program(1.5, 0.5)
def variadic_keywords(x, y):
    return weighted(x, a=1.0, bb=y, ccc=x * y)


@program(1.5, {"slope": 0.3, "offset": 0.2})
def double_star(x, options):
    return affine(x, **options)


@program(1.5)
@program(0.5)
def early_return_in_callee(x):
    return early(x) * early(x * x)


@program(0.5)
def loop_in_callee(x):
    return loop_inside(x, 3) * loop_inside(2.0 * x, 2)


@program(0.5)
def callee_in_loop(x):
    for i in range(3):
        x = early(x) * 0.8 + square(x) * 0.1
    return x


@program(0.5, 1.5)
def keyword_only_arguments(x, y):
    return keyword_only(x, scale=y) + keyword_only(y, shift=x, scale=2.0)


@program(0.5, 1.5)
def positional_only_arguments(x, y):
    return positional_only(x, y) * x


@program(0.5)
def same_argument_twice(x):
    return both(x, x)[0] + positional_only(square(x), x)


@program(1.5, kwargs={"slope": 3.0, "offset": 0.25})
def own_keywords(x, slope=1.0, offset=0.0):
    return slope * x * x + offset


@program(1.5, 2.0)
def own_default(x, y, z=3.0):
    return x * y * z


@program(1.5, 2.0, 0.5)
def own_star(x, *rest):
    total = x
    for r in rest:
        total = total * r + x
    return total


def unused_result(x):
    return x * 10.0


@program(1.5)
def result_ignored(x):
    unused_result(x)
    return x * x


def nothing(x):
    x * 2.0


@program(1.5)
def callee_returns_none(x):
    r = nothing(x)
    return x if r is None else x * x


SCALE = 2.5
TABLE = np.array([1.0, 2.0, 4.0])
SETTINGS = {"rate": 0.25, "name": "linear"}


@program(1.5)
def globals_read(x):
    return SCALE * x * x + TABLE[1] * x + SETTINGS["rate"] * x**3


def inner_product(a, b):
    return np.sum(a * b)


def normalise(v):
    return v / np.sqrt(inner_product(v, v))


@program(lambda rng: rng.normal(size=3), lambda rng: rng.normal(size=3))
def array_callees(a, b):
    return inner_product(normalise(a), b) * inner_product(a, b)


def dense(w, b, x):
    return np.tanh(w @ x + b)


@program(
    lambda rng: rng.normal(size=(3, 2)),
    lambda rng: rng.normal(size=3),
    lambda rng: rng.normal(size=3),
    lambda rng: rng.normal(size=2),
)
def mlp(w1, b1, w2, x):
    return w2 @ dense(w1, b1, x)


@program([(0.5, -0.2), (0.3, 0.8), (1.2, 0.1)], 0.7)
def mlp_of_pairs(layers, x):
    for w, b in layers:
        x = math.tanh(w * x + b)
    return x


@program(lambda rng: rng.normal(size=(3, 3)), lambda rng: rng.normal(size=(3, 2)), lambda rng: rng.normal(size=(4, 2)))
def rnn(w, u, xs):
    h = np.zeros(3)
    for t in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h * h)
