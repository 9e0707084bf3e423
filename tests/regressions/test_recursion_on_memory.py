"""Recursive functions and memory that is written afterwards: it matters that it is the same memory, and when."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([1.1, 0.7, -1.3])


def test_argument_is_returned_and_written() -> None:
    def f(x, n):
        def shake(a, n):
            if n == 0:
                return a
            a[n % 3] *= 2.0
            return shake(a, n - 1)

        a = x.copy()
        b = shake(a, n)
        b[0] = 5.0
        return np.sum(a * b)

    check_grads(f, (X, 2))


def test_argument_is_written_after_it_was_returned() -> None:
    def f(x, n):
        def same(a, n):
            return a if n == 0 else same(a, n - 1)

        a = x.copy()
        b = same(a, n)
        a[0] = 5.0
        return np.sum(a * b)

    check_grads(f, (X, 2))


def test_one_array_is_returned_twice_and_written() -> None:
    def f(x, n):
        def pair(n):
            if n == 0:
                ones = np.ones(3)
                return ones, ones
            p, _ = pair(n - 1)
            r = p * x
            return r, r

        p, q = pair(n)
        p[0] = 7.0
        return np.sum(p * q)

    check_grads(f, (X, 2))


def test_captured_buffer_is_returned_and_written() -> None:
    def f(x, n):
        buffer = np.zeros(3)

        def fill(n):
            buffer[n] = x[n]
            return buffer if n == 0 else fill(n - 1)

        y = fill(n)
        buffer[0] = 9.0
        return np.sum(y * x)

    check_grads(f, (X, 2))


def total_of(a, n):
    total = 0.0
    for i in range(len(a)):
        total += a[i] ** 2 * (n + 1)
    return total if n == 0 else total + total_of(a, n - 1)


def total_of_array(a, n):
    total = np.sum(a * a)
    return total if n == 0 else total + total_of_array(a, n - 1)


@pytest.mark.parametrize("total", [total_of, total_of_array])
def test_array_is_read_by_a_recursion_and_written_afterwards(total) -> None:
    def f(x, n):
        a = x.copy()
        found = total(a, n)
        a[0] = 5.0
        return found * a[1]

    check_grads(f, (X, 2))


def test_list_is_read_by_recursions_and_changed_in_between() -> None:
    def f(x, n):
        a = [x, x * 2.0]
        found = total_of(a, n)
        a[0] = 5.0
        found += total_of(a, n)
        a.append(x)
        return found * total_of(a, n)

    check_grads(f, (1.3, 2))


@pytest.mark.parametrize("varies", [True, False])
def test_list_grows_in_a_recursion_after_its_last_use(varies: bool) -> None:
    def grow(items, x, n):
        if n > 0:
            items.append(x * n if varies else 1.0)
            grow(items, x, n - 1)

    def f(x, n):
        items = []
        items.append(x * 2.0)
        found = items[0] * x
        grow(items, x, n)
        return found

    check_grads(f, (1.3, 4))


@pytest.mark.parametrize(
    ("f", "argument", "change"),
    [
        (total_of, X.copy(), lambda a: a.fill(7.0)),
        (total_of_array, X.copy(), lambda a: a.fill(7.0)),
        (total_of, [1.1, 0.2, 0.3], lambda a: a.append(3.0)),
        (total_of, [1.1, 0.2, 0.3], lambda a: a.__setitem__(0, 7.0)),
        (lambda arrays, n: sum_of_arrays(arrays, n), [X.copy(), X + 1.0], lambda a: a[0].fill(7.0)),
    ],
)
def test_arguments_change_before_the_pullback_is_called(f, argument, change) -> None:
    _, pullback = ad.vjp(f, argument, 2)
    before = pullback(1.0)[0]
    change(argument)
    np.testing.assert_array_equal(np.array(pullback(1.0)[0]), np.array(before))


def sum_of_arrays(arrays, n):
    total = 0.0
    for a in arrays:
        total += np.sum(a * a)
    return total if n == 0 else total + sum_of_arrays(arrays, n - 1)


def scaled(a, n):
    if n == 0:
        return a
    return scaled([item * a[0] for item in a], n - 1)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_pullback_is_called_twice_and_results_change_in_between(n: int) -> None:
    a = [1.1, 0.2, 0.3]
    value, pullback = ad.vjp(scaled, a, n)
    first = pullback([1.0, 0.0, 2.0])
    a[0] = value[1] = 9.0
    assert pullback([1.0, 0.0, 2.0]) == first
    assert pullback([2.0, 0.0, 4.0])[0] == [2.0 * item for item in first[0]]


def test_deep_recursion_and_its_pullback() -> None:
    def walk(items, n):
        if n == 0:
            return items
        items.append(items[-1] * 1.001)
        return walk(items, n - 1)

    def f(x):
        return walk([x], 300)

    value, pullback = ad.vjp(f, 1.0)
    assert pullback([0.0] * 300 + [1.0])[0] == pytest.approx(value[-1])
