"""Moving along tangents, arithmetic of tangents and variables in code that is itself differentiated."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.manifolds import SO3, Sphere
from sampling import check_grads


@ad.differentiable
class Layer:
    weight: np.ndarray
    bias: float
    name: ad.NoDerivative[str] = "layer"


@ad.differentiable
class Model:
    layers: list[Layer]
    scale: float
    pair: tuple[float, np.ndarray]


def layer() -> Layer:
    return Layer(np.array([1.0, 2.0]), 0.5)


def model() -> Model:
    return Model([layer(), Layer(np.array([-0.5, 0.3]), 0.1)], 1.5, (0.7, np.array([0.2, 0.4])))


X = np.array([0.3, 0.4])


def loss(layer, x):
    return np.sum(np.tanh(layer.weight * x) + layer.bias * layer.bias)


def model_loss(model, x):
    for layer in model.layers:
        x = np.tanh(layer.weight * x) + layer.bias
    return np.sum(x * model.scale + model.pair[1]) * model.pair[0]


def step(f, value, x, rate):
    return value.moved(along=-rate * ad.grad(f)(value, x))


def test_a_gradient_step():
    check_grads(lambda layer, x: loss(step(loss, layer, x, 0.1), x), (layer(), X))
    check_grads(lambda model, x: model_loss(step(model_loss, model, x, 0.1), x), (model(), X), order=1)
    check_grads(lambda rate: loss(step(loss, layer(), X, rate), X), (0.1,))


def test_several_steps_with_momentum():
    def trained(layer, x, rate, momentum):
        velocity = 0.0 * ad.grad(loss)(layer, x)
        for _ in range(3):
            velocity = momentum * velocity - rate * ad.grad(loss)(layer, x)
            layer = ad.moved(layer, along=velocity)
        return loss(layer, x)

    check_grads(trained, (layer(), X, 0.1, 0.9), order=1)


def test_a_step_in_place():
    def trained(layer, x):
        layer.move(along=-0.1 * ad.grad(loss)(layer, x))
        return loss(layer, x)

    check_grads(trained, (layer(), X), order=1)

    def model_trained(model, x):
        ad.move(model, along=-0.1 * ad.grad(model_loss)(model, x))
        return model_loss(model, x)

    check_grads(model_trained, (model(), X), order=1)


def test_arithmetic_of_tangents():
    def f(layer, x):
        g = ad.grad(loss)(layer, x)
        h = (g + g) * 0.5 - g / 3.0
        return h.bias * np.sum((-h).weight) + np.sum((g * h / (h + h)).weight)

    check_grads(f, (layer(), X))


def test_functions_of_tangents():
    def f(model, x):
        g = ad.grad(model_loss)(model, x)
        h = ad.tangents.subtract(ad.tangents.scale(g, 2.0), ad.tangents.negate(ad.tangents.add(g, None)))
        return ad.tangents.dot(g, h) + ad.tangents.norm(h)

    check_grads(f, (model(), X), order=1)


def test_variables():
    def f(layer, x):
        variables = layer.differentiable_variables
        variables.bias *= 3.0
        return loss(layer.with_variables(variables), x) + layer.bias

    check_grads(f, (layer(), X))
    check_grads(lambda x: loss(ad.memberwise(Layer, weight=x, bias=2.0, name="made"), X), (X,))


def test_containers_and_points():
    def f(values, along):
        moved = ad.moved(values, along=along)
        return moved["a"][0] * np.sum(moved["a"][1] * moved["place"].point)

    place = Sphere.towards(np.array([1.0, 2.0, -1.0]))
    direction = place.tangent_from(Sphere.TangentVector(point=np.array([0.1, 0.2, 0.3])))
    values = {"a": (2.0, np.arange(3.0)), "place": place, "name": "x"}
    check_grads(f, (values, {"a": (0.5, np.ones(3)), "place": direction}), order=1)
    check_grads(lambda x, along: np.sum(ad.moved(x, along=along) ** 2), (X, X))


def test_moved_shares_no_memory():
    def f(x):
        layer = Layer(x, 1.0)
        other = ad.moved(layer, along=None)
        other.weight[0] = 100.0
        return layer.weight[0] * layer.weight[1]

    check_grads(f, (X,))


def test_a_turn_is_moved():
    def f(direction):
        turn = SO3.about(X[0] * np.ones(3))
        return turn.moved(along=SO3.TangentVector(matrix=direction)).rotate(np.ones(3))[0]

    check_grads(f, (np.arange(9.0).reshape(3, 3) / 10,), order=1)


def test_tangents_of_two_classes_are_not_added():
    def f(layer, model, x):
        return (ad.grad(loss)(layer, x) + ad.grad(model_loss)(model, x)).bias

    with pytest.raises(ad.DifferentiationError, match="do not support the operator 'add'"):
        ad.grad(f)(layer(), model(), X)
