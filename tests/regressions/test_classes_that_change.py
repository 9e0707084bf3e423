"""A special method that a class gets after the first call, or what it is registered for, makes another derivative."""

import collections.abc
import numbers
from collections.abc import Callable

import pytest

import adjoint as ad


class Meta(type):
    pass


class Base:
    pass


class Thing(Base, metaclass=Meta):
    foo = 3.0

    def __init__(self):
        self.a = 1.0


class Other:
    def __len__(self):
        return 0


THING = Thing()


def either(x, is_so):
    return x * x if is_so else x


def tried(x, compute):
    try:
        return compute()
    except TypeError:
        return 5.0 * x


def zero(self):
    return 0


def no(self):
    return False


def seven(self, name):
    return 7.0


def is_so(self, other):
    return True


def triples(self, other):
    return other * 3.0


def prepares(self):
    self.b = 2.0


def doubles(self, name, value):
    object.__setattr__(self, name, value * 2.0)


def assigned(x):
    thing = Thing()
    thing.a = x
    return thing.a


def entered(self):
    return 3.0


def by_class(cls, item):
    return 3.0


def add(cls, name, method):
    return lambda patch: patch.setattr(cls, name, method, raising=False)


CASES = [
    (lambda x: either(x, Thing()), add(Thing, "__len__", zero)),
    (lambda x: either(x, THING), add(Thing, "__bool__", no)),
    (lambda x: either(x, Thing()), add(Base, "__len__", zero)),
    (lambda x: either(x, hasattr(Thing(), "bar")), add(Thing, "__getattr__", seven)),
    (lambda x: either(x, hasattr(THING, "bar")), add(Base, "__getattr__", seven)),
    (lambda x: either(x, Thing() == 1), add(Thing, "__eq__", is_so)),
    (lambda x: either(x, callable(Thing())), add(Thing, "__call__", triples)),
    (lambda x: either(x, hasattr(Thing(), "b")), add(Thing, "__init__", prepares)),
    (lambda x: x * Thing().foo, add(Thing, "__getattribute__", seven)),
    (lambda x: tried(x, lambda: Thing() + x), add(Thing, "__add__", triples)),
    (lambda x: tried(x, lambda: x + Thing()), add(Thing, "__radd__", triples)),
    (lambda x: tried(x, lambda: x * -Thing()), add(Thing, "__neg__", entered)),
    (lambda x: tried(x, lambda: x * Thing()[0]), add(Thing, "__getitem__", lambda self, place: 3.0)),
    (lambda x: tried(x, lambda: either(x, Thing() < 1)), add(Thing, "__lt__", is_so)),
    (lambda x: tried(x, lambda: x * Thing[int]), add(Thing, "__class_getitem__", classmethod(by_class))),
    (assigned, add(Thing, "__setattr__", doubles)),
    (lambda x: either(x, isinstance(x, Thing)), add(Meta, "__instancecheck__", is_so)),
    (lambda x: either(x, isinstance(Thing(), Thing)), add(Thing, "__new__", staticmethod(lambda cls: 3.0))),
]


@pytest.mark.parametrize(("program", "change"), CASES, ids=range(len(CASES)))
def test_special_methods(
    program: Callable[[float], float], change: Callable[[pytest.MonkeyPatch], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    derivative = ad.value_and_grad(program)
    first = program(1.5)
    assert derivative(1.5)[0] == first
    with monkeypatch.context() as patch:
        change(patch)
        assert program(1.5) != first
        value, gradient = derivative(1.5)
        assert value == program(1.5)
        assert gradient == pytest.approx((program(1.5 + 1e-6) - program(1.5 - 1e-6)) / 2e-6, rel=1e-6)
    assert derivative(1.5)[0] == first


def test_other_bases() -> None:
    middle = type("Middle", (Base,), {})
    cls = type("Cls", (middle,), {})
    derivative = ad.grad(lambda x: x * x if cls() else x)
    assert derivative(1.5) == 3.0
    middle.__bases__ = (Other,)
    assert derivative(1.5) == 1.0


@pytest.mark.parametrize("of_base", [False, True])
def test_registrations(of_base: bool) -> None:
    base = type("Registered", (), {})
    cls = type("Number", (base,), {})
    made = cls()

    def by_instance(x):
        return x * x if isinstance(cls(), numbers.Number) else x

    def by_pattern(x):
        match cls():
            case collections.abc.Sized() | numbers.Number():
                return x * x
        return x

    def captured(x):
        return x * x if isinstance(made, (str, numbers.Number)) else x

    derivatives = [ad.grad(each) for each in (by_instance, by_pattern, captured)]
    assert [derivative(1.5) for derivative in derivatives] == [1.0, 1.0, 1.0]
    numbers.Number.register(base if of_base else cls)
    assert [derivative(1.5) for derivative in derivatives] == [3.0, 3.0, 3.0]
