"""Bundle adjustment: cameras and points are fitted to where the cameras saw the points.

A camera is a rotation (3 numbers), its centre (3), the focal length, the principal point (2), radial distortion (2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function

CAMERA, POINT = 11, 3


def rotate(r0, r1, r2, x0, x1, x2):
    """A point turned about an axis, by the length of the axis."""
    squared = r0 * r0 + r1 * r1 + r2 * r2
    if squared == 0.0:
        return x0 + r1 * x2 - r2 * x1, x1 + r2 * x0 - r0 * x2, x2 + r0 * x1 - r1 * x0
    angle = math.sqrt(squared)
    a0, a1, a2 = r0 / angle, r1 / angle, r2 / angle
    cosine, sine = math.cos(angle), math.sin(angle)
    along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cosine)
    return (
        x0 * cosine + (a1 * x2 - a2 * x1) * sine + a0 * along,
        x1 * cosine + (a2 * x0 - a0 * x2) * sine + a1 * along,
        x2 * cosine + (a0 * x1 - a1 * x0) * sine + a2 * along,
    )


def project(camera, point):
    """Where a camera sees a point."""
    x, y, z = rotate(camera[0], camera[1], camera[2], point[0] - camera[3], point[1] - camera[4], point[2] - camera[5])
    u, v = x / z, y / z
    squared = u * u + v * v
    scale = camera[6] * (1.0 + camera[9] * squared + camera[10] * squared * squared)
    return u * scale + camera[7], v * scale + camera[8]


def reprojection_error(camera, point, weight, feature):
    """How far a camera sees a point from where it was seen, weighted."""
    u, v = project(camera, point)
    return weight * (u - feature[0]), weight * (v - feature[1])


def reprojection_errors(cameras, points, weights, features):
    """The errors of all observations."""
    errors = np.empty((len(weights), 2))
    for i in range(len(weights)):
        errors[i, 0], errors[i, 1] = reprojection_error(cameras[i], points[i], weights[i], features[i])
    return errors


def fill_blocks(blocks, cameras, points, weights, features, which_camera, which_point):
    """Of each observation, the derivatives of its two errors by its camera, its point and its weight."""
    for i in range(len(weights)):
        camera, point = cameras[which_camera[i]], points[which_point[i]]
        _, pullback = ad.vjp(reprojection_error, camera, point, weights[i], features[i])
        for row, cotangent in enumerate(((1.0, 0.0), (0.0, 1.0))):
            of_camera, of_point, of_weight, _ = pullback(cotangent)
            blocks[i, row, :CAMERA] = of_camera
            blocks[i, row, CAMERA:-1] = of_point
            blocks[i, row, -1] = of_weight


def weight_errors(weights):
    """What keeps the weights from vanishing."""
    return 1.0 - weights * weights


def prepare(given: Any) -> tuple[Any, ...]:
    """Cameras, points, weights, features, and which camera saw which point: all the same, as the input has just one."""
    cameras = np.tile(np.asarray(given["cam"], dtype=float), (given["n"], 1))
    points = np.tile(np.asarray(given["x"], dtype=float), (given["m"], 1))
    weights = np.full(given["p"], float(given["w"]))
    features = np.tile(np.asarray(given["feat"], dtype=float), (given["p"], 1))
    seen = np.arange(given["p"])
    return cameras, points, weights, features, seen % given["n"], seen % given["m"]


def objective(build: Build) -> Any:
    """What computes all errors."""
    reprojection, weighting = build.program(reprojection_errors), build.program(weight_errors)

    def run(cameras, points, weights, features, which_camera, which_point):
        return reprojection(cameras[which_camera], points[which_point], weights, features), weighting(weights)

    return run


def jacobian(build: Build) -> Any:
    """What computes the numbers of the sparse Jacobian, row by row."""
    fill = build.compile(fill_blocks)

    def run(cameras, points, weights, features, which_camera, which_point):
        count = len(weights)
        numbers = np.empty(count * 2 * (CAMERA + POINT + 1) + count)
        blocks = numbers[:-count].reshape(count, 2, CAMERA + POINT + 1)
        fill(blocks, cameras, points, weights, features, which_camera, which_point)
        numbers[-count:] = build.vjp(weight_errors, weights)[1](np.ones(count))[0]
        return Sparse(numbers, len(cameras), len(points), which_camera, which_point)

    return run


@dataclass(frozen=True)
class Sparse:
    """A Jacobian by compressed rows: two for each observation, then one for each weight."""

    numbers: np.ndarray
    cameras: int
    points: int
    which_camera: np.ndarray
    which_point: np.ndarray

    def rows(self) -> np.ndarray:
        """Where each row starts, and where the last one ends."""
        count = len(self.which_camera)
        lengths = np.repeat([CAMERA + POINT + 1, 1], [2 * count, count])
        return np.concatenate(([0], np.cumsum(lengths)))

    def columns(self) -> np.ndarray:
        """The column of each number."""
        count = len(self.which_camera)
        first_point = CAMERA * self.cameras
        weights = first_point + POINT * self.points + np.arange(count)
        row = np.concatenate(
            (
                CAMERA * self.which_camera[:, None] + np.arange(CAMERA),
                first_point + POINT * self.which_point[:, None] + np.arange(POINT),
                weights[:, None],
            ),
            axis=1,
        )
        return np.concatenate((np.repeat(row, 2, axis=0).ravel(), weights))


def shortened(found: Sparse) -> dict[str, Any]:
    """The first block of the Jacobian and the last number."""
    first = 2 * (CAMERA + POINT + 1)
    parts = {"rows": found.rows(), "cols": found.columns(), "vals": found.numbers}
    return {name: [*part[:first].tolist(), part[-1].item()] for name, part in parts.items()}


def first_errors(found: Any) -> dict[str, Any]:
    """The errors of the first observation, and how many there are."""
    reprojection, weighting = found
    return {
        "reproj_error": {"elements": reprojection[0].tolist(), "repeated": len(reprojection)},
        "w_err": {"element": weighting[0].item(), "repeated": len(weighting)},
    }


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "objective": Function(prepare, objective(build), first_errors),
        "jacobian": Function(prepare, jacobian(build), shortened),
    }
