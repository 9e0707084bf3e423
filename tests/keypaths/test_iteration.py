"""All key paths of values and classes: order, filters, writability."""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import adjoint as ad


def relu(x):
    return np.maximum(x, 0.0)


@dataclass
class DenseLayer(ad.KeyPathIterable):
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    activation: Any = relu


@dataclass
class MyMLModel(ad.KeyPathIterable):
    layers: list[DenseLayer]
    final_weight: NDArray[np.float32]
    is_training: bool = True


class Pair(NamedTuple):
    left: float
    right: float


def dense() -> DenseLayer:
    return DenseLayer(np.ones((2, 2), np.float32), np.ones(1, np.float32))


def texts(paths):
    return [str(path) for path in paths]


def test_declaration_order_with_non_parameters():
    layer = dense()
    assert texts(ad.all_key_paths(layer)) == [".weight", ".bias", ".activation"] == texts(layer.all_key_paths())
    assert [layer[path] is getattr(layer, str(path)[1:]) for path in layer.all_key_paths()] == [True] * 3


def test_parents_before_their_parts():
    model = MyMLModel([dense(), dense()], np.ones((2, 2), np.float32))
    assert texts(model.recursively_all_key_paths()) == [
        ".layers",
        ".layers[0]",
        ".layers[0].weight",
        ".layers[0].bias",
        ".layers[0].activation",
        ".layers[1]",
        ".layers[1].weight",
        ".layers[1].bias",
        ".layers[1].activation",
        ".final_weight",
        ".is_training",
    ]


def test_filters():
    @dataclass
    class Mixed:
        single: Any
        double: Any
        number: Any
        scalar: Any
        whole: Any
        flag: Any

    value = Mixed(np.ones(1, np.float32), np.ones(1), 1.0, np.float32(2.0), 3, True)
    assert texts(ad.all_key_paths(value, to=np.float32)) == [".single", ".scalar"]
    assert texts(ad.all_key_paths(value, to=np.dtype("f8"))) == [".double"]
    assert texts(ad.all_key_paths(value, to=float)) == [".number"]
    assert texts(ad.all_key_paths(value, to=int)) == [".whole"]
    assert texts(ad.all_key_paths(value, to=np.ndarray)) == [".single", ".double"]
    assert texts(ad.all_key_paths(value, to=(float, bool))) == [".number", ".flag"]
    assert texts(ad.all_key_paths(value, to=lambda part: np.shape(part) == (1,))) == [".single", ".double"]
    assert ad.all_key_paths(value, to=object) == []
    with pytest.raises(TypeError, match="to="):
        ad.all_key_paths(value, to="float")


def test_containers():
    value = {"a": [1.0, (2.0, Pair(3.0, 4.0))], "b": None}
    paths = ad.recursively_all_key_paths(value, to=float)
    assert texts(paths) == ["['a'][0]", "['a'][1][0]", "['a'][1][1].left", "['a'][1][1].right"]
    assert [path.get(value) for path in paths] == [1.0, 2.0, 3.0, 4.0]
    assert texts(ad.recursively_all_writable_key_paths(value, to=float)) == ["['a'][0]"]
    assert texts(ad.all_writable_key_paths(value)) == ["['a']", "['b']"]


def test_optional_parts_have_parts_when_they_are_there():
    @dataclass
    class Model:
        layer: DenseLayer | None

    assert texts(ad.recursively_all_key_paths(Model(None))) == [".layer"]
    assert texts(ad.recursively_all_key_paths(Model(dense()), to=np.float32)) == [".layer.weight", ".layer.bias"]


def test_nothing_below_what_is_read_only_is_writable():
    @dataclass(frozen=True)
    class Frozen:
        layers: list[float]

    @dataclass
    class Model:
        fixed: Final[list[float]]
        frozen: Frozen
        free: list[float]

    value = Model([1.0], Frozen([2.0]), [3.0])
    assert texts(ad.recursively_all_writable_key_paths(value)) == [".frozen", ".free", ".free[0]"]
    assert all(isinstance(p, ad.WritableKeyPath) for p in ad.recursively_all_writable_key_paths(value))
    kinds = {str(p): type(p) for p in ad.recursively_all_key_paths(value)}
    assert kinds[".frozen.layers[0]"] is ad.KeyPath and kinds[".free[0]"] is ad.WritableKeyPath


def test_read_only_properties_and_slots():
    class Point:
        __slots__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    assert texts(ad.all_writable_key_paths(Point(1.0, 2.0))) == [".x", ".y"]


def test_a_type_says_itself_what_its_parts_are():
    class Grid:
        def __init__(self, cells):
            self.cells, self.cache = cells, {}

        def key_paths(self):
            yield "cells"
            yield ad.keypath().cells[0]

    grid = Grid([1.0, 2.0])
    assert texts(ad.all_key_paths(grid)) == [".cells", ".cells[0]"]
    assert ad.recursively_all_key_paths([grid], to=float)[0].get([grid]) == 1.0
    assert all(isinstance(path, ad.WritableKeyPath) for path in ad.all_key_paths(grid))


def test_what_holds_itself_ends():
    loop: list = [1.0]
    loop.append(loop)
    assert texts(ad.recursively_all_key_paths(loop)) == ["[0]", "[1]"]


def test_classes_whose_structure_is_declared():
    @dataclass
    class Two:
        first: DenseLayer
        second: tuple[DenseLayer, float]
        count: int = field(default=0)

    assert texts(ad.recursively_all_key_paths(Two, to=np.float32)) == [
        ".first.weight",
        ".first.bias",
        ".second[0].weight",
        ".second[0].bias",
    ]
    assert texts(ad.recursively_all_writable_key_paths(Two, to=np.float32)) == [".first.weight", ".first.bias"]
    assert texts(ad.all_key_paths(Two, to=int)) == [".count"]
    assert texts(ad.all_key_paths(MyMLModel)) == [".layers", ".final_weight", ".is_training"]
    with pytest.raises(TypeError, match="only a value tells"):
        ad.recursively_all_key_paths(MyMLModel)


def test_the_paths_of_a_model_are_those_of_its_gradient():
    model = MyMLModel([dense(), dense()], np.ones((2, 2), np.float32))

    def loss(model):
        return sum(np.sum(layer.weight) + np.sum(layer.bias) for layer in model.layers) + np.sum(model.final_weight)

    gradient = ad.grad(loss)(model)
    assert ad.recursively_all_writable_key_paths(gradient, to=np.float32) == (
        ad.recursively_all_writable_key_paths(model, to=np.float32)
    )
    for path in model.recursively_all_writable_key_paths(to=np.float32):
        assert np.all(path.get(gradient) == 1.0)
