"""Recursive functions that read variables from outside, which are others from call to call."""

import numpy as np

import adjoint as ad
from sampling import check_grads


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


def checked(f, *args):
    assert ad.vjp(f, *args)[0] == f(*args)
    check_grads(f, args, wrt=0)


def test_a_number_assigned_between_calls() -> None:
    def f(x, n):
        y = x

        def power(k):
            return y if k <= 0 else power(k - 1) * y

        first = power(n)
        y = x * x
        second = power(n)
        y = 2.0
        return first + second + power(n)

    checked(f, 0.6, 3)


def test_a_field_of_an_object() -> None:
    def f(x, n):
        pair = Pair(x, 2.0)

        def power(k):
            return pair.first if k <= 0 else power(k - 1) * pair.first

        first = power(n)
        pair.first = x * x
        second = power(n)
        pair.second = 5.0
        return first + second + power(n)

    checked(f, 0.6, 3)


def test_functions_that_call_each_other() -> None:
    def f(x, n):
        y = x

        def even(k):
            return y if k <= 0 else odd(k - 1) * y

        def odd(k):
            return 1.0 if k <= 0 else even(k - 1) * x

        first = even(n)
        y = x * x
        second = even(n) + odd(n)
        y = 2.0
        return first + second + even(n) + odd(n)

    checked(f, 0.6, 3)


def test_what_a_function_captures_that_is_handed_over() -> None:
    def f(x, n):
        y = x
        scaled = lambda t: t * y

        def repeated(g, k):
            return x if k <= 0 else g(repeated(g, k - 1))

        first = repeated(scaled, n)
        y = x * x
        second = repeated(scaled, n)
        y = 3.0
        return first + second + repeated(scaled, n)

    checked(f, 0.6, 3)


def test_values_of_several_kinds() -> None:
    def f(x, n):
        def power(k):
            return y[0] if k <= 0 else power(k - 1) * y[1]

        y = [x, 2.0]
        first = power(n)
        y = (x, x * x)
        second = power(n)
        y = np.array([x, 2 * x])
        third = power(n)
        y = y * 2
        return first + second + third + power(n)

    checked(f, 0.6, 3)


def test_a_number_that_a_loop_carries() -> None:
    def f(x, n):
        s = x

        def power(k):
            return s if k <= 0 else power(k - 1) * s

        for i in range(3):
            s = 0.1 * power(n) + i
            for _ in range(2):
                s = 0.3 * s * x + 0.1 * power(n - 1)
        return s

    checked(f, 0.6, 3)


def test_the_variable_of_a_loop_in_a_lambda() -> None:
    def inner(x, items, depth):
        if depth <= 0:
            return x
        for i in reversed(range(3)):
            x = (lambda p: items[i] * x - inner(p, items, depth - 1))(x)
        return x

    def f(x):
        return inner(x, np.arange(3.0), 2)

    checked(f, 0.6)


def branching(x, depth):
    if depth <= 0:
        return np.sin(x)
    return branching(x * 0.5, depth - 1) + branching(x * 0.3, depth - 1) * branching(x * 0.2, depth - 1)


def test_code_does_not_grow_as_a_recursion_does_that_branches() -> None:
    def f(x):
        return branching(x, 6)

    assert len(ad.source(ad.grad(f), 0.6).splitlines()) < 100
    checked(f, 0.6)


def test_a_recursion_that_branches_and_cannot_be_called() -> None:
    def tree(x, depth):
        return x if depth <= 0 else (tree(x * 0.5, depth - 1), tree(x * x, depth - 1))

    def total(part):
        return total(part[0]) + 2.0 * total(part[1]) if isinstance(part, tuple) else part

    def f(x):
        return total(tree(x, 8))

    check_grads(f, (0.6,), order=1)
