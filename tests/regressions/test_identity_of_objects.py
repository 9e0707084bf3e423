"""Which object a variable holds, where paths meet and loops carry objects."""

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
