"""Of objects that a derivative is given, it reads the fields that it needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Model:
    weight: float
    bias: float
    names: list[str]


class WithProperty:
    def __init__(self) -> None:
        self.weight = 2.0
        self._reads = 0

    @property
    def other(self) -> float:
        return self.weight


class Watched:
    """Its attributes are given by its own code, as may be seen from outside."""

    def __init__(self) -> None:
        self.weight = 2.0
        self.bias = 1.0

    def __getattribute__(self, name: str) -> object:
        return object.__getattribute__(self, name)


def line(model: Model, x: float) -> float:
    return model.weight * x + model.bias


@pytest.mark.parametrize("model", [Model(2.0, 1.0, ["a"]), WithProperty()])
def test_fields_that_nobody_reads_are_left_out(model: object) -> None:
    def f(x: float) -> float:
        return model.weight * x  # type: ignore[attr-defined]

    source = ad.source(ad.grad(f), 3.0)
    assert "model.weight" in source
    assert source.count("model.") == 1, source


def test_fields_that_the_value_needs_alone_are_left_out_of_the_gradient() -> None:
    model = Model(2.0, 1.0, ["a"])
    assert "bias" not in ad.source(ad.grad(line, 1), model, 3.0)
    assert "bias" in ad.source(ad.value_and_grad(line, 1), model, 3.0)


def test_attributes_given_by_code_are_read() -> None:
    watched = Watched()

    def f(x: float) -> float:
        return watched.weight * x

    assert ad.grad(f)(3.0) == 2.0
    assert "watched.bias" in ad.source(ad.grad(f), 3.0)


def test_a_field_that_is_set_later_counts() -> None:
    model = Model(2.0, 1.0, ["a"])
    gradient = ad.grad(line, 1)
    assert gradient(model, 3.0) == 2.0
    model.weight = 5.0
    assert gradient(model, np.float64(3.0)) == 5.0
