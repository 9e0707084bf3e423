"""Operators that differentiate with respect to the part that a key path leads to."""

import math
import pickle
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Layer:
    weight: np.ndarray
    bias: float


class Pair(NamedTuple):
    left: float
    right: float


@dataclass
class Model:
    layers: list[Layer]
    scale: float
    pair: Pair
    options: dict[str, float] = field(default_factory=dict)
    curve: list[float] = field(default_factory=list)


ROOT = ad.keypath(Model)


def model() -> Model:
    layers = [Layer(np.array([0.5, -0.3]), 0.5), Layer(np.array([2.0, 1.0]), 0.1)]
    return Model(layers, 2.0, Pair(1.0, 3.0), {"rate": 0.7}, [0.1, 0.2, 0.3])


X = np.array([0.1, 0.2])


def forward(model, x):
    for layer in model.layers:
        x = np.tanh(layer.weight * x) + layer.bias
    total = 0.0
    for k, c in enumerate(model.curve):
        total += c * c * k
    return x * model.scale * model.pair.right * model.options["rate"] + total


def loss(model, x):
    return np.sum(forward(model, x))


PATHS = [
    ROOT.layers[0].weight,
    ROOT.layers[1].bias,
    ROOT.layers[-1].weight,
    ROOT.layers[0].weight[1],
    ROOT.layers[1],
    ROOT.layers,
    ROOT.scale,
    ROOT.pair,
    ROOT.pair.right,
    ROOT.pair[1],
    ROOT.options["rate"],
    ROOT.curve,
    ROOT.curve[2],
    ROOT,
]


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_is_the_part_of_the_whole_gradient(path):
    gradient = path.get(ad.grad(loss)(model(), X))
    part = ad.grad(loss, wrt=path)(model(), X)
    assert repr(part) == repr(gradient) and type(part) is type(gradient)


def test_several_and_in_any_order():
    gradient = ad.grad(loss, (0, 1))(model(), X)
    parts = ad.grad(loss, wrt=(ROOT.pair[1], 1, ROOT.layers[0].weight, ROOT.curve[1], ROOT.curve[2]))(model(), X)
    assert parts[0] == gradient[0].pair.right
    np.testing.assert_array_equal(parts[1], gradient[1])
    np.testing.assert_array_equal(parts[2], gradient[0].layers[0].weight)
    assert parts[3:] == (gradient[0].curve[1], gradient[0].curve[2])


def test_value_and_grad():
    value, part = ad.value_and_grad(loss, wrt=ROOT.scale)(model(), X)
    assert value == loss(model(), X) and part == pytest.approx((value - 2 * (0.2**2 + 2 * 0.3**2)) / 2.0)


@pytest.mark.parametrize(
    "path", [ROOT.layers[0].weight, ROOT.pair.right, ROOT.options["rate"], ROOT.layers[1].weight[0]]
)
def test_jacobian_and_hessian(path):
    m = model()
    x = path.get(m)

    def moved(step):
        return forward(path.replaced(model(), step), X)

    size = np.size(x)
    columns = []
    for i in range(size):
        unit = np.eye(size)[i].reshape(np.shape(x)) * 1e-6
        columns.append((moved(x + unit) - moved(x - unit)) / 2e-6)
    expected = np.stack(columns, axis=-1).reshape(2, *np.shape(x))
    np.testing.assert_allclose(ad.jacobian(forward, wrt=path)(m, X), expected, rtol=1e-6, atol=1e-9)
    hessian = ad.hessian(loss, wrt=path)(m, X)
    step = 1e-5 if size == 1 else np.array([1e-5, 0.0])
    after = ad.grad(loss, wrt=path)(path.replaced(m, x + step), X)
    before = ad.grad(loss, wrt=path)(path.replaced(m, x - step), X)
    column = hessian if size == 1 else hessian[:, 0]
    np.testing.assert_allclose(column, (after - before) / 2e-5, rtol=1e-5, atol=1e-7)


def test_blocks_of_a_hessian():
    blocks = ad.hessian(loss, wrt=(ROOT.scale, ROOT.pair.right))(model(), X)
    mixed = ad.grad(lambda m, x: ad.grad(loss, wrt=ROOT.scale)(m, x), wrt=ROOT.pair.right)(model(), X)
    assert blocks[0][1] == pytest.approx(mixed) if isinstance(blocks[0], tuple) else len(blocks) == 2
    assert mixed == pytest.approx(float(np.sum(forward(model(), X) - 0.22) / 6.0))


def test_inside_code_that_is_differentiated():
    def penalty(m, x):
        slope = ad.grad(loss, wrt=ROOT.layers[0].bias)(m, x)
        return slope * slope

    step = 1e-6
    path = ROOT.scale
    numeric = (penalty(path.replaced(model(), 2.0 + step), X) - penalty(path.replaced(model(), 2.0 - step), X)) / 2e-6
    assert ad.grad(penalty, wrt=path)(model(), X) == pytest.approx(numeric)


def test_the_argument_is_the_instance_of_the_class():
    def f(a, b):
        return a * b.bias * np.sum(b.weight)

    path = ad.keypath(Layer).bias
    assert ad.grad(f, wrt=path)(2.0, Layer(np.ones(2), 3.0)) == 4.0
    with pytest.raises(ad.DifferentiationError, match="no argument is one"):
        ad.grad(f, wrt=ROOT.scale)(2.0, Layer(np.ones(2), 3.0))
    with pytest.raises(ad.DifferentiationError, match="more than one argument is one"):
        ad.grad(lambda a, b: a.bias * b.bias, wrt=path)(Layer(X, 1.0), Layer(X, 2.0))
    assert ad.grad(lambda a, b: a.bias * b.bias, wrt=ad.keypath(".bias"))(Layer(X, 1.0), Layer(X, 2.0)) == 2.0


def test_the_class_belongs_to_the_specialisation():
    @dataclass
    class Left:
        v: float

    @dataclass
    class Right:
        v: float

    def f(a, b):
        return 2.0 * a.v + 3.0 * b.v

    assert ad.grad(f, wrt=ad.keypath(Left).v)(Left(1.0), Right(1.0)) == 2.0
    assert ad.grad(f, wrt=ad.keypath(Right).v)(Left(1.0), Right(1.0)) == 3.0
    assert ad.grad(f, wrt=ad.keypath(Right).v)(Right(1.0), Left(1.0)) == 2.0


def test_an_object_that_is_held_twice_varies_wherever_it_is_held():
    layer = Layer(np.array([1.0, 2.0]), 0.5)
    m = Model([layer, layer], 1.0, Pair(1.0, 1.0), {"rate": 1.0})

    def f(m):
        return m.layers[0].bias * m.layers[1].bias * m.scale

    assert ad.grad(f, wrt=ROOT.layers[0].bias)(m) == 1.0


def test_keywords_and_methods():
    def f(x, *, model):
        return loss(model, x)

    assert ad.grad(f, wrt=ROOT.scale)(X, model=model()) == ad.grad(loss, wrt=ROOT.scale)(model(), X)

    @dataclass
    class Net:
        w: float
        b: float

        def __call__(self, x):
            return math.sin(self.w * x) + self.b

    assert ad.grad(Net.__call__, wrt=ad.keypath(Net).w)(Net(0.5, 1.0), 2.0) == 2.0 * math.cos(1.0)


def test_what_does_not_fit_is_refused():
    for path in (ROOT.layers[2].weight, ROOT.options["other"]):
        with pytest.raises(ad.DifferentiationError, match="AD0410") as caught:
            ad.grad(loss, wrt=path)(model(), X)
        assert "the key path is one of Model(layers: list" in str(caught.value)
        assert "it was applied to Model(layers, scale, pair, options, curve)" in str(caught.value)
    for way in (".missing", ".pair[2]"):
        with pytest.raises(ad.DifferentiationError, match="AD0410"):
            ad.grad(loss, wrt=ad.keypath(way))(model(), X)
    with pytest.raises(ad.DifferentiationError, match="twice"):
        ad.grad(loss, wrt=(ROOT.layers, ROOT.layers[0].bias))(model(), X)


def test_derivatives_by_key_paths_are_pickled_and_printed():
    derivative = ad.grad(loss, wrt=ROOT.layers[0].bias)
    assert repr(derivative) == "grad(loss, wrt=WritableKeyPath(.layers[0].bias))"
    assert pickle.loads(pickle.dumps(derivative))(model(), X) == derivative(model(), X)
    assert "weight_bar" not in ad.source(derivative, model(), X)


PARAMETERS = ad.recursively_all_key_paths(model(), to=lambda part: isinstance(part, (float, np.ndarray)))


def test_key_paths_in_code_that_is_differentiated():
    def decay(m, x):
        total = loss(m, x)
        for path in PARAMETERS:
            total += 0.01 * np.sum(path.get(m) * path.get(m))
        return total

    plain, decayed = ad.grad(loss)(model(), X), ad.grad(decay)(model(), X)
    for path in PARAMETERS:
        np.testing.assert_allclose(path.get(decayed), path.get(plain) + 0.02 * path.get(model()))


def test_writing_by_key_path_in_code_that_is_differentiated():
    bias = ROOT.layers[0].bias

    def f(m):
        bias.set(m, bias.get(m) * 3.0)
        return m.layers[0].bias * m.scale

    gradient = ad.grad(f)(model())
    assert (bias.get(gradient), gradient.scale) == (6.0, 1.5)


def test_key_paths_as_arguments():
    def part(m, path):
        value = path.get(m)
        return value * value

    assert ad.grad(part)(model(), ROOT.scale).scale == 4.0
    assert ad.grad(part)(model(), ROOT.pair[0]).pair == (2.0, 0.0)
    assert ad.grad(part)(model(), ROOT.pair[1]).pair == (0.0, 6.0)
    for key in (0, 1):
        assert ad.grad(part, wrt=ad.keypath()[key])([1.0, 2.0], ad.keypath()[key]) == 2.0 * (key + 1)


def test_a_part_that_does_not_matter_is_warned_of_by_its_path():
    with pytest.warns(ad.DifferentiationWarning, match=r"with respect to 'm\.layers\[0\]\.weight' is zero"):
        gradient = ad.grad(lambda m: m.scale * m.scale, wrt=ROOT.layers[0].weight)(model())
    assert np.array_equal(gradient, np.zeros(2))


@ad.differentiable
class Small:
    layers: list[float]
    scale: float
    other: np.ndarray


SMALL = ad.keypath(Small)
NUMBERS = ad.recursively_all_writable_key_paths(Small([1.0, 2.0], 3.0, np.ones(2)), to=float)


def test_subscripts_by_key_paths_in_code_that_is_differentiated():
    def reads(m):
        return m[SMALL.scale] ** 2 * m[SMALL.layers[1]] + np.sum(m[SMALL.other])

    def writes(m):
        for path in NUMBERS:
            m[path] *= 2.0
        return m.scale * m.layers[0] * m.layers[1]

    for f in (reads, writes, lambda m: sum(path.get(m) ** 2 for path in NUMBERS)):
        check_grads(f, (Small([1.0, 2.0], 3.0, np.ones(2)),))
