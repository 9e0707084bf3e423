"""Tables whose values are whole numbers on one path and floats on another; lists made by recursive calls."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

X = np.array([1.1, 2.0, 3.2, 4.1, 2.9])


def remembered(x):
    @cache
    def cost(i, j):
        if j - i < 2:
            return 0
        return min([cost(i, k) + x[i] * x[k] * x[j] + cost(k, j) for k in range(i + 1, j)])

    return cost(0, len(x) - 1)


def remembered_by_hand(x):
    memo = {}

    def cost(i, j):
        if (i, j) in memo:
            return memo[i, j]
        result = min([cost(i, k) + x[i] * x[k] * x[j] + cost(k, j) for k in range(i + 1, j)]) if j - i > 1 else 0
        memo[i, j] = result
        return result

    return cost(0, len(x) - 1)


def not_remembered(x):
    def cost(i, j):
        return min((cost(i, k) + x[i] * x[k] * x[j] + cost(k, j) for k in range(i + 1, j)), default=0)

    return cost(0, len(x) - 1)


def a_loop(x):
    table = {}
    for i in range(len(x)):
        value = 0 if i % 2 else x[i] ** 2
        table[i] = value
    return sum([table[i] * x[0] * x[i] for i in range(len(x))])


def truth_values(x):
    table = {}
    for i in range(len(x)):
        value = i > 1 if i % 2 else x[i] ** 2
        table[i] = value
    table[0] += table[2]
    return sum(value * x[0] for value in table.values())


def list_from_a_list(items):
    def total(i, j):
        if j - i < 2:
            return 0.0
        return sum([total(i, k) + items[i] * items[k] * items[j] + total(k, j) for k in range(i + 1, j)])

    return total(0, len(items) - 1)


def rows_of_zeros(x):
    n = len(x)
    rows = [[x[i] * j for j in range(n)] for i in range(n)]
    rows.append([0] * n)
    rows.insert(1, [0 for _ in range(n)])
    for i in range(1, n + 2):
        rows[i][1] += rows[i - 1][0] * x[2] + x[1] ** 2
    table = {0: x[0] * x[0]}
    tables = [table]
    for i in range(n):
        tables.append({i: 0})
        tables[-1][i] += x[i] ** 2 * tables[0][0]
    return sum([sum(row) for row in rows]) * sum([sum(each.values()) for each in tables])


@pytest.mark.parametrize("f", [remembered, remembered_by_hand, not_remembered, a_loop, truth_values, rows_of_zeros])
def test_right(f: Callable[[Any], Any]) -> None:
    right(f, X)
    second(f, X)


def test_lists_made_of_what_a_recursive_function_returns() -> None:
    got = ad.grad(list_from_a_list)(X.tolist())
    right(lambda x: list_from_a_list([x[i] for i in range(5)]), X)
    assert got == pytest.approx(ad.grad(lambda x: list_from_a_list(x))(X))
