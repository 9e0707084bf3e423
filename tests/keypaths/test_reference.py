"""The reference system's cases and samples on key paths."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adjoint as ad

DATA = Path(__file__).resolve().parents[1] / "data" / "reference_cases.json"
CASES = {case["id"]: case for case in json.loads(DATA.read_text())["cases"]}


class Simple(ad.KeyPathIterable):
    w: float
    b: float

    def __init__(self, w: float, b: float) -> None:
        self.w, self.b = w, b

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simple) and (self.w, self.b) == (other.w, other.b)


class Mixed(ad.KeyPathIterable):
    def __init__(self) -> None:
        self.string, self.float, self.int = "foo", 3.0, 0


class Nested(ad.KeyPathIterable):
    simple: Final[Simple]
    mixed: Mixed

    def __init__(self) -> None:
        self.simple = Simple(1.0, 2.0)
        self.mixed = Mixed()


class Complex(ad.KeyPathIterable):
    float: float
    simple: Final[Simple]
    optional: Final[Simple | None]
    array: Final[list[Simple]]
    dictionary: dict[str, Simple]

    def __init__(self) -> None:
        self.float = 1.0
        self.simple = Simple(3.0, 4.0)
        self.optional = Simple(5.0, 6.0)
        self.array = [Simple(5.0, 6.0), Simple(7.0, 8.0)]
        self.dictionary = {"foo": Simple(1.0, 2.0), "bar": Simple(3.0, 4.0)}


def texts(paths: list[Any]) -> list[str]:
    return [str(path)[1:].replace("['foo']", "[k1]").replace("['bar']", "[k2]") for path in paths]


def test_simple() -> None:
    case = CASES["keypath.simple"]
    value = Simple(**case["value"])
    assert texts(value.all_key_paths()) == case["all"] == texts(value.recursively_all_key_paths())
    assert texts(value.all_key_paths(to=float)) == case["to_float"] == texts(value.recursively_all_key_paths(to=float))
    assert texts(value.all_writable_key_paths(to=float)) == case["writable_float"]
    assert texts(value.all_key_paths(to=int)) == case["to_int"]
    assert texts(value.recursively_all_key_paths(to=np.float64)) == case["recursive_double"]
    for path in value.all_writable_key_paths(to=float):
        value[path] *= 2.0
    assert vars(value) == case["after_doubling"]


def test_nested() -> None:
    case = CASES["keypath.nested"]
    value = Nested()
    assert texts(value.all_key_paths()) == case["all"]
    assert texts(value.recursively_all_key_paths()) == case["recursive"]
    assert texts(value.recursively_all_key_paths(to=float)) == case["recursive_float"]
    assert texts(value.recursively_all_writable_key_paths(to=float)) == case["recursive_writable_float"]
    assert texts(value.recursively_all_key_paths(to=int)) == case["recursive_int"]
    assert texts(value.recursively_all_key_paths(to=str)) == case["recursive_string"]
    assert texts(value.all_key_paths(to=float)) == case["all_float"]
    for path in value.recursively_all_writable_key_paths(to=float):
        value[path] *= 100.0
    assert value.mixed.float == 300.0 and value.simple == Simple(1.0, 2.0)


def test_complex() -> None:
    case = CASES["keypath.complex"]
    value = Complex()
    # Python needs no step from an optional to what is there: the path to one is the path to the other.
    expected = list(dict.fromkeys(path.replace("!", "") for path in case["recursive"]))
    assert texts(value.recursively_all_key_paths()) == expected
    paths = value.recursively_all_writable_key_paths(to=float)
    assert texts(paths) == case["recursive_writable_float"]
    for path in paths:
        value[path] += 1.0
    after = case["after"]
    assert value.float == after["float"] and value.simple == Simple(*after["simple"])
    assert value.optional == Simple(*after["optional"])
    assert value.array == [Simple(*pair) for pair in after["array"]]
    assert value.dictionary == {key: Simple(*pair) for key, pair in after["dictionary"].items()}


def test_writability_of_integers_below_mutable_parts() -> None:
    """The case lists none, because there the integer is a constant of its class; here it is declared as one."""

    class Constant(ad.KeyPathIterable):
        int: Final[int]

        def __init__(self) -> None:
            self.int = 0

    assert (
        texts(Constant().recursively_all_writable_key_paths(to=int))
        == (CASES["keypath.nested"]["recursive_writable_int"])
    )


def test_equality_and_hashes_by_key_paths() -> None:
    class Person:
        def __init__(self, name: str, age: int, friends: list[Any]) -> None:
            self.name, self.age, self.friends = name, age, friends

        def __eq__(self, other: object) -> bool:
            return all(path.get(self) == path.get(other) for path in ad.all_key_paths(self))

        def __hash__(self) -> int:
            return hash(tuple(str(path.get(self)) for path in ad.all_key_paths(self)))

    john, again = Person("John", 30, []), Person("John", 30, [])
    assert john == again and hash(john) == hash(again)
    assert john != Person("Jane", 27, [john])


def test_a_list_of_tangents() -> None:
    @ad.differentiable
    class Container:
        values: list[float]

    tangent = ad.grad(lambda c: sum(k * v for k, v in enumerate(c.values, start=1)))(Container([0.0, 0.0, 0.0]))
    paths = ad.recursively_all_key_paths(tangent, to=float)
    assert [path.get(tangent) for path in paths] == CASES["keypath.array_view"]["expected"]


# -- the samples of the document


def relu(x):
    return np.maximum(x, 0.0)


@ad.differentiable
class DenseLayer(ad.KeyPathIterable):
    weight: np.ndarray
    bias: np.ndarray
    activation: ad.NoDerivative[Callable] = relu

    def applied(self, inputs):
        return self.activation(inputs @ self.weight + self.bias)


@ad.differentiable
class MyMLModel(ad.KeyPathIterable):
    layers: list[DenseLayer]
    final_weight: np.ndarray
    is_training: ad.NoDerivative[bool] = True


def single(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def dense() -> DenseLayer:
    return DenseLayer(single([[1, 1], [1, 1]]), single([1]))


def test_all_key_paths_of_a_layer() -> None:
    parameters = dense()
    values = [parameters[path] for path in parameters.all_key_paths()]
    assert [np.array_equal(a, b) for a, b in zip(values[:2], ([[1, 1], [1, 1]], [1]), strict=True)] == [True, True]
    assert values[2] is relu


def test_update_of_a_layer() -> None:
    parameters = dense()
    gradient = DenseLayer(single([[0.5, 0.5], [0.5, 0.5]]), single([0.5]))
    for path in parameters.all_writable_key_paths(to=np.float32):
        parameters[path] -= 0.1 * gradient[path]
    np.testing.assert_allclose(parameters.weight, [[0.95, 0.95], [0.95, 0.95]])
    np.testing.assert_allclose(parameters.bias, [0.95])
    assert parameters.weight.dtype == np.float32


def test_six_tensors_of_a_classifier() -> None:
    @ad.differentiable
    class Classifier(ad.KeyPathIterable):
        dense1: DenseLayer
        dense2: DenseLayer
        dense3: DenseLayer

    found = texts(Classifier(dense(), dense(), dense()).recursively_all_writable_key_paths(to=np.float32))
    assert found == [f"dense{k}.{name}" for k in (1, 2, 3) for name in ("weight", "bias")]
    assert texts(ad.recursively_all_key_paths(Classifier, to=np.ndarray)) == found


def test_collections() -> None:
    assert [str(path) for path in ad.all_key_paths([7.0, 8.0])] == ["[0]", "[1]"]
    assert [str(path) for path in ad.all_key_paths({"a": 1.0, "b": 2.0})] == ["['a']", "['b']"]


def test_nested_update() -> None:
    model = MyMLModel([dense(), dense()], single([[1, 1], [1, 1]]))
    for path in model.recursively_all_writable_key_paths(to=np.float32):
        model[path] -= 0.1 * model[path]
    for layer in model.layers:
        np.testing.assert_allclose(layer.weight, [[0.9, 0.9], [0.9, 0.9]], rtol=1e-6)
        np.testing.assert_allclose(layer.bias, [0.9], rtol=1e-6)
        assert layer.activation is relu
    np.testing.assert_allclose(model.final_weight, [[0.9, 0.9], [0.9, 0.9]], rtol=1e-6)
    assert model.is_training is True


def test_a_key_path_of_the_model_that_its_gradient_lacks() -> None:
    model = MyMLModel([dense(), dense()], single([[1, 1], [1, 1]]))
    gradient = ad.grad(lambda model: np.sum(model.final_weight @ model.layers[0].weight))(model)
    for path in model.recursively_all_writable_key_paths(to=np.float32):
        assert gradient[path].shape == model[path].shape
    with pytest.raises(ad.KeyPathError, match=r"there is no \.is_training"):
        gradient[ad.keypath(MyMLModel).is_training]
    shorter = MyMLModel([dense()], single([[1.0]]))
    with pytest.raises(ad.KeyPathError, match=r"there is no \[1\] in \.layers"):
        shorter[ad.keypath(MyMLModel).layers[1].bias]


def test_all_differentiable_variables() -> None:
    layer = dense()
    variables = layer.differentiable_variables
    assert variables == DenseLayer.TangentVector(weight=single([[1, 1], [1, 1]]), bias=single([1]))
    assert type(variables) is DenseLayer.DifferentiableVariables is DenseLayer.TangentVector
    gradient = ad.grad(lambda layer: np.sum(layer.applied(np.ones((2, 2), np.float32))))(layer)
    assert gradient == DenseLayer.TangentVector(weight=single([[2, 2], [2, 2]]), bias=single([4]))
