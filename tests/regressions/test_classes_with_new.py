"""Classes whose ``__new__`` is written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads
from regressions.differences import refused


class Pair:
    def __new__(cls, a: float, b: float = 2.0) -> Pair:
        made = super().__new__(cls)
        made.a = a
        made.b = b * b
        return made

    def product(self) -> float:
        return self.a * self.b

    def copy(self) -> Pair:
        other = type(self).__new__(type(self), 0.0)
        other.a, other.b = self.a, self.b
        return other


class Prepared(Pair):
    def __init__(self, a: float, b: float = 2.0) -> None:
        self.c = self.a + 3.0 * b


class Fixed:
    __slots__ = ("x", "y")

    def __new__(cls, x: float, y: float) -> Fixed:
        self = object.__new__(cls)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", x * y)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("it does not change")

    def __add__(self, other: Fixed) -> Fixed:
        return Fixed(self.x + other.x, self.y * other.y)


class Plain:
    def __init__(self, x: float) -> None:
        raise RuntimeError("use 'of'")

    @classmethod
    def of(cls, x: float) -> Plain:
        self = cls.__new__(cls)
        self.x = x * x
        return self


class Number:
    """Gives a number, no object, for what is one."""

    def __new__(cls, x: float, times: int = 1) -> Any:
        if times == 1:
            return x
        self = super().__new__(cls)
        self.x = x * times
        return self

    def __init__(self, x: float, times: int = 1) -> None:
        self.y = self.x * x


class Shown:
    def __new__(cls, x: float, into: list[Any]) -> Shown:
        self = super().__new__(cls)
        into.append(self)
        self.x = x
        return self


def attributes(x: float) -> float:
    p = Pair(x, b=3.0 * x)
    p.a *= x
    return p.product() + p.copy().b


def prepared(x: float) -> float:
    p = Prepared(x * x, x)
    return p.c * p.b


def fixed(x: float) -> float:
    total = Fixed(x, x)
    for k in range(3):
        total = total + Fixed(x * k, 2.0)
    return total.x * total.y


def plain(x: float) -> float:
    return Plain.of(x).x * x


def number(x: float) -> float:
    many = Number(x, 3)
    return Number(x) * many.y


def in_a_list(x: float, n: int) -> float:
    pairs = []
    for k in range(n):
        pairs.append(Prepared(x * k, x))
    for pair in pairs:
        pair.a = pair.a * pair.c
    return sum(pair.product() for pair in pairs)


def plain_in_a_list(x: float, n: int) -> float:
    made = []
    for k in range(n):
        made.append(Plain.of(x * k))
    return sum(each.x for each in made)


def on_a_path(x: float) -> float:
    pair = Pair(x)
    if x > 1.0:
        pair = Pair(x * x, x)
    return pair.product()


def shown(x: float) -> float:
    seen: list[Any] = []
    shown = Shown(x, seen)
    seen[0].x = seen[0].x * x
    return shown.x * len(seen)


def handed_out(x: float) -> Pair:
    return Pair(x, x)


@pytest.mark.parametrize("f", [attributes, prepared, fixed, plain, number, on_a_path, shown])
def test_objects(f: Callable[[float], float]) -> None:
    check_grads(f, (1.3,))
    assert ad.grad(f, native=True)(1.3) == pytest.approx(ad.grad(f)(1.3))


@pytest.mark.parametrize("f", [in_a_list, plain_in_a_list])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_objects_at_run_time(f: Callable[[float, int], float], n: int) -> None:
    check_grads(f, (1.3, n), wrt=0)
    assert ad.grad(f, native=True)(1.3, n) == pytest.approx(ad.grad(f)(1.3, n))


def test_such_an_object_is_returned() -> None:
    value, _ = ad.vjp(handed_out, 1.3)
    assert (type(value), value.a, value.b) == (Pair, 1.3, 1.3 * 1.3)
    tangent = ad.jvp(handed_out, (1.3,), (1.0,))[1]
    assert (tangent.a, tangent.b) == (1.0, 2.6)


def test_such_an_argument() -> None:
    gradient = ad.grad(lambda p: p.product() * p.copy().a)(Pair(1.5, 2.0))
    assert (gradient.a, gradient.b) == (2 * 1.5 * 4.0, 1.5 * 1.5)


class Metres(float):
    def __new__(cls, value: float, unit: str = "m") -> Metres:
        made = super().__new__(cls, value)
        made.unit = unit
        return made


class Tagged(np.ndarray):
    def __new__(cls, values: Any) -> Tagged:
        return np.asarray(values).view(cls)


class Couple(tuple):
    def __new__(cls, x: float) -> Couple:
        return super().__new__(cls, (x, 2.0 * x))

    def __mul__(self, factor: float) -> float:
        return self[0] * self[1] * factor


@pytest.mark.parametrize(("cls", "base"), [(Metres, "float"), (Tagged, "ndarray"), (Couple, "tuple")])
def test_numbers_with_more_beside_them(cls: type, base: str) -> None:
    text = str(refused(lambda: ad.grad(lambda x: cls(x) * 2.0)(1.5)))
    assert f"an object of the class '{cls.__name__}' is a value of class '{base}' with more beside it" in text


class Slow:
    rate = 2.0
    names = staticmethod(lambda x: 5.0 * x)


class Fast(Slow):
    rate = 3.0
    names = staticmethod(lambda x: 7.0 * x)

    def first(self, x: float) -> float:
        return self.rate * x + super().rate * x * x + super().names(x) * self.names(x)

    def second(self, x: float) -> float:
        return super().rate * x * x + self.rate * x + self.names(x) * super().names(x)


@pytest.mark.parametrize("f", [lambda x: Fast().first(x), lambda x: Fast().second(x)])
def test_attributes_of_a_base_class_that_the_class_has_too(f: Callable[[float], float], monkeypatch: Any) -> None:
    gradient = ad.grad(f)
    assert gradient(1.0) == 3.0 + 4.0 + 70.0
    monkeypatch.setattr(Slow, "rate", 4.0)
    monkeypatch.setattr(Slow, "names", staticmethod(lambda x: x))
    assert gradient(1.0) == 3.0 + 8.0 + 14.0
