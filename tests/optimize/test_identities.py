"""``flag is True`` and ``x is None`` of numbers are decided by their types, in machine code, too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def by_identity(x: Any) -> Any:
    high = bool(x[0] > 0.1)
    total = x[0] ** 2 if high is False else x[1]
    total = total * x[1] if high is not True else total + x[0]
    if True is high:
        total = 2.0 * total
    if x[0] is None:
        total = 5.0 * total
    if x[1] is not None:
        total = 7.0 * total
    return total * x[0] if (x[0] > 0.2) is True else total  # a truth of NumPy's is never the one of Python


def by_a_flag(x: Any, flag: Any) -> Any:
    if flag is True:
        return x[0] ** 2
    return x[1] * x[0]


@pytest.mark.parametrize("native", [False, "strict"])
@pytest.mark.parametrize("x", [np.array([0.4, 0.7]), np.array([-0.4, 0.7]), np.array([0.15, 0.7])])
def test_identities_of_numbers(x: np.ndarray, native: Any) -> None:
    slopes = [(by_identity(x + s) - by_identity(x - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        df = ad.grad(by_identity, native=native)
        np.testing.assert_allclose(df(x), slopes, rtol=1e-6)
    assert " is " not in ad.source(df, x)


@pytest.mark.parametrize("flag", [True, False, 1, np.True_, None, 1.0])
def test_a_flag_of_any_kind(flag: Any) -> None:
    x = np.array([0.4, 0.7])
    expected = [0.8, 0.0] if flag is True else [0.7, 0.4]
    np.testing.assert_allclose(ad.grad(by_a_flag)(x, flag), expected)
