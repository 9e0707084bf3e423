"""What is added to one place of a cotangent is added at once, and nothing else is passed on the way."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.7, -1.3, 0.4, 2.1])


def body_of(f: Any) -> str:
    text: str = ad.source(ad.grad(f), X)
    return text


def polynomial(x):
    return (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + x[1] * x[0]


def test_each_place_is_written_once() -> None:
    text = body_of(polynomial)
    assert text.count("x_bar[0] ") == text.count("x_bar[1] ") == 1
    check_grads(polynomial, (X,))


def from_the_end(x):
    return np.sin(x[-4]) * x[0] + x[-4] * x[0] ** 2


def with_parts(x):
    total = x[1] * x[2]
    total += np.sum(x[1:3] * x[0]) * x[1]
    return total + x[1] ** 2 * x[2]


def at_places_known_late(x):
    total = x[2] * x[1]
    for i in range(4):
        total += x[i] * x[2]
        total *= x[2]
    return total + x[2] ** 2


def written_between(x):
    y = x * 1.0
    a = y[0] * y[1]
    y[0] = a * y[1]
    b = y[0] * y[0]
    y[1] = b
    return y[0] * y[1] + y[1] * b + a


def through_views(x):
    y = x * 2.0
    row = y[:2]
    a = y[0] * row[1]
    row[0] = a * y[1]
    return row[0] * y[0] + y[1] * row[1] + a


def matrix_elements(x):
    m = np.outer(x, x)
    return m[0, 1] * m[1, 0] + m[0, 1] * m[0, -1] + m[0, 3] ** 2


def on_one_side(x):
    total = x[0] * x[1]
    if x[0] > 0:
        total = total * x[0] + x[0] * x[3]
    return total * x[0]


@pytest.mark.parametrize(
    "f",
    [
        *(from_the_end, with_parts, at_places_known_late, written_between, through_views, matrix_elements),
        on_one_side,
    ],
)
def test_right_where_places_meet(f: Any) -> None:
    check_grads(f, (X,))
