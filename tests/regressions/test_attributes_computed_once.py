"""Attributes that a descriptor computes when they are first asked for, of objects that hold others of the kind."""

from typing import Any

import numpy as np

import adjoint as ad
from regressions.differences import right, second


class Once:
    """What a method gives, kept in a dict of the object's own."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = function.__name__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        try:
            kept = owner.kept
        except AttributeError:
            kept = owner.kept = {}
        value = kept.get(self.name, None)
        if value is None:
            value = self.function(owner)
            kept[self.name] = value
        return value


class Sample:
    def __init__(self, values: Any, weights: Any = None) -> None:
        self.values = np.asarray(values)
        self.weights = np.ones(len(self.values)) if weights is None else np.asarray(weights)

    @Once
    def count(self) -> Any:
        return np.sum(self.weights)

    @Once
    def mean(self) -> Any:
        return np.sum(self.values * self.weights) / self.count

    @Once
    def variance(self) -> Any:
        return np.sum(self.weights * (self.values - self.mean) ** 2) / self.count


class Pair:
    def __init__(self, one: Sample, other: Sample) -> None:
        self.one = one
        self.other = other

    @Once
    def spread(self) -> Any:
        return np.sqrt(self.one.variance + self.other.variance)

    def statistic(self) -> Any:
        return (self.one.mean - self.other.mean) / self.spread


def of_one(x: Any) -> Any:
    sample = Sample(x)
    return sample.variance * sample.mean


def of_two(x: Any) -> Any:
    return Pair(Sample(x), Sample(x[:3] ** 2, x[1:])).statistic()


def asked_for_twice(x: Any) -> Any:
    pair = Pair(Sample(x), Sample(x * x))
    return pair.spread * pair.statistic() + pair.spread


X = np.array([0.3, 1.1, 0.8, 1.9])


def test_an_attribute_asks_for_another_one() -> None:
    for f in (of_one, of_two, asked_for_twice):
        right(f, X)
        second(f, X)


def test_machine_code() -> None:
    np.testing.assert_allclose(ad.grad(of_two, native=True)(X), ad.grad(of_two)(X), rtol=1e-12)
