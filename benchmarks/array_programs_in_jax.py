"""The programs of ``array_programs`` as people write them for JAX: traced loops, and no writes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def covariance(x):
    n, _ = x.shape
    centred = x - jnp.mean(x, axis=0)
    return jnp.sum(centred.T @ centred) / (n - 1)


def heat(u, steps, rate):
    def step(u, _):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].add(rate * (around - 4.0 * u[1:-1, 1:-1])), None

    u, _ = jax.lax.scan(step, u, length=steps)
    return jnp.sum(u * u)


def gram_schmidt(a):
    rows, columns = a.shape
    q, r = jnp.zeros((rows, columns)), jnp.zeros((columns, columns))
    for j in range(columns):
        v = a[:, j]
        for i in range(j):
            r = r.at[i, j].set(q[:, i] @ a[:, j])
            v = v - r[i, j] * q[:, i]
        r = r.at[j, j].set(jnp.sqrt(v @ v))
        q = q.at[:, j].set(v / r[j, j])
    return jnp.sum(q @ r * a) + jnp.sum(jnp.log(jnp.diag(r)))


def cavity(lid, viscosity, steps, sweeps, n):
    dx = dy = 2.0 / (n - 1)
    dt, rho = 0.001, 1.0

    def step(state, _):
        un, vn, p = state
        p = pressure(p, source(un, vn, rho, dt, dx, dy), dx, dy, sweeps)
        u = un.at[1:-1, 1:-1].set(
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
        v = vn.at[1:-1, 1:-1].set(
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
        u = u.at[0, :].set(0).at[:, 0].set(0).at[:, -1].set(0).at[-1, :].set(lid)
        v = v.at[0, :].set(0).at[-1, :].set(0).at[:, 0].set(0).at[:, -1].set(0)
        return (u, v, p), None

    (u, v, _), _ = jax.lax.scan(step, (jnp.zeros((n, n)), jnp.zeros((n, n)), jnp.zeros((n, n))), length=steps)
    return jnp.sum(u**2 + v**2)


def source(u, v, rho, dt, dx, dy):
    across = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    up = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    shear = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    return jnp.zeros_like(u).at[1:-1, 1:-1].set(rho * ((across + up) / dt - across**2 - 2 * shear - up**2))


def pressure(p, b, dx, dy, sweeps):
    def sweep(pn, _):
        p = pn.at[1:-1, 1:-1].set(
            ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (2 * (dx**2 + dy**2))
            - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        )
        p = p.at[:, -1].set(p[:, -2])
        p = p.at[0, :].set(p[1, :])
        p = p.at[:, 0].set(p[:, 1])
        return p.at[-1, :].set(0), None

    return jax.lax.scan(sweep, p, length=sweeps)[0]


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "covariance": (covariance, ()),
    "heat": (heat, (1,)),
    "Gram-Schmidt": (gram_schmidt, ()),
    "cavity": (cavity, (2, 3, 4)),
}
"""The programs by the names that ``array_programs`` gives them, and which arguments are known when they are traced."""


def gradient(name: str, args: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
    """The gradient of a program, compiled and computed."""
    function, known = PROGRAMS[name]
    found = jax.jit(jax.grad(function, wrt), static_argnums=known)(*args)
    return jax.block_until_ready(found)
