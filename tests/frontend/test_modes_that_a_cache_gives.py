"""Global variables that are given what a cache gives: texts and numbers, of which the call tells only what they are."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import adjoint as ad

MODE = "ignore"


@functools.cache
def checked_mode(mode: str) -> str:
    lower = mode.lower()
    if lower not in ("ignore", "raise"):
        raise ValueError(mode)
    return lower


@functools.cache
def made_for(mode: str) -> list:
    return [mode]


class dividing:
    """A context manager that sets a mode, and sets back what was there."""

    def __init__(self, mode, make=checked_mode):
        self.mode, self.before, self.make = mode, MODE, make

    def __enter__(self):
        global MODE
        MODE = self.make(self.mode)
        return self

    def __exit__(self, *args):
        global MODE
        MODE = checked_mode(self.before)


def divided(x, y):
    return x / y if MODE == "raise" else x / y + 1.0


def in_modes(x):
    with dividing("Raise"):
        total = divided(x[0], x[1])
        with dividing("Ignore"):
            total += divided(x[1], x[2]) ** 2
        total *= divided(x[2], 3.0)
    return total + divided(x[0], 5.0)


def with_a_list(x):
    with dividing("Raise", made_for):
        return divided(x[0], x[1])


@pytest.mark.parametrize("native", [False, True])
def test_texts_that_a_cache_gives_are_assigned_to_globals(native):
    x = np.array([0.7, -1.3, 0.4])
    numeric = [(in_modes(x + step) - in_modes(x - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    for _ in range(2):
        np.testing.assert_allclose(ad.grad(in_modes, native=native)(x), numeric, rtol=1e-8)
        assert MODE == "ignore"
    np.testing.assert_allclose(ad.jvp(in_modes, (x,), (np.ones(3),))[1], sum(numeric), rtol=1e-8)


@pytest.mark.parametrize("native", [False, True])
def test_lists_that_a_cache_gives_are_not(native):
    with pytest.raises(ad.DifferentiationError, match="'MODE', which outlives the call"):
        ad.grad(with_a_list, native=native)(np.array([0.7, -1.3, 0.4]))
    assert MODE == "ignore"
