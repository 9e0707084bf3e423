"""Context managers of the user's whose ``__exit__`` handles exceptions: like ``try`` with a handler."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads


class Handling:
    def __init__(self, *kinds):
        self.kinds = kinds
        self.seen = None
        self.left = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        self.left += 1
        if kind is not None and issubclass(kind, self.kinds):
            self.seen = kind
            return True
        return False


class Always:
    def __enter__(self):
        return 2.0

    def __exit__(self, *told):
        return True


class Sometimes:
    def __init__(self, limit):
        self.limit = limit
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        self.count += 1
        return self.count < self.limit


class Outer:
    def __init__(self):
        self.factor = 1.0

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        self.factor = 2.0 if kind is None else 3.0


def raised_in_the_middle(x):
    y = x
    with Handling(ValueError):
        y = x * x
        if x > 1:
            raise ValueError("large")
        y = x**3
    return y


def told_what_was_raised(x):
    y = x
    with Handling(KeyError, ValueError) as handling:
        y = x * x
        y = math.sqrt(-x)
    return y * 2 if handling.seen is ValueError else y


def not_raised(x):
    with Handling(ValueError) as handling:
        y = x * x
    return y * handling.left


def in_a_loop(x):
    for i in range(4):
        with Handling(ValueError):
            x = x * x
            if i == 1:
                raise ValueError
            x = x + 1 / (i + 1)
    return x


def returned_from(x):
    with Handling(ValueError):
        if x > 1:
            return x**4
        raise ValueError
    return x


def returned_after(x):
    with Handling(ValueError):
        if x > 0:
            raise ValueError
        return x
    return x**3


def broken_out_of(x):
    total = 0.0
    for i in range(5):
        with Handling(ZeroDivisionError) as handling:
            total += x / (i - 1)
            if i == 3:
                break
            continue
        total *= x * handling.left
    return total


def with_a_target(x):
    y = x
    with Always() as factor:
        y = factor * x**2
        raise KeyError
    return y


def of_two_items(x):
    y = x
    with Outer() as outer, Handling(ValueError):
        y = x * x
        raise ValueError
    return y * outer.factor


def of_two_items_the_other_way(x):
    y = x
    with Handling(ValueError), Outer() as outer:
        y = x * x * outer.factor
        raise ValueError
    return y


def nested(x):
    y = x
    with Handling(ValueError):
        with Handling(KeyError):
            y = y * x
            raise ValueError
        y = y * 100
    return y


def decided_at_run_time(x):
    sometimes, y = Sometimes(3), x
    try:
        for i in range(5):
            with sometimes:
                y = y * x + i
                raise ValueError
    except ValueError:
        y = y * 2
    return y


def around_a_call(x):
    def risky(v):
        if v > 2:
            raise OverflowError
        return v * v

    values = []
    for k in (1.0, 2.0):
        with Handling(OverflowError):
            values.append(risky(k * x))
    return sum(values)


def with_what_is_read_of_a_list(x):
    items, y = [x, 2 * x], x
    with Handling(IndexError):
        for i in range(5):
            y = y * items[i]
    return y


def of_arrays(x):
    a = np.array([x, 2.0, 3.0])
    with Handling(ValueError):
        a[0] = x * x
        if x > 0:
            raise ValueError
        a[1] = x
    return np.sum(a * a)


FUNCTIONS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__]
FUNCTIONS = [f for f in FUNCTIONS if not isinstance(f, type)]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_contexts_that_handle(f):
    x, h = 1.3, 1e-6
    expected = pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert ad.grad(f)(x) == expected
    assert ad.jvp(f, (x,), (1.0,)) == (pytest.approx(f(x)), expected)


def test_what_is_not_handled_is_raised():
    def f(x):
        with Handling(KeyError):
            x = x * x
            raise ValueError("not handled")
        return x

    def g(x):
        try:
            with Handling(KeyError):
                x = x * x
                raise ValueError("not handled")
        except ValueError:
            x = x * 3
        return x

    with pytest.raises((ValueError, ad.DifferentiationError)):
        ad.grad(f)(1.3)
    assert ad.grad(g)(1.3) in (3.0, pytest.approx(6 * 1.3))


@contextlib.contextmanager
def doubled(x):
    try:
        yield 2.0 * x
    except ValueError:
        pass


def given_by_a_generator(x):
    with doubled(x) as y:
        raise ValueError
    return y * x


def changed_before_it_raises(x):
    with doubled(x) as y:
        z = y * x
        if z > 0.0:
            raise ValueError
        z = z * 2.0
    return y * x + z


def in_some_iterations(x):
    total = 0.0
    for i in range(3):
        with doubled(x + i) as y:
            if i:
                raise ValueError
            y = y * 3.0
        total += y * x
    return total


def one_inside_another(x):
    with doubled(x) as y:
        with doubled(y) as z:
            w = z * y
            raise ValueError
        y = w * x
        raise ValueError
    return y + z * w


def written_by_a_closure(x):
    y = 0.0

    def tried():
        nonlocal y
        try:
            y = 2.0 * x
            raise ValueError
        except ValueError:
            y = y * x

    tried()
    return y * y


@pytest.mark.parametrize(
    "f", [given_by_a_generator, changed_before_it_raises, in_some_iterations, one_inside_another, written_by_a_closure]
)
def test_variables_of_a_body_that_runs_inside_the_function_of_its_context(f):
    for x in (1.5, -0.5):
        check_grads(f, (x,), order=2)
    assert ad.grad(f, native=True)(1.5) == pytest.approx(ad.grad(f)(1.5))
