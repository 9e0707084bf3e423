"""``zip`` of sequences that are to have one length."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def products(xs: Sequence[float], ys: Sequence[float], zs: Sequence[float]) -> float:
    return sum(x * y * z for x, y, z in zip(xs, ys, zs, strict=True))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("kind", [list, np.array])
def test_lengths_that_differ_raise_what_python_raises(kind: type, native: bool) -> None:
    two, three = kind([1.0, 2.0]), kind([1.0, 2.0, 3.0])
    assert list(ad.grad(products, native=native)(two, two, two)) == [1.0, 4.0]
    for given in ((two, three, two), (three, two, three), (two, two, three), (three, three, two)):
        with pytest.raises(ValueError, match="zip") as expected:
            products(*given)
        with pytest.raises(ValueError, match="zip") as found:
            ad.grad(products, native=native)(*given)
        assert str(found.value) == str(expected.value)


def multiples(x: float, count: int) -> Iterator[float]:
    for i in range(count):
        yield i * x


def without_end(x: float) -> Iterator[float]:
    while True:
        yield x


def test_what_is_computed_item_by_item() -> None:
    def weighted(xs: Sequence[float]) -> float:
        return sum(i * x for (i, _), x in zip(enumerate(xs), xs, strict=True))

    def both(x: float, count: int) -> float:
        return sum(p * q for p, q in zip(multiples(x, count), (x + i for i in range(3)), strict=True))

    assert ad.grad(weighted)([1.0, 2.0]) == [0.0, 1.0]
    assert ad.grad(both)(0.3, 3) == pytest.approx(6 * 0.3 + 5)
    with pytest.raises(ValueError, match="shorter"):
        both(0.3, 4)
    with pytest.raises(ValueError, match="shorter"):
        ad.grad(both)(0.3, 4)


def handled_in_a_loop(xs: Sequence[float], ys: Sequence[float]) -> float:
    total = 0.0
    try:
        for x, y in zip(xs, ys, strict=True):
            total += x * y
    except ValueError as problem:
        total = total * xs[0] + len(str(problem))
    return total


def handled_around(xs: Sequence[float], ys: Sequence[float]) -> float:
    pairs, total = zip(xs, ys, strict=True), 0.0
    while True:
        try:
            x, y = next(pairs)
        except ValueError:
            return total * xs[0]
        except StopIteration:
            return total
        total += x * y


def handled_by_the_caller(xs: Sequence[float], ys: Sequence[float]) -> float:
    held = [0.0]

    def add() -> None:
        for i, (x, _, y) in enumerate(zip(xs, [1.0, 2.0], ys, strict=True)):
            held.append(i * x * y)

    with contextlib.suppress(ValueError):
        add()
    return sum(held) * ys[0]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", [handled_in_a_loop, handled_around, handled_by_the_caller])
@pytest.mark.parametrize("counts", [(2, 2), (3, 2), (2, 3)])
def test_items_before_the_lengths_are_found_to_differ(function: Any, counts: tuple[int, int], native: bool) -> None:
    """What was done with them is there, where the exception is handled."""
    xs, ys = np.array([1.5, 0.7, 2.0][: counts[0]]), np.array([0.6, 1.2, 0.9][: counts[1]])
    value, (of_xs, of_ys) = ad.value_and_grad(function, wrt=(0, 1), native=native)(xs, ys)
    assert value == pytest.approx(function(xs, ys))
    along = np.concatenate([of_xs, of_ys])
    steps = 1e-6 * np.eye(sum(counts))
    moved = lambda step: function(xs + step[: counts[0]], ys + step[counts[0] :])
    np.testing.assert_allclose(along, [(moved(step) - moved(-step)) / 2e-6 for step in steps], atol=1e-8)


def test_what_has_no_end_is_refused() -> None:
    def of_generator(x: float) -> float:
        return sum(p * q for p, q in zip([x, x], without_end(x), strict=True))

    def of_count(x: float) -> float:
        return sum(p * q for p, q in zip([x, x], itertools.count(), strict=True))

    for f in (of_generator, of_count):
        with pytest.raises(ad.DifferentiationError, match=r"AD030[15]"):
            ad.grad(f)(1.5)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def test_iterators_have_no_length() -> None:
    def f(x, n):
        several = [Countdown(2) for _ in range(n)]
        return sum(k * y for k, y in zip(several[0], (x, 2 * x), strict=True))

    with pytest.raises(ad.DifferentiationError, match="'strict' of something that has no length"):
        ad.grad(f)(1.5, 2)
