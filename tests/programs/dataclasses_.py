"""Dataclasses as arguments, states, models and results."""

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from programs.registry import program


@dataclass
class Point:
    x: float
    y: float

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Point(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    __rmul__ = __mul__

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def norm(self):
        return math.sqrt(self.dot(self))


@dataclass(frozen=True)
class Pendulum:
    angle: float
    speed: float
    length: float = 1.0

    def step(self, dt):
        acceleration = -9.81 / self.length * math.sin(self.angle)
        speed = self.speed + dt * acceleration
        return Pendulum(self.angle + dt * speed, speed, self.length)

    def energy(self):
        return 0.5 * (self.length * self.speed) ** 2 - 9.81 * self.length * math.cos(self.angle)


@dataclass
class Particle:
    position: Point
    velocity: Point
    mass: float = 1.0
    name: str = "particle"


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray
    activation: object = np.tanh

    def __call__(self, x):
        return self.activation(self.w @ x + self.b)


@dataclass
class Mlp:
    layers: list
    scale: float = 1.0
    tags: dict = field(default_factory=dict)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


@dataclass(slots=True)
class Interval:
    low: float
    high: float

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("empty")

    def width(self):
        return self.high - self.low


@dataclass
class Settings:
    rate: float
    steps: int
    method: str


@dataclass
class Base:
    a: float


@dataclass
class Derived(Base):
    b: float

    def value(self):
        return self.a * self.b**2


class Pair(NamedTuple):
    first: float
    second: float


@program(Point(2.0, 3.0))
def argument(p):
    return p.x * p.y + p.norm


@program(Point(2.0, 3.0), Point(-1.0, 0.5))
def operator_methods(p, q):
    r = p + 2.0 * q - p * 0.5
    return r.dot(q) * r.norm


@program(2.0, 3.0)
def built_inside(x, y):
    p = Point(x, y)
    q = Point(x=y, y=x * y)
    return p.dot(q)


@program(Point(2.0, 3.0))
def assigned_fields(p):
    p.x = p.x * p.y
    p.y += p.x
    return p.y * p.x


@program(Point(2.0, 3.0), 0.5)
def returned(p, k):
    return p * k


@program(Point(2.0, 3.0))
def replaced(p):
    q = replace(p, x=p.x * p.y)
    return q.x * q.y


@program(Pendulum(0.5, 0.1))
def pendulum(state):
    for _ in range(6):
        state = state.step(0.05)
    return state.energy() * state.angle


@program(Pendulum(0.5, 0.1), 0.05)
def pendulum_state_returned(state, dt):
    for _ in range(3):
        state = state.step(dt)
    return state


@program(Pendulum(0.5, 0.1))
def pendulum_while(state):
    t = 0.0
    while state.angle > 0.1 and t < 10.0:
        state = state.step(0.05)
        t += 0.05
    return state.speed


@program(Particle(Point(0.0, 1.0), Point(0.5, -0.5), 2.0))
def nested(p):
    for _ in range(3):
        p.position = p.position + p.velocity * 0.1
        p.velocity = p.velocity + p.position * (-1.0 / p.mass)
    return p.position.dot(p.velocity) + p.mass * p.velocity.dot(p.velocity)


@program(Particle(Point(0.0, 1.0), Point(0.5, -0.5), 2.0))
def nested_field_assigned(p):
    p.position.x = p.velocity.x * p.mass
    old = p.position.x
    p.position = Point(old * 2.0, p.position.y)
    return p.position.x * old + p.position.y


@program(
    lambda rng: Mlp([Dense(rng.normal(size=(3, 2)), rng.normal(size=3)), Dense(rng.normal(size=(1, 3)), np.zeros(1))]),
    lambda rng: rng.normal(size=2),
)
def model(mlp, x):
    return np.sum(mlp(x))


@program(lambda rng: Dense(rng.normal(size=(2, 2)), rng.normal(size=2), np.sin), lambda rng: rng.normal(size=2))
def function_field(dense, x):
    return np.sum(dense(dense(x)))


@program(Settings(0.5, 3, "square"), 1.5)
def inactive_fields(settings, x):
    for _ in range(settings.steps):
        x = x * x * settings.rate if settings.method == "square" else x * settings.rate
    return x


@program(Interval(0.5, 2.0))
def slots_and_post_init(i):
    middle = 0.5 * (i.low + i.high)
    left = Interval(i.low, middle)
    return left.width() * i.high


@program(Derived(2.0, 3.0))
def inheritance(d):
    return d.value() * d.a


@program(Pair(2.0, 3.0))
def named_tuple(p):
    first, second = p
    return first * p.second**2 + second


@program(2.0, 3.0)
def named_tuple_built(x, y):
    p = Pair(x * y, second=y)
    return p._replace(first=p.first * 2.0)


@program([Point(1.0, 2.0), Point(0.5, -1.0), Point(3.0, 0.1)])
def list_of_dataclasses(points):
    total = 0.0
    for p, q in zip(points[:-1], points[1:]):  # noqa: RUF007
        total += (p - q).norm
    return total


@program({"a": Point(1.0, 2.0), "b": Point(0.5, -1.0)})
def dict_of_dataclasses(points):
    return points["a"].dot(points["b"]) * points["a"].x


@program(1.5)
def dataclass_in_branch(x):
    p = Point(x, 1.0) if x > 1.0 else Point(0.0, x)
    if p.x > 0:
        p = Point(p.x * p.x, p.y)
    return p.x * x + p.y


@program(1.5)
def equality_is_inactive(x):
    p = Point(x, 1.0)
    if p == Point(1.5, 1.0):
        return p.x * 2.0
    return p.x * 2.0 + 0.0 * x


@program(Point(2.0, 3.0))
def aliased_fields(p):
    q = p
    q.x = q.y * 2.0
    return p.x * q.y


@program(Particle(Point(0.5, 1.0), Point(0.5, -0.5), 2.0))
def shared_inner_object(p):
    shared = p.position
    p.velocity = shared
    p.velocity.x = p.velocity.x * p.mass
    return p.position.x * p.velocity.y


@program(0.3, 0.9)
def gradient_descent_state(x, rate):
    state = {"p": Point(x, 1.0), "rate": rate}
    for _ in range(4):
        p = state["p"]
        state["p"] = p - Point(2.0 * p.x, 4.0 * p.y) * (0.1 * state["rate"])
    return state["p"].dot(state["p"])
