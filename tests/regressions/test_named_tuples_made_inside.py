"""Classes of named tuples that a function makes when it is called: results of several parts are given names so."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused
from sampling import check_grads

X = np.array([0.3, 0.7, 1.1])


def wavelet(x: Any) -> Any:
    Wavelet = namedtuple("Wavelet", ["amplitude", "time"])
    return Wavelet(x * 2.0, x[0])


def parts(x: Any) -> Any:
    amplitude, time = wavelet(x)
    return np.sum(amplitude**2) * time + np.sum(wavelet(x).amplitude)


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        Pair = namedtuple("Pair", "a b")
        pair = Pair(x * i, b=x[i] ** 2)
        total = total + np.sum(pair.a) * pair.b + pair._replace(a=x)[0][1]
    return total


def with_defaults(x: Any) -> Any:
    Pair = namedtuple("Pair", ("a", "b"), defaults=(2.0,))
    pair = Pair(x * x)
    return np.sum(pair.a) * pair.b if isinstance(pair, Pair) else 0.0 * x[0]


@pytest.mark.parametrize("function", [parts, in_a_loop, with_defaults])
def test_they_are_differentiated(function: Any) -> None:
    check_grads(function, (X,))
    assert ad.grad(function, native=True)(X) == pytest.approx(ad.grad(function)(X), rel=1e-13)


def test_they_are_results() -> None:
    value, moved = ad.jvp(wavelet, (X,), (X,))
    assert type(value).__name__ == "Wavelet" and type(value).__module__ == __name__
    assert value.time == X[0] and moved.amplitude.tolist() == (2.0 * X).tolist()


def test_names_that_do_not_fit_are_refused() -> None:
    def twice(x: Any) -> Any:
        return namedtuple("Twice", "a a")(x, x)

    assert "duplicate field name" in str(refused(lambda: ad.grad(twice)(0.7)))
