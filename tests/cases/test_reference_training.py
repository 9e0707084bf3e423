"""The reference system's cases of optimizers and parameter updates, with its numbers."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from cases.loading import load

CASES = {case["id"]: case for case in load()}
KINDS = ("optimizer", "convergence", "optimizer_doc", "parameter_update", "parameter_synthesis", "training")


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES.values() if case["kind"] == kind]


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return x @ self.weight + self.bias


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "native"])
@pytest.mark.parametrize("case", of_kind("optimizer"))
def test_optimizer(case: dict[str, Any], native: bool) -> None:
    optimizer = getattr(ad.optim, case["optimizer"])(**case["hyperparameters"], native=native)
    dtype = np.dtype(case["dtype"])
    parameters, gradient = np.array(case["start"], dtype), np.array(case["gradient"], dtype)
    for _ in range(case["steps"]):
        optimizer.update(parameters, along=gradient)
    np.testing.assert_allclose(parameters, case["expected"], rtol=case["rtol"])


def mean_squared_error(layer, x, y):
    return np.mean((layer(x) - y) ** 2)


@pytest.mark.parametrize("case", of_kind("convergence"))
def test_convergence(case: dict[str, Any]) -> None:
    layer = Dense(np.full((1, 1), case["start"]["weight"], np.float32), np.full(1, case["start"]["bias"], np.float32))
    x = np.arange(-1, 1, 0.01, np.float32)[:, None]
    y = x + 1
    optimizer = getattr(ad.optim, case["optimizer"])(**case["hyperparameters"])
    gradient = ad.grad(mean_squared_error)
    for step in range(1, case["max_steps"] + 1):
        optimizer.update(layer, along=gradient(layer, x, y))
        if np.all(np.abs(layer(x) - y) < np.sqrt(2.0**-23)):
            break
    assert abs(step - case["steps_when_simulated"]["float32"]) <= 2


def test_document_sgd() -> None:
    case = CASES["opt.seed_sgd_doc"]
    dense = Dense(*[np.array(case["start"][name], float) for name in ("weight", "bias")])
    gradient = ad.grad(lambda dense: np.sum(dense(np.ones((2, 2)))))(dense)
    np.testing.assert_array_equal(gradient.weight, case["gradient"]["weight"])
    ad.optim.SGD().update(dense, along=gradient)
    np.testing.assert_allclose(dense.weight, case["expected"]["weight"], rtol=1e-15)
    np.testing.assert_allclose(dense.bias, case["expected"]["bias"], rtol=1e-15)


def test_document_mixed() -> None:
    case = CASES["opt.seed_mixed_doc"]
    mixed = {"weight": np.ones((2, 2), np.float32), "bias": np.array(1.0)}
    gradient = {"weight": np.full((2, 2), 0.5, np.float32), "bias": np.array(0.5)}
    ad.optim.SGD(only=np.float32).update(mixed, along=gradient)
    assert mixed["bias"] == 1.0
    ad.optim.SGD(only=np.float64).update(mixed, along=gradient)
    np.testing.assert_allclose(mixed["weight"], case["expected"]["weight"], rtol=1e-7)
    assert mixed["bias"] == case["expected"]["bias"]


def test_document_adam() -> None:
    case = CASES["seed_era.adam_first_step"]
    found = ad.optim.Adam().updated(case["start"], along=case["gradient"])
    assert found == pytest.approx(case["expected"], abs=case["tol"])


@dataclass
class Weights(ad.Parameterized):
    w: np.ndarray = ad.parameter()
    b: np.ndarray = ad.parameter()


@dataclass
class Nested(ad.Parameterized):
    layer: Weights = ad.parameter()
    tensor: np.ndarray = ad.parameter()


def test_aggregate_update() -> None:
    @dataclass
    class Parameters(ad.ParameterAggregate):
        w: np.ndarray
        b: float

    parameters = Parameters(np.ones((2, 2)), 1.0)
    parameters.update(Parameters(np.full((2, 2), 0.5), 0.5), lambda p, g: p - 0.1 * g)
    expected = CASES["param.aggregate_update"]["expected"]
    np.testing.assert_allclose(parameters.w, expected["w"], rtol=1e-15)
    assert parameters.b == expected["b"]


@pytest.mark.parametrize("name", ["plus", "array", "self"])
def test_updates_with_operators(name: str) -> None:
    case = CASES[f"seed_era.aggregate_update_{name}"]

    def made(values: dict[str, Any]) -> Weights:
        return Weights(*[np.array(values.get(field, 0.0), float) for field in ("w", "b")])

    model = made(case["start"])
    same = case["gradient"] == "all_parameters"
    gradients = model.all_parameters if same else made(case["gradient"]).all_parameters
    model.update_parameters(gradients, {"p += g": operator.iadd, "p -= g": operator.isub}[case["updater"]])
    for field, expected in case["expected"].items():
        np.testing.assert_array_equal(getattr(model, field), expected)


@pytest.mark.parametrize("case", of_kind("parameter_synthesis"))
def test_nested_parameters(case: dict[str, Any]) -> None:
    def made(spec: Any) -> Any:
        layer = Weights.Parameters(*[np.array(spec["layer"][name], float) for name in ("w", "b")])
        return Nested.Parameters(layer, np.array(spec["tensor"], float))

    model = Nested(Weights(np.zeros((2, 2)), np.array(0.0)), np.zeros(2))
    model.all_parameters = made(case["start"])
    order: list[str] = []
    names = iter(case["visiting_order"])

    def update(p: Any, g: Any) -> Any:
        order.append(next(names))
        return p - 0.1 * g

    model.update_parameters(made(case["gradient"]), update)
    assert order == case["visiting_order"]
    expected = made(case["expected"])
    for found, wanted in ad.zip_parameters(model.all_parameters, expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_nested_parameters_write_through() -> None:
    assert "param.nested_all_parameters" in CASES
    model = Nested(Weights(np.ones(2), np.ones(1)), np.ones(3))
    parameters = model.all_parameters
    assert isinstance(parameters.layer, Weights.Parameters)
    parameters.layer.w = np.full(2, 5.0)
    model.all_parameters = parameters
    np.testing.assert_array_equal(model.layer.w, [5.0, 5.0])


def test_line_through_points() -> None:
    case = CASES["param.tf_graph_linear"]
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, 2.0, 3.0])

    def loss(line):
        w, b = line
        return np.sum((w * x + b - y) ** 2)

    value, gradient = ad.value_and_grad(loss)(tuple(case["inputs"]))
    assert value == pytest.approx(case["expected"]["loss"], rel=1e-12)
    assert gradient == pytest.approx(tuple(case["expected"]["gradient"]), rel=1e-12)
    after = ad.optim.SGD(0.01).updated(tuple(case["inputs"]), along=gradient)
    assert after == pytest.approx(tuple(case["expected"]["after_step"]), rel=1e-12)


@dataclass
class Classifier:
    l1: Dense
    l2: Dense

    def __call__(self, x):
        return np.maximum(self.l2(np.maximum(self.l1(x), 0.0)), 0.0)


@pytest.mark.parametrize("make", [lambda: ad.optim.SGD(0.02), lambda: ad.optim.Adam(0.02)], ids=["SGD", "Adam"])
def test_xor(make: Any) -> None:
    case = CASES["train.xor"]
    rng = np.random.default_rng(2)
    shapes = ((2, 4), (4, 1))
    layers = [Dense(rng.uniform(-1, 1, shape) * np.sqrt(6 / sum(shape)), np.zeros(shape[1])) for shape in shapes]
    model, optimizer, gradient = Classifier(*layers), make(), ad.grad(mean_squared_error)
    x, y = np.array(case["x"], float), np.array(case["y"], float)
    for _ in range(3000):
        optimizer.update(model, along=gradient(model, x, y))
    np.testing.assert_array_equal(np.round(model(x)), y)
    if isinstance(optimizer, ad.optim.Adam):
        np.testing.assert_allclose(model(x), case["seed_001_prediction"], atol=1e-4)


def test_every_case_of_these_kinds_is_run() -> None:
    run = {
        "optimizer": 11,
        "convergence": 4,
        "optimizer_doc": 3,
        "parameter_update": 5,
        "parameter_synthesis": 1,
        "training": 2,
    }
    assert {kind: sum(case["kind"] == kind for case in CASES.values()) for kind in KINDS} == run
