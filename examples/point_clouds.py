"""Two clouds of points laid over each other by descending on the rigid motions: python examples/point_clouds.py

Two scans of one surface are taken from different places. Which point of one belongs to which of the other is not known:
the nearest ones are taken for partners, the motion that brings partners together is improved by gradient steps, and so
on (iterative closest points). The motion is a point of SE(3); each step follows a geodesic, so that it stays a motion.
"""

import numpy as np
from display import picture, progress

from adjoint.manifolds import SE3, SO3, riemannian_grad

TRUE = SE3(SO3.about(np.array([0.3, -0.2, 0.6])), np.array([0.3, -0.2, 0.25]))


def surface(rng, count):
    """Points of a wavy sheet, which fits itself in one position only."""
    x, y = rng.uniform(-1.0, 1.0, (2, count))
    z = 0.4 * np.sin(2.5 * x) + 0.25 * np.cos(3.5 * y + x) + 0.2 * x * y
    return np.stack([x, y, z], axis=1)


def partners(points, others):
    """The nearest of the others to each point."""
    distances = np.sum((points[:, None] - others[None]) ** 2, axis=-1)
    return others[np.argmin(distances, axis=1)]


def loss(motion, points, targets):
    """A mean of squared distances, in which far points count less."""
    squares = np.sum((motion.apply(points) - targets) ** 2, axis=1)
    return np.mean(squares / (squares + 0.05))


def errors(motion):
    """How far a motion is from the true one: in degrees, and in length."""
    rest = motion @ TRUE.inverse
    turned = np.linalg.norm((motion.rotation @ TRUE.rotation.inverse).vector)
    return np.degrees(turned), np.linalg.norm(rest.translation)


def align(points, target, rounds, steps=10, rate=0.03):
    """The motion that lays one cloud over the other, and the losses on the way."""
    gradient = riemannian_grad(loss)
    motion, losses = SE3.identity(), []
    for done in range(1, rounds + 1):
        nearest = partners(motion.apply(points), target)
        for _ in range(steps):
            motion = motion.moved(along=-rate * gradient(motion, points, nearest))
        losses.append(loss(motion, points, nearest))
        degrees, distance = errors(motion)
        progress(done, rounds, f"round {done:3}  loss {losses[-1]:.5f}  off by {degrees:6.3f}° and {distance:.4f}")
    return motion, losses


def draw(figure, before, after, target, losses):
    for place, (title, cloud) in enumerate({"before": before, "after": after}.items(), start=1):
        axes = figure.add_subplot(1, 3, place, projection="3d")
        axes.scatter(*target.T, s=3, color="#9fb3c8")
        axes.scatter(*cloud.T, s=3, color="#1d4ed8")
        axes.set_title(title)
    axes = figure.add_subplot(1, 3, 3)
    axes.semilogy(losses, color="#1d4ed8")
    axes.set_title("loss")
    axes.set_xlabel("round")


def main(rounds=150, count=600, path="point_clouds.png"):
    rng = np.random.default_rng(4)
    points = surface(rng, count) + 0.005 * rng.normal(size=(count, 3))
    target = TRUE.apply(surface(rng, count)) + 0.005 * rng.normal(size=(count, 3))
    motion, losses = align(points, target, rounds)
    matrix = motion.rotation.matrix
    print(f"the rotation is orthogonal to {np.abs(matrix.T @ matrix - np.eye(3)).max():.0e}")
    picture(path, lambda figure: draw(figure, points, motion.apply(points), target, losses), figsize=(12.0, 4.0))
    return motion


if __name__ == "__main__":
    main()
