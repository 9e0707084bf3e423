"""Tangents answer the module ``dataclasses``: of an object with the fields that it has."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

import adjoint as ad


@dataclass
class Model:
    scale: float
    weight: np.ndarray
    count: int = 2


def loss(model: Model) -> float:
    return model.scale * float(np.sum(model.weight))


def test_fields_and_replace() -> None:
    gradient = ad.grad(loss)(Model(2.0, np.ones(2)))
    assert dataclasses.is_dataclass(gradient)
    assert [field.name for field in dataclasses.fields(gradient)] == ["scale", "weight"]
    other = dataclasses.replace(gradient, scale=3.0)
    assert type(other) is type(gradient) and other.scale == 3.0 and other.weight is gradient.weight
    assert dataclasses.asdict(gradient)["scale"] == 2.0
    assert [len(np.shape(part)) for part in dataclasses.astuple(gradient)] == [0, 1]


def test_the_class() -> None:
    cls = ad.types.tangent_class(Model)
    assert [field.name for field in dataclasses.fields(cls)] == ["scale", "weight", "count"]


def test_what_is_missing_is_no_field() -> None:
    gradient = ad.grad(lambda model: model.scale * model.scale)(Model(2.0, np.ones(2)))
    names = [field.name for field in dataclasses.fields(gradient)]
    assert all(hasattr(gradient, name) for name in names)
    assert dataclasses.replace(gradient).scale == 4.0
    assert (gradient + gradient).scale == 8.0


def test_second_derivatives() -> None:
    found = ad.hessian(lambda model: model.scale**2)(Model(2.0, np.ones(2)))
    assert [field.name for field in dataclasses.fields(found)][0] == "scale"
