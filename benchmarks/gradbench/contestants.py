"""Who takes part in the comparison, and on what."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from benchmarks.gradbench import inputs
from benchmarks.gradbench.ba import Sparse
from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evals import functions_of
from benchmarks.gradbench.peers import by_hand
from benchmarks.gradbench.peers.peer import Peer, Peers

SIZES = ("S", "M", "L")
CASES: dict[str, tuple[Any, ...]] = {
    "gmm": tuple(lambda d=d, k=k: inputs.gmm(d, k, 1000) for d, k in ((10, 5), (20, 25), (64, 25))),
    "ba": tuple(
        lambda n=n, m=m, p=p: inputs.ba(n, m, p)
        for n, m, p in ((49, 7776, 31843), (257, 65132, 225911), (1197, 126327, 563734))
    ),
    "lstm": tuple(lambda l=l, c=c: inputs.lstm(l, 14, c) for l, c in ((2, 1024), (2, 4096), (4, 4096))),
    "ht": tuple(lambda c=c: inputs.hand(10_000, c, in_triangles=True) for c in (100, 800, 12_800)),
    "ode": tuple(lambda n=n, s=s: inputs.ode(n, s) for n, s in ((1000, 10), (10_000, 10), (10_000, 100))),
    "lse": tuple(lambda n=n: inputs.lse(n) for n in (10_000, 160_000, 1_280_000)),
    "det": tuple(lambda ell=ell: inputs.det(ell) for ell in (5, 8, 10)),
    "llsq": tuple(lambda n=n: inputs.llsq(128, n) for n in (128, 1024, 16_392)),
    "kmeans": tuple(
        lambda k=k, n=n, d=d: inputs.kmeans(k, n, d)
        for k, n, d in ((10, 1000, 8), (100, 10_000, 8), (1000, 10_000, 16))
    ),
}
"""What makes the inputs, from small to large."""

FUNCTIONS = {
    "gmm": ("objective", "jacobian"),
    "ba": ("objective", "jacobian"),
    "lstm": ("objective", "jacobian"),
    "ht": ("objective", "jacobian"),
    "ode": ("primal", "total"),
    "kmeans": ("cost", "dir"),
}
"""The program and its derivative, where they are not ``primal`` and ``gradient``."""

TOO_LARGE = {("det", "L"): ("JAX", "PyTorch", "autograd")}
"""Who cannot take part: the formula has a term for each of 3,628,800 permutations."""

OURS, OURS_FAST, JAX, TORCH, AUTOGRAD = "Adjoint", "Adjoint, fastmath", "JAX", "PyTorch", "autograd"
C, C_FAST = "C by hand", "C by hand, fastmath"
_MODULES = {JAX: ("jax", "with_jax"), TORCH: ("torch", "with_torch"), AUTOGRAD: ("autograd", "with_autograd")}
NAMES = (OURS, OURS_FAST, JAX, TORCH, AUTOGRAD, C, C_FAST)


def missing(name: str) -> bool:
    """Whether a contestant cannot take part because what it needs is not installed."""
    if name in (OURS, OURS_FAST):
        return importlib.util.find_spec("numba") is None
    if name in (C, C_FAST):
        return by_hand.compiler() is None
    return importlib.util.find_spec(_MODULES[name][0]) is None


def arguments(eval_name: str, size: str) -> tuple[Any, ...]:
    """The arguments of the program."""
    given = CASES[eval_name][SIZES.index(size)]()
    return next(iter(functions_of(eval_name, Build(native=False)).values())).prepare(given)


def peer(name: str, eval_name: str, args: tuple[Any, ...]) -> Peer:
    """A contestant, ready to run."""
    if name in (OURS, OURS_FAST):
        return _ours(eval_name, args, fastmath=name == OURS_FAST)
    if name in (C, C_FAST):
        peers = by_hand.peers(name == C_FAST)
    else:
        peers = _peers_of(importlib.import_module(f"benchmarks.gradbench.peers.{_MODULES[name][1]}"))
    return peers[eval_name](*args)


def _peers_of(module: Any) -> Peers:
    peers: Peers = module.PEERS
    return peers


def _ours(eval_name: str, args: tuple[Any, ...], fastmath: bool) -> Peer:
    functions = functions_of(eval_name, Build(fastmath=fastmath))
    primal, gradient = (functions[name].run for name in FUNCTIONS.get(eval_name, ("primal", "gradient")))
    if eval_name == "ba":
        gradient = _numbers_of(gradient)
    return Peer(lambda: primal(*args), lambda: gradient(*args))


def _numbers_of(jacobian: Callable[..., Sparse]) -> Callable[..., Any]:
    return lambda *args: jacobian(*args).numbers
