"""Gradients of array code that other systems are publicly known to have got wrong, each by its name.

The numbers are derived by hand where that is short; all are checked against differences, to second order.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([2.0, 3.0, 5.0])


def test_in_place_multiplication_in_a_loop() -> None:
    def f(x):
        y = np.ones(3)
        for i in range(3):
            y *= x[i]
        return np.sum(y)

    np.testing.assert_allclose(ad.grad(f)(X), 3.0 * np.array([15.0, 10.0, 6.0]))
    check_grads(f, (X,))


def test_in_place_multiplication_of_an_element_in_a_loop() -> None:
    def f(x):
        y = np.ones(1)
        for i in range(3):
            y[0] *= x[i]
        return y[0]

    np.testing.assert_allclose(ad.grad(f)(X), [15.0, 10.0, 6.0])
    np.testing.assert_allclose(ad.grad(f)(np.array([2.0, 0.0, 5.0])), [0.0, 10.0, 0.0])
    check_grads(f, (X,))


def test_in_place_multiplication_of_an_argument() -> None:
    def f(x, k):
        for _ in range(3):
            x *= k
        return np.sum(x * x)

    gradient = ad.grad(f, wrt=(0, 1))(X.copy(), 2.0)
    np.testing.assert_allclose(gradient[0], 2.0 * 64.0 * X)
    assert gradient[1] == pytest.approx(6.0 * 32.0 * 38.0)


def square_first(a):
    a[0] = a[0] * a[0]


def scaled_by_first(a):
    return a[0] * np.sum(a)


def test_read_after_overwrite_across_calls() -> None:
    def f(x):
        a = x.copy()
        before = scaled_by_first(a)
        square_first(a)
        between = scaled_by_first(a)
        square_first(a)
        return before * scaled_by_first(a) + between

    check_grads(f, (X,))


def test_value_saved_by_one_call_is_overwritten_by_the_next() -> None:
    workspace_size = 2

    def stage(work, x):
        work[0] = np.sin(x)
        work[1] = work[0] * x
        return work[0] * work[1]

    def f(x):
        work = np.zeros(workspace_size)
        a = stage(work, x)
        b = stage(work, a)
        return stage(work, b * a) * a

    check_grads(f, (0.7,))


def test_adjoint_of_a_variable_from_before_the_loop() -> None:
    def f(x):
        scale = x * x
        total = 0.0
        for i in range(3):
            total = total * scale + i
            scale = scale * 1.0
        return total

    # 0, 1, s + 2 with s = x ** 2: the slope is 2 x
    assert ad.grad(f)(3.0) == pytest.approx(6.0)
    check_grads(f, (3.0,))


def test_adjoint_of_an_array_from_before_the_loop() -> None:
    def f(x):
        start = x * x
        y = start
        for i in range(3):
            y = y * 0.5
            y[i] += start[i]
            start = start * 1.0
        return np.sum(y * start)

    check_grads(f, (X,))


def test_variable_from_before_a_loop_that_the_loop_overwrites_on_some_paths() -> None:
    def f(x, n):
        y = x * x
        for i in range(n):
            if i % 2:
                y = y * x
            else:
                z = y + i
                y = z * 0.5
        return y

    for n in range(4):
        check_grads(f, (1.3, n))


def test_accumulation_through_a_slice() -> None:
    def f(x):
        total = np.zeros(2)
        for i in range(2):
            total[:] += x[i : i + 2]
            total[i:] += total[: 2 - i] * x[i]
        return np.sum(total * total)

    check_grads(f, (X,))


def test_accumulation_through_a_view_bound_to_a_name() -> None:
    def f(m):
        out = np.zeros((2, 3))
        for i in range(2):
            row = out[i]
            for k in range(2):
                row += m[k] * m[i]
            row[0] *= 2.0
        return np.sum(out)

    check_grads(f, (np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]),))


def test_write_under_a_condition() -> None:
    def f(a, b, m):
        a = a.copy()
        for i in range(3):
            if m[i] > 0:
                a[i] += b[i]
        return np.sum(a * a)

    mask = np.array([1.0, -1.0, 1.0])
    b = np.array([1.0, 10.0, 100.0])
    gradient = ad.grad(f, wrt=(0, 1))(X, b, mask)
    np.testing.assert_allclose(gradient[0], 2.0 * np.array([3.0, 3.0, 105.0]))
    np.testing.assert_allclose(gradient[1], 2.0 * np.array([3.0, 0.0, 105.0]))
    check_grads(f, (X, b, mask), wrt=(0, 1))


def test_write_under_a_condition_on_what_is_written() -> None:
    def f(a):
        a = a.copy()
        for i in range(1, 3):
            if a[i] > a[i - 1]:
                a[i] = a[i - 1] * a[i]
            else:
                a[i - 1] = 0.0
        return np.sum(a * a)

    for point in (X, X[::-1].copy(), np.array([1.0, 3.0, 2.0])):
        check_grads(f, (point,))


def test_dynamic_loop_product() -> None:
    def f(x, n):
        product = 1.0
        i = 0
        while i < n:
            product *= x[i % 3]
            i += 1
        return product

    np.testing.assert_allclose(ad.grad(f)(X, 4), [2 * 2.0 * 15.0, 4.0 * 5.0, 4.0 * 3.0])
    check_grads(f, (X, 5))


def test_product_until_it_is_large_enough() -> None:
    def f(x):
        product = np.ones(1)
        count = 0
        while product[0] < 100.0:
            product[0] *= x[count % 3]
            count += 1
        return product[0]

    np.testing.assert_allclose(ad.grad(f)(X), [2 * 2.0 * 9.0 * 5.0, 2 * 3.0 * 4.0 * 5.0, 4.0 * 9.0])
    check_grads(f, (X,))


@dataclass
class State:
    position: float
    velocity: float
    trace: np.ndarray


def advance(s, k):
    s.position = s.position + 0.1 * s.velocity
    s.velocity = s.velocity - k * s.position * s.position
    s.trace[0] = s.position * s.velocity
    s.position *= 1.5


def test_struct_fields_overwritten() -> None:
    def f(x, v, k):
        s = State(x, v, np.zeros(2))
        first = s.position
        for i in range(3):
            advance(s, k)
            s.trace[1] += s.trace[0] * s.position
            if i == 1:
                s.velocity = first * s.velocity
        return s.position * s.velocity + s.trace[1]

    check_grads(f, (1.2, 0.5, 0.3))


def test_struct_fields_of_an_argument_overwritten() -> None:
    def f(s, k):
        old = s.position
        s.position = s.velocity * k
        s.velocity = old * s.position
        s.trace[:] = s.velocity
        s.trace[0] *= old
        return np.sum(s.trace) * s.position

    # p = v k; w = p0 p; (w p0 + w) p = v^2 k^2 (p0^2 + p0)
    gradient = ad.grad(f, wrt=(0, 1))(State(1.5, 2.0, np.ones(2)), 3.0)
    assert gradient[0].position == pytest.approx(36.0 * (2 * 1.5 + 1.0))
    assert gradient[0].velocity == pytest.approx(2 * 2.0 * 9.0 * (1.5**2 + 1.5))
    np.testing.assert_array_equal(gradient[0].trace, 0.0)
    assert gradient[1] == pytest.approx(2 * 4.0 * 3.0 * (1.5**2 + 1.5))


def test_store_of_a_constant_cuts_the_gradient() -> None:
    def f(x):
        y = x * 1.0
        y[1] = 7.0
        y[2:] = 0.0
        return np.sum(y * y)

    np.testing.assert_allclose(ad.grad(f)(X), [4.0, 0.0, 0.0])


def test_of_stores_to_one_element_the_last_counts() -> None:
    def f(x):
        y = np.zeros(3)
        y[[0, 0, 1]] = x
        return np.sum(y * y)

    np.testing.assert_allclose(ad.grad(f)(X), [0.0, 6.0, 10.0])


def test_repeated_places_accumulate_with_add_at_only() -> None:
    def by_index(x):
        y = np.zeros(2)
        y[[0, 0, 1]] += x
        return np.sum(y * y)

    def by_function(x):
        y = np.zeros(2)
        np.add.at(y, [0, 0, 1], x)
        return np.sum(y * y)

    np.testing.assert_allclose(ad.grad(by_index)(X), [0.0, 6.0, 10.0])
    np.testing.assert_allclose(ad.grad(by_function)(X), [10.0, 10.0, 10.0])


def test_swap_of_two_elements() -> None:
    def f(x):
        y = x * 1.0
        y[0], y[1] = y[1], y[0]
        return y[0] * y[0] + 3.0 * y[1]

    np.testing.assert_allclose(ad.grad(f)(X), [3.0, 6.0, 0.0])


def test_value_of_an_element_taken_before_it_is_overwritten() -> None:
    def f(x):
        y = x * 1.0
        taken = y[0]
        y[0] = 100.0
        return taken * y[0]

    np.testing.assert_allclose(ad.grad(f)(X), [100.0, 0.0, 0.0])
