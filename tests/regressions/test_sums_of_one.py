"""The sum of one item is 0 plus it: an array of its own, and a number that is another object."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def of_a_list(x):
    a = np.ones(3) * x
    s = sum([a])
    s += 1.0
    return a[0] * a[0] + s[1]


def of_a_tuple_with_start(x):
    a = np.ones(3) * x
    s = sum((a,), start=0)
    s[0] = 5.0
    return a[0] * a[0] + s[1]


def of_a_slice(x):
    a = np.ones(3) * x
    s = sum([a, 2.0 * a][:1])
    s *= 0.5
    return a[0] * a[0] + 2.0 * s[1]


def of_a_generator(x):
    a = np.ones(3) * x
    s = sum(each for each in [a])
    s += 1.0
    return a[0] * a[0] + s[1]


def of_what_is_no_number(x):
    n = x * float("nan")
    return x * x + x if [sum([n])] != [n] else 0.0 * x


@pytest.mark.parametrize(
    "program", [of_a_list, of_a_tuple_with_start, of_a_slice, of_a_generator, of_what_is_no_number]
)
def test_it_is_an_object_of_its_own(program):
    assert ad.grad(program)(1.5) == pytest.approx(4.0)
    assert ad.jvp(program, (1.5,), (1.0,))[1] == pytest.approx(4.0)


@pytest.mark.parametrize("program", [of_a_list, of_a_tuple_with_start, of_a_slice, of_a_generator])
def test_it_is_in_machine_code(program):
    assert ad.grad(program, native=True)(1.5) == pytest.approx(4.0)
