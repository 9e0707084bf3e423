"""Programs of 5 to 60 lines on whole arrays, as people write them: what a first call compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def covariance(x):
    """The sum of the covariances of the columns of a table, by loops."""
    n, d = x.shape
    means = np.zeros(d)
    for i in range(n):
        for j in range(d):
            means[j] += x[i, j] / n
    total = 0.0
    for i in range(n):
        for j in range(d):
            for k in range(d):
                total += (x[i, j] - means[j]) * (x[i, k] - means[k]) / (n - 1)
    return total


def heat(u, steps, rate):
    """The heat equation in the plane, with slices."""
    u = u.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += rate * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def gram_schmidt(a):
    """An orthonormal basis by Gram and Schmidt's method, and what is left of a matrix along it."""
    rows, columns = a.shape
    q = np.zeros((rows, columns))
    r = np.zeros((columns, columns))
    for j in range(columns):
        v = a[:, j].copy()
        for i in range(j):
            r[i, j] = q[:, i] @ a[:, j]
            v = v - r[i, j] * q[:, i]
        r[j, j] = np.sqrt(v @ v)
        q[:, j] = v / r[j, j]
    return np.sum(q @ r * a) + np.sum(np.log(np.diag(r)))


def cavity(lid, viscosity, steps, sweeps, n):
    """Steady flow in a square cavity under a lid that moves, and the energy of it."""
    dx = dy = 2.0 / (n - 1)
    dt, rho = 0.001, 1.0
    u, v = np.zeros((n, n)), np.zeros((n, n))
    p = np.zeros((n, n))
    for _ in range(steps):
        b = source(u, v, rho, dt, dx, dy)
        p = pressure(p, b, dx, dy, sweeps)
        un, vn = u.copy(), v.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + viscosity
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + viscosity
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = lid
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return np.sum(u**2 + v**2)


def source(u, v, rho, dt, dx, dy):
    """The right side of the equation of the pressure."""
    b = np.zeros_like(u)
    across = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    up = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    shear = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    b[1:-1, 1:-1] = rho * ((across + up) / dt - across**2 - 2 * shear - up**2)
    return b


def pressure(p, b, dx, dy, sweeps):
    """The pressure, by sweeps of Jacobi's method."""
    p = p.copy()
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


def _drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.5, 1.5, size=shape)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {
    "covariance": (covariance, (_drawn(20, 4),), (0,)),
    "heat": (heat, (_drawn(12, 12), 5, 0.1), (0, 2)),
    "Gram-Schmidt": (gram_schmidt, (_drawn(8, 4),), (0,)),
    "cavity": (cavity, (1.0, 0.1, 3, 4, 9), (0, 1)),
}
"""What is differentiated, at which arguments, and by which of them."""
