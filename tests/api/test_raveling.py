"""Structures as vectors, and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad


@dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    bias: float
    name: str = "tanh"


@dataclass
class Model:
    layers: list[Layer]
    scale: float
    count: int = 3
    rate: ad.NoDerivative[float] = field(default=0.1)


class Point(NamedTuple):
    x: float
    y: np.ndarray


MODEL = Model([Layer(np.ones((2, 2)), 0.5), Layer(np.arange(4.0).reshape(2, 2), 1.5, "id")], 2.0)
X = np.array([0.1, 0.2])


def loss(model: Model, x: Any) -> Any:
    for layer in model.layers:
        x = layer.weight @ x + layer.bias
        if layer.name == "tanh":
            x = np.tanh(x)
    return model.scale * np.sum(x * x) * model.count * model.rate


def test_vectors() -> None:
    vector, unravel = ad.ravel(MODEL)
    np.testing.assert_array_equal(vector, [1, 1, 1, 1, 0.5, 0, 1, 2, 3, 1.5, 2])
    again = unravel(vector)
    assert type(again) is Model and type(again.layers[1]) is Layer and again.layers[1].name == "id"
    assert type(again.scale) is float and again.count == 3 and again.rate == 0.1
    np.testing.assert_array_equal(again.layers[1].weight, MODEL.layers[1].weight)
    assert loss(unravel(2.0 * vector), X) != loss(MODEL, X)
    assert MODEL.scale == 2.0


@pytest.mark.parametrize(
    "value", [2.0, np.float32(2.0), np.ones((2, 3)), (1.0, [2.0, {"a": 3.0, "n": 4}]), Point(1.0, np.ones(2))]
)
def test_structures(value: Any) -> None:
    vector, unravel = ad.ravel(value)
    again = unravel(vector)
    assert type(again) is type(value)
    np.testing.assert_array_equal(ad.ravel(again)[0], vector)


def test_gradients_through_the_way_back() -> None:
    vector, unravel = ad.ravel(MODEL)
    through = ad.grad(lambda v: loss(unravel(v), X))(vector)
    np.testing.assert_allclose(through, ad.ravel(ad.grad(loss)(MODEL, X))[0])
    ad.testing.check_grads(lambda v: loss(unravel(v), X), (vector,))
    assert ad.hessian(lambda v: loss(unravel(v), X))(vector).shape == (11, 11)


def test_scipy() -> None:
    from scipy.optimize import minimize

    vector, unravel = ad.ravel({"a": 0.0, "b": np.zeros(2)})
    distance = lambda v: (unravel(v)["a"] - 1.0) ** 2 + np.sum((unravel(v)["b"] - 2.0) ** 2)
    found = unravel(minimize(ad.value_and_grad(distance), vector, jac=True).x)
    assert found["a"] == pytest.approx(1.0)
    np.testing.assert_allclose(found["b"], [2.0, 2.0])


def test_nothing_to_ravel() -> None:
    with pytest.raises(ad.DifferentiationError, match="holds no floats"):
        ad.ravel({"name": "x", "n": 3})
