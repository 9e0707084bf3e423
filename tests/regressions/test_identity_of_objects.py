"""Which object a variable holds, where paths meet and loops carry objects."""

import copy
from typing import Any

import pytest

import adjoint as ad
from sampling import check_grads


class Product:
    def __init__(self, x, k):
        self.x = x
        self.k = k

    def value(self):
        return self.x * self.k


class Sum(Product):
    def value(self):
        return self.x + self.k


@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_choices_may_be_one_object(n: int) -> None:
    def f(x):
        a, b = Product(x, 2.0), Product(x, 3.0)
        c = a if n > 1 else b
        d = a if n > 2 else b
        return c.value() * x if c is d else d.value()

    def g(x, n):
        a, b = Product(x, 2.0), Product(x, 3.0)
        c = a if n > 1 else b
        d = a if n > 2 else b
        return c.value() * x if c is d else d.value()

    check_grads(f, (1.3,))
    assert ad.grad(g)(1.3, n) == pytest.approx(ad.grad(f)(1.3))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_choice_may_be_the_object_itself(n: int) -> None:
    def f(x, n):
        a, b = Product(x, 2.0), Product(x, 3.0)
        c = a if n > 1 else b
        return c.value() * x if c is a else c.value()

    assert ad.grad(f)(1.3, n) == pytest.approx(5.2 if n > 1 else 3.0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_objects_that_a_loop_carries_may_be_one(n: int) -> None:
    def f(x, n):
        p = Product(x, 2.0)
        q = p
        s = x
        for i in range(n):
            s = s * x + p.value() if p is q else s + q.value()
            q = p
            if i % 2 == 0:
                p = Product(s, 1.0)
        return s

    check_grads(f, (1.3, n))


def test_a_loop_carries_an_object_of_another_class() -> None:
    def f(x, n):
        p = Product(x, 2.0)
        for _ in range(n):
            p = Sum(x * p.value(), p.value())
        return p.value()

    check_grads(f, (1.3, 3))


def test_a_loop_makes_the_object_that_was_none() -> None:
    def f(x, n):
        last = None
        s = x
        for i in range(n):
            if last is not None:
                s = s + last.value() * x
            last = Product(s, i)
        return s

    check_grads(f, (1.3, 3))


CONSTANT = (1.0, (2.0, "x"))
DEFAULT = 1.5


def _same(x):
    """What Python gives for these is the very tuple."""
    given, empty = (x, 1.0), ()
    others = (copy.deepcopy(given), copy.copy(given), tuple(given), given[:], given + empty, empty + given, given * 1)
    return sum([x * 2.0**place for place, other in enumerate(others) if other is given])


def _same_constant(x):
    others = (copy.deepcopy(CONSTANT), tuple(CONSTANT), CONSTANT[:], copy.copy(CONSTANT))
    return sum([x * 2.0**place for place, other in enumerate(others) if other is CONSTANT])


def _others(x):
    mixed, two = (x, [1.0]), (x, x)
    pairs = ((copy.deepcopy(mixed), mixed), (two[::-1], two), (two + two, two), (tuple([x, x]), two), (two[:1], two))
    return sum([x * 2.0**place for place, (other, one) in enumerate(pairs) if other is not one])


@pytest.mark.parametrize("function", [_same, _same_constant, _others])
def test_tuples_that_are_copied_are_the_same_where_nothing_in_them_is(function: Any) -> None:
    value, slope = ad.value_and_grad(function)(0.7)
    assert (value, slope) == pytest.approx((function(0.7), function(0.7) / 0.7))


class Held:
    def __init__(self, number):
        self.number = number


def _kept_in_objects(x):
    held = [Held(1.0), Held(x), Held(1.0)]
    return sum([x if each.number is held[0].number else x * x for each in held[:2]])


def _default(x, scale=DEFAULT):
    return x if scale is DEFAULT else x * scale


@pytest.mark.parametrize(
    ("function", "args"), [(_kept_in_objects, ()), (_default, ()), (_default, (DEFAULT,)), (_default, (2.0,))]
)
def test_numbers_that_are_kept_are_themselves(function: Any, args: Any) -> None:
    check_grads(lambda x: function(x, *args), (0.7,))
    assert ad.value_and_grad(function)(0.7, *args)[0] == function(0.7, *args)
