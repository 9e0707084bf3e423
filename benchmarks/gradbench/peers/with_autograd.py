"""The evals by autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as xp
import numpy as np
from autograd.builtins import tuple as traced_tuple
from autograd.scipy.special import logsumexp

from benchmarks.gradbench.peers import formulas
from benchmarks.gradbench.peers.peer import Peer, Peers


def _gradient(function: Callable[..., Any], active: int, *args: Any) -> Peer:
    """A function that returns a number."""
    derivative = autograd.grad(function, tuple(range(active)))
    return Peer(lambda: function(*args), lambda: derivative(*args))


def _gmm(alpha: Any, mu: Any, q: Any, l: Any, x: Any, gamma: float, m: int) -> Peer:
    return _gradient(lambda *args: formulas.gmm(xp, logsumexp, *args, gamma, m), 4, alpha, mu, q, l, x)


def _ba(cameras: Any, points: Any, weights: Any, features: Any, which_camera: Any, which_point: Any) -> Peer:
    def primal() -> Any:
        return errors((cameras[which_camera], points[which_point], weights)), 1.0 - weights * weights

    def errors(gathered: Any) -> Any:
        return formulas.reprojection(xp, *gathered, features)

    def jacobian() -> Any:
        pullback, value = autograd.make_vjp(errors)(traced_tuple((cameras[which_camera], points[which_point], weights)))
        rows = []
        for row in range(2):
            seed = np.zeros_like(value)
            seed[:, row] = 1.0
            of_camera, of_point, of_weight = pullback(seed)
            rows.append(np.column_stack((of_camera, of_point, of_weight)))
        return np.stack(rows, 1), autograd.elementwise_grad(lambda weights: 1.0 - weights * weights)(weights)

    return Peer(primal, jacobian)


def _lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Peer:
    return _gradient(lambda *args: formulas.lstm(xp, *args), 2, main, extra, state, sequence)


def _ht(theta: Any, us: Any, parents: Any, *rest: Any) -> Peer:
    model, seen = ([int(parent) for parent in parents], *rest[:4]), rest[4:]

    def objective(theta: Any, us: Any) -> Any:
        return formulas.hand_errors(xp, theta, us, model, *seen)

    def jacobian() -> Any:
        own = []
        for place in range(2):
            way = np.zeros_like(us)
            way[:, place] = 1.0
            own.append(autograd.make_jvp(lambda us: objective(theta, us))(us)(way)[1])
        along = autograd.make_jvp(lambda theta: objective(theta, us))(theta)
        return np.stack((*own, *(along(unit)[1] for unit in np.eye(len(theta)))), 2)

    return Peer(lambda: objective(theta, us), jacobian)


def _ode(x: Any, steps: int) -> Peer:
    return _gradient(lambda x: xp.sum(formulas.ode(xp, x, steps)), 1, x)


def _lse(x: Any) -> Peer:
    return _gradient(logsumexp, 1, x)


def _det(a: Any, row: int, used: int) -> Peer:
    return _gradient(lambda a: formulas.det(xp, a), 1, a)


def _llsq(x: Any, n: int) -> Peer:
    return _gradient(lambda x: formulas.llsq(xp, x, n), 1, x)


def _kmeans(centroids: Any, points: Any) -> Peer:
    def cost(centroids: Any) -> Any:
        return formulas.kmeans(xp, centroids, points)

    slope = autograd.grad(cost)
    curvature = autograd.elementwise_grad(slope)
    return Peer(lambda: cost(centroids), lambda: slope(centroids) / curvature(centroids))


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
