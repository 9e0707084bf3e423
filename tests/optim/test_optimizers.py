"""Groups, schedules, clipping, state: what all optimizers have in common."""

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray
    activation: object = field(default=None, metadata={"no_derivative": True})


@dataclass
class Model:
    base: Dense
    classifier: Dense
    scale: float = ad.parameter(default=1.0)
    name: str = "model"


def model(dtype=np.float64):
    return Model(*[Dense(np.ones((2, 2), dtype), np.ones(2, dtype), np.tanh) for _ in range(2)])


def loss(model, x):
    hidden = np.tanh(x @ model.base.weight + model.base.bias)
    return model.scale * np.sum((hidden @ model.classifier.weight + model.classifier.bias) ** 2)


X = np.arange(6.0).reshape(3, 2) / 10


def trained(optimizer, steps, start=None):
    current = model() if start is None else start
    for _ in range(steps):
        optimizer.update(current, along=ad.grad(loss)(current, X))
    return current


def same(a, b):
    return all(np.array_equal(x, y) for x, y in ad.zip_parameters(a, b))


# -- groups


def ones(current):
    return ad.grad(lambda m: sum(np.sum(p) for d in (m.base, m.classifier) for p in (d.weight, d.bias)) + m.scale)(
        current
    )


def test_groups_have_rates_of_their_own():
    group = ad.optim.Group(ad.keypath(Model).classifier, learning_rate=1e-3)
    optimizer, current = ad.optim.SGD(1e-2, momentum=0.9, groups=[group]), model()
    for _ in range(2):
        optimizer.update(current, along=ones(current))
    np.testing.assert_allclose(current.base.weight, 0.971, rtol=1e-12)
    np.testing.assert_allclose(current.classifier.bias, 0.9971, rtol=1e-12)
    assert current.scale == pytest.approx(0.971, rel=1e-12)


@pytest.mark.parametrize(
    "where",
    [".base", ad.keypath(Model).base, lambda path: str(path).startswith(".base"), (".base.weight", ".base.bias")],
    ids=["text", "key path", "predicate", "tuple"],
)
def test_ways_to_name_a_group(where):
    optimizer, current = ad.optim.SGD(0.5, groups=[ad.optim.Group(where, frozen=True)]), model()
    optimizer.update(current, along=ones(current))
    assert np.all(current.base.weight == 1.0) and np.all(current.base.bias == 1.0)
    assert np.all(current.classifier.weight == 0.5) and current.scale == 0.5


def test_the_first_group_counts():
    groups = [
        ad.optim.Group(lambda path: str(path).endswith("bias"), learning_rate=0.5),
        ad.optim.Group(".base", frozen=True),
    ]
    current = model()
    ad.optim.SGD(0.25, groups=groups).update(current, along=ones(current))
    assert current.base.bias[0] == current.classifier.bias[0] == 0.5
    assert current.base.weight[0, 0] == 1.0 and current.classifier.weight[0, 0] == 0.75


def test_groups_decay_by_themselves():
    decayed = ad.optim.AdamW(0.1, weight_decay=0.0, groups=[ad.optim.Group(".base.weight", weight_decay=0.5)])
    plain = ad.optim.AdamW(0.1, weight_decay=0.0)
    one, other = trained(decayed, 1), trained(plain, 1)
    np.testing.assert_allclose(other.base.weight - one.base.weight, 0.05)
    np.testing.assert_array_equal(other.base.bias, one.base.bias)


def test_groups_can_be_changed():
    group = ad.optim.Group(".base", learning_rate=0.5)
    optimizer, current = ad.optim.SGD(0.25, groups=[group]), model()
    optimizer.update(current, along=ones(current))
    group.hyperparameters["learning_rate"] = 0.125
    optimizer.update(current, along=ones(current))
    assert current.base.weight[0, 0] == 0.375 and current.scale == 0.5
    optimizer.groups = [ad.optim.Group(".scale", frozen=True)]
    optimizer.update(current, along=ones(current))
    assert current.base.weight[0, 0] == 0.125 and current.scale == 0.5
    optimizer.groups, optimizer.only = [], ".scale"
    optimizer.update(current, along=ones(current))
    assert current.base.weight[0, 0] == 0.125 and current.scale == 0.25
    with pytest.raises(TypeError, match="no hyperparameter 'beta1'"):
        optimizer.groups = [ad.optim.Group(".base", beta1=0.5)]


def test_a_group_that_holds_nothing_is_an_error():
    with pytest.raises(ValueError, match=r"holds no parameter: there are \.base\.weight, "):
        trained(ad.optim.SGD(groups=[ad.optim.Group(".bias")]), 1)
    with pytest.raises(ValueError, match="leaves no parameter"):
        trained(ad.optim.SGD(only=np.float32), 1)


def test_a_group_has_only_hyperparameters_of_its_optimizer():
    with pytest.raises(TypeError, match="SGD has no hyperparameter 'beta1'"):
        ad.optim.SGD(groups=[ad.optim.Group(".base", beta1=0.5)])
    with pytest.raises(ValueError, match="learning_rate must be non-negative"):
        ad.optim.SGD(groups=[ad.optim.Group(".base", learning_rate=-1.0)])


def test_an_optimizer_for_each_dtype():
    @dataclass
    class Mixed:
        weight: np.ndarray
        bias: np.ndarray

    mixed = Mixed(np.ones((2, 2), np.float32), np.array(1.0))
    gradient = ad.grad(lambda m: 0.5 * (np.sum(m.weight) + np.sum(m.bias)))(mixed)
    ad.optim.SGD(only=np.float32).update(mixed, along=gradient)
    np.testing.assert_array_equal(mixed.weight, np.full((2, 2), 0.995, np.float32))
    assert mixed.bias == 1.0
    ad.optim.SGD(only=np.float64).update(mixed, along=gradient)
    assert mixed.bias == 0.995 and mixed.weight.dtype == np.float32


# -- hyperparameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ad.optim.SGD(-1.0), "learning_rate must be non-negative"),
        (lambda: ad.optim.SGD(momentum=-0.1), "momentum must be non-negative"),
        (lambda: ad.optim.Adam(decay=-1.0), "decay must be non-negative"),
        (lambda: ad.optim.Adam(beta1=1.5), "beta1 must be between 0 and 1"),
        (lambda: ad.optim.AdaDelta(rho=2.0), "rho must be between 0 and 1"),
        (lambda: setattr(ad.optim.Adam(), "beta2", -0.5), "beta2 must be between 0 and 1"),
    ],
)
def test_hyperparameters_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_hyperparameters_can_be_changed():
    optimizer, current = ad.optim.SGD(0.5), {"x": 1.0}
    optimizer.update(current, along={"x": 1.0})
    optimizer.learning_rate = 0.25
    optimizer.update(current, along={"x": 1.0})
    assert current == {"x": 0.25}


def test_momentum_can_begin_later():
    optimizer, current = ad.optim.SGD(0.5), {"x": 1.0}
    optimizer.update(current, along={"x": 1.0})
    optimizer.momentum = 0.5
    optimizer.update(current, along={"x": 1.0})
    assert current == {"x": 0.0}
    optimizer.update(current, along={"x": 0.0})
    assert current == {"x": -0.25}


def test_a_schedule_is_asked_before_each_update():
    asked = []

    def rate(updates):
        asked.append(updates)
        return 1.0 / (1 + updates)

    optimizer, current = ad.optim.SGD(rate), {"x": 0.0}
    for _ in range(3):
        optimizer.update(current, along={"x": 1.0})
    assert asked == [0, 1, 2]
    assert current["x"] == pytest.approx(-(1 + 1 / 2 + 1 / 3))


def test_optimizers_print_what_they_are():
    assert "learning_rate=0.02" in repr(ad.optim.Adam(0.02))
    assert repr(ad.optim.Group(".base", frozen=True)) == "Group('.base', frozen=True)"


# -- clipping


def test_clipping_by_norm_looks_at_all_parameters():
    current = {"x": 0.0, "y": np.zeros(1), "name": "a"}
    ad.optim.SGD(1.0, clip_norm=1.0).update(current, along={"x": 3.0, "y": np.array([4.0]), "name": None})
    assert current["x"] == pytest.approx(-0.6) and current["y"][0] == pytest.approx(-0.8)


def test_clipping_by_value_looks_at_each_component():
    current, gradient = {"x": 0.0, "y": np.zeros(2)}, {"x": 3.0, "y": np.array([-4.0, 0.5])}
    ad.optim.SGD(1.0, clip_value=1.0).update(current, along=gradient)
    assert current["x"] == -1.0
    np.testing.assert_array_equal(current["y"], [1.0, -0.5])
    np.testing.assert_array_equal(gradient["y"], [-4.0, 0.5])


# -- state

OPTIMIZERS = [
    ad.optim.SGD,
    lambda: ad.optim.SGD(momentum=0.9),
    ad.optim.RMSProp,
    ad.optim.AdaGrad,
    ad.optim.AdaDelta,
    ad.optim.Adam,
    ad.optim.AdaMax,
    ad.optim.AMSGrad,
    ad.optim.RAdam,
    ad.optim.LARS,
    ad.optim.AdamW,
    ad.optim.Lion,
    lambda: ad.optim.Adam(ad.optim.Cosine(0.1, 10), groups=[ad.optim.Group(".base", frozen=True)]),
]


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize("keep", ["value", "file", "pickle", "copy"])
def test_training_goes_on_as_if_it_had_not_stopped(make, keep, tmp_path):
    whole = trained(make(), 9)
    first = make()
    half = trained(first, 4)
    second = make()
    if keep == "value":
        second.state = first.state
    elif keep == "file":
        pytest.importorskip("safetensors")
        ad.optim.save(first.state, tmp_path / "state.safetensors")
        second.state = ad.optim.load(tmp_path / "state.safetensors", like=half)
        assert second.state == first.state
    else:
        second = pickle.loads(pickle.dumps(first)) if keep == "pickle" else copy.deepcopy(first)
    trained(second, 5, half)
    assert same(whole, half)


def test_the_state_is_a_value_of_the_tangent_type():
    optimizer = ad.optim.Adam()
    assert optimizer.state is None
    current = trained(optimizer, 3)
    state = optimizer.state
    assert state.step == 3
    assert type(state.first_moments) is type(ad.grad(loss)(current, X))
    assert str(state).startswith(
        "State(step=3, first_moments=Model.TangentVector(base=Dense.TangentVector(weight=array("
    )
    assert not hasattr(state, "third_moments")
    assert state == optimizer.state
    trained(optimizer, 1, current)
    assert state.step == 3 and state != optimizer.state


def test_the_state_is_a_copy():
    optimizer, current = ad.optim.SGD(0.1, momentum=0.5), {"x": np.ones(2)}
    optimizer.update(current, along={"x": np.ones(2)})
    optimizer.state.velocities["x"][:] = 100.0
    np.testing.assert_array_equal(optimizer.state.velocities["x"], [-0.1, -0.1])


def test_a_state_begins_anew():
    optimizer = ad.optim.Adam()
    first = trained(optimizer, 2)
    optimizer.state = None
    assert same(first, trained(optimizer, 2))


def test_a_state_of_something_else_is_refused(tmp_path):
    optimizer = ad.optim.Adam()
    trained(optimizer, 1)
    with pytest.raises(ad.DifferentiationError, match=r"another structure: there is float at \['x'\]"):
        optimizer.update({"x": 1.0}, along={"x": 1.0})
    other = ad.optim.SGD(momentum=0.5)
    other.state = optimizer.state
    with pytest.raises(
        ValueError, match="the state holds first_moments, second_moments; this optimizer keeps velocities"
    ):
        trained(other, 1)
    pytest.importorskip("safetensors")
    path = tmp_path / "state.safetensors"
    ad.optim.save(optimizer.state, path)
    with pytest.raises(ValueError, match=r"lacks first_moments\['x'\]"):
        ad.optim.load(path, like={"x": 1.0})
    with pytest.raises(ValueError, match="as float64 of shape"):
        ad.optim.load(path, like=model(np.float32))


def test_a_frozen_group_has_to_be_of_the_same_structure():
    optimizer = ad.optim.SGD(groups=[ad.optim.Group("['x']", frozen=True)])
    optimizer.update({"x": 1.0, "y": 1.0}, along={"x": 1.0, "y": 1.0})
    with pytest.raises(ad.DifferentiationError, match="another structure"):
        optimizer.update({"x": 1.0, "z": 1.0}, along={"x": 1.0, "z": 1.0})


# -- what does not fit


def test_a_gradient_of_something_else_is_refused():
    optimizer, current = ad.optim.Adam(), model()
    gradient = ad.grad(loss)(current, X)
    with pytest.raises(ad.DifferentiationError, match=r"at the top there is a value of type 'Dense.TangentVector'"):
        optimizer.update(current, along=gradient.base)
    gradient.base.weight = np.ones(3)
    with pytest.raises(
        ad.DifferentiationError, match=r"at \.base\.weight there is an array of float64 with shape \(3,\)"
    ):
        optimizer.update(current, along=gradient)
    assert same(current, model())


def test_what_is_immutable_is_not_updated_in_place():
    for fixed in ((1.0, np.ones(2)), 1.0):
        with pytest.raises(ad.DifferentiationError, match="cannot be updated in place"):
            ad.optim.SGD().update(fixed, along=fixed)
    read_only = np.ones(2)
    read_only.flags.writeable = False
    with pytest.raises(ad.DifferentiationError, match="read-only"):
        ad.optim.SGD().update({"x": read_only}, along={"x": np.ones(2)})
    np.testing.assert_array_equal(ad.optim.SGD(0.5).updated(read_only, along=np.ones(2)), [0.5, 0.5])


def test_complex_parameters_are_refused():
    with pytest.raises(ad.DifferentiationError, match="complex"):
        ad.optim.SGD().update({"x": 1j}, along={"x": 1j})


def test_a_missing_gradient_is_zero():
    optimizer, current = ad.optim.SGD(0.5, momentum=0.5), {"x": 1.0, "y": np.ones(2)}
    optimizer.update(current, along={"x": 1.0, "y": np.ones(2)})
    optimizer.update(current, along={"x": None})
    assert current["x"] == 0.25
    np.testing.assert_array_equal(current["y"], [0.25, 0.25])
    optimizer.update(current, along=None)
    assert current["x"] == 0.125


def test_tied_weights_are_updated_once():
    shared = np.ones(2)
    tied = {"encoder": shared, "decoder": shared}
    gradient = ad.grad(lambda m: np.sum(m["encoder"] * 2.0) + np.sum(m["decoder"] * 3.0))(tied)
    ad.optim.SGD(0.1).update(tied, along=gradient)
    np.testing.assert_allclose(shared, [0.5, 0.5])
    untied = {"encoder": np.ones(2), "decoder": np.ones(2)}
    ad.optim.SGD(0.1).update(untied, along={"encoder": np.full(2, 2.0), "decoder": np.full(2, 3.0)})
    np.testing.assert_allclose(untied["encoder"], [0.8, 0.8])


def test_a_gradient_of_another_dtype_keeps_the_dtype_of_the_parameter():
    for native in (None, True):
        current = {"x": np.ones(2, np.float32)}
        ad.optim.Adam(0.5, native=native).update(current, along={"x": np.ones(2)})
        assert current["x"].dtype == np.float32
        np.testing.assert_allclose(current["x"], 0.5, rtol=1e-6)


def test_gradients_are_left_as_they_are():
    for make in OPTIMIZERS[:-1]:
        current, gradient = {"x": np.ones(2), "y": 2.0}, {"x": np.full(2, 0.5), "y": 0.25}
        optimizer = make()
        optimizer.update(current, along=gradient)
        optimizer.update(current, along=gradient)
        np.testing.assert_array_equal(gradient["x"], [0.5, 0.5])
        assert gradient["y"] == 0.25


def test_models_of_any_layout_in_memory():
    for order in ("F", "C"):
        for step in (1, 2):
            for native in (None, True):
                current = {"x": np.ones((4, 6), order=order)[:, ::step], "y": np.ones((0, 3)), "z": np.array(1.0)}
                gradient = {"x": np.arange(24.0).reshape(4, 6)[:, ::step], "y": np.ones((0, 3)), "z": np.array(2.0)}
                optimizer = ad.optim.SGD(0.5, momentum=0.5, native=native)
                optimizer.update(current, along=gradient)
                np.testing.assert_array_equal(current["x"], 1.0 - 0.5 * gradient["x"])
                assert current["z"] == 0.0


def test_a_user_can_write_an_optimizer():
    @ad.unrolled
    def sign_descent(p, g, flips, *, rate):
        flips += np.sign(g)
        p -= rate * np.sign(g)

    @dataclass(eq=False)
    class SignDescent(ad.optim.Optimizer):
        learning_rate: float = 0.5

        def parts(self):
            return {"flips": 0.0}

        def rule(self, options):
            return sign_descent

        def constants(self, options, step):
            return {"rate": options.learning_rate}

    optimizer = SignDescent()
    assert optimizer.updated((1.0, -1.0), along=(3.0, -3.0)) == (0.5, -0.5)
    assert optimizer.state.flips == (1.0, -1.0)
