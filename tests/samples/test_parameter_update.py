"""The samples of the reference system's design document about parameter update, with the numbers that it prints."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

import adjoint as ad


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


@dataclass
class MyMLModel:
    weight1: np.ndarray
    weight2: np.ndarray
    bias1: np.ndarray
    bias2: np.ndarray

    def applied(self, x):
        h = np.maximum(x @ self.weight1 + self.bias1, 0.0)
        return sigmoid(h @ self.weight2 + self.bias2)


@dataclass
class Parameters(ad.ParameterAggregate):
    w: np.ndarray
    b: np.ndarray


@dataclass
class DenseLayer(ad.Parameterized):
    w: np.ndarray = ad.parameter()
    b: np.ndarray = ad.parameter()


@dataclass
class Model(ad.Parameterized):
    layer: DenseLayer = ad.parameter()
    tensor: np.ndarray = ad.parameter()


def ones():
    return Parameters(np.ones((2, 2)), np.array(1.0))


def halves():
    return Parameters(np.full((2, 2), 0.5), np.array(0.5))


def test_a_model_and_its_application():
    model = MyMLModel(np.ones((2, 2)), np.ones((2, 1)), np.zeros(2), np.zeros(1))
    assert model.applied(np.array([0.2, 0.4]))[0] == pytest.approx(0.76852478)


def test_properties_that_are_no_parameters():
    @dataclass
    class Mixed(ad.Parameterized):
        weight: np.ndarray = ad.parameter()
        bias: np.ndarray = ad.parameter()
        use_bias: bool = True
        previous_weight: np.ndarray = field(default_factory=lambda: np.zeros(1))

    assert [str(path) for path in ad.all_key_paths(Mixed.Parameters)] == [".weight", ".bias"]


LEARNING_RATE = 0.1


def test_the_loop_over_parameters_and_the_statements_by_hand():
    looped, by_hand = ones(), ones()
    for path in ad.all_key_paths(Parameters):
        looped[path] -= LEARNING_RATE * halves()[path]
    by_hand.w -= LEARNING_RATE * halves().w
    by_hand.b -= LEARNING_RATE * halves().b
    np.testing.assert_array_equal(looped.w, by_hand.w)
    assert looped.b == by_hand.b == 0.95


def test_gradient_descent_on_a_line():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, 2.0, 3.0])

    def loss(w, b):
        return np.sum((w * x + b - y) ** 2)

    value, (dw, db) = ad.value_and_grad(loss, (0, 1))(0.3, -0.2)
    assert (value, dw, db) == pytest.approx((6.06, -26.0, -7.6))
    after = ad.optim.SGD(0.01).updated((0.3, -0.2), along=(dw, db))
    assert after == pytest.approx((0.56, -0.124))
    found = ad.optim.minimize(lambda line: loss(*line), (0.3, -0.2)).x
    assert found == pytest.approx((1.0, -1.0), abs=1e-4)


def test_an_aggregate_prints_what_the_document_prints():
    parameters = ones()
    parameters.update(halves(), lambda p, g: p - 0.1 * g)
    assert repr(parameters) == "Parameters(w=array([[0.95, 0.95],\n       [0.95, 0.95]]), b=array(0.95))"


@dataclass
class MNISTParameters(ad.ParameterAggregate):
    w1: np.ndarray = field(default_factory=lambda: np.random.default_rng(0).uniform(size=(784, 30)))
    w2: np.ndarray = field(default_factory=lambda: np.random.default_rng(1).uniform(size=(30, 10)))
    b1: np.ndarray = field(default_factory=lambda: np.zeros((1, 30)))
    b2: np.ndarray = field(default_factory=lambda: np.zeros((1, 10)))


def inference(images, parameters):
    h1 = sigmoid(images @ parameters.w1 + parameters.b1)
    return sigmoid(h1 @ parameters.w2 + parameters.b2)


def test_differentiation_with_respect_to_an_aggregate():
    parameters, images = MNISTParameters(), np.zeros((3, 784))
    assert inference(images, parameters).shape == (3, 10)
    zero = parameters.updated(parameters, np.subtract)
    np.testing.assert_array_equal(inference(images, zero), np.full((3, 10), 0.5))
    gradient = ad.grad(lambda images, parameters: np.sum(inference(images, parameters)), 1)(images, zero)
    assert [part.shape for part in vars(gradient).values()] == [(784, 30), (30, 10), (1, 30), (1, 10)]
    parameters.update(gradient, lambda p, g: p - g)


def test_parameterized_structs():
    model = DenseLayer(np.ones(2), np.ones(1))
    model.all_parameters = DenseLayer.Parameters(np.zeros(2), np.zeros(1))
    assert np.all(model.w == 0.0) and np.all(model.b == 0.0)
    model = DenseLayer(np.ones(2), np.ones(1))
    model.update_parameters(model.all_parameters, np.add)
    assert np.all(model.w == 2.0)
    model.update_parameters(model.all_parameters, np.subtract)
    assert np.all(model.w == 0.0)


def test_nested_parameters():
    model = Model(DenseLayer(np.ones((2, 2)), np.ones(2)), np.ones(2))
    half = DenseLayer.Parameters(np.full((2, 2), 0.5), np.full(2, 0.5))
    seen = []

    def update(p, g):
        seen.append(p.shape)
        return p - 0.1 * g

    model.update_parameters(Model.Parameters(half, np.full(2, 0.5)), update)
    assert seen == [(2, 2), (2,), (2,)]
    assert np.all(model.layer.w == 0.95) and np.all(model.layer.b == 0.95) and np.all(model.tensor == 0.95)


def test_heterogeneous_parameters():
    @dataclass
    class Heterogeneous(ad.ParameterAggregate):
        w: npt.NDArray[np.float64]
        b: npt.NDArray[np.float32]

    parameters = Heterogeneous(np.ones(2), np.ones(2, np.float32))
    parameters.update(Heterogeneous(np.ones(2), np.ones(2, np.float32)), lambda p, g: p - 0.1 * g)
    assert (parameters.w.dtype, parameters.b.dtype) == (np.float64, np.float32)
    assert parameters.w[0] == 0.9 and parameters.b[0] == np.float32(0.9)


def test_parameter_groups():
    @dataclass
    class Network:
        base: DenseLayer
        classifier: DenseLayer

    model = Network(*[DenseLayer(np.ones(1), np.ones(1)) for _ in range(2)])
    optimizer = ad.optim.SGD(1e-2, momentum=0.9, groups=[ad.optim.Group(".classifier", learning_rate=1e-3)])
    gradient = ad.grad(lambda m: sum(np.sum(part.w) + np.sum(part.b) for part in (m.base, m.classifier)))
    for _ in range(2):
        optimizer.update(model, along=gradient(model))
    np.testing.assert_allclose([model.base.w[0], model.classifier.w[0]], [0.971, 0.9971], rtol=1e-12)


def test_joint_iteration_with_moving_averages():
    """The document's Adam: three values with the same key paths."""
    parameters, gradients, averages = ones(), halves(), ones().updated(ones(), np.subtract)
    for path in ad.all_key_paths(Parameters):
        averages[path] = 0.9 * averages[path] + 0.1 * gradients[path]
        parameters[path] -= averages[path]
    assert parameters.b == pytest.approx(0.95) and averages.b == pytest.approx(0.05)


def test_the_loop_unrolled():
    @ad.unrolled
    def step(p, g, average, *, keep):
        average *= keep
        average += (1 - keep) * g
        p -= average

    parameters, averages = ones(), ones().updated(ones(), np.subtract)
    assert "for " not in step.source(parameters, halves(), averages)
    step(parameters, halves(), averages, keep=0.9)
    assert parameters.b == pytest.approx(0.95) and averages.b == pytest.approx(0.05)


def test_parameters_as_a_list():
    parameters = ones()
    weight, bias = parameters.parameters_list
    assert weight is parameters.w and bias is parameters.b
    parameters.parameters_list = [2.0 * weight, 3.0 * bias]
    assert parameters.w[0, 0] == 2.0 and parameters.b == 3.0


def test_registration_at_run_time():
    @dataclass
    class ToyModel(ad.Parameterized):
        resnet: DenseLayer
        rnn: DenseLayer
        use_resnet: bool

        def __post_init__(self):
            if self.use_resnet:
                self.register_parameter("resnet")
            else:
                self.register_parameter("rnn")

    toy = ToyModel(DenseLayer(np.ones(1), np.ones(1)), DenseLayer(np.ones(1), np.ones(1)), use_resnet=True)
    assert list(vars(toy.all_parameters)) == ["resnet"]


@dataclass
class ResNetOrRNN(ad.ParameterAggregate):
    active: DenseLayer | MyMLModel


def test_one_of_several_models():
    choice = ResNetOrRNN(DenseLayer(np.ones(1), np.ones(1)))
    gradient = ad.grad(lambda choice: np.sum(choice.active.w) * 2.0)(choice)
    choice.update(gradient, lambda p, g: p - 0.1 * g)
    assert choice.active.w[0] == 0.8 and choice.active.b[0] == 1.0


def test_macros_are_functions(capsys):
    parameters = Parameters(np.ones(1), np.array(1.0))
    ad.for_zipped_parameters(parameters, Parameters(np.full(1, 0.5), np.array(0.5)), lambda p, g: p - 0.1 * g)
    ad.for_parameters(parameters, print)
    assert capsys.readouterr().out == "[0.95]\n0.95\n"
