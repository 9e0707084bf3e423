"""What may be a number or an array: read by index it is an array, and no tuple."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import either, right, second


def powers(x: float, k: int) -> np.ndarray:
    v = np.ones(2)
    for _ in range(k):
        v = np.concatenate([v * x, np.ones(1)])
    return np.sum(np.stack([v, v * v]), axis=(0,))


def parts(x: float, k: int) -> float:
    z = powers(x, k)
    return z[1:3].sum() * z[0] + np.sum(z[::2]) + z[2] ** 2


def items(x: float, k: int) -> float:
    z = powers(x, k)
    if isinstance(z, (tuple, list)):
        return 0.0
    total = 0.0
    for part in z:
        total = total + part * part
    return total


@pytest.mark.parametrize("f", [parts, items])
def test_items_of_what_may_be_a_number(f: object) -> None:
    def g(x: float) -> float:
        return f(x, 3)  # type: ignore[operator]

    step = 1e-5
    slope = (g(0.7 + step) - g(0.7 - step)) / (2 * step)
    assert ad.grad(g)(0.7) == pytest.approx(slope, rel=1e-8)
    assert ad.grad(g, native=True)(0.7) == pytest.approx(slope, rel=1e-8)
    assert ad.jvp(g, (0.7,), (1.0,)) == pytest.approx((g(0.7), slope), rel=1e-8)
    first = ad.grad(g)
    assert ad.grad(first)(0.7) == pytest.approx((first(0.7 + step) - first(0.7 - step)) / (2 * step), rel=1e-7)


def masked(x: float, k: int) -> float:
    z = powers(x, k)
    z = abs(z)
    try:
        z[z > 1] = 2 * x - z[z > 1] ** 2
    except TypeError:
        if z > 1:
            z = 2 * x
    z[0] *= 3 * x
    z = z * z
    z[k - 1] = z[k - 1] + z[0]
    return np.sum(z)


def in_one_branch(x: float, k: int) -> float:
    z = abs(powers(x, k))
    if k > 1:
        z[z < 1] = x * x
    else:
        z = 3 * x
    return np.sum(z * z)


def in_one_of_two_branches(x: float, k: int) -> float:
    def of(p: float, y: np.ndarray) -> object:
        if p == 1:
            z = y * x
            z[0] += x
            return z
        if p < 1:
            return np.nan
        z = y * x - x
        if np.any(y > 0):
            z[y > 0] += np.log(y[y > 0] * x)
        return z

    return np.sum(of(k, np.array([1.0, 0.0, 2.0])) * 2) + np.sum(of(k - 1, np.array([1.0, 0.0, 2.0])))  # type: ignore[operator]


def masks_of_numbers(x: float, k: int) -> float:
    y = np.asarray(x)
    h = np.hypot(y, 1.0)
    chosen = np.asarray(y > 0)
    total = np.sum(h[~chosen] ** 2) + np.sum(h[chosen] * h[chosen])
    z = np.sqrt(np.squeeze(powers(x, 0)[:1] * x))
    return total + np.sum(z[z > 0] ** 3)


@pytest.mark.parametrize("f", [masked, in_one_branch, in_one_of_two_branches, masks_of_numbers])
def test_items_are_written_of_what_may_be_a_number(f: object) -> None:
    right(f, 0.7, 2, modes=("grad", "jvp", "value"))
    second(lambda x: f(x, 2), 0.7)  # type: ignore[operator]
    if f is in_one_branch:  # machine code has no 'except', and inverts no masks without axes
        right(f, 0.7, 2, native=True)


def kept(x: float, k: int) -> float:
    z = abs(powers(x, k))
    others = [z]
    z[0] = x
    return np.sum(z * others[0])


def viewed(x: float, k: int) -> float:
    z = abs(powers(x, k))
    first = z[:1]
    z[0] = x * x
    return np.sum(z) * first[0]


def kept_before_an_exception(x: float, k: int) -> float:
    z = abs(powers(x, k))
    others = []
    try:
        others.append(z)
        z[k + 7] = x
    except IndexError:
        z[0] = x * x
    return np.sum(z * others[0])


@pytest.mark.parametrize("f", [kept, viewed, kept_before_an_exception])
def test_what_somebody_else_has_is_not_bound_anew(f: object) -> None:
    either(right, f, 0.7, 2)


def squeezed_and_kept(x: float, k: int) -> float:
    """A number of Python's becomes an array, one of NumPy's stays what it is."""
    factor, kept = 1.0, []
    for power in np.full(k, x) ** 2:
        kept.append(np.squeeze(factor))
        factor = np.transpose(kept[-1]) * power
    total = 0.0
    for each in kept:
        total = total + np.sum(each * each)
    return total


def squeezed_and_written(x: float, k: int) -> float:
    factor = 1.0
    for _ in range(k):
        factor -= x
    squeezed = np.squeeze(factor)
    other = squeezed
    other += 2.0
    return np.sum(other * other) + np.sum(squeezed)


def chosen_number(x: float, k: int) -> float:
    chosen = np.choose(k % 2, [x, 2.0 * x])
    other = chosen
    other += 2.0
    return chosen * other


@pytest.mark.parametrize("f", [squeezed_and_kept, squeezed_and_written, chosen_number])
def test_numbers_that_functions_of_arrays_give_back(f: object) -> None:
    either(right, f, 0.7, 3)


def divided_by_a_squeezed_number(x: float, k: int) -> float:
    length = np.squeeze(x).astype(float)
    if np.ndim(length) > 1:
        raise ValueError("it has axes")
    scaled = np.arange(6.0).reshape(3, 2) / length
    matrix = scaled @ scaled.T
    np.fill_diagonal(matrix, 1)
    return np.sum(matrix * matrix) * k


def told_by_what_is_iterable(x: float, k: int) -> float:
    given = (x, 1.0, "ab", None, [x], (x, 2.0), {"a": x}, np.array(x), np.ones(2) * x, np.squeeze(x), range(k))
    return sum([x * 2.0**place for place, each in enumerate(given) if np.iterable(each)])


@pytest.mark.parametrize("f", [divided_by_a_squeezed_number, told_by_what_is_iterable])
def test_a_number_that_is_squeezed_has_no_axes(f: object) -> None:
    right(f, 0.7, 3)


def methods_of_a_number(x: float, k: int) -> float:
    number = np.fmax(x, 0.1)
    parts = number.reshape(1).sum() * number.flatten().sum() * number.squeeze() * number.T
    return number.astype(float) * number.item() * number.copy() * number.conj() * parts * k


def methods_of_a_sum(x: float, k: int) -> float:
    total = 0.0
    for part in np.full(k, x) ** 2:
        total = total + part
    return 2.0 / np.fmax(total, 0.1).astype(float) + np.fmax(total, 0.1).copy()


@pytest.mark.parametrize("f", [methods_of_a_number, methods_of_a_sum])
def test_numbers_have_methods_of_arrays(f: object) -> None:
    right(f, 0.7, 3)
