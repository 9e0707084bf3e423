"""Integers that are computed and lie among floats: where floats do not tell them from others, they are refused."""

import numpy as np
import pytest

import adjoint as ad

LARGE = 10**17 + 3


def difference(x, n):
    items = [0.5]
    for k in range(3):
        items.append(n + k)
    return x * (items[3] - items[1])


def comparison(x, n):
    items = [0.5]
    for k in range(3):
        items.append(n + k)
    return x * (2.0 if items[2] == n + 1 else 1.0)


def search(x, n):
    items = [0.5]
    for k in range(3):
        items.append(n + k)
    return x * (2.0 if (n + 1) in items else 1.0)


def stored(x, n):
    items = [x, x]
    for k in range(2):
        items[k] = n + k
    return x * (items[1] - items[0])


def in_a_dict(x, n):
    items = {0: 0.5}
    for k in range(3):
        items[k] = n + k
    return x * (items[2] % 10)


def largest(x, n):
    items = [0.5]
    for k in range(n % 4 + 2):
        items.append(n * k)
    return x * (max(items) % 10)


def chosen(x, n):
    y = 0.5 if x < 0.0 else n
    return x * (y % 10)


def last_of_a_loop(x, n):
    y = 0.5
    for k in range(n % 4 + 2):
        y = n + k
    return x * (y % 10)


def attribute(x, n):
    class Held:
        value = 0.5

    held = Held()
    held.value = 0.5
    for k in range(n % 4 + 2):
        held.value = n + k
    return x * (held.value % 10)


@pytest.mark.parametrize(
    "f", [difference, comparison, search, stored, in_a_dict, largest, chosen, last_of_a_loop, attribute]
)
@pytest.mark.parametrize("native", [False, True])
def test_right_or_refused(f, native) -> None:
    derivative = ad.value_and_grad(f, native=native)
    assert derivative(3.0, 4) == pytest.approx((f(3.0, 4), f(1.0, 4)))
    try:
        found = derivative(3.0, LARGE)
    except ad.DifferentiationError as problem:
        assert "floats hold 53 bits" in str(problem)
    else:
        assert found == pytest.approx((f(3.0, LARGE), f(1.0, LARGE)))


def test_counts_are_not_asked() -> None:
    def f(x):
        items = [x]
        for k in range(len(x)):
            items.append(2 * k + 1)
        return np.sum(items[0]) * items[2]

    def g(x, n):
        items = [0.5]
        for k in range(n):
            items.append(k)
        return x * items[2]

    assert "check_exact" not in ad.source(ad.grad(g), 3.0, 4)
    assert ad.grad(g)(3.0, 4) == 1.0
    assert np.allclose(ad.grad(f)(np.ones(2)), 3.0)


def full(x, n):
    items = [0.5]
    for k in range(3):
        items.append(n + k)
    a = np.full(2, items[2])
    a[0] = x
    return a[0] * a[1]


def array(x, n):
    items = [0.5]
    for k in range(3):
        items.append(n + k)
    a = np.array([items[2], items[1]])
    a *= 2
    return a[0] * x


def full_of_the_last(x, n):
    y = 0.5
    for k in range(3):
        y = n + k
    a = np.full(2, y)
    a[0] = x
    return a[0] * a[1]


@pytest.mark.parametrize("f", [full, array, full_of_the_last])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_arrays_of_integers_that_are_written(f, native) -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(f, native=native)(3.7, 4)
