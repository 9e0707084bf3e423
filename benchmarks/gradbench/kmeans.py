"""The cost of a clustering, and the step of Newton's method with a diagonal Hessian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def cost(centroids, points):
    """The sum of squared distances to the nearest centroids."""
    total = 0.0
    for i in range(len(points)):
        total += squared_distance(points[i], centroids[nearest(points[i], centroids)])
    return total


def nearest(point, centroids):
    """The index of the nearest centroid."""
    found = 0
    least = math.inf
    for c in range(len(centroids)):
        distance = squared_distance(point, centroids[c])
        if distance < least:
            found, least = c, distance
    return found


def squared_distance(a, b):
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) ** 2
    return total


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments of the cost."""
    return np.asarray(given["centroids"], dtype=float), np.asarray(given["points"], dtype=float)


def direction(build: Build) -> Any:
    """What finds the step: as the Hessian is diagonal, its product with ones is all of it."""
    gradient = build.grad(cost)

    def find(centroids, points):
        slope, curvature = ad.jvp(gradient, (centroids, points), (np.ones_like(centroids), None))
        return slope / curvature

    return find


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {"cost": Function(prepare, build.program(cost)), "dir": Function(prepare, direction(build))}
