"""What the reverse sweep finds of the forward sweep: as little as will do, and where it can be looked up at once."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from golden.programs import vibrating
from native.machine_form import machine_text
from sampling import check_grads

X = np.array([0.7, -0.4, 0.9, 0.3, 1.1])


def test_one_number_is_kept_rather_than_the_three_that_it_is_made_of() -> None:
    text = ad.source(ad.grad(vibrating), X, 3)
    assert text.count("_kept = []") == 1
    check_grads(lambda c: vibrating(c, 3), (X,))


@pytest.mark.usefixtures("machine_form")
def test_loops_whose_ends_are_computed_in_others_keep_numbers_in_one_array() -> None:
    expected = [ad.grad(vibrating)(X[:count], 3) for count in (0, 1, 2, 3, 5)]
    gradient = ad.grad(vibrating, native=True)
    for count, slope in zip((0, 1, 2, 3, 5), expected, strict=True):
        np.testing.assert_allclose(gradient(X[:count], 3), slope, rtol=1e-13)
    text = machine_text(gradient, X, 3)
    assert ".append(" not in text
    assert text.count("t_kept = np.empty(") == 1


def _decays(x: float, rate: float, steps: int) -> float:
    state = (x, rate)
    for _ in range(steps):
        value, rate_now = state
        state = value * np.exp(-rate_now * value), rate_now
    return state[0]


def test_what_no_iteration_changes_is_not_kept() -> None:
    text = ad.source(ad.grad(_decays, wrt=(0, 1)), 0.7, 0.3, 4)
    assert "rate" not in text.partition("for ")[0].partition("\n")[2]
    assert text.count("_kept = ") == 1
    check_grads(lambda x, rate: _decays(x, rate, 4), (0.7, 0.3))


def _turned_back(v: np.ndarray, a: np.ndarray) -> float:
    for _ in range(3):
        v = np.sin(a.T @ (a @ v))
    return np.sum(v)


def test_views_of_what_stays_are_made_again() -> None:
    text = ad.source(ad.grad(_turned_back, wrt=(0, 1)), X[:3], np.outer(X, X[:3]))
    assert not any("append" in line and "a.T" in line for line in text.splitlines())
    assert text.count(" = []") == 3
    check_grads(_turned_back, (X[:3], np.outer(X, X[:3])))


def _recurrent(w: np.ndarray, h: np.ndarray, steps: int) -> float:
    for _ in range(steps):
        h = np.tanh(w @ h)
    return np.sum(h)


def _settling(x: float) -> float:
    while x > 0.2:
        x = np.tanh(0.9 * x) * x
    return x


def _in_rounds(w: np.ndarray, h: np.ndarray, rounds: int) -> float:
    for _ in range(rounds):
        h = h * h
        for _ in range(2):
            h = np.tanh(w @ h)
    return h @ h


W = np.outer(X[:3], X[1:4])


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_what_an_iteration_hands_to_the_next_one_is_kept_once(steps: int) -> None:
    text = ad.source(ad.grad(_recurrent, wrt=(0, 1)), W, X[:3], steps)
    assert text.count("_kept = []") == 1
    assert text.count("tanh") == 1
    check_grads(lambda w, h: _recurrent(w, h, steps), (W, X[:3]))
    check_grads(lambda w, h: _in_rounds(w, h, steps), (W, X[:3]))


def test_loops_that_end_by_a_condition_carry_what_the_next_iteration_began_with() -> None:
    text = ad.source(ad.grad(_settling), 1.7)
    assert text.count("tanh") == 2  # the factor is computed again, the product is not
    check_grads(_settling, (1.7,))
    assert ad.grad(_settling)(0.1) == 1.0
