"""Powers, means and lists of rotations; those that are made of matrices and of modified Rodrigues parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from scipy.spatial.transform import Rotation

from sampling import check_grads

P, V = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3])
GIVEN = Rotation.from_rotvec([0.3, 0.2, -0.4])
TURNS = np.stack([Rotation.from_rotvec(v).as_matrix() for v in ([3.0, 0.1, 0.2], [0.3, 2.9, 0.2], [0.3, 0.1, -3.0])])


def powers(v):
    r = Rotation.from_rotvec(v)
    return (r**0.5).as_quat() @ [1.0, 2.0, 3.0, 4.0] + (r**-1).as_rotvec() @ P


def parameters(v):
    return Rotation.from_mrp(v).as_rotvec() @ P + Rotation.from_quat([*v, -1.0]).as_mrp() @ P


def several(v):
    r = Rotation.from_rotvec(v)
    return np.sum(Rotation.concatenate([r, r * r, GIVEN]).as_rotvec() * np.arange(9.0).reshape(3, 3))


def means(v):
    r = Rotation.from_rotvec(np.stack([v, v**2]))
    return r.mean().as_rotvec() @ P + r.mean(weights=[0.3, 0.7]).as_rotvec() @ P


def of_a_matrix(v):
    skew = np.array([[0.0, -v[0], v[1]], [v[0], 0.0, -v[2]], [-v[1], v[2], 0.0]])
    return Rotation.from_matrix(linalg.expm(skew)).as_rotvec() @ P


def nearest_to_matrices(m):
    return np.sum(Rotation.from_matrix(m).as_quat() * np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize(
    ("function", "at"),
    [
        *[(function, V) for function in (powers, parameters, several, means, of_a_matrix)],
        (nearest_to_matrices, TURNS + 0.01),
    ],
)
def test_gradients(function: Callable[[Any], Any], at: Any) -> None:
    check_grads(function, (at,), order=1)
