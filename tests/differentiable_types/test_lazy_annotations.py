"""Annotations that are evaluated when they are asked for (from Python 3.14 on), with names that nobody defines."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

import adjoint as ad
from adjoint.types.classes.annotations import annotations_of, field_types, signature

if TYPE_CHECKING:
    from nowhere import Unknown

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated at once")


@pytest.fixture(scope="module")
def made():
    @dataclass
    class Model:
        scale: float
        data: Unknown
        following: Model | None = None  # noqa: F821

    class Plain:
        data: Unknown
        scale: float

        def __init__(self, scale, data):
            self.scale, self.data = scale, data

    def loss(x: Unknown, *rest: Unknown, power: float = 2.0) -> Unknown:
        return np.sum(x**power)

    return Model, Plain, loss


def test_what_is_known_counts(made) -> None:
    model, plain, loss = made
    assert field_types(model)["scale"] is float
    assert list(field_types(plain)) == ["data", "scale"]
    assert list(signature(loss).parameters) == ["x", "rest", "power"]
    assert annotations_of(loss)["power"] is float


@pytest.mark.parametrize("native", [False, True])
def test_functions(made, native: bool) -> None:
    x = np.array([1.0, 2.0])
    assert ad.grad(made[2], wrt="x", native=native)(x=x) == pytest.approx(2 * x)


@pytest.mark.parametrize("place", [0, 1])
def test_objects(made, place: int) -> None:
    def energy(model: Unknown) -> float:
        return model.scale**2 * np.sum(model.data)

    slope = ad.grad(energy)(made[place](3.0, np.array([1.0, 2.0])))
    assert slope.scale == pytest.approx(18.0)
    assert slope.data == pytest.approx([9.0, 9.0])


def test_declared_derivatives(made) -> None:
    def cube(x: Unknown) -> Unknown:
        return x**3

    @ad.derivative_of(cube)
    def _(x: Unknown) -> Unknown:
        return x**3, lambda ct: (ct * 10.0,)

    assert ad.grad(lambda x: cube(x))(2.0) == 10.0
