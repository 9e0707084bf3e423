"""Hand tracking: the pose of a hand is fitted to points on its surface.

The pose has 26 parameters: rotation and translation of the hand, and four angles of each finger.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function

FINGERS = 5


def bone_angles(theta, bones):
    """The angles of each bone about the axes x, z and y. A finger has four bones; three of them bend, one spreads."""
    angles = np.zeros((bones, 3))
    at = 6
    for finger in range(FINGERS):
        first = 2 + 4 * finger
        angles[first, 0] = theta[at]
        angles[first, 1] = theta[at + 1]
        angles[first + 1, 0] = theta[at + 2]
        angles[first + 2, 0] = theta[at + 3]
        at += 4
    return angles


def bone_rotation(angles):
    """The matrix of a rotation about x, then y, then z."""
    cx, sx = math.cos(angles[0]), math.sin(angles[0])
    cz, sz = math.cos(angles[1]), math.sin(angles[1])
    cy, sy = math.cos(angles[2]), math.sin(angles[2])
    rotation = np.zeros((4, 4))
    rotation[0, 0] = cz * cy
    rotation[0, 1] = cz * sy * sx - sz * cx
    rotation[0, 2] = cz * sy * cx + sz * sx
    rotation[1, 0] = sz * cy
    rotation[1, 1] = sz * sy * sx + cz * cx
    rotation[1, 2] = sz * sy * cx - cz * sx
    rotation[2, 0] = -sy
    rotation[2, 1] = cy * sx
    rotation[2, 2] = cy * cx
    rotation[3, 3] = 1.0
    return rotation


def hand_rotation(axis):
    """The matrix of a rotation about an axis, by its length."""
    angle = math.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = axis[0] / angle, axis[1] / angle, axis[2] / angle
    c, s = math.cos(angle), math.sin(angle)
    rotation = np.empty((3, 3))
    rotation[0, 0] = x * x + (1.0 - x * x) * c
    rotation[0, 1] = x * y * (1.0 - c) - z * s
    rotation[0, 2] = x * z * (1.0 - c) + y * s
    rotation[1, 0] = x * y * (1.0 - c) + z * s
    rotation[1, 1] = y * y + (1.0 - y * y) * c
    rotation[1, 2] = y * z * (1.0 - c) - x * s
    rotation[2, 0] = x * z * (1.0 - c) - y * s
    rotation[2, 1] = z * y * (1.0 - c) + x * s
    rotation[2, 2] = z * z + (1.0 - z * z) * c
    return rotation


def bone_transforms(theta, parents, base_relatives, inverse_base_absolutes):
    """How each bone moves the points of the hand at rest; parents stand before their children."""
    bones = len(parents)
    angles = bone_angles(theta, bones)
    absolutes = np.empty((bones, 4, 4))
    transforms = np.empty((bones, 4, 4))
    for bone in range(bones):
        relative = base_relatives[bone] @ bone_rotation(angles[bone])
        if parents[bone] < 0:
            absolutes[bone] = relative
        else:
            absolutes[bone] = absolutes[parents[bone]] @ relative
        transforms[bone] = absolutes[bone] @ inverse_base_absolutes[bone]
    return transforms


def vertices(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights):
    """The points of the surface: each is moved by a weighted mean of all bones' transforms, then with the hand."""
    transforms = bone_transforms(theta, parents, base_relatives, inverse_base_absolutes)
    rotation = hand_rotation(theta[:3])
    blended = weights @ transforms.reshape(len(parents), 16)
    found = np.empty((len(base_positions), 3))
    for v in range(len(base_positions)):
        transform = blended[v]
        p0, p1, p2, p3 = base_positions[v]
        x = transform[0] * p0 + transform[1] * p1 + transform[2] * p2 + transform[3] * p3
        y = transform[4] * p0 + transform[5] * p1 + transform[6] * p2 + transform[7] * p3
        z = transform[8] * p0 + transform[9] * p1 + transform[10] * p2 + transform[11] * p3
        for i in range(3):
            found[v, i] = rotation[i, 0] * x + rotation[i, 1] * y + rotation[i, 2] * z + theta[3 + i]
    return found


def simple(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, correspondences, points):
    """How far the vertices are from the points that correspond to them."""
    surface = vertices(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    errors = np.empty((len(correspondences), 3))
    for i in range(len(correspondences)):
        for j in range(3):
            errors[i, j] = points[i, j] - surface[correspondences[i], j]
    return errors


def complicated(
    theta,
    us,
    parents,
    base_relatives,
    inverse_base_absolutes,
    base_positions,
    weights,
    triangles,
    correspondences,
    points,
):
    """How far places in triangles, at coordinates ``us``, are from the points that correspond to them."""
    surface = vertices(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    errors = np.empty((len(correspondences), 3))
    for i in range(len(correspondences)):
        a, b, c = triangles[correspondences[i]]
        u, v = us[i]
        for j in range(3):
            errors[i, j] = points[i, j] - (u * surface[a, j] + v * surface[b, j] + (1.0 - u - v) * surface[c, j])
    return errors


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments of one of the objectives."""
    data = given["data"]
    model = data["model"]
    us = np.asarray(given["us"], dtype=float)
    floats = ("base_relatives", "inverse_base_absolutes", "base_positions", "weights")
    hand = (np.asarray(model["parents"], dtype=int), *(np.asarray(model[name], dtype=float) for name in floats))
    seen = np.asarray(data["correspondences"], dtype=int), np.asarray(data["points"], dtype=float)
    theta = np.asarray(given["theta"], dtype=float)
    if len(us) == 0:
        return (theta, *hand, *seen)
    return (theta, us, *hand, np.asarray(model["triangles"], dtype=int), *seen)


def objective(build: Build) -> Any:
    """What computes the errors."""
    plainly, in_triangles = build.program(simple), build.program(complicated)
    return lambda *args: in_triangles(*args) if args[1].ndim == 2 else plainly(*args)


def jacobian(build: Build) -> Any:
    """What computes the derivatives of each error, by the coordinates in its own triangle and by the pose."""

    def run(theta, *rest):
        in_triangles = rest[0].ndim == 2
        function = complicated if in_triangles else simple
        constants = rest[1:] if in_triangles else rest
        nothing = [None] * len(constants)
        directions: list[Any] = []
        if in_triangles:  # an error depends on its own two coordinates only: one direction serves all of them
            for place in range(2):
                direction = np.zeros_like(rest[0])
                direction[:, place] = 1.0
                directions.append((None, direction, *nothing))
        columns = list(build.jvps(function, (theta, *rest), directions)[1]) if in_triangles else []
        still = [None] * len(rest)
        columns += build.jvps(function, (theta, *rest), [(unit, *still) for unit in np.eye(len(theta))])[1]
        return np.stack([column.ravel() for column in columns], axis=1)

    return run


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "objective": Function(prepare, objective(build), lambda errors: errors.ravel().tolist()),
        "jacobian": Function(prepare, jacobian(build)),
    }
