"""Parts of arrays at an index of which it is not known what it is: a view that was made after a write is read."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import adjoint as ad
from regressions.differences import refused, right, second

X = np.array([0.4, 1.3, 0.7])


def row(rows: Any, place: int) -> Any:
    return rows[json.loads(str(place))]


def read_before(x: Any) -> Any:
    rows = np.outer(x, x)
    part = row(rows, 1)
    rows[1] = x * 5.0
    return np.sum(part * part)


def chosen_before(x: Any) -> Any:
    rows = np.outer(x, x)
    part = row(rows, 1) if x[0] > 0.0 else row(rows, 0) * 2.0
    rows[1] = x * 5.0
    return np.sum(part * part)


def guarded_before(x: Any) -> Any:
    rows = np.outer(x, x)
    try:
        part = row(rows, 1)
        slope = 1.0 / x[0]
    except ZeroDivisionError:
        part = slope = row(rows, 0)
    rows[1] = x * 5.0
    return np.sum(part * part * slope)


def of_the_iteration_before(x: Any) -> Any:
    rows, part, total = np.outer(x, x), x, 0.0
    for i in range(3):
        total += np.sum(part * part)
        part = row(rows, 1) if x[0] > 0.0 else row(rows, 0) * 2.0
        rows[1] = x * (5.0 + i)
    return total


@pytest.mark.parametrize("function", [read_before, chosen_before, guarded_before, of_the_iteration_before])
def test_views_that_were_written_since_are_refused(function: Callable[..., Any]) -> None:
    refusal = refused(lambda: ad.grad(function)(X))
    assert "may be a view of an array that was written since" in refusal.diagnostics[0].labels[0].text


def chosen_behind(x: Any) -> Any:
    rows = np.outer(x, x)
    rows[1] = x * 5.0
    part = row(rows, 1) if x[0] > 0.0 else row(rows, 0) * 2.0
    return np.sum(part**3)


def guarded_behind(x: Any) -> Any:
    rows = np.outer(x, x)
    rows[1] = x * 5.0
    try:
        part = row(rows, 1)
        slope = 1.0 / x[0]
    except ZeroDivisionError:
        part = slope = row(rows, 0)
    return np.sum(part**3 * slope)


def chosen_in_each_iteration(x: Any) -> Any:
    rows, total = np.outer(x, x), 0.0
    for i in range(3):
        rows[1] = x * (5.0 + i)
        part = row(rows, 1) if x[0] > 0.0 else row(rows, 0) * 2.0
        total += np.sum(part**3)
    return total


def by_scipy(x: Any) -> Any:
    sample = np.concatenate([np.sin(k * x) for k in range(1, 8)])
    return scipy.stats.kurtosistest(sample).statistic


def drawn(x: Any) -> Any:
    rng = np.random.default_rng(3)
    covariance, counts = np.diag([2.0, 1.0, 3.0]), rng.multinomial(7, [0.2, 0.3, 0.5])
    points = rng.multivariate_normal(x, covariance, size=2) * rng.dirichlet([1.0, 2.0, 3.0])
    return np.sum(points**2 * counts) + rng.multivariate_normal(x, covariance)[1] ** 3


@pytest.mark.parametrize(
    "function", [chosen_behind, guarded_behind, chosen_in_each_iteration, by_scipy, drawn], ids=lambda f: f.__name__
)
def test_views_that_are_made_after_a_write_are_read(function: Callable[..., Any]) -> None:
    right(function, X)
    second(function, X)


@pytest.mark.parametrize("size", [None, 2, (2, 3)])
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_draws_of_vectors_have_the_rank_that_they_have(make: Callable[[int], Any], size: Any) -> None:
    def f(x: float) -> Any:
        rng = make(3)
        points = rng.multivariate_normal([0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]], size)
        shares, counts = rng.dirichlet([1.0, 2.0], size=size), rng.multinomial(9, [0.4, 0.6], size)
        return np.sum(points * shares * counts * x**2) * points.ndim

    right(f, 0.7)
