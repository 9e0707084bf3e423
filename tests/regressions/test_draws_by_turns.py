"""Random numbers that a generator draws beside those of the loop: drawn in the order of Python, or refused."""

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second


def beside_a_list(a, n):
    rng = np.random.default_rng(0)
    items = (rng.normal() * a for _ in range(n))
    total = 0.0
    for x, y in zip([1.0, 2.0, 3.0], items, strict=False):
        total += rng.normal() * x * y**2
    return total


def of_the_module(a, n):
    np.random.seed(0)  # noqa: NPY002
    items = map(lambda i: np.random.normal(size=2) * a, range(n))  # noqa: NPY002
    others = [np.random.normal(size=2) for _ in range(n)]  # noqa: NPY002
    total = 0.0
    for x, y in zip(others, items, strict=False):
        z = np.random.normal(size=2)  # noqa: NPY002
        z += x * a
        total += np.sum(z * y)
    return total


def numbered(a, n):
    rng = np.random.default_rng(0)
    total = 0.0
    for k, x in enumerate(rng.normal() * a for _ in range(n)):
        total += (k + 1) * x**2 * rng.normal()
    return total


def two_by_turns(a, n):
    rng = np.random.default_rng(0)
    pairs = zip((rng.normal() for _ in range(n)), (rng.normal() * a for _ in range(n)), strict=False)
    return sum(x * y for x, y in pairs)


@pytest.mark.parametrize("function", [beside_a_list, of_the_module, numbered])
def test_numbers_are_drawn_in_order(function) -> None:
    right(function, 1.3, 3)
    second(lambda a: function(a, 3), 1.3)


def test_what_is_drawn_by_turns_is_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0305"):
        ad.grad(two_by_turns)(1.3, 3)
