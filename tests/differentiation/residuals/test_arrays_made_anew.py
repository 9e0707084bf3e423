"""Arrays that are made anew each time are not those that were there before: what lies in those is read again."""

import re

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.7, -0.4, 0.9, 0.3, 1.1])


def steps_to_new_arrays(x):
    u = x.copy()
    for _ in range(3):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1] + np.sin(u[i])
        u = new
    return np.sum(u)


def made_in_an_inner_loop(x):
    u = x * 1.0
    for _ in range(2):
        for k in range(2):
            new = np.empty(len(u))
            new[0] = u[-1] * u[0]
            for i in range(1, len(u)):
                new[i] = u[i] * u[i - 1] * (k + 1)
        u = new
    return np.sum(u)


def two_steps_back(x):
    old = x.copy()
    u = 0.5 * x
    for _ in range(3):
        new = np.empty(len(u))
        for i in range(len(u)):
            new[i] = u[i] * old[i] + u[i] ** 2
        old = u
        u = new
    return np.sum(u * old)


@pytest.mark.parametrize("f", [steps_to_new_arrays, made_in_an_inner_loop, two_steps_back])
def test_arrays_are_kept_rather_than_their_elements(f) -> None:
    text = ad.source(ad.grad(f), X)
    assert "u_kept.append(u)" in text
    assert not re.search(r"\bt\w*_kept", text)
    check_grads(f, (X,))


def written_under_its_next_name(x):
    u = x.copy()
    for _ in range(3):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
        u[0] = u[1] * 0.5 + 1.0
    return np.sum(u)


def written_a_step_later(x):
    u = x.copy()
    for _ in range(3):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u[2] = new[1]
        new[0] = u[2] * u[3]
        u = new
    return np.sum(u)


def swapped(x):
    u, new = x.copy(), np.zeros(len(x))
    for _ in range(3):
        for i in range(1, len(x)):
            new[i] = u[i] * u[i - 1] + 0.3
        u, new = new, u
    return np.sum(u * u)


def written_after_the_loop(x):
    u = x.copy()
    for _ in range(2):
        new = np.ones(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
    total = np.sum(u**2)
    u[1:] = 2.0 * u[:-1]
    return total + np.sum(u**2)


def read_where_it_is_written(x):
    u = x.copy()
    for _ in range(2):
        new = np.ones(len(u))
        for _ in range(2):
            for i in range(1, len(u)):
                new[i] = new[i] * u[i] * new[i - 1]
        u = new
    return np.sum(u**2)


def made_on_one_path(x):
    u = x.copy()
    for k in range(4):
        new = np.zeros(len(u)) if k % 2 else u
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1] + 0.1
        u = new
    return np.sum(u**2)


def a_part_of_it(x):
    u = x.copy()
    for _ in range(3):
        new = np.ones(len(u))
        part = new[1:]
        for i in range(len(u) - 1):
            part[i] = u[i] * u[i + 1]
        part[0] = part[1] * new[2]
        u = new
    return np.sum(u**2)


def kept_in_a_list(x):
    states = [x.copy()]
    for _ in range(3):
        u = states[-1]
        new = np.ones(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        states.append(new)
        states[0][1] += new[2]
    return np.sum(states[-1] ** 2) + np.sum(states[0])


@pytest.mark.parametrize(
    "f",
    [
        written_under_its_next_name,
        written_a_step_later,
        swapped,
        written_after_the_loop,
        read_where_it_is_written,
        made_on_one_path,
        a_part_of_it,
        kept_in_a_list,
    ],
)
def test_what_is_written_later_is_kept(f) -> None:
    check_grads(f, (X,))
    value, pullback = ad.vjp(f, X)
    assert value == f(X)
    np.testing.assert_array_equal(pullback(1.0)[0], ad.grad(f)(X))


def state(x):
    u = x.copy()
    for _ in range(2):
        new = np.ones(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
    return u


def test_what_the_caller_has_may_be_written_by_the_caller() -> None:
    expected = ad.vjp(state, X)[1](np.ones(5))[0]
    value, pullback = ad.vjp(state, X)
    value[:] = 7.0
    np.testing.assert_array_equal(pullback(np.ones(5))[0], expected)
    check_grads(state, (X,))
