"""Rotations of SciPy: made of what varies, turning what varies, and both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second
from sampling import THOROUGH, check_grads

transform = pytest.importorskip("scipy.spatial.transform")
Rotation = transform.Rotation

V = np.array([0.3, -0.5, 0.8])
MANY = np.array([[0.3, -0.5, 0.8], [1.1, 0.2, -0.4]])
WEIGHTS = np.array([[0.3, 0.7, -0.2], [0.9, -0.4, 0.5], [0.1, 0.6, 0.8]])
POINTS = np.array([[1.0, 0.5, -0.3], [0.2, 0.9, 0.4]])
GIVEN = Rotation.from_euler("xyz", [0.1, 0.2, 0.3])


def of_vectors(v):
    r = Rotation.from_rotvec(v)
    return np.sum(WEIGHTS * r.as_matrix()) + np.sum(r.apply(POINTS) ** 3) + np.sum(r.apply(v, inverse=True) * v)


def of_several(v):
    r = Rotation.from_rotvec(v)
    return np.sum(r.apply(POINTS) ** 3) + np.sum(r[1].as_rotvec() ** 3) * len(r) + np.sum(r.inv().as_matrix() ** 3)


def of_quaternions(v):
    r = Rotation.from_quat(np.concatenate([v, np.array([0.9])]))
    return np.sum(r.as_rotvec() ** 3) + r.magnitude() + np.sum(r.as_quat(scalar_first=True) ** 3)


def composed(v):
    r = Rotation.from_rotvec(v)
    made = Rotation.from_euler("z", 0.4)
    both = GIVEN * r * Rotation.from_rotvec(2 * v[::-1]) * made
    return np.sum(WEIGHTS * both.as_matrix()) + np.sum(GIVEN.apply(v) ** 3) + np.sum(made.apply(v) ** 2 * v)


@pytest.mark.parametrize(
    ("f", "v"), [(of_vectors, V), (of_several, MANY), (of_quaternions, V), (composed, V), (of_vectors, 1e-9 * V)]
)
def test_rotations(f: Callable[[Any], Any], v: np.ndarray) -> None:
    right(f, v)
    if v.ndim == 1 and (THOROUGH or f is not composed):
        second(f, v)


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "XYX"])
def test_angles(seq: str) -> None:
    def f(v):
        r = Rotation.from_euler(seq, v)
        return np.sum(WEIGHTS * r.as_matrix()) + np.sum(r.as_euler(seq) * V) + np.sum(r.as_euler("yzx", degrees=True))

    right(f, V)
    assert ad.value_and_grad(f)(V)[0] == pytest.approx(f(V), rel=1e-12)


def test_where_nothing_turns() -> None:
    gradient = ad.grad(lambda v: np.sum(WEIGHTS * Rotation.from_rotvec(v).as_matrix()))(np.zeros(3))
    np.testing.assert_allclose(
        gradient, [WEIGHTS[2, 1] - WEIGHTS[1, 2], WEIGHTS[0, 2] - WEIGHTS[2, 0], WEIGHTS[1, 0] - WEIGHTS[0, 1]]
    )


def test_what_is_refused() -> None:
    def sensitive(m: Any) -> Any:
        return np.sum(Rotation.align_vectors(m, np.eye(3), return_sensitivity=True)[0].as_quat())

    refused(lambda: ad.grad(sensitive)(np.eye(3)))


def test_vectors_that_are_aligned() -> None:
    rng = np.random.default_rng(0)
    to, of = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))

    def several(to: Any, of: Any, weights: Any) -> Any:
        found, apart = Rotation.align_vectors(to, of, weights=weights)
        return (found.as_quat(), apart)

    def one(to: Any, of: Any) -> Any:
        return Rotation.align_vectors(to, of)[0].as_rotvec()

    check_grads(several, (to, of, np.array([1.0, 2.0, 0.5, 0.7])), order=1)
    check_grads(several, (-of[:2] + 0.1, of[:2], np.ones(2)), order=1)
    check_grads(one, (to[0], of[0]), order=1)
    value, pullback = ad.vjp(lambda m: Rotation.align_vectors(m, np.eye(3))[0].as_matrix(), np.eye(3))
    np.testing.assert_allclose(value, np.eye(3), atol=1e-12)
    # of all directions but the one in question, none is singled out where frames agree
    np.testing.assert_allclose(pullback(WEIGHTS)[0], (WEIGHTS.T - WEIGHTS) / 2.0, atol=1e-9)
    check_grads(lambda v: Rotation.from_rotvec(v).mean().as_matrix(), (to[:1],), order=1)
