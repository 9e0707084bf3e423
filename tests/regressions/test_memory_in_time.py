"""What memory holds at one time and not at another: what is written after its last use, or before a view is read."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

A = np.array([0.24, -0.38, 0.539])
overflows = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")


@overflows
def test_an_argument_that_overflows_after_its_last_use() -> None:
    def f(x, z):
        y = x - z
        for i in range(3):
            x += y[i]
            z -= z**z
        return x

    gradient = ad.grad(f, wrt=1)(0.7, np.array([1.114, 0.309, 0.866]))
    assert np.allclose(gradient, -1.0)


@overflows
def test_an_argument_that_a_loop_lets_overflow_after_its_last_use() -> None:
    def f(x, z, n):
        y = x * z
        for i in range(n):
            for _ in range(n):
                z *= np.exp(z * z)
            x += y[i]
        return x

    gradient = ad.grad(f, wrt=1)(0.7, np.array([1.1, 0.3, 0.8, 0.5]), 4)
    np.testing.assert_allclose(gradient, 0.7)


@overflows
def test_a_list_whose_numbers_overflow_after_their_last_use() -> None:
    def f(x, z, n):
        for number in z:
            x = x * number
        for _ in range(n):
            z[1] = z[1] * z[1]
        return x

    assert ad.grad(f, wrt=1)(0.5, [2.0, 30.0], 12) == [15.0, 1.0]


@overflows
def test_a_recursive_function_that_lets_an_array_overflow_after_its_last_use() -> None:
    def grow(z, depth):
        if depth > 0:
            z *= z
            grow(z, depth - 1)

    def f(x, z, depth):
        y = np.sum(z * x)
        grow(z, depth)
        return y

    gradient = ad.grad(f, wrt=1)(0.5, np.array([2.0, 30.0]), 14)
    np.testing.assert_allclose(gradient, 0.5)


def test_what_is_written_last_in_an_iteration_is_read_in_the_next_one() -> None:
    def f(x, z, n):
        total = 0.0
        for i in range(n):
            total += z[0] * z[1]
            z[i % 3] *= x
            z[0] += np.sin(z[1])
        return total

    check_grads(f, (0.7, A, 4), wrt=(0, 1), order=1)


def test_what_is_written_through_one_name_and_returned_by_another() -> None:
    def f(x, z, n):
        part = z[:2]
        whole = z
        for i in range(n):
            part[i] = x * whole[2]
        return z

    check_grads(f, (0.7, A, 2), wrt=(0, 1), order=1)


def test_what_is_written_to_a_view_of_an_array_that_is_stored_in_another() -> None:
    def f(x, z):
        a = z * 1.0
        view = a[:]
        view[0] = x
        b = np.zeros(3)
        b[:] = a
        return np.sum(b * b)

    check_grads(f, (0.7, A), wrt=(0, 1), order=1)


class TestPickedFromWhatDoesNotVary:
    """What is picked out of an array varies by what is written to it, and the array itself does not."""

    def test_of_a_constant_array(self) -> None:
        def f(y):
            picked = np.arange(3.0)[[0, 0, 2]]
            picked[1] *= y
            return picked * y

        check_grads(f, (0.3,))

    def test_of_an_array_in_an_object(self) -> None:
        def f(y, u):
            picked = u[u > 0.0]
            picked.fill(y)
            return np.sum(picked) * y

        check_grads(f, (0.3, A), wrt=0)

    def test_in_a_gradient_of_a_gradient(self) -> None:
        def f(z):
            x = np.square(z[1])
            z = z[[2, 2, 2]]
            z[0] = x
            return np.sum(z * z)

        check_grads(f, (A,))


def test_a_number_that_an_iteration_gives_only_where_it_returns() -> None:
    def f(x, y, n):
        k = 0
        while k < n:
            k += 1
            for item in (k, 0.5, y):
                if x > 0.0:
                    if y > 2.0:
                        item, y = (y, item)
                        return y
                    elif y > k:
                        return y * y
        return x

    for x, y, n in ((0.3, 0.4, 2), (0.3, 1.4, 2), (0.3, 2.4, 1), (-0.3, 1.4, 2)):
        check_grads(f, (x, y, n), wrt=(0, 1))


def test_an_array_that_one_path_makes_is_not_asked_for_the_shape_of_another() -> None:
    def f(y, z, n):
        k = 0
        while k < n:
            k += 1
            z[[1]] += z[np.array([0])] * [y]
        if n < 2:
            np.put(z, [0, 0], z[0])
        return np.sum(z)

    for n in (1, 2):
        check_grads(f, (0.7, A, n), wrt=(0, 1), order=1)


class TestReadBeforeTheOperandIsEvaluated:
    """``a[index] += operand`` where the operand writes to the array."""

    def test_picked_by_a_mask(self) -> None:
        def raised(a):
            a[0] += 1.0
            return a

        def f(x, y):
            a = np.array([y, x, y])
            a[~(a > 1.0)] += raised(a)
            return a

        np.testing.assert_allclose(ad.vjp(f, 0.1, 0.3)[0], f(0.1, 0.3))
        check_grads(f, (0.1, 0.3))

    def test_picked_by_integers_beside_a_property(self) -> None:
        class Counter:
            def __init__(self, a):
                self.a = a

            @property
            def next(self):
                self.a[0] += 1.0
                return 2.0

        def f(x, y):
            a = np.array([y, x, y])
            a[[0, 1]] += Counter(a).next
            a[0] -= Counter(a).next
            return a * x

        np.testing.assert_allclose(ad.vjp(f, 0.1, 0.3)[0], f(0.1, 0.3))
        check_grads(f, (0.1, 0.3))


def test_an_index_that_is_true_or_false() -> None:
    def f(x, a):
        b = a * x
        b[True] = x * a[0]
        b[False] = x
        c = b[x > 0.0]
        return np.sum(b * a) + np.sum(c * c)

    check_grads(f, (0.3, A), order=1)
