"""Programs that compute with objects of their own: particles, vectors, layers, springs, states of a filter."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration, ratio
from benchmarks.timing import race


@dataclass
class Vector:
    x: float
    y: float
    z: float

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor: float) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vector) -> float:
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass
class Body:
    position: Vector
    velocity: Vector
    mass: float


def bodies(a):
    """Gravity between bodies whose positions are objects."""
    system = [Body(Vector(v, 0.5 * i, 0.1 * i * i), Vector(0.0, 0.1 * v, 0.0), 1.0) for i, v in enumerate(a)]
    for _ in range(5):
        for body in system:
            pull = Vector(0.0, 0.0, 0.0)
            for other in system:
                if other is not body:
                    way = other.position - body.position
                    pull = pull + way * (other.mass / (way.dot(way) + 0.05) ** 1.5)
            body.velocity = body.velocity + pull * 0.01
        for body in system:
            body.position = body.position + body.velocity * 0.01
    return sum(0.5 * body.mass * body.velocity.dot(body.velocity) for body in system)


class Layer:
    def __init__(self, weights, bias):
        self.weights = weights
        self.bias = bias
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return np.tanh(self.weights @ x + self.bias)


def network(a):
    """Layers in a list, which count their calls."""
    layers = [Layer(np.outer(a, a) * 0.1 + k, a * k) for k in range(6)]
    x = np.ones(len(a))
    for layer in layers:
        x = layer(x)
    return np.sum(x**2) + sum(layer.calls for layer in layers)


class Spring:
    def __init__(self, i, j, stiffness, rest):
        self.i, self.j, self.stiffness, self.rest = i, j, stiffness, rest


class Mesh:
    def __init__(self, positions):
        self.positions = positions
        self.velocities = np.zeros_like(positions)
        self.springs = []

    def forces(self):
        total = np.zeros_like(self.positions)
        for spring in self.springs:
            way = self.positions[spring.j] - self.positions[spring.i]
            length = np.sqrt(way @ way)
            pull = spring.stiffness * (length - spring.rest) / length * way
            total[spring.i] += pull
            total[spring.j] -= pull
        return total

    def step(self, dt):
        self.velocities += dt * self.forces()
        self.positions += dt * self.velocities


def mesh(a):
    """Springs between points, over time."""
    found = Mesh(np.array([[0.0, 0.0], [1.0, a[0]], [a[1], 1.0], [1.2, 1.1 + a[2]]]))
    for i in range(4):
        for j in range(i):
            found.springs.append(Spring(i, j, 1.0 + a[3] * i, 0.9))
    for _ in range(10):
        found.step(0.05)
    return np.sum(found.velocities**2)


@dataclass
class Gaussian:
    mean: np.ndarray
    covariance: np.ndarray


def smoother(a):
    """A Kalman filter and a smoother, whose states are in lists."""
    transition = np.array([[1.0, 0.1], [-0.1 * a[0], 1.0 - 0.1 * a[1]]])
    noise = np.exp(a[2]) * np.eye(2)
    state = Gaussian(np.zeros(2), np.eye(2))
    filtered, predicted = [], []
    total = 0.0
    for k in range(20):
        ahead = Gaussian(transition @ state.mean, transition @ state.covariance @ transition.T + noise)
        predicted.append(ahead)
        residual = np.cos(0.2 * k) - ahead.mean[0]
        variance = ahead.covariance[0, 0] + np.exp(a[3])
        gain = ahead.covariance[:, 0] / variance
        state = Gaussian(ahead.mean + gain * residual, ahead.covariance - variance * np.outer(gain, gain))
        filtered.append(state)
        total += residual**2 / variance + np.log(variance)
    for k in range(18, -1, -1):
        ahead = predicted[k + 1]
        gain = np.linalg.solve(ahead.covariance, transition @ filtered[k].covariance).T
        difference = state.covariance - ahead.covariance
        mean = filtered[k].mean + gain @ (state.mean - ahead.mean)
        state = Gaussian(mean, filtered[k].covariance + gain @ difference @ gain.T)
        total += state.mean[0] ** 2
    return total


PROGRAMS = (bodies, network, mesh, smoother)


def measure(quick: bool) -> Results:
    """Compares gradients with their programs, interpreted and as machine code."""
    results = Results(
        "Objects",
        "Programs that make objects and keep them in lists, of four numbers. Gradients beside the program, as Python "
        "and with `native=True`; `first call`: the processor's time to the first compiled gradient, with nothing kept.",
        ("", "program", "gradient", "native", "first call"),
    )
    x = np.array([0.7, -0.4, 1.3, 0.55])
    for program in PROGRAMS:
        interpreted, native = ad.grad(program), ad.grad(program, native=True)
        start = time.process_time()
        native(x)
        first = time.process_time() - start
        contestants: dict[str, Any] = {"program": program, "gradient": interpreted, "native": native}
        times = race({name: lambda run=run: run(x) for name, run in contestants.items()}, 5 if quick else 30)
        base = times["program"].best
        beside = [ratio(times[name].best / base) for name in ("gradient", "native")]
        results.rows.append((program.__name__, duration(base), *beside, duration(first)))
    return results
