"""Inputs of the evals as JSON holds them, of any size, by numbers drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

BONES = 22


def gmm(d: int, k: int, n: int, gamma: float = 1.0, m: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(d + 10 * k)
    parts = {
        "x": rng.normal(size=(n, d)),
        "alpha": rng.normal(size=k),
        "mu": rng.uniform(size=(k, d)),
        "q": 0.5 * rng.normal(size=(k, d)),
        "l": rng.normal(size=(k, d * (d - 1) // 2)),
    }
    return {"d": d, "k": k, "n": n, "m": m, "gamma": gamma, **{name: part.tolist() for name, part in parts.items()}}


def ba(cameras: int, points: int, observations: int) -> dict[str, Any]:
    camera = [0.3, -0.2, 0.1, 0.2, -0.1, -6.0, 500.0, 3.0, 2.0, 0.05, 0.02]
    given = {"cam": camera, "x": [0.1, -0.2, 0.3], "w": 0.7, "feat": [4.0, -3.0]}
    return {"n": cameras, "m": points, "p": observations, **given}


def lstm(layers: int, width: int, length: int) -> dict[str, Any]:
    rng = np.random.default_rng(layers)
    return {
        "main_params": rng.normal(size=(2 * layers, 4 * width)).tolist(),
        "extra_params": rng.normal(size=(3, width)).tolist(),
        "state": rng.normal(size=(2 * layers, width)).tolist(),
        "sequence": rng.integers(0, 2, size=(length, width)).astype(float).tolist(),
    }


def hand(vertices: int, points: int, in_triangles: bool, turned: bool = True) -> dict[str, Any]:
    rng = np.random.default_rng(vertices + points)
    theta = 0.4 * rng.normal(size=26)
    theta[:3] *= turned
    matrices = np.tile(np.eye(4), (2, BONES, 1, 1))
    matrices[:, :, :3] += 0.3 * rng.normal(size=(2, BONES, 3, 4))
    triangles = np.array([rng.choice(vertices, 3, replace=False) for _ in range(2 * vertices)])
    model = {
        "bone_count": BONES,
        "bone_names": [f"bone {i}" for i in range(BONES)],
        "parents": [-1, *(int(rng.integers(0, i)) for i in range(1, BONES))],
        "base_relatives": matrices[0].tolist(),
        "inverse_base_absolutes": matrices[1].tolist(),
        "base_positions": np.column_stack((rng.normal(size=(vertices, 3)), np.ones(vertices))).tolist(),
        "weights": rng.dirichlet(np.ones(BONES), size=vertices).tolist(),
        "triangles": triangles.tolist(),
        "is_mirrored": False,
    }
    seen = rng.integers(0, len(triangles) if in_triangles else vertices, size=points)
    return {
        "theta": theta.tolist(),
        "us": rng.uniform(0, 0.5, size=(points, 2)).tolist() if in_triangles else [],
        "data": {"model": model, "correspondences": seen.tolist(), "points": rng.normal(size=(points, 3)).tolist()},
    }


def kmeans(k: int, n: int, d: int) -> dict[str, Any]:
    points = np.random.default_rng(k).uniform(size=(n, d))
    return {"points": points.tolist(), "centroids": points[-k:].tolist()}


def ode(n: int, steps: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(n).uniform(size=n).tolist(), "s": steps}


def lse(n: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(n).uniform(size=n).tolist()}


def det(ell: int) -> dict[str, Any]:
    return {"A": np.random.default_rng(ell).uniform(size=ell * ell).tolist(), "ell": ell}


def llsq(m: int, n: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(n).uniform(size=m).tolist(), "n": n}
