"""Arguments and results that are structures, for derivatives that are compiled."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


@dataclass
class Layer:
    weights: np.ndarray
    bias: np.ndarray
    act: Callable = field(default=math.tanh)


class Pair(NamedTuple):
    first: float
    second: float


class Model:
    def __init__(self, layers, rates, pair):
        self.layers = layers
        self.rates = rates
        self.pair = pair
        self.steps = 3

    def __call__(self, x):
        for layer in self.layers:
            y = np.empty(layer.bias.size)
            for i in range(layer.bias.size):
                total = layer.bias[i]
                for j in range(x.size):
                    total += layer.weights[i, j] * x[j]
                y[i] = layer.act(total)
            x = y
        return self.rates["slow"] * x[0] + self.pair.first * self.pair.second * self.steps


def model():
    rng = np.random.default_rng(3)
    layers = [Layer(rng.normal(size=(3, 2)), rng.normal(size=3)), Layer(rng.normal(size=(2, 3)), rng.normal(size=2))]
    layers[1].act = math.sin
    return Model(layers, {"slow": 0.5, "unused": 2.0}, Pair(2.0, 3.0))


def loss(model, x):
    return model(x)


def same(one, other):
    assert type(one) is type(other) or isinstance(one, float)
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other):
            same(mine, theirs)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, (float, np.ndarray)):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    elif hasattr(one, "__dict__"):
        same(vars(one), vars(other))
    else:
        assert one == other


def test_nested_objects():
    x = np.array([0.3, -0.7])
    expected = ad.value_and_grad(loss, (0, 1))(model(), x)
    same(expected, ad.value_and_grad(loss, (0, 1), native="strict")(model(), x))


def test_both_halves_of_a_pullback():
    x = np.array([0.3, -0.7])
    value, pullback = ad.vjp(loss, model(), x, native="strict")
    expected, interpreted = ad.vjp(loss, model(), x)
    assert value == pytest.approx(expected)
    same(interpreted(2.0), pullback(2.0))


def test_functions_in_fields_are_constants():
    gradient = ad.grad(loss, native="strict")
    one, other = model(), model()
    other.layers[1].act = math.cos
    x = np.array([0.3, -0.7])
    same(ad.grad(loss)(one, x), gradient(one, x))
    same(ad.grad(loss)(other, x), gradient(other, x))


def test_structures_as_results():
    def split(x, key):
        return {key: x * x, "rest": (x, Pair(x, x * 2.0))}

    value, pullback = ad.vjp(split, 3.0, "square", native="strict")
    assert value == {"square": 9.0, "rest": (3.0, Pair(3.0, 6.0))}
    assert pullback({"square": 1.0, "rest": (0.0, Pair(0.0, 1.0))})[0] == 8.0


def test_objects_that_are_written():
    def step(pair, h):
        pair.first += h * pair.second
        return pair.first * h

    class Moving:
        def __init__(self):
            self.first, self.second = 1.0, 2.0

    compiled, interpreted = Moving(), Moving()
    same(ad.grad(step, 1)(interpreted, 0.5), ad.grad(step, 1, native="strict")(compiled, 0.5))
    assert compiled.first == interpreted.first == 2.0


def test_recursion():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    def halves(a, low, high):
        if high - low == 1:
            return a[low] * a[low]
        middle = (low + high) // 2
        return halves(a, low, middle) * 0.5 + math.sin(halves(a, middle, high))

    assert ad.grad(power, native="strict")(1.5, 4) == pytest.approx(4 * 1.5**3)
    a = np.linspace(0.1, 0.9, 5)
    same(ad.grad(halves)(a, 0, 5), ad.grad(halves, native="strict")(a, 0, 5))


def test_assignments_before_the_only_way_out_of_a_loop():
    def fixed_point(a, b):
        x = 0.0
        while True:
            new = a * math.cos(x) + b
            if abs(new - x) < 1e-12:
                return new
            x = new

    same(ad.grad(fixed_point, (0, 1))(0.3, 0.7), ad.grad(fixed_point, (0, 1), native="strict")(0.3, 0.7))


class Moved:
    def __init__(self, first, second):
        self.first, self.second = first, second


def test_object_that_a_recursive_function_returns_and_the_caller_writes():
    def walk(pair, n):
        if n == 0:
            return pair
        pair.first = pair.first * pair.second
        return walk(pair, n - 1)

    def f(x, y, n):
        pair = Moved(x, y)
        last = walk(pair, n)
        last.first *= 2.0
        return pair.first * 3.0

    assert ad.value_and_grad(f, (0, 1), native="strict")(1.1, 2.0, 2) == ad.value_and_grad(f, (0, 1))(1.1, 2.0, 2)
    assert ad.value_and_grad(f, (0, 1))(1.1, 2.0, 2)[0] == pytest.approx(f(1.1, 2.0, 2))


def test_cotangents_of_which_nothing_is_computed_are_dicts():
    _, pullback = ad.vjp(lambda x, table: np.ones(2), 0.5, {"a": 1.0}, native="strict")
    _, of_table = pullback(np.ones(2))
    assert type(of_table) is dict
    assert of_table == {"a": 0.0}


def test_dicts_made_by_machine_code_are_dicts() -> None:
    class State:
        table: dict[int, float]

    def f(x, n):
        table = {}
        for i in range(n):
            table[i] = x * i
        return table

    def g(state, x):
        state.table = {}
        state.table["last"] = x
        state.table["last"] *= 2.0
        return x * x

    found = ad.compile(f, native=True)(2.0, 3)
    assert type(found) is dict
    assert found == {0: 0.0, 1: 2.0, 2: 4.0}
    state = State()
    state.table = {}
    assert ad.grad(g, wrt=1, native=True)(state, 3.0) == 6.0
    assert type(state.table) is dict
    assert state.table == {"last": 6.0}
