"""Programs of several functions, whose derivatives have several functions, too."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import adjoint as ad

# Four stages of a Runge-Kutta method: the right-hand side writes its result


def rhs(u, s, r, b, out):
    out[0] = s * (u[1] - u[0])
    out[1] = u[0] * (r - u[2]) - u[1]
    out[2] = u[0] * u[1] - b * u[2]


def runge_kutta(s, r, b, steps):
    state = np.array([1.0, 1.0, 1.0])
    k = np.zeros((4, 3))
    for _ in range(steps):
        rhs(state, s, r, b, k[0])
        rhs(state + 0.005 * k[0], s, r, b, k[1])
        rhs(state + 0.005 * k[1], s, r, b, k[2])
        rhs(state + 0.01 * k[2], s, r, b, k[3])
        state = state + 0.01 / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(state)


# A model of three gated layers, called twice


@dataclass
class Layer:
    w: np.ndarray
    u: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        gate = 1.0 / (1.0 + np.exp(-(x @ self.u)))
        return gate * np.tanh(x @ self.w + self.b)


@dataclass
class Model:
    first: Layer
    second: Layer
    last: Layer


def model(x, p):
    h1 = p.first(x)
    h2 = p.second(h1)
    y = p.last(h2)
    return y / np.sqrt(np.sum(y * y))


def twins(p, x1, x2):
    """How far apart a model takes two inputs."""
    y1 = model(x1, p)
    y2 = model(x2, p)
    d = y1 - y2
    return np.sum(d * d)


# Newton's method with a line search


def residual(x, a):
    r = np.empty(2)
    r[0] = x[0] * x[0] + x[1] * x[1] - a
    r[1] = math.exp(x[0]) - x[1] * x[0] - 1.5
    return r


def slopes(x):
    j = np.empty((2, 2))
    j[0, 0] = 2.0 * x[0]
    j[0, 1] = 2.0 * x[1]
    j[1, 0] = math.exp(x[0]) - x[1]
    j[1, 1] = -x[0]
    return j


def newton_step(x, a):
    r = residual(x, a)
    step = np.linalg.solve(slopes(x), r)
    t = 1.0
    r_new = residual(x - step, a)
    while r_new @ r_new > r @ r:
        t = 0.5 * t
        r_new = residual(x - t * step, a)
    return x - t * step


def solved(a, x):
    for _ in range(3):
        x = newton_step(x, a)
    r = residual(x, a)
    return x[0] * x[1] + r @ r


# A recursive-descent evaluator


def expression(tokens, place, x):
    value, place = term(tokens, place, x)
    while place < len(tokens) and tokens[place] in (1, 2):
        other, after = term(tokens, place + 1, x)
        value = value + other if tokens[place] == 1 else value - other
        place = after
    return value, place


def term(tokens, place, x):
    value, place = factor(tokens, place, x)
    while place < len(tokens) and tokens[place] in (3, 4):
        other, after = factor(tokens, place + 1, x)
        value = value * other if tokens[place] == 3 else value / other
        place = after
    return value, place


def factor(tokens, place, x):
    """Zero stands for the variable, one to four for operators, five and six for parentheses, more for numbers."""
    if tokens[place] == 5:
        value, place = expression(tokens, place + 1, x)
        return value, place + 1
    if tokens[place] == 0:
        return x, place + 1
    return tokens[place] - 10.0, place + 1


def evaluated(tokens, x):
    value, _ = expression(tokens, 0, x)
    return value


# A simulation of six functions


def drag(v, c):
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + 1e-9)
    return -c * speed * v


def wind(p, strength):
    height = p[1] + 1.0
    return np.array([strength * math.log(height), 0.0])


def force(p, v, c, strength):
    relative = v - wind(p, strength)
    weight = np.array([0.0, -9.81])
    return weight + drag(relative, c)


def step(p, v, dt, c, strength):
    a1 = force(p, v, c, strength)
    a2 = force(p + 0.5 * dt * v, v + 0.5 * dt * a1, c, strength)
    return p + dt * (v + 0.5 * dt * a1), v + dt * a2


def flight(angle, speed, c, strength, steps):
    p = np.array([0.0, 0.0])
    v = np.array([speed * math.cos(angle), speed * math.sin(angle)])
    for _ in range(steps):
        p, v = step(p, v, 0.05, c, strength)
    return p, v


def missed(angle, speed, c, strength, steps):
    p, v = flight(angle, speed, c, strength, steps)
    q, u = flight(angle + 0.1, speed, c, strength, steps)
    return (p[0] - 3.0) ** 2 + 0.1 * p[1] * u[1] + (q[0] - p[0]) * v[0]


RNG = np.random.default_rng(7)
SIZES = ((3, 4), (4, 4), (4, 2))
MODEL = Model(*(Layer(RNG.normal(size=size), RNG.normal(size=size), RNG.normal(size=size[1])) for size in SIZES))
FORMULA = [0, 3, 5, 0, 1, 12, 6, 2, 13, 4, 0]
"""``x * (x + 2) - 3 / x``."""

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {
    "runge_kutta": (runge_kutta, (10.0, 28.0, 8 / 3, 5), (0, 1, 2)),
    "twins": (twins, (MODEL, RNG.normal(size=3), RNG.normal(size=3)), (0,)),
    "solved": (solved, (2.0, np.array([1.0, 0.5])), (0, 1)),
    "evaluated": (evaluated, (FORMULA, 1.7), (1,)),
    "missed": (missed, (0.8, 5.0, 0.1, 0.3, 8), (0, 1, 2, 3)),
}
"""Functions with arguments, and with respect to which of them they are differentiated."""


def gradient_text(name: str) -> str:
    function, args, wrt = PROGRAMS[name]
    return ad.source(ad.grad(function, wrt=wrt), *args)


def jvp_text(name: str) -> str:
    function, args, wrt = PROGRAMS[name]
    tangents = tuple(arg if place in wrt else None for place, arg in enumerate(args))
    return ad.source(ad.jvp, function, args, tangents)


TEXTS: dict[str, Callable[[], str]] = {
    **{f"{name}_grad": partial(gradient_text, name) for name in PROGRAMS},
    **{f"{name}_jvp": partial(jvp_text, name) for name in ("runge_kutta", "missed")},
}
