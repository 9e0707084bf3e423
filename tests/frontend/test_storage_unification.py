"""Arrays that callers write are numbers to functions that only read them; memory that is written is one for both."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import target
from adjoint.dispatch import specialize
from sampling import check_grads


@pytest.fixture(autouse=True)
def _every_call_is_kept() -> Iterator[None]:
    for statements in (0, target.INLINED):
        object.__setattr__(target.PYTHON, "inlined", statements)
        specialize.forget()
        if not statements:
            yield


def energy(u, w):
    return math.sin(u[0] * w) * u[1] + u[1] * u[1]


def shifted(u):
    return u + 1.0


def fill(u, out):
    out[0] = u[1] * u[0]
    out[1] += u[0]


def read_before_and_after_writes(x, w):
    buffer = x * 1.0
    t = energy(buffer, w)
    buffer[0] = t
    t += energy(buffer, w)
    buffer[:] = x * t
    return t + energy(buffer, 0.3) + energy(x, t)


def shifted_before_a_write(x, w):
    buffer = x * w
    other = shifted(buffer)
    buffer[0] = 5.0 * w
    return other @ other + energy(buffer, w)


def kept_in_a_list_before_a_write(x, w):
    def collect(u, rows):
        rows.append(u + 1.0)
        rows.append(u * w)

    rows = []
    buffer = x * 2.0
    for i in range(2):
        collect(buffer, rows)
        buffer[i] = w * rows[0][1]
    return rows[0] @ rows[1] + rows[2] @ rows[3]


def returned_before_a_write(x, w):
    def largest(u, v):
        return u if u[0] > v[0] else v

    buffer = x * w
    found = largest(buffer, x)
    buffer[0] = 3.0 * w
    return found @ found * w + buffer[1]


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


def in_an_object_before_a_write(x, w):
    def paired(u, v):
        return Pair(u, v * w)

    buffer = x * w
    one, other = paired(buffer, x), paired(x, buffer)
    buffer[0] = 3.0 * w
    return one.first @ one.second + other.first @ other.second


def chosen_in_an_object_before_a_write(x, w):
    def paired(u, v):
        if u[0] > v[0]:
            return Pair(v, (u, w))
        return Pair(u, (v, 2.0 * w))

    buffer = x * w
    one = paired(buffer, x)
    buffer[1] = 3.0 * w
    return one.first @ one.second[0] * one.second[1]


def one_array_twice(x, w):
    buffer = x * w
    fill(buffer, buffer)
    other = x + 0.5
    fill(buffer, other)
    fill(other[::-1], other)
    return energy(buffer, w) + energy(other, w)


def one_array_that_is_captured(x, w):
    buffer = x * 1.0

    def step(u):
        buffer[0] = u[1] * w
        return u[0] * buffer[1]

    t = step(x) + step(buffer)
    return t * step(shifted(buffer)) + buffer[0]


def one_array_later_in_a_loop(x, w):
    read, written = x * 1.0, x * w
    for i in range(3):
        fill(read, written)
        if i == 1:
            read = written
    return energy(written, w) + energy(read, w)


def a_row_of_what_is_written(x, w):
    rows = np.zeros((3, 2))
    rows[0] = x
    for i in range(2):
        rows[i + 1] = shifted(rows[i]) * energy(rows[i], w)
    rows[0] = 1.0
    return rows[1] @ rows[2] + energy(rows[0], w)


def handed_on(x, w):
    def through(u, out):
        fill(u, out)
        return energy(u, out[0])

    buffer = x * w
    t = through(x, buffer)
    t += through(buffer, buffer)
    buffer[1] = t
    return t * through(shifted(buffer), buffer) + energy(buffer, w)


def only_asked_for_its_shape(x, w):
    def zeros_like(u):
        out = np.zeros_like(u)
        for i in range(len(u)):
            out[i] = u[0] * i + w
        return out

    buffer = x * 1.0
    other = zeros_like(buffer)
    buffer[:] = other * w
    return zeros_like(buffer) @ other


PROGRAMS: list[Callable[..., Any]] = [
    read_before_and_after_writes,
    shifted_before_a_write,
    kept_in_a_list_before_a_write,
    returned_before_a_write,
    in_an_object_before_a_write,
    chosen_in_an_object_before_a_write,
    one_array_twice,
    one_array_that_is_captured,
    one_array_later_in_a_loop,
    a_row_of_what_is_written,
    handed_on,
    only_asked_for_its_shape,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=[function.__name__ for function in PROGRAMS])
def test_what_callers_write(function: Callable[..., Any]) -> None:
    check_grads(function, (np.array([0.3, 0.7]), 0.6))


def test_a_caller_that_writes_changes_nothing_for_a_function_that_reads() -> None:
    """It gets the cotangents of numbers, and no shadow."""
    text = ad.source(ad.grad(read_before_and_after_writes, wrt=(0, 1)), np.array([0.3, 0.7]), 0.6)
    pullbacks = [line for line in text.splitlines() if line.startswith("def energy_pullback")]
    assert pullbacks
    assert all("u_bar" not in line for line in pullbacks)


OUTSIDE = np.zeros(2)


def fill_what_is_global(x, w):
    local = x * w
    fill(x, local)
    fill(local, OUTSIDE)
    return local[0] * w


def test_what_varies_is_written_where_it_outlives_the_call() -> None:
    x = np.array([0.3, 0.7])
    check_grads(fill_what_is_global, (x, 0.6))
    OUTSIDE[:] = 0.0
    ad.grad(fill_what_is_global)(x, 0.6)
    found = OUTSIDE.copy()
    OUTSIDE[:] = 0.0
    fill_what_is_global(x, 0.6)
    np.testing.assert_array_equal(found, OUTSIDE)
