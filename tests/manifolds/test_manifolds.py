"""Points of curved spaces: they move along geodesics, and gradient descent stays where they are."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.tools.laws import random_tangent
from adjoint.manifolds import SE3, SO3, PositiveDefinite, Simplex, Sphere, Stiefel, UnitQuaternion, riemannian_grad
from sampling import THOROUGH, check_grads

RNG = np.random.default_rng(11)
A = RNG.normal(size=(4, 4))
FORM = A @ A.T
CLOUD = RNG.normal(size=(20, 3))
TRUE = SO3.about(np.array([0.3, -1.1, 0.6]))
SHIFT = np.array([0.5, -0.2, 1.0])
PROBABILITIES = np.array([0.1, 0.2, 0.3, 0.4])


def spd(seed):
    b = np.random.default_rng(seed).normal(size=(3, 3))
    return b @ b.T + 0.5 * np.eye(3)


def rayleigh(place):
    return place.point @ FORM @ place.point


def wahba(turn):
    return np.mean((turn.rotate(CLOUD) - TRUE.rotate(CLOUD)) ** 2)


def registration(motion):
    return np.mean((motion.apply(CLOUD) - TRUE.rotate(CLOUD) - SHIFT) ** 2)


def brockett(frame):
    return np.sum((FORM @ frame.matrix) * frame.matrix * np.array([1.0, 2.0]))


def divergence(p):
    return np.trace(p.matrix @ np.linalg.inv(spd(5))) - np.log(np.linalg.det(p.matrix))


def cross_entropy(p):
    return -np.sum(PROBABILITIES * np.log(p.weights))


def on_sphere(place):
    return abs(np.linalg.norm(place.point) - 1)


def on_rotations(turn):
    return max(np.abs(turn.matrix.T @ turn.matrix - np.eye(3)).max(), abs(np.linalg.det(turn.matrix) - 1))


def on_quaternions(turn):
    return abs(np.linalg.norm(turn.components) - 1)


def on_motions(motion):
    return on_rotations(motion.rotation)


def on_frames(frame):
    return np.abs(frame.matrix.T @ frame.matrix - np.eye(frame.matrix.shape[1])).max()


def on_positive(p):
    return np.abs(p.matrix - p.matrix.T).max() + max(0.0, -np.linalg.eigvalsh(p.matrix).min())


def on_simplex(p):
    return abs(np.sum(p.weights) - 1) + max(0.0, -p.weights.min())


SPACES = {
    "Sphere": (Sphere.towards(np.array([1.0, 2.0, -1.0, 0.5])), rayleigh, on_sphere, 0.02, np.linalg.eigvalsh(FORM)[0]),
    "SO3": (SO3.identity(), wahba, on_rotations, 0.1, 0.0),
    "UnitQuaternion": (UnitQuaternion.identity(), wahba, on_quaternions, 0.02, 0.0),
    "SE3": (SE3.identity(), registration, on_motions, 0.1, 0.0),
    "Stiefel": (
        Stiefel.spanning(RNG.normal(size=(4, 2))),
        brockett,
        on_frames,
        0.01,
        np.linalg.eigvalsh(FORM)[:2] @ np.array([2.0, 1.0]),
    ),
    "PositiveDefinite": (
        PositiveDefinite(spd(1)),
        divergence,
        on_positive,
        0.05,
        3 - math.log(np.linalg.det(spd(5))),
    ),
    "Simplex": (
        Simplex.from_weights(np.array([4.0, 1.0, 1.0, 2.0])),
        cross_entropy,
        on_simplex,
        0.1,
        -np.sum(PROBABILITIES * np.log(PROBABILITIES)),
    ),
}

by_space = pytest.mark.parametrize("name", SPACES)


@by_space
def test_gradient_descent_stays_on_the_space_for_thousands_of_steps(name):
    place, loss, error, rate, least = SPACES[name]
    gradient = riemannian_grad(loss)
    worst = 0.0
    for step in range(10_000 if THOROUGH else 2_000):
        place = place.moved(along=-rate * gradient(place))
        if step % 100 == 0:
            worst = max(worst, error(place))
    assert max(worst, error(place)) < 1e-12
    assert loss(place) == pytest.approx(least, abs=1e-9)


def parts(place):
    """The arrays of a point or a tangent."""
    if hasattr(place, "rotation"):
        return [place.rotation.matrix, place.translation]
    return list(vars(place).values())


@by_space
def test_moving_starts_in_the_direction_and_is_undone(name):
    place, _, error, _, _ = SPACES[name]
    tangent = 0.1 * random_tangent(place, 3)
    for moved, same in zip(parts(place.moved(along=0.0 * tangent)), parts(place), strict=True):
        np.testing.assert_allclose(moved, same, atol=1e-14)
    assert error(place.moved(along=tangent)) < 1e-13
    h = 1e-5
    ahead, behind = place.moved(along=h * tangent), place.moved(along=-h * tangent)
    for a, b, direction in zip(parts(ahead), parts(behind), parts(tangent), strict=True):
        np.testing.assert_allclose((a - b) / (2 * h), direction, atol=1e-8)


@by_space
def test_the_gradient_is_the_direction_of_steepest_ascent(name):
    place, loss, _, _, _ = SPACES[name]
    gradient = riemannian_grad(loss)(place)
    plain = ad.grad(loss)(place)
    h = 1e-5
    for seed in range(3):
        direction = random_tangent(place, seed)
        slope = (loss(place.moved(along=h * direction)) - loss(place.moved(along=-h * direction))) / (2 * h)
        assert slope == pytest.approx(ad.tangents.dot(plain, direction), rel=1e-5, abs=1e-7)
        assert slope == pytest.approx(inner(place, gradient, direction), rel=1e-5, abs=1e-7)


def inner(place, a, b):
    """The inner product of two tangents in the metric of the space."""
    match place:
        case PositiveDefinite(matrix):
            inverse = np.linalg.inv(matrix)
            return np.trace(inverse @ a.matrix @ inverse @ b.matrix)
        case Simplex(weights):
            return np.sum(a.weights * b.weights / weights)
        case Stiefel(matrix):
            middle = np.eye(len(matrix)) - 0.5 * matrix @ matrix.T
            return np.trace(a.matrix.T @ middle @ b.matrix)
        case _:
            return ad.tangents.dot(a, b)


def test_lengths_of_geodesics():
    sphere = Sphere.towards(np.array([1.0, 2.0, 2.0]))
    v = random_tangent(sphere, 1)
    assert math.acos(sphere.point @ sphere.moved(along=v).point) == pytest.approx(np.linalg.norm(v.point))
    turn = TRUE.moved(along=SO3.TangentVector(matrix=TRUE.matrix @ np.array([[0, -0.3, 0], [0.3, 0, 0], [0, 0, 0.0]])))
    np.testing.assert_allclose((TRUE.inverse @ turn).vector, [0.0, 0.0, 0.3], atol=1e-14)
    p = PositiveDefinite(spd(1))
    v = random_tangent(p, 2) * 0.2
    eigenvalues = np.linalg.eigvals(np.linalg.solve(p.matrix, p.moved(along=v).matrix)).real
    assert math.sqrt(np.sum(np.log(eigenvalues) ** 2)) == pytest.approx(math.sqrt(inner(p, v, v)))
    s = Simplex(PROBABILITIES)
    v = random_tangent(s, 4) * 0.5
    distance = 2 * math.acos(np.sum(np.sqrt(s.weights * s.moved(along=v).weights)))
    assert distance == pytest.approx(math.sqrt(inner(s, v, v)))


def test_geodesics_of_frames_keep_their_speed():
    frame = SPACES["Stiefel"][0]
    v = random_tangent(frame, 7) * 0.8
    h = 1e-5
    for t in (0.0, 0.3, 0.7):
        middle = frame.moved(along=t * v)
        velocity = (frame.moved(along=(t + h) * v).matrix - frame.moved(along=(t - h) * v).matrix) / (2 * h)
        tangent = Stiefel.TangentVector(matrix=velocity)
        assert inner(middle, tangent, tangent) == pytest.approx(inner(frame, v, v), rel=1e-6)


def test_the_laws_of_the_types():
    for name, (place, *_) in SPACES.items():
        ad.testing.check_type(place)
        assert type(place).DifferentiableVariables is (type(place) if name != "SE3" else SE3.DifferentiableVariables)


def test_rotations():
    r = SO3.about(np.array([0.1, -0.4, 0.7]))
    q = UnitQuaternion.about(np.array([0.1, -0.4, 0.7]))
    np.testing.assert_allclose(q.matrix, r.matrix, atol=1e-15)
    np.testing.assert_allclose(r.vector, [0.1, -0.4, 0.7], atol=1e-15)
    np.testing.assert_allclose((q @ q).matrix, (r @ r).matrix, atol=1e-15)
    np.testing.assert_allclose((q @ q.inverse).components, [1, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(q.rotate(CLOUD), r.rotate(CLOUD), atol=1e-14)
    noisy = r.matrix + 0.01 * RNG.normal(size=(3, 3))
    assert on_rotations(SO3.nearest(noisy)) < 1e-14 and np.abs(SO3.nearest(noisy).matrix - r.matrix).max() < 0.05
    for axis in np.eye(3):
        half = SO3.about(math.pi * axis)
        np.testing.assert_allclose(np.abs(half.vector), math.pi * axis, atol=1e-14)


def test_motions():
    g = SE3.from_twist(np.array([0.2, 0.5, -0.1]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose((g @ g.inverse).apply(CLOUD), CLOUD, atol=1e-14)
    np.testing.assert_allclose((g @ g).apply(CLOUD), g.apply(g.apply(CLOUD)), atol=1e-13)
    halves = SE3.from_twist(np.array([0.1, 0.25, -0.05]), np.array([0.5, 1.0, 1.5]))
    np.testing.assert_allclose((halves @ halves).apply(CLOUD), g.apply(CLOUD), atol=1e-13)
    tiny = SE3.from_twist(np.full(3, 1e-9), SHIFT)
    np.testing.assert_allclose(tiny.apply(np.zeros(3)), SHIFT, atol=1e-8)


def test_functions_of_rotations_are_differentiated():
    check_grads(lambda q, v: q.rotate(v)[0] * q.rotate(v)[2], (UnitQuaternion.about(np.array([0.3, 0.1, 0.2])), SHIFT))
    check_grads(lambda r, v: (r @ r).rotate(v) @ v, (TRUE, SHIFT))
    check_grads(lambda w: SO3.about(w).rotate(SHIFT)[1], (np.array([0.3, 0.1, 0.2]),), order=1)
    check_grads(lambda g, v: (g @ g.inverse @ g).apply(v) @ v, (SE3.from_twist(SHIFT, SHIFT), SHIFT))


def test_points_in_a_model():
    @ad.differentiable
    class Pose:
        turn: SO3
        scale: float
        name: ad.NoDerivative[str] = "pose"

    def loss(pose):
        return np.mean((pose.scale * pose.turn.rotate(CLOUD) - 2.0 * TRUE.rotate(CLOUD)) ** 2)

    assert Pose.DifferentiableVariables is not Pose.TangentVector
    assert Pose.DifferentiableVariables.TangentVector is Pose.TangentVector
    pose = Pose(SO3.identity(), 1.0)
    variables = pose.differentiable_variables
    assert type(variables) is Pose.DifferentiableVariables and variables.turn is pose.turn
    assert pose.with_variables(variables).scale == 1.0
    for _ in range(300):
        pose.move(along=-0.1 * riemannian_grad(loss)(pose))
    assert loss(pose) < 1e-12 and pose.name == "pose" and pose.scale == pytest.approx(2.0)


def test_a_part_by_key_path_and_several_arguments():
    def loss(motion, scale):
        return np.mean((scale * motion.apply(CLOUD) - SHIFT) ** 2)

    motion = SE3.identity()
    turn, factor = riemannian_grad(loss, wrt=(ad.keypath(SE3).rotation, 1))(motion, 2.0)
    np.testing.assert_allclose(turn.matrix, riemannian_grad(loss)(motion, 2.0).rotation.matrix)
    np.testing.assert_allclose(turn.matrix, -turn.matrix.T)
    assert np.isclose(factor, ad.grad(loss, 1)(motion, 2.0), rtol=1e-14)  # one of them is a dot product
    assert repr(riemannian_grad(loss)) == "riemannian_grad(loss)"


def test_the_tangent_belongs_to_the_point_before_the_function_wrote_it():
    def f(place):
        value = place.point[0] * place.point[0]
        place.point[:] = 0.0
        return value

    gradient = riemannian_grad(f)(Sphere(np.array([0.6, 0.8])))
    np.testing.assert_allclose(gradient.point, [1.2 - 0.6 * 0.72, -0.8 * 0.72])
