"""The evals by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.gradbench.peers import formulas
from benchmarks.gradbench.peers.peer import Peer, Peers

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def _tensors(*args: Any) -> list[Any]:
    return [torch.from_numpy(arg) for arg in args]


def _gradient(function: Callable[..., Any], active: list[Any], *rest: Any) -> Peer:
    """A function that returns a number."""
    followed = [part.clone().requires_grad_() for part in active]

    def primal() -> Any:
        with torch.no_grad():
            return function(*active, *rest)

    return Peer(primal, lambda: torch.autograd.grad(function(*followed, *rest), followed))


def _gmm(alpha: Any, mu: Any, q: Any, l: Any, x: Any, gamma: float, m: int) -> Peer:
    return _gradient(
        lambda *args: formulas.gmm(torch, torch.logsumexp, *args, gamma, m), _tensors(alpha, mu, q, l), *_tensors(x)
    )


def _ba(cameras: Any, points: Any, weights: Any, features: Any, which_camera: Any, which_point: Any) -> Peer:
    *active, features, c, p = _tensors(cameras, points, weights, features, which_camera, which_point)

    def primal() -> Any:
        with torch.no_grad():
            cameras, points, weights = active
            return formulas.reprojection(torch, cameras[c], points[p], weights, features), 1.0 - weights * weights

    def jacobian() -> Any:
        cameras, points, weights = active
        gathered = [part.clone().requires_grad_() for part in (cameras[c], points[p], weights)]
        errors = formulas.reprojection(torch, *gathered, features)
        rows = []
        for row in range(2):
            found = torch.autograd.grad(errors[:, row].sum(), gathered, retain_graph=row == 0)
            rows.append(torch.cat((found[0], found[1], found[2][:, None]), 1))
        of_weights = torch.autograd.grad((1.0 - gathered[2] * gathered[2]).sum(), gathered[2])
        return torch.stack(rows, 1), of_weights

    return Peer(primal, jacobian)


def _lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Peer:
    return _gradient(lambda *args: formulas.lstm(torch, *args), _tensors(main, extra), *_tensors(state, sequence))


def _ht(theta: Any, us: Any, parents: Any, *rest: Any) -> Peer:
    theta, us, *rest = _tensors(theta, us, *rest)
    model, seen = ([int(parent) for parent in parents], *rest[:4]), rest[4:]

    def objective(theta: Any, us: Any) -> Any:
        return formulas.hand_errors(torch, theta, us, model, *seen)

    def primal() -> Any:
        with torch.no_grad():
            return objective(theta, us)

    def jacobian() -> Any:
        pose = torch.func.jacfwd(lambda theta: objective(theta, us))(theta)
        own = []
        for place in range(2):
            way = torch.zeros_like(us)
            way[:, place] = 1.0
            own.append(torch.func.jvp(lambda us: objective(theta, us), (us,), (way,))[1])
        return torch.cat((torch.stack(own, 2), pose), 2)

    return Peer(primal, jacobian)


def _ode(x: Any, steps: int) -> Peer:
    return _gradient(lambda x: formulas.ode(torch, x, steps).sum(), _tensors(x))


def _lse(x: Any) -> Peer:
    return _gradient(lambda x: torch.logsumexp(x, 0), _tensors(x))


def _det(a: Any, row: int, used: int) -> Peer:
    return _gradient(lambda a: formulas.det(torch, a), _tensors(a))


def _llsq(x: Any, n: int) -> Peer:
    return _gradient(lambda x: formulas.llsq(torch, x, n), _tensors(x))


def _kmeans(centroids: Any, points: Any) -> Peer:
    centroids, points = _tensors(centroids, points)

    def cost(centroids: Any) -> Any:
        return formulas.kmeans(torch, centroids, points)

    def primal() -> Any:
        with torch.no_grad():
            return cost(centroids)

    def direction() -> Any:
        at = centroids.clone().requires_grad_()
        (slope,) = torch.autograd.grad(cost(at), at, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), at)
        return slope.detach() / curvature

    return Peer(primal, direction)


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
