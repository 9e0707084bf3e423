"""The evals by JAX, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import logsumexp

from benchmarks.gradbench.peers import formulas
from benchmarks.gradbench.peers.peer import Peer, Peers

jax.config.update("jax_enable_x64", True)


def _peer(primal: Callable[..., Any], gradient: Callable[..., Any], *args: Any) -> Peer:
    given = [jax.device_put(arg) for arg in args]
    compiled, derivative = jax.jit(primal), jax.jit(gradient)
    return Peer(lambda: jax.block_until_ready(compiled(*given)), lambda: jax.block_until_ready(derivative(*given)))


def _gmm(alpha: Any, mu: Any, q: Any, l: Any, x: Any, gamma: float, m: int) -> Peer:
    def objective(alpha: Any, mu: Any, q: Any, l: Any, x: Any) -> Any:
        return formulas.gmm(jnp, logsumexp, alpha, mu, q, l, x, gamma, m)

    return _peer(objective, jax.grad(objective, (0, 1, 2, 3)), alpha, mu, q, l, x)


def _ba(cameras: Any, points: Any, weights: Any, features: Any, which_camera: Any, which_point: Any) -> Peer:
    def one(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
        return formulas.reprojection(jnp, camera, point, weight, feature)

    def objective(cameras: Any, points: Any, weights: Any, features: Any, c: Any, p: Any) -> Any:
        return jax.vmap(one)(cameras[c], points[p], weights, features), 1.0 - weights * weights

    def jacobian(cameras: Any, points: Any, weights: Any, features: Any, c: Any, p: Any) -> Any:
        blocks = jax.vmap(jax.jacrev(one, (0, 1, 2)))(cameras[c], points[p], weights, features)
        return jnp.concatenate((blocks[0], blocks[1], blocks[2][..., None]), 2), jax.vmap(jax.grad(_weight))(weights)

    return _peer(objective, jacobian, cameras, points, weights, features, which_camera, which_point)


def _weight(weight: Any) -> Any:
    return 1.0 - weight * weight


def _lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Peer:
    def objective(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
        layers = formulas.lstm_layers(main)

        def step(carry: Any, characters: Any) -> Any:
            hidden, cells, gain = formulas.lstm_step(jnp, layers, extra, *carry, *characters)
            return (hidden, cells), gain

        start = list(state[0::2]), list(state[1::2])
        _, gains = lax.scan(step, start, (sequence[:-1], sequence[1:]))
        return -jnp.mean(gains) / sequence.shape[1]

    return _peer(objective, jax.grad(objective, (0, 1)), main, extra, state, sequence)


def _ht(theta: Any, us: Any, parents: Any, *rest: Any) -> Peer:
    model, (triangles, correspondences, points) = rest[:4], rest[4:]
    known = [int(parent) for parent in parents]

    def objective(theta: Any, us: Any, model: Any, *seen: Any) -> Any:
        return formulas.hand_errors(jnp, theta, us, (known, *model), *seen)

    def jacobian(theta: Any, us: Any, *given: Any) -> Any:
        pose = jax.jacfwd(objective)(theta, us, *given)
        both = [jnp.zeros_like(us).at[:, place].set(1.0) for place in range(2)]
        own = [jax.jvp(lambda us: objective(theta, us, *given), (us,), (way,))[1] for way in both]
        return jnp.concatenate((jnp.stack(own, 2), pose), 2)

    return _peer(objective, jacobian, theta, us, model, triangles, correspondences, points)


def _ode(x: Any, steps: int) -> Peer:
    def primal(x: Any) -> Any:
        def step(y: Any, _: Any) -> Any:
            return formulas.ode_step(jnp, x, y, 2.0 / steps), None

        return lax.scan(step, jnp.zeros(x.shape[0]), length=steps)[0]

    return _peer(primal, jax.grad(lambda x: jnp.sum(primal(x))), x)


def _lse(x: Any) -> Peer:
    return _peer(logsumexp, jax.grad(logsumexp), x)


def _det(a: Any, row: int, used: int) -> Peer:
    def primal(a: Any) -> Any:
        return formulas.det(jnp, a)

    return _peer(primal, jax.grad(primal), a)


def _llsq(x: Any, n: int) -> Peer:
    def primal(x: Any) -> Any:
        t = -1.0 + 2.0 * jnp.arange(n) / (n - 1)
        value, _ = lax.scan(lambda value, factor: (value * t + factor, None), jnp.zeros(n), x, reverse=True)
        return formulas.llsq_error(jnp, t, value)

    return _peer(primal, jax.grad(primal), x)


def _kmeans(centroids: Any, points: Any) -> Peer:
    def cost(centroids: Any, points: Any) -> Any:
        return formulas.kmeans(jnp, centroids, points)

    def direction(centroids: Any, points: Any) -> Any:
        ones = jnp.ones_like(centroids)
        slope, curvature = jax.jvp(lambda at: jax.grad(cost)(at, points), (centroids,), (ones,))
        return slope / curvature

    return _peer(cost, direction, centroids, points)


PEERS: Peers = {
    "gmm": _gmm,
    "ba": _ba,
    "lstm": _lstm,
    "ht": _ht,
    "ode": _ode,
    "lse": _lse,
    "det": _det,
    "llsq": _llsq,
    "kmeans": _kmeans,
}
