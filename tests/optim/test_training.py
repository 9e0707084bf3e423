"""Training in one loop: what the steps one by one would do, compiled or not."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray
    activation: object = np.tanh

    def __call__(self, x):
        return self.activation(x @ self.weight + self.bias)


@dataclass
class Model:
    layers: list[Dense]
    name: str = "model"

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss(model, x, y):
    return np.mean((model(x) - y) ** 2)


def model(activation=np.tanh):
    rng = np.random.default_rng(0)
    return Model([Dense(rng.normal(size=(2, 3)), np.zeros(3), activation), Dense(rng.normal(size=(3, 1)), np.zeros(1))])


X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([[0.0], [1.0], [1.0], [0.0]])
OPTIMIZERS = {
    "momentum": lambda: ad.optim.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "Adam": lambda: ad.optim.Adam(ad.optim.Cosine(0.1, 30)),
    "RAdam": ad.optim.RAdam,  # with flags that change
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_compiled_steps_are_the_steps_one_by_one(make):
    one_by_one, compiled = model(), model()
    first = ad.optim.Training(loss, one_by_one, make(), (X, Y))
    second = ad.optim.Training(loss, compiled, make(), (X, Y), native="strict")
    for steps in (1, 12, 7):
        np.testing.assert_allclose(second.run(steps), first.run(steps), rtol=1e-10)
    for mine, theirs in ad.zip_parameters(compiled, one_by_one):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    assert first.optimizer.state.step == second.optimizer.state.step == 20
    second.optimizer.update(compiled, along=ad.grad(loss)(compiled, X, Y))
    first.optimizer.update(one_by_one, along=ad.grad(loss)(one_by_one, X, Y))
    np.testing.assert_allclose(compiled.layers[0].weight, one_by_one.layers[0].weight, rtol=1e-9)


def test_a_changed_model_is_compiled_anew():
    current = model()
    training = ad.optim.Training(loss, current, ad.optim.SGD(0.1), (X, Y), native="strict")
    training.run(3)
    current.layers[0].activation = np.sin
    other = ad.optim.Training(loss, ad.moved(current, None), ad.optim.SGD(0.1), (X, Y))
    np.testing.assert_allclose(training.run(3), other.run(3), rtol=1e-10)
    current.layers[0].weight = np.zeros((2, 3))
    expected = loss(current, X, Y)
    assert training.run(1)[0] == pytest.approx(expected)


def weighted(model, x, y):
    return WEIGHT * loss(model, x, y)


WEIGHT = 1.0


def test_other_data_are_taken():
    training = ad.optim.Training(weighted, model(), ad.optim.SGD(0.0), (X, Y), native="strict")
    first = training.run(1)[0]
    training.args = (X, Y + 1.0)
    assert training.run(1)[0] == pytest.approx(loss(training.model, X, Y + 1.0)) != first
    training.args = (np.asfortranarray(X[:3]), Y[:3])
    assert training.run(1)[0] == pytest.approx(loss(training.model, X[:3], Y[:3]))


def test_captured_data_are_read_at_each_run(monkeypatch):
    training = ad.optim.Training(weighted, model(), ad.optim.SGD(0.0), (X, Y), native="strict")
    first = training.run(1)[0]
    monkeypatch.setitem(globals(), "WEIGHT", 2.0)
    assert training.run(1)[0] == pytest.approx(2.0 * first)


@dataclass
class Odd:
    weight: np.ndarray
    scale: float = ad.parameter(default=1.0)


@dataclass
class Initialised:
    weight: np.ndarray

    def __post_init__(self):
        self.weight = self.weight * 2.0


SHARED = np.ones(2)
REFUSED = {
    "a number": (lambda: Odd(np.ones(2)), ad.optim.SGD, r"\.scale is no array"),
    "two dtypes": (lambda: [np.ones(2), np.ones(2, np.float32)], ad.optim.SGD, r"\[1\] is no array"),
    "a shared array": (lambda: [SHARED, SHARED], ad.optim.SGD, "in the model twice"),
    "a constructor": (lambda: [Initialised(np.ones(2))], ad.optim.SGD, "not made of its fields alone"),
    "strides": (lambda: [np.ones((2, 2))[:, ::2]], ad.optim.SGD, "not contiguous"),
    "clipping": (lambda: [np.ones(2)], lambda: ad.optim.SGD(clip_norm=1.0), "groups and clipping"),
    "LARS": (lambda: [np.ones(2)], ad.optim.LARS, "element by element"),
}


def squares(x):
    parts = x if isinstance(x, list) else [x]
    return sum(np.sum(part.weight**2 if hasattr(part, "weight") else part**2) for part in parts)


@pytest.mark.parametrize(("make", "optimizer", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_compiled_says_why(make, optimizer, message):
    with pytest.raises(ad.DifferentiationError, match=message):
        ad.optim.Training(squares, make(), optimizer(), native="strict").run(2)
    training = ad.optim.Training(squares, make(), optimizer(), native=True)
    with pytest.warns(ad.DifferentiationWarning, match=message):
        losses = training.run(2)
    assert losses[1] < losses[0]
