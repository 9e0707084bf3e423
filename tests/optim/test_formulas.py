"""Each optimizer does what its formula says, for arrays and numbers, in place and not, interpreted and compiled."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from optim import references

O = ad.optim
CASES = {
    "SGD": (lambda **k: O.SGD(**k), references.sgd, {}),
    "SGD, momentum": (lambda **k: O.SGD(0.1, momentum=0.9, **k), references.sgd, {"rate": 0.1, "momentum": 0.9}),
    "SGD, Nesterov": (
        lambda **k: O.SGD(0.1, momentum=0.9, nesterov=True, decay=0.5, weight_decay=0.1, **k),
        references.sgd,
        {"rate": 0.1, "momentum": 0.9, "nesterov": True, "decay": 0.5, "weight_decay": 0.1},
    ),
    "SGD, decay": (
        lambda **k: O.SGD(0.1, decay=0.5, weight_decay=0.2, **k),
        references.sgd,
        {"rate": 0.1, "decay": 0.5, "weight_decay": 0.2},
    ),
    "RMSProp": (lambda **k: O.RMSProp(**k), references.rmsprop, {}),
    "RMSProp, decay": (
        lambda **k: O.RMSProp(0.1, 0.8, 1e-3, 0.5, 0.1, **k),
        references.rmsprop,
        {"rate": 0.1, "rho": 0.8, "epsilon": 1e-3, "decay": 0.5, "weight_decay": 0.1},
    ),
    "AdaGrad": (lambda **k: O.AdaGrad(**k), references.adagrad, {}),
    "AdaGrad, start": (
        lambda **k: O.AdaGrad(0.1, 0.5, 1e-3, 0.1, **k),
        references.adagrad,
        {"rate": 0.1, "start": 0.5, "epsilon": 1e-3, "weight_decay": 0.1},
    ),
    "AdaDelta": (lambda **k: O.AdaDelta(**k), references.adadelta, {}),
    "AdaDelta, decay": (
        lambda **k: O.AdaDelta(0.5, 0.9, 1e-4, 0.5, 0.1, **k),
        references.adadelta,
        {"rate": 0.5, "rho": 0.9, "epsilon": 1e-4, "decay": 0.5, "weight_decay": 0.1},
    ),
    "Adam": (lambda **k: O.Adam(**k), references.adam, {}),
    "Adam, decay": (
        lambda **k: O.Adam(0.1, 0.8, 0.95, 1e-3, 0.5, 0.1, **k),
        references.adam,
        {"rate": 0.1, "b1": 0.8, "b2": 0.95, "epsilon": 1e-3, "decay": 0.5, "weight_decay": 0.1},
    ),
    "AdaMax": (lambda **k: O.AdaMax(**k), references.adamax, {}),
    "AMSGrad": (
        lambda **k: O.AMSGrad(0.1, weight_decay=0.1, **k),
        references.amsgrad,
        {"rate": 0.1, "weight_decay": 0.1},
    ),
    "RAdam": (lambda **k: O.RAdam(**k), references.radam, {}),
    "RAdam, decay": (
        lambda **k: O.RAdam(0.1, 0.8, 0.9, 1e-3, 0.5, 0.1, **k),
        references.radam,
        {"rate": 0.1, "b1": 0.8, "b2": 0.9, "epsilon": 1e-3, "decay": 0.5, "weight_decay": 0.1},
    ),
    "LARS": (lambda **k: O.LARS(**k), references.lars, {}),
    "LARS, Nesterov": (
        lambda **k: O.LARS(0.1, 0.8, 0.01, True, 0.1, 0.2, **k),
        references.lars,
        {"rate": 0.1, "momentum": 0.8, "trust": 0.01, "nesterov": True, "epsilon": 0.1, "weight_decay": 0.2},
    ),
    "AdamW": (lambda **k: O.AdamW(**k), references.adamw, {}),
    "AdamW, uncorrected": (
        lambda **k: O.AdamW(0.01, weight_decay=0.01, epsilon=1e-6, bias_correction=False, **k),
        references.adamw,
        {"rate": 0.01, "epsilon": 1e-6, "corrects": False},
    ),
    "Lion": (lambda **k: O.Lion(**k), references.lion, {}),
    "Lion, decay": (
        lambda **k: O.Lion(0.1, 0.8, 0.9, 0.2, **k),
        references.lion,
        {"rate": 0.1, "b1": 0.8, "b2": 0.9, "weight_decay": 0.2},
    ),
}
STEPS = 8
each = pytest.mark.parametrize(("make", "reference", "options"), CASES.values(), ids=CASES)


@dataclass
class Layer:
    weight: np.ndarray
    scale: float


@dataclass(frozen=True)
class Frozen:
    layers: tuple[Layer, ...]
    bias: np.ndarray


def start(dtype):
    rng = np.random.default_rng(0)
    layers = tuple(Layer(rng.normal(size=(2, 3)).astype(dtype), float(rng.normal())) for _ in range(2))
    return Frozen(layers, rng.normal(size=4).astype(dtype))


def leaves(model):
    return [part for layer in model.layers for part in (layer.weight, layer.scale)] + [model.bias]


def gradients(dtype):
    rng = np.random.default_rng(1)
    kind = type(ad.tangents.zero(start(dtype)))
    layer = type(ad.tangents.zero(start(dtype).layers[0]))
    for _ in range(STEPS):
        parts = tuple(layer(weight=rng.normal(size=(2, 3)).astype(dtype), scale=float(rng.normal())) for _ in range(2))
        yield kind(layers=parts, bias=rng.normal(size=4).astype(dtype))


def expected(reference, options, dtype):
    columns = zip(*[leaves(gradient) for gradient in gradients(dtype)], strict=True)
    return [reference(p, column, **options) for p, column in zip(leaves(start(dtype)), columns, strict=True)]


@each
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_new_value_follows_the_formula(make, reference, options, dtype):
    optimizer, model = make(), start(dtype)
    before = leaves(start(dtype))
    for gradient in gradients(dtype):
        updated = optimizer.updated(model, along=gradient)
        model = updated
    tolerance = 1e-12 if dtype is np.float64 else 2e-5
    for found, wanted, first in zip(leaves(model), expected(reference, options, dtype), before, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        assert type(found) is type(first)
        assert getattr(found, "dtype", None) == getattr(first, "dtype", None)
    for kept, first in zip(leaves(start(dtype)), before, strict=True):
        np.testing.assert_array_equal(kept, first)


@each
def test_in_place_is_the_same_to_the_last_bit(make, reference, options):
    def as_dict(model):
        return {"layers": list(model.layers), "bias": model.bias}

    def gradient_dict(gradient):
        return {"layers": list(gradient.layers), "bias": gradient.bias}

    in_place, anew = as_dict(start(np.float64)), as_dict(start(np.float64))
    arrays = [layer.weight for layer in in_place["layers"]]
    one, other = make(), make()
    for gradient in gradients(np.float64):
        one.update(in_place, along=gradient_dict(gradient))
        anew = other.updated(anew, along=gradient_dict(gradient))
    for mine, theirs, array in zip(in_place["layers"], anew["layers"], arrays, strict=True):
        assert mine.weight is array
        np.testing.assert_array_equal(mine.weight, theirs.weight)
        assert mine.scale == theirs.scale
    np.testing.assert_array_equal(in_place["bias"], anew["bias"])
    assert one.state == other.state


@each
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
def test_machine_code_is_the_same_to_the_last_bit(make, reference, options, dtype):
    interpreted, compiled = start(dtype).layers[0], start(dtype).layers[0]
    one, other = make(), make(native=True)
    for gradient in gradients(dtype):
        one.update(interpreted, along=gradient.layers[0])
        other.update(compiled, along=gradient.layers[0])
    np.testing.assert_array_equal(interpreted.weight, compiled.weight)
    assert interpreted.scale == compiled.scale
    assert one.state == other.state


def test_lars_trusts_what_has_no_gradient():
    model = {"w": np.ones(2), "v": np.zeros(2)}
    O.LARS().update(model, along={"w": np.zeros(2), "v": np.zeros(2)})
    np.testing.assert_array_equal(model["w"], np.ones(2))
    np.testing.assert_array_equal(model["v"], np.zeros(2))


def test_machine_code_of_what_is_not_elementwise_is_refused():
    with pytest.raises(ad.DifferentiationError, match="element by element"):
        O.LARS(native="strict").update({"w": np.ones(2)}, along={"w": np.ones(2)})
    with pytest.warns(ad.DifferentiationWarning, match="element by element"):
        O.LARS(native=True).update({"w": np.ones(2)}, along={"w": np.ones(2)})
