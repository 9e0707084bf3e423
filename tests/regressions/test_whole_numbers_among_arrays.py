"""A tuple of arrays of which a loop takes one after the other: those of whole numbers have no shadow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sampling import check_grads

ROWS = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 1.5]])
WEIGHTS = np.cos(np.arange(3.0))


def parts_of_each(b):
    items = [(b[k] * b[k], np.argsort(b[k]), b[k]) for k in range(2)]
    total = 0.0
    for j in range(3):
        total += np.sum(np.stack([parts[j] for parts in items]) * WEIGHTS)
    return total


def parts_of_one(b):
    first = (b[0] * b[0], np.argsort(b[0]), b[1])
    items = [first for _ in range(2)]
    total = 0.0
    for j in range(3):
        total += np.sum(np.stack([parts[j] for parts in items]) * WEIGHTS)
    return total


@pytest.mark.parametrize("function", [parts_of_each, parts_of_one])
def test_gradients(function: Callable[[Any], Any]) -> None:
    check_grads(function, (ROWS,), order=1)
