"""Rows of a table that hold a list and a number: each is read as what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

DATA = np.array([[0.1, 0.2], [0.4, 0.3], [0.9, 0.7]])
VALUES = np.array([[0.3, 0.3], [0.5, 0.1]])


def numbers_of_arrays(data: Any, values: Any) -> Any:
    rows = []
    for v in values:
        rows.append([data[0].tolist(), v[0] * data[1, 0]])
    return sum(row[1] * row[0][0] for row in rows)


def numbers_of_python(data: Any, values: Any) -> Any:
    rows = []
    for v in values:
        rows.append([data[0].tolist(), float(v[0])])
    return sum(row[1] * row[0][0] for row in rows)


def numbers_first(data: Any, values: Any) -> Any:
    rows = [[values[i, 0] * data[0, 0], [2.0 * x for x in data[i]]] for i in range(len(values))]
    total = 0.0
    for row in rows:
        row[0] *= row[1][1]
        total += row[0]
    return total


def the_nearest(data: Any, values: Any) -> Any:
    answer = []
    for v in values:
        nearest, vector = np.sqrt(np.sum((v - data[0]) ** 2)), data[0].tolist()
        for row in data[1:]:
            distance = np.sqrt(np.sum((v - row) ** 2))
            if distance < nearest:
                nearest, vector = distance, row.tolist()
        answer.append([vector, nearest])
    return sum(row[1] * row[0][0] for row in answer)


@pytest.mark.parametrize("f", [numbers_of_arrays, numbers_of_python, numbers_first, the_nearest])
def test_rows(f: Any) -> None:
    ad.testing.check_grads(f, (DATA, VALUES))


def test_numbers_have_no_items() -> None:
    def item_of_float(x: float) -> Any:
        return x[0]  # type: ignore[index]

    def item_of_sum(x: np.ndarray) -> Any:
        return np.sum(x)[0]

    with pytest.raises(ad.DifferentiationError, match="a value of class 'float' has no items"):
        ad.grad(item_of_float)(1.0)
    with pytest.raises(ad.DifferentiationError, match="invalid index to scalar variable"):
        ad.grad(item_of_sum)(np.ones(2))
