"""Variables that are None until they are something else."""

import math
from dataclasses import dataclass

import numpy as np

from programs.registry import program

POINTS = [0.3, 0.2, 0.4]
ARRAY = np.array([0.3, 0.2, 0.4])


@dataclass
class State:
    q: float
    p: float

    def energy(self):
        return self.q * self.q + self.p


@program(POINTS)
def best_number(xs):
    best = None
    for x in xs:
        if best is None or x * x < best:
            best = x * x
    return best * 3.0


@program(POINTS)
def best_object(xs):
    best = None
    for x in xs:
        candidate = State(x, math.cos(x))
        if best is None or candidate.p < best.p:
            best = candidate
    return best.q * best.p


@program(POINTS)
def best_pair(xs):
    best = None
    for x in xs:
        candidate = (x, math.cos(x))
        if best is None or candidate[1] < best[1]:
            best = candidate
    point, value = best
    return point * value + best[0]


@program(ARRAY)
def previous_array(a):
    previous, total = None, 0.0
    for i in range(3):
        current = a * i
        if previous is not None:
            total += np.sum(current * previous)
        previous = current
    return total + previous[0] + np.sum(previous)


@program(0.3, 3)
def method_of_what_a_loop_made(x, n):
    state = None
    for i in range(n):
        state = State(x * i, x)
    return state.energy()


@program(0.3, 3)
def made_at_first_use(x, n):
    state = None
    for _ in range(n):
        if state is None:
            state = State(x, 1.0)
        state.q *= x
    return state.q


@program(0.3, 3)
def handed_to_a_function(x, n):
    def weight(state):
        return state.q * state.p

    state = None
    for i in range(n):
        state = State(x * i, x)
    return weight(state)


@program(0.7, 0.1)
@program(0.1, 0.7)
def list_made_on_one_branch(x, y):
    pair = None
    for i in range(0, 5, 2):
        if x > y:
            pair = [x, y]
        if pair is not None:
            y += pair[0] * i
    return y


@program(0.7)
def one_of_three_kinds(x):
    found = None
    for i in range(3):
        if i == 1:
            found = State(x, x * x)
        elif i == 2 and x < 0.5:
            found = (x, x)
    return found.q * found.p if isinstance(found, State) else x


@program(0.7)
def chain_of_pairs(x):
    node = None
    for i in range(3):
        node = (x * i, node)
    total = 0.0
    while node is not None:
        total += node[0] ** 2
        node = node[1]
    return total


class Dense:
    def __init__(self, size):
        self.size = size
        self.weight = None

    def initialize(self, rate, entries):
        self.weight = np.full((entries, self.size), 0.3)
        self.rate = rate

    def forward(self, x):
        self.entered = x
        return x.dot(self.weight)

    def backward(self, cotangent):
        weight = self.weight
        self.weight = self.weight - self.rate * self.entered.T.dot(cotangent)
        return cotangent.dot(weight.T)


class Squashed:
    def forward(self, x):
        self.entered = x
        return np.tanh(x)

    def backward(self, cotangent):
        return cotangent * (1.0 - np.tanh(self.entered) ** 2)


class Layered:
    def __init__(self, rate):
        self.layers = []
        self.rate = rate

    def add(self, layer, entries):
        if hasattr(layer, "initialize"):
            layer.initialize(self.rate, entries)
        self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def fit(self, x, steps):
        for _ in range(steps):
            cotangent = self.forward(x)
            for layer in reversed(self.layers):
                cotangent = layer.backward(cotangent)


@program(np.array([[0.3, -0.2], [0.5, 0.9]]), 0.1)
def layers_made_in_steps_and_trained(x, rate):
    network = Layered(rate)
    network.add(Dense(3), 2)
    network.add(Squashed(), 3)
    network.add(Dense(1), 3)
    network.fit(x, 2)
    return np.sum(network.forward(x) ** 2)
