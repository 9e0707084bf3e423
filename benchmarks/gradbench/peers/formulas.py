"""The objectives as formulas of whole arrays, for any module of arrays in which they can be written.

``xp`` is that module: functions of the same names in NumPy, JAX, autograd and PyTorch.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np


def gmm(xp: Any, logsumexp: Any, alpha: Any, mu: Any, q: Any, l: Any, x: Any, gamma: float, m: int) -> Any:
    """The log-likelihood of a mixture of Gaussians, with its prior."""
    (n, d), k = x.shape, alpha.shape[0]
    padded = xp.concatenate((l, xp.zeros((k, 1))), 1)
    factors = padded[:, places_below_diagonal(d)] + xp.exp(q)[:, :, None] * xp.eye(d)
    scaled = xp.einsum("krc,nkc->nkr", factors, x[:, None] - mu)
    densities = alpha + xp.sum(q, 1) - 0.5 * xp.sum(scaled * scaled, 2)
    freedom = d + m + 1
    constant = freedom * d * math.log(gamma / math.sqrt(2.0)) - log_gamma(0.5 * freedom, d)
    prior = 0.5 * gamma**2 * (xp.sum(xp.exp(q) ** 2) + xp.sum(l * l)) - m * xp.sum(q)
    likelihood = xp.sum(logsumexp(densities, 1)) - n * logsumexp(alpha, 0)
    return likelihood - 0.5 * n * d * math.log(2.0 * math.pi) + k * constant - prior


def log_gamma(a: float, d: int) -> float:
    """The logarithm of the gamma function of ``d`` variables."""
    return 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(a - 0.5 * j) for j in range(d))


@cache
def places_below_diagonal(d: int) -> np.ndarray:
    """Where a packed triangle holds each element; -1, where its padding stands, for what is not below the diagonal."""
    places = np.full((d, d), -1)
    columns, rows = np.triu_indices(d, 1)
    places[rows, columns] = np.arange(d * (d - 1) // 2)
    return places


def reprojection(xp: Any, camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """How far cameras see points from where they were seen: one, or one in each row."""
    *axis, c0, c1, c2, focal, u0, v0, k1, k2 = xp.hsplit(camera, 11)
    x0, x1, x2 = xp.hsplit(point, 3)
    x, y, z = turned(xp, axis, (x0 - c0, x1 - c1, x2 - c2))
    u, v = x / z, y / z
    square = u * u + v * v
    scale = focal * (1.0 + k1 * square + k2 * square * square)
    return weight[..., None] * (xp.concatenate((u * scale + u0, v * scale + v0), -1) - feature)


def turned(xp: Any, axis: Any, point: Any) -> Any:
    """Coordinates of points turned about axes, by their lengths."""
    (r0, r1, r2), (x0, x1, x2) = axis, point
    square = r0 * r0 + r1 * r1 + r2 * r2
    still = square == 0.0
    angle = xp.sqrt(xp.where(still, xp.ones_like(square), square))
    a0, a1, a2, cosine, sine = r0 / angle, r1 / angle, r2 / angle, xp.cos(angle), xp.sin(angle)
    along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cosine)
    return (
        xp.where(still, x0 + r1 * x2 - r2 * x1, x0 * cosine + (a1 * x2 - a2 * x1) * sine + a0 * along),
        xp.where(still, x1 + r2 * x0 - r0 * x2, x1 * cosine + (a2 * x0 - a0 * x2) * sine + a1 * along),
        xp.where(still, x2 + r0 * x1 - r1 * x0, x2 * cosine + (a0 * x1 - a1 * x0) * sine + a2 * along),
    )


def lstm_layers(main: Any) -> list[tuple[Any, Any]]:
    """Weights and biases of each layer, a row for each gate."""
    layers = main.reshape(main.shape[0] // 2, 2, 4, -1)
    return [(layers[i, 0], layers[i, 1]) for i in range(layers.shape[0])]


def lstm_step(xp: Any, layers: Any, extra: Any, hidden: Any, cells: Any, given: Any, wanted: Any) -> Any:
    """The state after a character, and what predicting the next one adds to the loss."""
    into, out, bias = extra
    x = given * into
    now_hidden, now_cells = [], []
    for (w, b), h, cell in zip(layers, hidden, cells, strict=True):
        raw = xp.stack((x, h, x, h)) * w + b
        forget, ingate, outgate = 1.0 / (1.0 + xp.exp(-raw[:3]))
        now_cells.append(cell * forget + ingate * xp.tanh(raw[3]))
        x = outgate * xp.tanh(now_cells[-1])
        now_hidden.append(x)
    y = x * out + bias
    return now_hidden, now_cells, xp.sum(wanted * (y - xp.log(2.0 + xp.sum(xp.exp(y)))))


def lstm(xp: Any, main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """The loss of the network, by a loop of Python."""
    hidden, cells = list(state[0::2]), list(state[1::2])
    layers, extra = lstm_layers(main), list(extra)
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        hidden, cells, gain = lstm_step(xp, layers, extra, hidden, cells, sequence[t], sequence[t + 1])
        total = total + gain
    return -total / (sequence.shape[1] * (sequence.shape[0] - 1))


def hand(
    xp: Any, theta: Any, parents: Any, base_relatives: Any, inverse_base_absolutes: Any, positions: Any, weights: Any
) -> Any:
    """The surface of a hand in a pose; ``parents`` are numbers of Python."""
    zero, one = xp.zeros(()), xp.ones(())
    angles = dict.fromkeys(range(len(parents)), (zero, zero))
    for finger in range(5):
        at, bone = 6 + 4 * finger, 2 + 4 * finger
        angles[bone], angles[bone + 1], angles[bone + 2] = (
            (theta[at], theta[at + 1]),
            (theta[at + 2], zero),
            (theta[at + 3], zero),
        )
    absolutes: list[Any] = []
    for i, parent in enumerate(parents):
        bend, spread = angles[i]
        cx, sx, cz, sz = xp.cos(bend), xp.sin(bend), xp.cos(spread), xp.sin(spread)
        pose = matrix(
            xp,
            (
                (cz, -sz * cx, sz * sx, zero),
                (sz, cz * cx, -cz * sx, zero),
                (zero, sx, cx, zero),
                (zero, zero, zero, one),
            ),
        )
        relative = base_relatives[i] @ pose
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
    transforms = (xp.stack(absolutes) @ inverse_base_absolutes)[:, :3]
    blended = (weights @ transforms.reshape(len(parents), 12)).reshape(-1, 3, 4)
    surface = xp.sum(blended * positions[:, None], 2)
    turned_surface = turned(xp, (theta[0], theta[1], theta[2]), (surface[:, 0], surface[:, 1], surface[:, 2]))
    return xp.stack(turned_surface, 1) + theta[3:6]


def matrix(xp: Any, rows: Any) -> Any:
    """A matrix of numbers."""
    return xp.stack([xp.stack(row) for row in rows])


def hand_errors(xp: Any, theta: Any, us: Any, model: Any, triangles: Any, correspondences: Any, points: Any) -> Any:
    """How far places in triangles are from the points that correspond to them."""
    surface = hand(xp, theta, *model)
    a, b, c = (surface[triangles[correspondences, corner]] for corner in range(3))
    u, v = us[:, :1], us[:, 1:]
    return points - (u * a + v * b + (1.0 - u - v) * c)


def ode_step(xp: Any, x: Any, y: Any, h: float) -> Any:
    """A step of the classical Runge-Kutta method."""

    def slope(y: Any) -> Any:
        return x * xp.concatenate((xp.ones(1), y[:-1]))

    k1 = slope(y)
    k2 = slope(y + 0.5 * h * k1)
    k3 = slope(y + 0.5 * h * k2)
    k4 = slope(y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def ode(xp: Any, x: Any, steps: int) -> Any:
    """The state at time 2, by a loop of Python."""
    y = xp.zeros(x.shape[0])
    for _ in range(steps):
        y = ode_step(xp, x, y, 2.0 / steps)
    return y


def det(xp: Any, a: Any) -> Any:
    """A determinant, as a sum over permutations."""
    columns, signs = permuted(a.shape[0])
    return xp.sum(xp.asarray(signs) * xp.prod(a[np.arange(a.shape[0]), columns], 1))


@cache
def permuted(n: int) -> tuple[np.ndarray, np.ndarray]:
    """All permutations, and their signs."""
    columns = np.array(list(permutations(range(n))))
    inversions = sum((columns[:, i] > columns[:, j]).astype(int) for i in range(n) for j in range(i + 1, n))
    return columns, 1.0 - 2.0 * (np.asarray(inversions) % 2)


def llsq(xp: Any, x: Any, n: int) -> Any:
    """The error of a polynomial that is fitted to a step."""
    t = -1.0 + 2.0 * xp.arange(n) / (n - 1)
    return llsq_error(xp, t, xp.vander(t, x.shape[0], increasing=True) @ x)


def llsq_error(xp: Any, t: Any, value: Any) -> Any:
    """The error of values at given places."""
    return 0.5 * xp.sum((xp.sign(t) - value) ** 2)


def kmeans(xp: Any, centroids: Any, points: Any) -> Any:
    """The cost of a clustering."""
    squares = xp.sum(points * points, 1)[:, None] - 2.0 * points @ centroids.T + xp.sum(centroids * centroids, 1)
    return xp.sum(xp.amin(squares, 1))
