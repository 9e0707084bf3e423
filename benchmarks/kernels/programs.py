"""The programs that are measured, at which arguments, and what limits their gradients."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.beside_jax import Subject
from benchmarks.kernels import fields, in_jax, matrices, sequences

InJax = Callable[[types.SimpleNamespace], Callable[..., Any]]


@dataclass(frozen=True)
class Program:
    """A program.

    Parameters
    ----------
    function
        A number of some arrays and numbers.
    arguments
        Makes them.
    jax
        Makes JAX's version of a module over ``jax.numpy``; None where the same text does.
    limit
        What limits the gradient.
    loops
        Whether it computes number by number, in loops of its own.
    """

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    jax: InJax | None
    limit: str
    loops: bool = False
    wrt: tuple[int, ...] | None = None


def _squared(xp: Any, first: Any, *_: Any) -> Any:
    return xp.sum(first * first)


def _definite(rng: np.random.Generator, n: int) -> np.ndarray:
    a = rng.normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def _square(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(0.5, 1.5, size=(n, n))


def _kalman(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.normal(size=8), np.eye(8), np.eye(8) * 0.9 + 0.02 * rng.normal(size=(8, 8)), 0.1 * np.eye(8)


PROGRAMS = (
    Program(fields.heat_in_place, lambda r: (_square(r, 400), 0.1), in_jax.heat_in_place, "memory: states are kept"),
    Program(
        fields.wave,
        lambda r: (_square(r, 300), _square(r, 300), 0.2),
        in_jax.repeated("wave_step", 20, _squared),
        "memory: rolls are copies",
    ),
    Program(
        fields.limited_advection,
        lambda r: (r.uniform(size=20_000), 0.4),
        in_jax.repeated("limited_step", 40, _squared),
        "memory: what decides the branches is kept",
    ),
    Program(
        fields.brusselator,
        lambda r: (_square(r, 200), _square(r, 200)),
        in_jax.repeated("brusselator_step", 20, lambda xp, u, v: xp.sum(u * v)),
        "memory: rolls are copies",
    ),
    Program(
        fields.shallow_water,
        lambda r: (_square(r, 200), _square(r, 200), _square(r, 200)),
        in_jax.repeated("shallow_step", 20, _squared),
        "memory: rolls are copies",
    ),
    Program(fields.poisson, lambda r: (_square(r, 300), _square(r, 300)), in_jax.poisson, "memory"),
    Program(fields.edge_preserving, lambda r: (_square(r, 300), 0.5), None, "exponentials"),
    Program(fields.convolution, lambda r: (_square(r, 400), r.normal(size=(5, 5))), None, "memory: partial sums"),
    Program(fields.variation, lambda r: (_square(r, 700), _square(r, 700)), None, "square roots and memory"),
    Program(
        fields.warped,
        lambda r: (_square(r, 400), 0.9 * _square(r, 398) % 1.0, 0.9 * _square(r, 398) % 1.0),
        None,
        "gathers, and scatters of the gradient",
    ),
    Program(
        fields.state_of_sea_water,
        lambda r: (r.uniform(0.0, 30.0, 200_000), r.uniform(30.0, 40.0, 200_000), r.uniform(0.0, 500.0, 200_000)),
        None,
        "arithmetic",
    ),
    Program(
        matrices.eliminated,
        lambda r: (r.normal(size=(120, 120)) + 20.0 * np.eye(120), r.normal(size=120)),
        in_jax.eliminated,
        "memory: rows that are overwritten are kept",
    ),
    Program(
        matrices.reflected,
        lambda r: (r.normal(size=(150, 80)),),
        in_jax.reflected,
        "memory: overwritten parts are kept",
    ),
    Program(matrices.factored, lambda r: (_definite(r, 200),), in_jax.factored, "products of matrix and vector"),
    Program(matrices.orthogonal, lambda r: (r.normal(size=(300, 60)),), None, "columns lie apart in memory"),
    Program(
        matrices.power_method,
        lambda r: (r.normal(size=300), r.normal(size=(400, 300))),
        in_jax.repeated("power_step", 60, lambda xp, v, a: v @ (a.T @ (a @ v))),
        "memory: the matrix, and its gradient in each step",
        wrt=(0, 1),
    ),
    Program(
        matrices.implicit,
        lambda r: (r.normal(size=200), _definite(r, 200)),
        in_jax.repeated("implicit_step", 20, lambda xp, u, a: u @ u),
        "LAPACK: the matrix is factorised once",
        wrt=(0, 1),
    ),
    Program(
        matrices.newton,
        lambda r: (r.normal(size=200), _definite(r, 200)),
        in_jax.repeated("newton_step", 10, lambda xp, u, a: u @ u),
        "LAPACK: a matrix is factorised in each iteration",
        wrt=(0, 1),
    ),
    Program(matrices.gaussian_process, lambda r: (r.normal(size=250), r.normal(size=250), 0.5), None, "LAPACK"),
    Program(
        matrices.sinkhorn,
        lambda r: (np.zeros(150), np.zeros(150), r.uniform(size=(150, 150))),
        in_jax.repeated("sinkhorn_step", 20, lambda xp, f, g, cost: xp.sum(f) + xp.sum(g)),
        "exponentials",
    ),
    Program(
        matrices.logistic,
        lambda r: (r.normal(size=50), r.normal(size=(20_000, 50)), np.sign(r.normal(size=20_000))),
        None,
        "memory: the matrix is read twice",
        wrt=(0,),
    ),
    Program(
        matrices.attention,
        lambda r: (r.normal(size=(400, 64)), r.normal(size=(400, 64)), r.normal(size=(400, 64))),
        None,
        "BLAS and exponentials",
    ),
    Program(
        matrices.recurrent,
        lambda r: (np.zeros((32, 96)), r.normal(size=(96, 96)) / 10.0, np.zeros(96), r.normal(size=(32, 96))),
        in_jax.repeated("recurrent_step", 60, _squared),
        "BLAS on small matrices",
    ),
    Program(
        matrices.kalman,
        _kalman,
        in_jax.repeated("filter_step", 200, lambda xp, m, p, a, noise: xp.sum(m * m) + xp.sum(p)),
        "calls of BLAS and LAPACK on small matrices",
    ),
    Program(
        matrices.triangle_by_columns,
        lambda r: (np.tril(r.normal(size=(400, 400))) / 20.0 + 2.0 * np.eye(400), r.normal(size=400)),
        in_jax.triangle_by_columns,
        "columns lie apart in memory",
    ),
    Program(matrices.correlations, lambda r: (r.normal(size=(300, 120)),), None, "products with parts of matrices"),
    Program(
        sequences.biquad,
        lambda r: (r.normal(size=200_000), 0.3, 0.2, -0.5, 0.2),
        in_jax.biquad,
        "each step waits for the one before",
        loops=True,
    ),
    Program(
        sequences.smoothed,
        lambda r: (r.normal(size=200_000), 0.3, 0.1),
        in_jax.smoothed,
        "each step waits for the one before",
        loops=True,
    ),
    Program(
        sequences.thomas,
        lambda r: (r.uniform(size=100_000), 4.0 + r.uniform(size=100_000), *r.uniform(size=(2, 100_000))),
        in_jax.thomas,
        "each step waits for the one before",
        loops=True,
    ),
    Program(
        sequences.warping,
        lambda r: (r.normal(size=250), r.normal(size=250)),
        in_jax.warping,
        "exponentials",
        loops=True,
    ),
    Program(sequences.pairs, lambda r: tuple(r.normal(size=(3, 800))), in_jax.pairs, "arithmetic", loops=True),
    Program(
        sequences.lorenz,
        lambda r: (r.normal(size=5_000),),
        in_jax.repeated("lorenz_step", 50, _squared),
        "memory: rolls",
    ),
    Program(sequences.chain, lambda r: (*r.normal(size=(2, 50_000)), 2.0), in_jax.chain, "memory: distances are kept"),
    Program(
        sequences.bodies,
        lambda r: (r.normal(size=(200, 3)), np.zeros((200, 3)), r.uniform(size=200)),
        in_jax.repeated("bodies_step", 5, _squared),
        "memory: arrays of all pairs",
    ),
    Program(
        sequences.asian_option, lambda r: (100.0, 0.2, r.normal(size=(10_000, 50))), None, "exponentials", wrt=(0, 1)
    ),
)


def subjects(only: set[str]) -> Iterator[Subject]:
    """The programs beside their versions in JAX, and compiled by Numba where it takes them."""
    translations: dict[str, types.SimpleNamespace] = {}
    for program in PROGRAMS:
        function = program.function
        if only and function.__name__ not in only:
            continue
        arguments = program.arguments(np.random.default_rng(0))
        home = {module.__name__: module for module in (fields, matrices, sequences)}[function.__module__]
        yield Subject(
            function.__name__,
            function,
            arguments,
            program.wrt or tuple(range(len(arguments))),
            _in_jax(program, home, translations, arguments),
            _compiled(function, home, arguments),
            program.limit,
            program.loops,
        )


def _in_jax(
    program: Program, home: types.ModuleType, known: dict[str, types.SimpleNamespace], arguments: tuple[Any, ...]
) -> Callable[..., Any] | None:
    try:
        if home.__name__ not in known:
            known[home.__name__] = in_jax.translated(home)
    except ImportError:
        return None
    module = known[home.__name__]
    name = program.function.__name__
    version = getattr(module, name) if program.jax is None else program.jax(module)
    places = program.wrt or tuple(range(len(arguments)))

    def of_varied(*varied: Any) -> Any:
        given = dict(zip(places, varied, strict=True))
        return version(*(given.get(place, value) for place, value in enumerate(arguments)))

    return of_varied


def _compiled(function: Callable[..., Any], home: types.ModuleType, arguments: tuple[Any, ...]) -> Callable[[], Any]:
    import numba  # lazy

    names = dict(vars(home))
    own = {name: value for name, value in names.items() if isinstance(value, types.FunctionType)}
    made = {name: types.FunctionType(value.__code__, names, name) for name, value in own.items()}
    names.update({name: numba.njit(value) for name, value in made.items()})
    compiled = names[function.__name__]
    return lambda: compiled(*arguments)
