"""Derivatives of small functions of lists, tuples, objects and arrays: one test for each way in which one was wrong."""

import contextlib
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Point:
    x: float
    y: float


# Reverse derivatives that are differentiated again


def sum_of_cubes(xs):
    total = 0.0
    for x in xs:
        total += x * x * x
    return total


def test_gradient_of_a_list_is_differentiated_again() -> None:
    def g(xs):
        return ad.grad(sum_of_cubes)(xs)[1]

    assert ad.grad(g)([1.0, 2.0, 3.0]) == [0.0, 12.0, 0.0]


def test_gradient_of_a_list_of_arrays_is_differentiated_again() -> None:
    def f(xs):
        return np.sum(xs[0] * xs[1] * xs[1])

    check_grads(f, ([np.array([1.0, 2.0]), np.array([3.0, 4.0])],))


def test_gradient_of_an_object_is_differentiated_again() -> None:
    def f(points):
        total = 0.0
        for p in points:
            total += p.x * p.y * p.y
        return total

    check_grads(f, ([Point(1.0, 2.0), Point(3.0, 4.0)],))


def test_gradient_of_a_list_made_inside_is_differentiated_again() -> None:
    def f(x):
        ys = [x]
        for i in range(3):
            ys.append(ys[i] * x)
        return sum(ys)

    check_grads(f, (1.5,))


def test_third_order_of_a_list() -> None:
    def f(xs):
        return ad.grad(sum_of_cubes)(xs)[0]

    def g(xs):
        return ad.grad(f)(xs)[0]

    assert ad.grad(g)([2.0, 5.0]) == [6.0, 0.0]


def test_recursion_over_a_list_is_differentiated_again() -> None:
    def f(xs):
        if len(xs) == 0:
            return 0.0
        return xs[0] ** 3 + f(xs[1:])

    check_grads(f, ([1.0, 2.0, 3.0],))


def test_pieces_of_an_array_in_a_list_are_differentiated_again() -> None:
    def f(a):
        left, right = np.split(a, 2)
        return np.sum(left * right)

    check_grads(f, (np.arange(4.0),))


def test_rows_in_a_list_are_differentiated_again() -> None:
    def f(m):
        rows = []
        for row in m:
            rows.append(np.tanh(row))
        return np.sum(np.stack(rows) * m)

    check_grads(f, (np.array([[0.1, 0.2], [0.3, 0.4]]),))


def test_list_of_tuples_is_differentiated_again() -> None:
    def f(x):
        pairs = []
        for i in range(3):
            pairs.append((x * i, x**i))
        return sum(a * b for a, b in pairs)

    check_grads(f, (1.5,))


def test_direction_of_an_object_is_a_constant_of_the_derivative() -> None:
    def f(p):
        for _ in range(2):
            p = Point(p.x * p.y, p.y + p.x)
        return p.x * p.y

    check_grads(f, (Point(0.5, 1.5),))


# Values that are kept


def test_values_kept_in_a_loop_that_starts_at_one() -> None:
    def f(m):
        total = np.zeros(2)
        for i in range(1, 4):
            total = total + m[i] * m[i - 1]
        return total

    check_grads(f, (np.arange(4.0)[:, None],), order=1)


def test_parts_of_a_gradient_share_no_memory() -> None:
    _, pullback = ad.vjp(lambda a, b: np.concatenate((a, b)) ** 2, np.ones(2), np.ones(3))
    first, second = pullback(np.ones(5))
    assert not np.may_share_memory(first, second)


# What is not visible


def test_shuffle_of_what_varies_is_refused_in_both_modes() -> None:
    rng = np.random.default_rng(1)

    def f(x):
        y = x * 2.0
        rng.shuffle(y)
        return np.sum(y * x)

    x = np.array([1.0, 2.0])
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(f)(x)
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.jvp(f, (x,), (x,))


def test_memory_that_becomes_active_in_a_callee() -> None:
    def f(x, places):
        y = np.zeros(3)
        np.add.at(y, places, x * x)
        return np.sum(y * x)

    args = np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2])
    check_grads(f, args)


def test_result_of_a_function_without_a_rule_is_refused() -> None:
    def f(x):
        return float(np.nextafter(x, 9.0)[0])

    with pytest.raises(ad.DifferentiationError, match="AD0201"):
        ad.grad(f)(np.array([1.0, 2.0, 4.0]))


def test_list_whose_elements_have_no_known_kind_is_refused_or_right() -> None:
    def f(a):
        r = []
        for i in range(len(a)):
            r = r + [a[i]]
        return r

    with contextlib.suppress(ad.DifferentiationError):
        _, pullback = ad.vjp(f, [1.0, 2.0, 3.0])
        assert pullback([4.0, -5.0, 6.0]) == ([4.0, -5.0, 6.0],)


# Handlers


def test_finally_around_what_varies() -> None:
    def f(x):
        try:
            y = x * x
        finally:
            z = 3.0
        return y * z

    check_grads(f, (1.5,))


def test_return_through_finally() -> None:
    def f(x):
        log = []
        for i in range(3):
            try:
                x = x * 1.5
                if x > 0.8:
                    return x * x
            finally:
                log.append(i)
        return x

    check_grads(f, (0.4,))
