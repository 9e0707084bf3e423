"""Optimizers and the types of users: declared, registered, of other spaces."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import adjoint as ad
from adjoint.manifolds import SO3, Simplex, Sphere


@ad.differentiable(frozen=True, slots=True, kw_only=True)
class Layer:
    weight: np.ndarray
    bias: np.ndarray | None = None
    activation: ad.NoDerivative[object] = np.tanh
    count: int = ad.no_derivative(default=3)


@ad.differentiable
class Network:
    layers: list[Layer]
    scale: float = 2
    offsets: dict[str, float] = field(default_factory=lambda: {"a": 1.0})


def loss(network, x):
    for layer in network.layers:
        x = x @ layer.weight
        if layer.bias is not None:
            x = x + layer.bias
    return np.sum(x) * network.scale + network.offsets["a"]


def network():
    return Network([Layer(weight=np.ones((2, 2)), bias=np.ones(2)), Layer(weight=np.ones((2, 2)))])


def test_declared_types():
    start, optimizer = network(), ad.optim.SGD(0.1, momentum=0.5)
    gradient = ad.grad(loss)(start, np.ones(2))
    found = optimizer.updated(start, along=gradient)
    assert isinstance(found, Network) and isinstance(found.layers[0], Layer)
    np.testing.assert_allclose(found.layers[0].weight, 0.6)
    np.testing.assert_allclose(found.layers[0].bias, 0.6)
    assert found.layers[1].bias is None and found.layers[0].activation is np.tanh and found.layers[0].count == 3
    assert found.scale == pytest.approx(0.8) and found.offsets["a"] == 0.9
    assert isinstance(optimizer.state.velocities, Network.TangentVector)
    assert start.scale == 2
    with pytest.raises(ad.DifferentiationError, match=r"\.layers\[0\]\.weight is held by a value of type 'Layer'"):
        optimizer.update(start, along=gradient)


def test_states_of_declared_types_are_saved(tmp_path):
    pytest.importorskip("safetensors")
    optimizer = ad.optim.Adam()
    optimizer.updated(network(), along=ad.grad(loss)(network(), np.ones(2)))
    ad.optim.save(optimizer.state, tmp_path / "state")
    assert ad.optim.load(tmp_path / "state", like=network()) == optimizer.state


class Length:
    def __init__(self, metres, unit):
        self.metres, self.unit = metres, unit


def test_registered_types():
    ad.register_type(Length, fields=("metres",), no_derivative=("unit",))
    length = Length(1.0, 2.0)
    ad.optim.SGD(0.5).update(length, along=ad.grad(lambda length: length.metres * length.unit)(length))
    assert (length.metres, length.unit) == (0.0, 2.0)


@dataclass
class Pose:
    rotation: SO3
    translation: np.ndarray


def test_a_pose_is_found():
    rng = np.random.default_rng(0)
    points, turn = rng.normal(size=(30, 3)), SO3.about(np.array([0.3, -0.2, 0.6]))
    target = turn.rotate(points) + np.array([1.0, 2.0, 3.0])

    def distance(pose):
        return np.mean(np.sum((pose.rotation.rotate(points) + pose.translation - target) ** 2, axis=1))

    pose, optimizer = Pose(SO3.identity(), np.zeros(3)), ad.optim.Adam(0.05)
    gradient = ad.grad(distance)
    for _ in range(400):
        optimizer.update(pose, along=gradient(pose))
    np.testing.assert_allclose(pose.rotation.matrix, turn.matrix, atol=1e-6)
    np.testing.assert_allclose(pose.translation, [1.0, 2.0, 3.0], atol=1e-6)
    np.testing.assert_allclose(pose.rotation.matrix.T @ pose.rotation.matrix, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("make", [lambda: ad.optim.SGD(0.1), lambda: ad.optim.Adam(0.02)])
def test_points_of_other_spaces(make):
    target = np.array([0.0, 0.6, 0.8])
    place, on_sphere = Sphere(np.array([1.0, 0.0, 0.0])), make()
    shares, wanted, on_simplex = Simplex(np.full(3, 1 / 3)), np.array([0.2, 0.3, 0.5]), make()
    for _ in range(300):
        place = on_sphere.updated(place, along=ad.grad(lambda place: -np.dot(place.point, target))(place))
        shares = on_simplex.updated(shares, along=ad.grad(lambda s: np.sum((s.weights - wanted) ** 2))(shares))
    np.testing.assert_allclose(place.point, target, atol=1e-3)
    np.testing.assert_allclose(shares.weights, wanted, atol=2e-2)
    assert np.linalg.norm(place.point) == pytest.approx(1.0, abs=1e-12)
    assert np.sum(shares.weights) == pytest.approx(1.0, abs=1e-12)
