"""Programs on arrays that GradBench has nothing like: stencils, scatters, linear algebra, whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def heat(u, steps, rate):
    """The heat equation in the plane, explicit."""
    n, m = u.shape
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + rate * (around - 4.0 * u[i, j])
        u = new
    return np.sum(u * u)


def jacobi(u, source, steps):
    """Poisson's equation in space by Jacobi's method."""
    n = len(u)
    for _ in range(steps):
        new = np.zeros_like(u)
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    new[i, j, k] = (
                        u[i - 1, j, k]
                        + u[i + 1, j, k]
                        + u[i, j - 1, k]
                        + u[i, j + 1, k]
                        + u[i, j, k - 1]
                        + u[i, j, k + 1]
                        - source[i, j, k]
                    ) / 6.0
        u = new
    return np.sum(u * source)


def red_black(u, source, sweeps):
    """Poisson's equation in the plane by Gauss and Seidel's method, in two colours."""
    n, m = u.shape
    u = u.copy()
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, m - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - source[i, j])
    return np.sum(u * u)


def upwind(u, speed, steps, ratio):
    """Advection on a circle, from where the wind comes."""
    n = len(u)
    u = u.copy()
    for _ in range(steps):
        new = np.empty(n)
        for i in range(n):
            if speed[i] > 0.0:
                new[i] = u[i] - ratio * speed[i] * (u[i] - u[i - 1])
            else:
                new[i] = u[i] - ratio * speed[i] * (u[(i + 1) % n] - u[i])
        u = new
    return np.sum(u * u)


def gray_scott(u, v, steps, feed, kill):
    """A reaction of two substances that spread, with slices."""
    u, v = u.copy(), v.copy()
    for _ in range(steps):
        spread_u = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        spread_v = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4.0 * v[1:-1, 1:-1]
        reaction = u[1:-1, 1:-1] * v[1:-1, 1:-1] ** 2
        new_u = u[1:-1, 1:-1] + 0.16 * spread_u - reaction + feed * (1.0 - u[1:-1, 1:-1])
        new_v = v[1:-1, 1:-1] + 0.08 * spread_v + reaction - (feed + kill) * v[1:-1, 1:-1]
        u[1:-1, 1:-1] = new_u
        v[1:-1, 1:-1] = new_v
    return np.sum(v * v)


def deposited(positions, charges, cells):
    """Charges of particles on a grid, each on the two cells beside it, and the energy of that."""
    density = np.zeros(cells)
    for p in range(len(positions)):
        x = positions[p] * (cells - 1)
        cell = int(x)
        share = x - cell
        density[cell] += charges[p] * (1.0 - share)
        density[cell + 1] += charges[p] * share
    return np.sum(density * density)


def sparse_product(values, columns, starts, x):
    """A matrix by compressed rows times a vector, twice."""
    for _ in range(2):
        y = np.zeros(len(x))
        for row in range(len(starts) - 1):
            total = 0.0
            for place in range(starts[row], starts[row + 1]):
                total += values[place] * x[columns[place]]
            y[row] = total
        x = y
    return np.sum(x * x)


def cholesky(a):
    """The logarithm of a determinant, by Cholesky's factors."""
    n = len(a)
    l = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            if i == j:
                l[i, j] = math.sqrt(s)
            else:
                l[i, j] = s / l[j, j]
    total = 0.0
    for i in range(n):
        total += 2.0 * math.log(l[i, i])
    return total


def attraction(x, y, mass):
    """The energy of masses in the plane that attract each other."""
    energy = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                energy -= mass[i] * mass[j] / math.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2 + 0.01)
    return energy


def conjugate_gradients(a, b, steps):
    """A system of equations by conjugate gradients."""
    x = np.zeros(len(b))
    r = b - a @ x
    p = r
    squared = r @ r
    for _ in range(steps):
        image = a @ p
        alpha = squared / (p @ image)
        x = x + alpha * p
        r = r - alpha * image
        new = r @ r
        p = r + (new / squared) * p
        squared = new
    return x @ x


def implicit_reaction(u, a, steps):
    """Reactions and diffusion in implicit steps, each a step of Newton's method."""
    for _ in range(steps):
        residual = 0.01 * (a @ u + u**3)
        u = u - np.linalg.solve(np.eye(len(u)) + 0.01 * (a + np.diag(3.0 * u**2)), residual)
    return u @ u


def burgers_rate(left, u, right, viscosity):
    """What Burgers' equation says of the time derivative, with von Neumann's artificial viscosity, and a reaction."""
    steepness = 0.5 * (right - left)
    bend = left - 2.0 * u + right
    artificial = 0.2 * np.abs(steepness)
    return (viscosity + artificial) * bend - u * steepness + 0.01 * u * (1.0 - u * u)


def burgers(u, viscosity, steps, dt):
    """Burgers' equation by Runge and Kutta's method of four stages: a function that is called with slices."""
    u = u.copy()
    for _ in range(steps):
        first = burgers_rate(u[:-2], u[1:-1], u[2:], viscosity)
        half = u.copy()
        half[1:-1] += 0.5 * dt * first
        second = burgers_rate(half[:-2], half[1:-1], half[2:], viscosity)
        half = u.copy()
        half[1:-1] += 0.5 * dt * second
        third = burgers_rate(half[:-2], half[1:-1], half[2:], viscosity)
        whole = u.copy()
        whole[1:-1] += dt * third
        fourth = burgers_rate(whole[:-2], whole[1:-1], whole[2:], viscosity)
        u[1:-1] += dt / 6.0 * (first + 2.0 * (second + third) + fourth)
    return u @ u


def network(w1, b1, w2, b2, inputs, labels):
    """The cross entropy of a small network."""
    h = np.tanh(inputs @ w1 + b1)
    scores = h @ w2 + b2
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(total - shifted[np.arange(len(labels)), labels])


@dataclass(frozen=True)
class Kernel:
    """A program, what makes its arguments for a size, two sizes, and what is differentiated.

    Parameters
    ----------
    small
        A size for tests.
    large
        A size to measure at.
    """

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    small: int
    large: int
    wrt: tuple[int, ...] = (0,)

    def given(self, size: int) -> tuple[Any, ...]:
        """The arguments of a size."""
        return self.arguments(np.random.default_rng(size), size)


def _rows(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    starts = np.arange(0, 8 * n + 1, 8)
    return rng.uniform(size=8 * n), rng.integers(0, n, 8 * n), starts, rng.uniform(size=n)


def _definite(rng: np.random.Generator, n: int) -> np.ndarray:
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def _network(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    layers = (rng.normal(size=(20, 30)), rng.normal(size=30), rng.normal(size=(30, 5)), rng.normal(size=5))
    return *layers, rng.normal(size=(n, 20)), rng.integers(0, 5, n)


STENCILS = {
    "heat": Kernel(heat, lambda rng, n: (rng.uniform(size=(n, n)), 10, 0.1), 5, 100),
    "jacobi": Kernel(jacobi, lambda rng, n: (rng.uniform(size=(n,) * 3), rng.uniform(size=(n,) * 3), 5), 4, 30, (0, 1)),
    "red_black": Kernel(
        red_black, lambda rng, n: (rng.uniform(size=(n, n)), rng.uniform(size=(n, n)), 10), 5, 100, (0, 1)
    ),
    "upwind": Kernel(upwind, lambda rng, n: (rng.uniform(size=n), rng.normal(size=n), 10, 0.3), 5, 10_000, (0, 1)),
    "gray_scott": Kernel(
        gray_scott, lambda rng, n: (rng.uniform(size=(n, n)), rng.uniform(size=(n, n)), 10, 0.04, 0.06), 5, 100, (0, 1)
    ),
}
"""Stencils, by name."""

OTHERS = {
    "deposited": Kernel(
        deposited, lambda rng, n: (rng.uniform(0.0, 0.99, n), rng.normal(size=n), 64), 6, 100_000, (0, 1)
    ),
    "sparse_product": Kernel(sparse_product, _rows, 4, 20_000, (0, 3)),
    "cholesky": Kernel(cholesky, lambda rng, n: (_definite(rng, n),), 4, 120),
    "attraction": Kernel(
        attraction,
        lambda rng, n: (rng.normal(size=n), rng.normal(size=n), rng.uniform(size=n)),
        4,
        400,
        (0, 1, 2),
    ),
    "conjugate_gradients": Kernel(
        conjugate_gradients, lambda rng, n: (_definite(rng, n), rng.normal(size=n), 10), 4, 200, (0, 1)
    ),
    "burgers": Kernel(burgers, lambda rng, n: (rng.normal(size=n), 0.3, 20, 0.1), 5, 4000, (0, 1)),
    "implicit_reaction": Kernel(
        implicit_reaction, lambda rng, n: (rng.normal(size=n), _definite(rng, n) / n, 10), 4, 150, (0, 1)
    ),
    "network": Kernel(network, _network, 3, 200, (0, 1, 2, 3)),
}
"""Scatters, linear algebra, and what computes with whole arrays, by name."""

KERNELS = STENCILS | OTHERS
