"""A value that is one of several constants, such as the functions of a table: chosen by what is known when it runs."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

LAWS = [
    *(lambda x: x, lambda x: x * x, math.sin, math.cos, math.exp, lambda x: x**3),
    *(lambda x: 2.0 * x, lambda x: 1.0 / x, math.sqrt, math.tanh, lambda x: x - 1.0, math.log),
]


def by_index(x, places):
    total = 0.0
    for place in places:
        total += LAWS[place](x) * (place + 1)
    return total


def each_of_them(x, least):
    found = []
    for law in LAWS:
        y = law(x)
        if y > least:
            found.append(y * x)
    return sum(found)


SCALES = {"f": np.float32, "d": np.float64, "e": np.float32, "i": np.float64, "l": np.float64}


def by_a_key_with_the_same_values(x, letters):
    total = 0.0
    for letter in letters:
        kind = SCALES.get(letter, np.float64)
        total += (3.0 if kind is np.float32 else 2.0) * x * x
    return total


@pytest.mark.parametrize(
    ("function", "given"),
    [(by_index, [3, 11, 0, 3]), (each_of_them, 0.3), (by_a_key_with_the_same_values, list("edxli"))],
)
def test_constants_are_chosen(function, given):
    check_grads(function, (1.4, given), order=2)


def too_many_structures(x, n):
    value = x
    while x < n:
        x = x + 1.0
        if x < 1.0:
            value = (x,)
        elif x < 2.0:
            value = (x, x)
        elif x < 3.0:
            value = (x, x, x)
        elif x < 4.0:
            value = (x, x, x, x)
        elif x < 5.0:
            value = (x, x, x, x, x)
        elif x < 6.0:
            value = (x, x, x, x, x, x)
        elif x < 7.0:
            value = (x, x, x, x, x, x, x)
        elif x < 8.0:
            value = (x, x, x, x, x, x, x, x)
        elif x < 9.0:
            value = (x, x, x, x, x, x, x, x, x)
        elif x < 10.0:
            value = (x, x, x, x, x, x, x, x, x, x)
    return x if value is None else value[0] + len(value)


def test_too_many_are_refused_where_they_meet():
    with pytest.raises(ad.DifferentiationError, match="too many different structures") as refusal:
        ad.grad(too_many_structures)(1.0, 3)
    (found,) = {label.span.file for problem in refusal.value.diagnostics for label in problem.labels}
    assert found == __file__
