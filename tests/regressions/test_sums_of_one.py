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


class Tally:
    """What says itself what 0 plus it is."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Tally(self.value * other.value)

    def __radd__(self, other):
        return Tally(self.value + other + 1.0)


def of_objects_at_run_time(x):
    one, other = [Tally(x * k) for k in range(1, int(3 + 0 * x))]
    return sum([one, other]).value


def test_classes_say_what_zero_plus_an_object_is():
    assert ad.grad(of_objects_at_run_time)(1.5) == pytest.approx(8.0)
    assert ad.jvp(of_objects_at_run_time, (1.5,), (1.0,))[1] == pytest.approx(8.0)


@pytest.mark.parametrize("program", [of_a_list, of_a_tuple_with_start, of_a_slice, of_a_generator])
def test_it_is_in_machine_code(program):
    assert ad.grad(program, native=True)(1.5) == pytest.approx(4.0)
