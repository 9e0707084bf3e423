"""The objectives of the evals once more, in other words: array formulas that take complex numbers too.

So that derivatives can be had from them without subtraction: the imaginary part of the value at ``x + 1e-30j v``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import multigammaln


def directional(function: Callable[..., Any], args: tuple[Any, ...], place: int, direction: np.ndarray) -> Any:
    """The derivative by one argument in a direction, exact to rounding."""
    moved = [*args]
    moved[place] = args[place] + 1e-30j * direction
    return np.imag(function(*moved)) / 1e-30


def gradient(function: Callable[..., Any], args: tuple[Any, ...], place: int = 0) -> np.ndarray:
    """All first derivatives by one argument, in its shape, after those of the result."""
    size, shape = args[place].size, args[place].shape
    columns = [directional(function, args, place, unit.reshape(shape)) for unit in np.eye(size)]
    if not columns:
        return np.zeros(shape)
    return np.moveaxis(np.asarray(columns), 0, -1).reshape(*np.shape(columns[0]), *shape)


def log_sum_exp(values: np.ndarray, axis: int = -1) -> np.ndarray:
    largest = np.max(values.real, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(values - largest), axis=axis)) + np.squeeze(largest, axis)


def gmm(alpha, mu, q, l, x, gamma, m):
    (n, d), k = x.shape, len(alpha)
    factors = np.zeros((k, d, d), dtype=np.result_type(q, l))
    columns, rows = np.triu_indices(d, 1)  # of the transpose, row by row: the lower triangle, column by column
    factors[:, rows, columns] = l
    factors[:, range(d), range(d)] = np.exp(q)
    scaled = np.einsum("krc,nkc->nkr", factors, x[:, None] - mu)
    densities = alpha + q.sum(1) - 0.5 * (scaled**2).sum(2)
    freedom = d + m + 1
    constant = freedom * d * np.log(gamma / np.sqrt(2)) - multigammaln(freedom / 2, d)
    prior = 0.5 * gamma**2 * ((np.exp(q) ** 2).sum() + (l**2).sum()) - m * q.sum()
    likelihood = log_sum_exp(densities).sum() - n * log_sum_exp(alpha)
    return -n * d / 2 * np.log(2 * np.pi) + likelihood + k * constant - prior


def reprojection(camera, point, weight, feature):
    r, centre, focal, principal, (k1, k2) = camera[:3], camera[3:6], camera[6], camera[7:9], camera[9:]
    seen = turn(r, point - centre)
    flat = seen[:2] / seen[2]
    square = flat @ flat
    return weight * (flat * (1 + k1 * square + k2 * square**2) * focal + principal - feature)


def turn(r, x):
    if not np.any(r.real):
        return x + np.cross(r, x)
    angle = np.sqrt(r @ r)
    axis = r / angle
    return x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * (axis @ x) * (1 - np.cos(angle))


def lstm(main, extra, state, sequence):
    layers, width = len(main) // 2, sequence.shape[1]
    weights, biases = main[0::2].reshape(layers, 4, width), main[1::2].reshape(layers, 4, width)
    hidden, cells = [*state[0::2]], [*state[1::2]]
    total = 0.0
    for given, wanted in itertools.pairwise(sequence):
        x = given * extra[0]
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            forget, outgate = sigmoid(x * w[0] + b[0]), sigmoid(x * w[2] + b[2])
            ingate, change = sigmoid(hidden[i] * w[1] + b[1]), np.tanh(hidden[i] * w[3] + b[3])
            cells[i] = cells[i] * forget + ingate * change
            hidden[i] = x = outgate * np.tanh(cells[i])
        y = x * extra[1] + extra[2]
        total = total + wanted @ (y - np.log(2 + np.exp(y).sum()))
    return -total / (width * (len(sequence) - 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hand(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights):
    bones = len(parents)
    angles = np.zeros((bones, 3), dtype=theta.dtype)
    for finger, (bend, spread, middle, tip) in enumerate(theta[6:].reshape(5, 4)):
        angles[2 + 4 * finger, :2] = bend, spread
        angles[3 + 4 * finger, 0] = middle
        angles[4 + 4 * finger, 0] = tip
    absolutes: list[np.ndarray] = []
    positions = 0
    for i in range(bones):
        x, z, y = angles[i]
        pose = np.eye(4, dtype=theta.dtype)
        pose[:3, :3] = plane(z, 0, 1) @ plane(y, 2, 0) @ plane(x, 1, 2)
        relative = base_relatives[i] @ pose
        absolutes.append(relative if parents[i] == -1 else absolutes[parents[i]] @ relative)
        transform = absolutes[i] @ inverse_base_absolutes[i]
        positions = positions + weights[:, i : i + 1] * (base_positions @ transform.T)[:, :3]
    axis = theta[:3]
    if np.linalg.norm(axis.real) >= 1e-4:
        positions = np.stack([turn(axis, position) for position in positions])
    return positions + theta[3:6]


def plane(angle, first, second):
    """A rotation that takes one axis towards another."""
    rotation = np.eye(3, dtype=type(angle) if np.iscomplexobj(angle) else float)
    rotation[first, first] = rotation[second, second] = np.cos(angle)
    rotation[second, first] = np.sin(angle)
    rotation[first, second] = -np.sin(angle)
    return rotation


def hand_simple(theta, *model_and_seen):
    *model, correspondences, points = model_and_seen
    return points - hand(theta, *model)[correspondences]


def hand_complicated(theta, us, *model_and_seen):
    *model, triangles, correspondences, points = model_and_seen
    corners = hand(theta, *model)[triangles[correspondences]]
    return points - np.einsum("ni,nij->nj", np.column_stack((us, 1 - us.sum(1))), corners)


def ode(x, steps):
    h = 2 / steps

    def slope(y):
        return x * np.concatenate(([1], y[:-1]))

    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def llsq(x, n):
    t = -1 + 2 * np.arange(n) / (n - 1)
    return 0.5 * ((np.sign(t) - np.vander(t, len(x), increasing=True) @ x) ** 2).sum()
