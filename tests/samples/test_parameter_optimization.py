"""The samples of the reference system's document about hierarchical parameters and optimizers, with its numbers."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import adjoint as ad


def relu(x):
    return np.maximum(x, 0.0)


@dataclass
class DenseLayer(ad.KeyPathIterable):
    weight: np.ndarray
    bias: np.ndarray
    activation: object = field(default=relu, metadata={"no_derivative": True})

    def applied(self, x):
        return self.activation(x @ self.weight + self.bias)


@dataclass
class MyMLModel:
    layers: list[DenseLayer]
    final_weight: np.ndarray
    is_training: bool = True


def dense():
    return DenseLayer(np.ones((2, 2)), np.ones(1))


def test_key_paths_of_a_layer():
    layer = dense()
    values = [layer[path] for path in layer.all_key_paths()]
    np.testing.assert_array_equal(values[0], [[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(values[1], [1.0])
    assert values[2] is relu


def test_update_by_writable_key_paths():
    layer, gradient = dense(), DenseLayer(np.full((2, 2), 0.5), np.full(1, 0.5))
    for path in layer.all_writable_key_paths(to=np.float64):
        layer[path] -= 0.1 * gradient[path]
    np.testing.assert_array_equal(layer.weight, np.full((2, 2), 0.95))
    np.testing.assert_array_equal(layer.bias, [0.95])


def test_update_by_recursive_key_paths():
    model = MyMLModel([dense(), dense()], np.ones((2, 2)))
    for path in ad.recursively_all_writable_key_paths(model, to=np.float64):
        path.set(model, path.get(model) - 0.1 * path.get(model))
    for layer in model.layers:
        np.testing.assert_array_equal(layer.weight, np.full((2, 2), 0.9))
        np.testing.assert_array_equal(layer.bias, [0.9])
        assert layer.activation is relu
    np.testing.assert_array_equal(model.final_weight, np.full((2, 2), 0.9))
    assert model.is_training is True


def test_a_gradient_of_something_else_does_not_fit():
    model = MyMLModel([dense(), dense()], np.ones((2, 2)))
    with pytest.raises(ad.DifferentiationError, match="structures do not agree"):
        ad.optim.SGD().update(model, along=ad.tangents.zero(dense()))


def test_sgd_on_a_layer():
    layer = DenseLayer(np.ones((2, 2)), np.ones(2))
    gradient = ad.grad(lambda layer: np.sum(layer.applied(np.ones((2, 2)))))(layer)
    np.testing.assert_array_equal(gradient.weight, [[2.0, 2.0], [2.0, 2.0]])
    ad.optim.SGD(learning_rate=0.01).update(layer, along=gradient)
    np.testing.assert_array_equal(layer.weight, np.full((2, 2), 0.98))
    np.testing.assert_array_equal(layer.bias, [0.98, 0.98])
    assert layer.activation is relu


def test_a_result_that_is_no_number_has_no_gradient():
    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(lambda layer: layer.applied(np.ones((2, 2))))(DenseLayer(np.ones((2, 2)), np.ones(2)))


def test_adam():
    found = ad.optim.Adam().updated(1.0, along=0.5)
    assert found == pytest.approx(0.99900000063, abs=1e-11)


def test_one_optimizer_for_each_dtype():
    @dataclass
    class MixedParameters:
        weight: np.ndarray
        bias: np.ndarray

    parameters = MixedParameters(np.ones((2, 2), np.float32), np.array(1.0))
    gradient = MixedParameters(np.full((2, 2), 0.5, np.float32), np.array(0.5))
    ad.optim.SGD(only=np.float32).update(parameters, along=gradient)
    assert parameters.bias == 1.0
    ad.optim.SGD(only=np.float64).update(parameters, along=gradient)
    np.testing.assert_array_equal(parameters.weight, np.full((2, 2), 0.995, np.float32))
    assert parameters.bias == 0.995


def test_the_exclusive_or():
    @dataclass
    class Classifier:
        l1: DenseLayer
        l2: DenseLayer

        def applied(self, x):
            return self.l2.applied(self.l1.applied(x))

    rng = np.random.default_rng(10)
    layers = []
    for inputs, outputs in ((2, 4), (4, 1)):
        weight = rng.uniform(-1, 1, (inputs, outputs)) * np.sqrt(6 / (inputs + outputs))
        layers.append(DenseLayer(weight, np.zeros(outputs)))
    classifier = Classifier(*layers)
    optimizer = ad.optim.Adam(learning_rate=0.02)
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0.0], [1.0], [1.0], [0.0]])
    gradient = ad.grad(lambda classifier: np.mean((classifier.applied(x) - y) ** 2))
    for _ in range(3000):
        optimizer.update(classifier, along=gradient(classifier))
    document = [[2.2782544e-05], [0.99999344], [0.99999225], [2.4871624e-06]]
    np.testing.assert_allclose(classifier.applied(x), document, atol=1e-2)
