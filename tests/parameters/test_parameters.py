"""Aggregates of parameters and parameterized classes."""

import operator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

import adjoint as ad


@dataclass
class Weights(ad.ParameterAggregate):
    w: np.ndarray
    b: np.ndarray


@dataclass
class Dense(ad.Parameterized):
    w: np.ndarray = ad.parameter()
    b: np.ndarray = ad.parameter()
    calls: int = 0


@dataclass
class Model(ad.Parameterized):
    layer: Dense = ad.parameter()
    tensor: np.ndarray = ad.parameter()
    is_training: bool = True
    previous: np.ndarray = field(default_factory=lambda: np.zeros(2))


def descend(p, g):
    return p - 0.1 * g


def ones():
    return Weights(np.ones((2, 2)), np.array(1.0))


def halves():
    return Weights(np.full((2, 2), 0.5), np.array(0.5))


def model():
    return Model(Dense(np.ones((2, 2)), np.ones(2)), np.ones(2))


def gradients():
    return Model.Parameters(layer=Dense.Parameters(w=np.full((2, 2), 0.5), b=np.full(2, 0.5)), tensor=np.full(2, 0.5))


# -- aggregates


def in_place(p, g):
    p -= 0.1 * g


@pytest.mark.parametrize("fn", [descend, in_place])
def test_an_aggregate_is_updated(fn):
    parameters = ones()
    array = parameters.w
    parameters.update(halves(), fn)
    np.testing.assert_array_equal(parameters.w, np.full((2, 2), 0.95))
    assert parameters.b == 0.95 and parameters.w is array


@pytest.mark.parametrize("fn", [descend, in_place, operator.isub])
def test_an_updated_aggregate_leaves_the_old_one(fn):
    parameters = ones()
    updated = parameters.updated(halves(), fn)
    assert isinstance(updated, Weights) and np.all(updated.w < 1.0)
    np.testing.assert_array_equal(parameters.w, np.ones((2, 2)))


def test_operators_are_updates():
    parameters = ones()
    parameters.update(parameters.updated(halves(), operator.add), operator.iadd)
    assert parameters.b == 2.5
    parameters.update(parameters, operator.isub)
    assert np.all(parameters.w == 0.0) and parameters.b == 0.0


def test_the_update_is_called_once_for_each_pair_in_order():
    seen = []
    current = model()
    bundle = current.all_parameters
    bundle.update(gradients(), lambda p, g: seen.append((p.shape, g.shape)))
    assert seen == [((2, 2), (2, 2)), ((2,), (2,)), ((2,), (2,))]


def test_the_update_is_a_default_over_key_paths():
    one, other = ones(), ones()
    one.update(halves(), descend)
    for path in ad.all_key_paths(Weights):
        other[path] = descend(other[path], halves()[path])
    np.testing.assert_array_equal(one.w, other.w)
    assert one.b == other.b


def test_numbers_need_a_result():
    @dataclass
    class Line(ad.ParameterAggregate):
        slope: float

    line = Line(1.0)
    with pytest.raises(TypeError, match="returns the new one"):
        line.update(Line(1.0), in_place)
    line.update(Line(0.5), descend)
    assert line == Line(0.95)


@dataclass
class Mixed(ad.ParameterAggregate):
    w: npt.NDArray[np.float64]
    b: npt.NDArray[np.float32]
    s: float = 1.0


def test_types_may_differ():
    mixed = Mixed(np.ones(2), np.ones(2, np.float32))
    mixed.update(Mixed(np.ones(2), np.ones(2, np.float32)), descend)
    assert mixed.w.dtype == np.float64 and mixed.b.dtype == np.float32 and type(mixed.s) is float
    assert mixed.b[0] == np.float32(1) - np.float32(0.1)
    assert Mixed.Parameter == npt.NDArray[np.float64] | npt.NDArray[np.float32] | float


def test_strict_aggregates_have_one_type():
    @dataclass
    class Strict(ad.ParameterAggregate, strict=True):
        w: float
        b: np.ndarray

    @dataclass
    class Nested(ad.ParameterAggregate, strict=True):
        weights: Weights
        extra: np.ndarray

    with pytest.raises(TypeError, match=r"the parameters of .*Strict have no type in common: w: float, b: ndarray"):
        _ = Strict.Parameter
    assert Nested.Parameter is np.ndarray


def test_parameter_types():
    assert Weights.Parameter is np.ndarray
    assert Model.Parameters.Parameter is np.ndarray


def test_the_list_of_parameters():
    parameters = ones()
    assert [np.shape(p) for p in parameters.parameters_list] == [(2, 2), ()]
    parameters.parameters_list = [np.zeros((2, 2)), np.array(3.0)]
    assert parameters.b == 3.0 and np.all(parameters.w == 0.0)
    with pytest.raises(ValueError, match="there are 2 parameters, not 1"):
        parameters.parameters_list = [1.0]


def test_gradients_of_functions_of_aggregates():
    def inference(parameters, x):
        return np.sum(np.tanh(x @ parameters.w + parameters.b))

    parameters = ones()
    gradient = ad.grad(inference)(parameters, np.ones((3, 2)))
    parameters.update(gradient, descend)
    assert gradient.w.shape == (2, 2) and np.all(parameters.w < 1.0)


def test_a_gradient_of_something_else_is_refused():
    with pytest.raises(ad.DifferentiationError, match="structures do not agree"):
        ones().update(Weights(np.ones(3), np.array(1.0)), descend)


# -- parameterized classes


def test_parameters_are_synthesised():
    assert Model.Parameters.__qualname__ == "Model.Parameters"
    assert issubclass(Model.Parameters, ad.ParameterAggregate)
    assert Model.Parameters is Model.Parameters
    parameters = model().all_parameters
    assert isinstance(parameters.layer, Dense.Parameters)
    assert str(parameters).startswith("Model.Parameters(layer=Dense.Parameters(w=array(")


def test_all_parameters_are_a_copy():
    current = model()
    parameters = current.all_parameters
    parameters.tensor[0] = 5.0
    assert current.tensor[0] == 1.0
    current.all_parameters = parameters
    assert current.tensor[0] == 5.0
    parameters.tensor[1] = 7.0
    assert current.tensor[1] == 1.0


def test_setting_all_parameters_leaves_other_fields():
    current = model()
    current.layer.calls, current.is_training = 3, False
    layer = current.layer
    current.all_parameters = gradients()
    assert current.layer is layer and layer.calls == 3 and not current.is_training
    assert np.all(layer.w == 0.5) and np.all(current.tensor == 0.5)


def test_nested_parameters_are_updated():
    current = model()
    layer, array = current.layer, current.layer.w
    current.update_parameters(gradients(), descend)
    assert current.layer is layer and layer.w is array
    for value in (layer.w, layer.b, current.tensor):
        assert np.all(value == 0.95)


def test_a_gradient_of_the_model_updates_its_parameters():
    current = model()
    gradient = ad.grad(lambda m: np.sum(m.layer.w) + np.sum(m.layer.b) + np.sum(m.tensor) + np.sum(m.previous))(current)
    current.update_parameters(gradient, descend)
    assert np.all(current.layer.w == 0.9) and np.all(current.tensor == 0.9)
    assert np.all(current.previous == 0.0)


def test_parameters_of_frozen_models():
    @dataclass(frozen=True)
    class Line(ad.Parameterized):
        slope: float = ad.parameter()
        name: str = "line"

        def __post_init__(self):
            assert self.name == "line"

    line = Line(1.0)
    assert line.updated_parameters(Line.Parameters(slope=0.5), descend) == Line(0.95)
    assert line.with_parameters(Line.Parameters(slope=2.0)) == Line(2.0)
    assert line == Line(1.0)
    with pytest.raises(AttributeError):
        line.update_parameters(Line.Parameters(slope=0.5), descend)


def test_updated_parameters_of_nested_models():
    current = model()
    updated = current.updated_parameters(gradients(), in_place)
    assert np.all(updated.layer.w == 0.95) and updated.is_training
    assert np.all(current.layer.w == 1.0) and updated.layer is not current.layer


@dataclass
class Hetero(ad.Parameterized):
    w: npt.NDArray[np.float64] = ad.parameter()
    b: npt.NDArray[np.float32] = ad.parameter()


@dataclass
class StrictHetero(ad.Parameterized, strict=True):
    w: npt.NDArray[np.float64] = ad.parameter()
    b: npt.NDArray[np.float32] = ad.parameter()


def test_parameters_of_different_types():
    current = Hetero(np.ones(2), np.ones(2, np.float32))
    current.update_parameters(current.all_parameters, descend)
    assert current.b.dtype == np.float32 and current.w[0] == 0.9


def test_strict_parameters_of_different_types_are_no_aggregate():
    current = StrictHetero(np.ones(2), np.ones(2, np.float32))
    assert not issubclass(StrictHetero.Parameters, ad.ParameterAggregate)
    assert current.all_parameters.b.dtype == np.float32
    with pytest.raises(TypeError, match="no ParameterAggregate"):
        current.update_parameters(current.all_parameters, descend)


@dataclass
class Toy(ad.Parameterized):
    resnet: Dense
    rnn: Dense
    use_resnet: bool

    def __post_init__(self):
        self.register_parameter("resnet" if self.use_resnet else "rnn")


def test_parameters_can_be_registered_when_an_object_is_made():
    for use in (True, False):
        toy = Toy(Dense(np.ones(1), np.ones(1)), Dense(np.ones(1), np.ones(1)), use)
        active, other = (toy.resnet, toy.rnn) if use else (toy.rnn, toy.resnet)
        assert [path.steps[0].name for path in ad.all_key_paths(toy.all_parameters)] == ["resnet" if use else "rnn"]
        toy.update_parameters(toy.all_parameters, descend)
        assert active.w[0] == 0.9 and other.w[0] == 1.0
    with pytest.raises(AttributeError, match="Toy has no field 'lstm'"):
        toy.register_parameter("lstm")


@dataclass
class Resnet:
    w: np.ndarray


@dataclass
class Rnn:
    u: np.ndarray


@dataclass
class Choice(ad.ParameterAggregate):
    either: Resnet | Rnn


def test_of_alternatives_the_active_one_has_parameters():
    choice = Choice(Resnet(np.ones(2)))
    gradient = ad.grad(lambda c: np.sum(c.either.w))(choice)
    choice.update(gradient, descend)
    np.testing.assert_array_equal(choice.either.w, [0.9, 0.9])
    with pytest.raises(ad.DifferentiationError, match=r"at \.either there is a value of type 'Rnn'"):
        choice.update(Choice(Rnn(np.ones(2))), descend)
    ad.optim.SGD(0.1).update(choice, along=gradient)
    np.testing.assert_allclose(choice.either.w, [0.8, 0.8])


# -- groups


@dataclass
class Grouped(ad.GroupParameterized):
    base: np.ndarray = ad.parameter(group="slow")
    embedding: np.ndarray = ad.parameter(group="slow")
    head: np.ndarray = ad.parameter(group="fast")
    scale: float = ad.parameter(default=1.0)
    steps: int = 0


def test_groups_are_updated_by_themselves():
    grouped = Grouped(np.ones(2), np.ones(2), np.ones(2))
    assert list(grouped.parameter_groups) == ["slow", "fast", "scale"]
    assert not hasattr(grouped, "all_parameters")
    gradient = ad.grad(lambda m: np.sum(m.base) + np.sum(m.embedding) + np.sum(m.head) + m.scale)(grouped)
    grouped.update_groups(gradient, slow=lambda p, g: p - 0.25 * g, fast=lambda p, g: p - 0.5 * g)
    assert np.all(grouped.base == 0.75) and np.all(grouped.embedding == 0.75)
    assert np.all(grouped.head == 0.5) and grouped.scale == 1.0
    with pytest.raises(ValueError, match="Grouped has no group 'medium'; it has slow, fast, scale"):
        grouped.update_groups(gradient, medium=descend)


# -- iteration


def test_iteration():
    seen = []
    ad.for_parameters(model(), lambda p: seen.append(p.shape))
    assert seen == [(2, 2), (2,), (2,), (2,)]
    x, moments, g = {"a": 1.0}, {"a": 2.0}, {"a": 3.0}
    assert list(ad.zip_parameters(x, moments, g)) == [(1.0, 2.0, 3.0)]
    for p, q in ad.zip_parameters(ones(), halves()):
        p -= q
        assert np.all(p == 0.5)
    with pytest.raises(ad.DifferentiationError):
        ad.zip_parameters({"a": 1.0}, [1.0])
    point = {"weight": np.ones(2), "bias": 1.0}
    ad.for_zipped_parameters(point, {"weight": np.full(2, 0.5), "bias": 0.5}, descend)
    assert point["bias"] == 0.95 and point["weight"][0] == 0.95
