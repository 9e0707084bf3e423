"""``zip`` of sequences that are to have one length."""

from __future__ import annotations

from collections.abc import Sequence

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


def test_what_has_no_length_is_refused() -> None:
    def weighted(xs: Sequence[float]) -> float:
        return sum(i * x for (i, _), x in zip(enumerate(xs), xs, strict=True))

    with pytest.raises(ad.DifferentiationError, match="AD0301"):
        ad.grad(weighted)([1.0, 2.0])


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
