"""Attributes that a class holds until its objects assign them."""

from typing import Any

import numpy as np

from regressions.differences import right


class Cached:
    """What its method found last stands in a tuple, which the class holds until then."""

    last = -1, (0, 0)

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def size(self, n: int) -> tuple[int, int]:
        at, found = self.last
        if n == at:
            return found
        self.last = n, (n * 2, n + 1)
        return self.last[1]

    def __call__(self, x: Any) -> Any:
        first, second = self.size(len(x))[0], self.size(len(x))[1]
        return first * np.sum(x) + second * np.sum(x * self.weights)


def by_cached_sizes(x):
    each = [Cached(x * k) for k in range(len(x))]
    return sum(one(x) * one(x * 2.0) for one in each)


def test_tuples_that_a_class_holds_until_they_are_assigned() -> None:
    right(by_cached_sizes, np.array([0.3, 0.5, 0.7]))
