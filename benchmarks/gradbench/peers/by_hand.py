"""The evals in C, with derivatives by hand, by the compiler of this machine."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gradbench.peers.peer import Peer, Peers

SOURCES = Path(__file__).parents[2] / "native"
FLAGS = ("-O3", "-march=native", "-std=c11", "-D_DEFAULT_SOURCE", "-shared", "-fPIC", "-fno-math-errno")
FAST_FLAGS = (
    "-fassociative-math",
    "-freciprocal-math",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-ffp-contract=fast",
)
"""What is allowed to Adjoint's own ``fastmath``."""


def compiler() -> str | None:
    """The C compiler, if there is one."""
    return shutil.which("gcc") or shutil.which("cc")


@functools.cache
def library(fast: bool) -> ctypes.CDLL:
    """All sources, compiled."""
    found = compiler()
    assert found is not None
    folder = tempfile.mkdtemp(prefix="by-hand-")
    target = Path(folder) / "evals.so"
    sources = sorted(map(str, SOURCES.glob("*.c")))
    subprocess.run([found, *FLAGS, *(FAST_FLAGS if fast else ()), "-o", str(target), *sources, "-lm"], check=True)
    loaded = ctypes.CDLL(str(target))
    shutil.rmtree(folder)
    for name in ("gmm_objective", "lstm_objective", "lse_primal", "det_primal", "llsq_primal", "kmeans_cost"):
        getattr(loaded, name).restype = ctypes.c_double
    return loaded


def peers(fast: bool) -> Peers:
    """What makes a peer of arguments."""
    return {name: functools.partial(make, library(fast)) for name, make in _MAKERS.items()}


def _pass(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous and array.dtype in (np.float64, np.int64)
    return ctypes.c_void_p(array.ctypes.data)


def _peer(primal: Any, gradient: Any, given: list[Any], value: list[np.ndarray], found: list[np.ndarray]) -> Peer:
    """Functions that write their results behind their arguments."""
    arguments = [_pass(arg) if isinstance(arg, np.ndarray) else arg for arg in given]

    def call(function: Any, results: list[np.ndarray]) -> Callable[[], Any]:
        everything = [*arguments, *map(_pass, results)]

        def run() -> Any:
            returned = function(*everything)
            return results if results else returned

        run.keeps_alive = given  # type: ignore[attr-defined]
        return run

    return Peer(call(primal, value), call(gradient, found))


def _gmm(c: Any, alpha: Any, mu: Any, q: Any, l: Any, x: Any, gamma: float, m: int) -> Peer:
    given = [mu.shape[1], mu.shape[0], len(x), alpha, mu, q, l, x, ctypes.c_double(gamma), m]
    return _peer(c.gmm_objective, c.gmm_gradient, given, [], [np.empty_like(part) for part in (alpha, mu, q, l)])


def _ba(c: Any, cameras: Any, points: Any, weights: Any, features: Any, which_camera: Any, which_point: Any) -> Peer:
    count = len(weights)
    given = [ctypes.c_long(count), cameras, points, weights, features, which_camera, which_point]
    value, found = [np.empty((count, 2)), np.empty(count)], [np.empty((count, 2, 15)), np.empty(count)]
    return _peer(c.ba_objective, c.ba_jacobian, given, value, found)


def _lstm(c: Any, main: Any, extra: Any, state: Any, sequence: Any) -> Peer:
    given = [len(main) // 2, extra.shape[1], len(sequence), main, extra, state, sequence]
    return _peer(c.lstm_objective, c.lstm_gradient, given, [], [np.empty_like(main), np.empty_like(extra)])


class _Hand(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("bones", "vertices", "count")),
        *((name, ctypes.c_void_p) for name in ("parents", "triangles", "correspondences")),
        *(
            (name, ctypes.c_void_p)
            for name in ("theta", "us", "relatives", "inverses", "positions", "weights", "points")
        ),
    )


def _ht(c: Any, theta: Any, us: Any, parents: Any, relatives: Any, inverses: Any, positions: Any, *rest: Any) -> Peer:
    weights, triangles, correspondences, points = rest
    arrays = (parents, triangles, correspondences, theta, us, relatives, inverses, positions, weights, points)
    hand = _Hand(len(parents), len(positions), len(points), *map(_pass, arrays))
    errors, found = np.empty((len(points), 3)), np.empty((3 * len(points), 2 + len(theta)))

    def primal() -> Any:
        c.ht_objective(ctypes.byref(hand), _pass(errors))
        return errors

    def jacobian() -> Any:
        c.ht_jacobian(ctypes.byref(hand), _pass(found))
        return found

    jacobian.keeps_alive = arrays  # type: ignore[attr-defined]
    return Peer(primal, jacobian)


def _ode(c: Any, x: Any, steps: int) -> Peer:
    peer = _peer(c.ode_primal, None, [len(x), steps, x], [np.empty_like(x)], [])
    ones = np.ones_like(x)
    return Peer(peer.primal, _peer(None, c.ode_pullback, [len(x), steps, x, ones], [], [np.empty_like(x)]).gradient)


def _lse(c: Any, x: Any) -> Peer:
    return _peer(c.lse_primal, c.lse_gradient, [ctypes.c_long(len(x)), x], [], [np.empty_like(x)])


def _det(c: Any, a: Any, row: int, used: int) -> Peer:
    return _peer(c.det_primal, c.det_gradient, [len(a), a], [], [np.empty_like(a)])


def _llsq(c: Any, x: Any, n: int) -> Peer:
    return _peer(c.llsq_primal, c.llsq_gradient, [len(x), n, x], [], [np.empty_like(x)])


def _kmeans(c: Any, centroids: Any, points: Any) -> Peer:
    given = [len(centroids), len(points), points.shape[1], centroids, points]
    return _peer(c.kmeans_cost, c.kmeans_direction, given, [], [np.empty_like(centroids)])


_MAKERS: dict[str, Callable[..., Peer]] = {
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
