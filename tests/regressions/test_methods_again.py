"""Derivatives of derivatives of methods that write their objects, whatever else lies in these."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

BESIDE: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "lists of whole numbers": lambda: [[0, 0]],
    "empty lists": lambda: [[], []],
    "tuples of several kinds": lambda: [(0.0, 1), (100.0, 500.0)],
    "lists of several kinds": lambda: [[0, 1.0], [2.0, 3]],
    "nested tuples": lambda: ((1.0, (2.0, 3)), [4.0]),
    "dict": lambda: {"a": 1, "b": 2.0},
    "dict of lists": lambda: {"a": [1.0], "b": [2]},
    "array": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "list of arrays": lambda: [np.ones(2), np.zeros(3)],
    "text": lambda: "name",
    "object": lambda: Inner(),
    "list of objects": lambda: [Inner(), Inner()],
}


class Inner:
    def __init__(self) -> None:
        self.scale = 1.5
        self.seen = 0


class Counts:
    """Counts its calls."""

    def __init__(self, beside: Any) -> None:
        self.n = 0
        self.beside = beside
        self.weights = np.array([1.0, 2.0, 3.0])

    def f(self, x: Any) -> Any:
        self.n += 1
        return np.sum(self.weights * x[0] * x * x)


class Remembers(Counts):
    """Keeps a list of its calls, and an array that tells of the last one."""

    def __init__(self, beside: Any) -> None:
        super().__init__(beside)
        self.calls = [0]
        self.at = np.zeros(3)

    def f(self, x: Any) -> Any:
        self.n += 1
        self.calls.append(self.n)
        self.at[:] = self.n
        self.at[0] += 1.0
        return np.sum(self.weights * x[0] * x * x) + 0.0 * self.at[0]


class WritesTwice(Counts):
    """Writes through an object in a field, and calls another method that does."""

    def __init__(self, beside: Any) -> None:
        super().__init__(beside)
        self.inner = Inner()
        self.trace = [0.0, 0.0, 0.0]

    def count(self) -> None:
        self.n += 1
        self.inner.seen += 1

    def f(self, x: Any) -> Any:
        self.count()
        self.trace[1] = x[1] * x[1]
        self.inner.scale = self.inner.scale * 1.0
        return np.sum(self.weights * x[0] * x * x) + 0.0 * self.trace[1]


X = np.array([0.3, 0.5, -0.7])
V = np.array([1.0, -2.0, 0.5])


def _second() -> Any:
    weights = np.array([1.0, 2.0, 3.0])
    hessian = np.diag(2 * weights * X[0])
    hessian[0] += 2 * weights * X
    hessian[:, 0] += 2 * weights * X
    return hessian


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("cls", [Counts, Remembers, WritesTwice])
def test_second_derivatives(cls: type[Counts], beside: str) -> None:
    one, other = cls(BESIDE[beside]()), cls(BESIDE[beside]())
    expected = _second()
    once = ad.grad(other.f)(X)
    state = copy.deepcopy(vars(other))

    value, pullback = ad.vjp(ad.grad(one.f), X)
    np.testing.assert_allclose(value, once)
    np.testing.assert_allclose(pullback(V)[0], V @ expected)
    np.testing.assert_equal(vars(one) | {"inner": 0, "beside": 0}, state | {"inner": 0, "beside": 0})

    np.testing.assert_allclose(ad.jvp(ad.grad(one.f), (X,), (V,))[1], expected @ V)
    np.testing.assert_allclose(ad.hessian(one.f)(X), expected)
    np.testing.assert_allclose(ad.hvp(one.f, (X,), (V,))[0], expected @ V)


def test_what_is_written_alone_is_copied() -> None:
    """Fields that nobody writes are shared: neither copied, nor given a shadow."""
    counts = Counts([(0.0, 1.0)] * 5)

    def first(x: Any) -> Any:
        return ad.grad(counts.f)(x)[1]

    source = ad.source(ad.grad(first), X)
    for name in ("snapshot", "deepcopy", "shadow", "append"):
        assert name not in source, source


def twice(a: Any, n: int) -> Any:
    if n == 0:
        return 0.0
    a[n - 1] = a[n - 1] * a[n - 1] + 0.5
    return twice(a, n - 1)


def copy_first(x: Any, n: int) -> Any:
    t = x * 1.0
    twice(t, n)
    twice(x, n)
    return np.sum(t * x * x)


def writes_in_its_derivative(x: Any, n: int) -> Any:
    y = x * 1.0
    z = y * 2.0
    g = ad.grad(copy_first)(y, n)
    return np.sum(g * y * z)


def test_a_function_called_on_own_memory_and_on_an_argument() -> None:
    """What it writes of the second counts, though what it writes of the first does not."""
    ad.testing.check_grads(writes_in_its_derivative, (X, 3), order=1)


class Chooses:
    """An object that holds one of its own methods."""

    def __init__(self, twice: Any) -> None:
        self.n = 2.0
        self.power = self.two if twice else self.one

    def one(self, x: float) -> float:
        return self.n * x

    def two(self, x: float) -> float:
        self.n = self.n * 1.5
        return self.n * x * x


@pytest.mark.parametrize("at", [0.7, 1.7])
def test_objects_that_hold_their_own_methods(at: float) -> None:
    def known(x: float) -> float:
        made = Chooses(True)
        y = made.power(x) if x > 1 else -x
        for _ in range(3):
            y = y * made.power(x)
        return y

    def chosen(x: float) -> float:
        made = Chooses(x > 1)
        return made.power(x) * made.power(x)

    for f in (known, chosen):
        slope = (f(at + 1e-6) - f(at - 1e-6)) / 2e-6
        assert ad.grad(f)(at) == pytest.approx(slope, rel=1e-7)
        assert ad.jvp(f, (at,), (1.0,)) == pytest.approx((f(at), slope), rel=1e-7)


class Held:
    def __init__(self, value, part):
        self.value = value
        self.part = part


def read_between_writes_by_another_name(x):
    objects = []
    for i in range(3):
        objects.append(Held(x[i] * 2.0, x * (i + 1.0)))
    objects.append(objects[0])
    total = 0.0
    for k in range(4):
        p, q = objects[k], objects[0]
        total += p.value * p.value + p.part[0] * p.part[1]
        q.value = q.value * x[1] + 0.1
        total += p.value * p.value
        q.part = p.part * 0.5
        total += p.part[0] * p.part[2] + p.value
        p.part[1] += q.value
        total += q.part[1] * p.part[1]
    return total


def test_fields_are_read_again_where_another_name_writes_them():
    check_grads(read_between_writes_by_another_name, (np.array([0.3, 0.7, -0.4]),))
