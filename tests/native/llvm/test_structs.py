"""Objects that programs make are structures of machine code: their fields are read and written without Python."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.llvm import callbacks
from adjoint.native.llvm.rules.of_python import calls
from native.agreement import MODES, compare
from native.llvm.random_structs import outcome


@dataclass
class Particle:
    x: float
    v: float
    mass: float = 1.0


def particles(a):
    ps = [Particle(a[i], 0.1 * i, 1.0 + 0.1 * i) for i in range(len(a))]
    for _ in range(3):
        for p in ps:
            force = 0.0
            for q in ps:
                if q is not p:
                    d = q.x - p.x
                    force += q.mass * d / (d * d + 0.1) ** 1.5
            p.v += 0.01 * force
        for p in ps:
            p.x += 0.01 * p.v
    return sum(p.x * p.x + p.v for p in ps)


class Layer:
    def __init__(self, w, b, act):
        self.w = w
        self.b = b
        self.act = act
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        h = self.w @ x + self.b
        return np.tanh(h) if self.act == "tanh" else h


def network(a):
    layers = []
    for k in range(3):
        layers.append(Layer(np.outer(a, a) * 0.1 + k, a * (k + 1), "tanh" if k < 2 else "linear"))
    x = np.ones(len(a))
    for layer in layers:
        x = layer(x)
    return np.sum(x**2) + 0.1 * sum(layer.calls for layer in layers)


@dataclass
class Tank:
    level: float
    area: float
    log: list = field(default_factory=list)

    def step(self, q, dt):
        if self.level < 0:
            raise ValueError(f"a level of {self.level}")
        out = 0.3 * np.sqrt(self.level)
        self.level = self.level + dt * (q - out) / self.area
        self.log.append(self.level)
        return out


def tanks(a):
    ts = [Tank(1.0 + a[i] ** 2, 1.0 + 0.1 * i) for i in range(len(a))]
    for k in range(5):
        q = 0.5 + 0.1 * a[k % len(a)]
        for t in ts:
            q = t.step(q, 0.1)
    return sum(t.level**2 for t in ts) + sum(sum(t.log) for t in ts)


def empty_tank(a):
    ts = [Tank(1.0 + a[i] ** 2, 1.0) for i in range(len(a))]
    ts[-1].level = -a[0] * a[0]
    return sum(t.step(1.0, 0.1) for t in ts)


@dataclass
class Pair:
    a: np.ndarray
    b: np.ndarray


def same_array_twice(x):
    ps = []
    for _ in range(2):
        z = np.zeros(4)
        ps.append(Pair(z, z[1:]))
    for p in ps:
        p.a[1] += x[0] * x[1]
        p.b[1] = p.b[0] * x[2]
    return ps[0].a[2] * 3 + ps[1].b[0] ** 2


def exchanged(x):
    ps = [Pair(x * (k + 1.0), x * 2.0) for k in range(3)]
    for i in range(3):
        p = ps[i]
        p.a, p.b = p.b, p.a
        p.a = p.a * p.b
        ps[(i + 1) % 3] = p
    return sum(np.sum(p.a) * (k + 1) + p.b[0] ** 2 for k, p in enumerate(ps))


class Matrix:
    def __init__(self, n):
        self.n = n
        self.data = [0.0] * (n * n)

    def times(self, other):
        out = Matrix(self.n)
        for i in range(self.n):
            for j in range(self.n):
                for k in range(self.n):
                    out.data[i * self.n + j] += self.data[i * self.n + k] * other.data[k * self.n + j]
        return out


def matrices(a):
    ms = []
    for k in range(3):
        m = Matrix(2)
        for i in range(4):
            m.data[i] = a[(i + k) % len(a)] + 0.1 * k
        ms.append(m)
    product = ms[0]
    for m in ms[1:]:
        product = product.times(m)
    return product.data[0] * product.data[3] + product.data[1]


class Missing:
    def __init__(self, value):
        self.value = value
        self.other = None


def looked_up(a):
    found = None
    for i in range(len(a)):
        m = Missing(a[i] * a[i])
        if m.value > 0.3 and (found is None or m.value < found.value):
            found = m
    return found.value * 2.0


@dataclass
class Part:
    v: np.ndarray
    s: float


@dataclass
class Whole:
    p: Part
    q: Part
    n: int = 0


def objects_in_objects(a):
    ts = []
    for i in range(3):
        ts.append(Whole(Part(a * (i + 1.0), a[i]), Part(a * a, 1.0)))
    same = Part(a * 2.0, a[0])
    ts.append(Whole(same, same))
    for k in range(4):
        t = ts[k]
        t.p.v = t.p.v * t.q.s + t.q.v
        t.q.s += t.p.s * a[1]
        t.p.v[0] += t.q.v[1]
        t.n += 1
        t.p = t.q if k == 1 else t.p
    return sum(np.sum(t.p.v * t.q.v) * t.p.s + t.q.s * t.n for t in ts)


def lists_in_objects(a):
    ts = []
    for i in range(3):
        ts.append(Pair([a[i], a[0] * a[1]], [a * 2.0, a * a]))
    for t in ts:
        t.a.append(t.a[0] * t.b[0][1])
        t.b[0] = t.b[1] * t.a[-1]
        t.b.append(t.b[0] + 1.0)
    return sum(sum(t.a) + np.sum(t.b[0] * t.b[2]) for t in ts)


X = np.array([0.7, -0.4, 1.3, 0.55])
PROGRAMS = [
    particles,
    network,
    tanks,
    same_array_twice,
    exchanged,
    looked_up,
    matrices,
    objects_in_objects,
    lists_in_objects,
]


@pytest.mark.parametrize("f", [*PROGRAMS, empty_tank], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_structures_agree_with_objects(f, mode):
    found = compare(f, (X,), mode)
    assert found.kind == "same" or (mode == "reverse" and found.kind == "interpreted"), found.message


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_structures_have_second_derivatives(f):
    v = np.array([1.0, -0.5, 2.0, 0.3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)
        compiled = ad.hvp(f, (X,), (v,), native=True)[0]
    np.testing.assert_allclose(compiled, ad.hvp(f, (X,), (v,))[0], rtol=1e-10)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_python_makes_no_object(f, own, monkeypatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    texts = []
    usual = callbacks.callback_for
    monkeypatch.setattr(calls, "callback_for", lambda emitted: texts.append(emitted.text) or usual(emitted))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ad.DifferentiationWarning)
        ad.grad(f, native="strict")(X)
    assert own
    assert not [text for text in texts if "make_object" in text or "shadow" in text or "TangentVector" in text]


def test_what_is_missing_is_said():
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'value'"):
        ad.grad(looked_up, native="strict")(X * 0.1)


@dataclass
class Kept:
    value: float


def with_objects_of_the_caller(first, a):
    objects = [first]
    for i in range(len(a)):
        objects.append(Kept(a[i] * objects[-1].value))
    return objects[-1].value + objects[1].value


def test_objects_that_python_has_are_those_of_python():
    first = Kept(0.5)
    expected = ad.grad(with_objects_of_the_caller, 1)(first, X)
    np.testing.assert_allclose(ad.grad(with_objects_of_the_caller, 1, native=True)(first, X), expected)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_with_objects(seed):
    assert not outcome(seed).startswith("wrong")
