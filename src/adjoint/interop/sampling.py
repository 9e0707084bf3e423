"""Samplers of nutpie for densities that are written as plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from nutpie.compile_pymc import CompiledPyMCModel
from pandas import Index

from adjoint.interop.c_functions import CFunction, CMap, Data, Variables, variables_of


def nutpie(
    logp: Callable[..., Any],
    data: Mapping[str, Any] | Sequence[Any] = (),
    *,
    variables: Mapping[str, Any],
    derived: tuple[Callable[..., Any], Mapping[str, Any]] | None = None,
    start: Mapping[str, Any] | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    fastmath: bool = False,
) -> Any:
    """A model for :func:`nutpie.sample`, whose log density and gradient are one C function.

    Parameters
    ----------
    logp
        The logarithm of a density, but for a constant: a function of the variables, and then of the data. Loops,
        branches and calls are compiled with it; what has no form in machine code is refused.
    data
        Its other arguments: numbers and arrays, in order or by name. They are not copied; arrays must not be resized.
    variables
        The names and shapes of what varies, in the order of the arguments: ``()`` for a number, ``8`` or ``(8,)`` for a
        vector. All numbers are possible: give positive ones by their logarithm, and add that logarithm to the density.
    derived
        A function of the same arguments that returns a tuple of numbers and arrays, and their names and shapes: they
        are part of the trace.
    start
        Where chains start, but for a jitter between -1 and 1: zero by default.
    coords, dims
        Names for the entries of arrays, as PyMC and ArviZ know them.
    fastmath
        As for :func:`adjoint.grad`.

    Returns
    -------
    nutpie.CompiledModel
        For :func:`nutpie.sample`. No Python runs in a step of a chain, so chains run side by side.

    Raises
    ------
    DifferentiationError, numba.TypingError
        If the function cannot be differentiated or compiled.

    Examples
    --------
    >>> import math, nutpie, numpy as np
    >>> import adjoint as ad
    >>> def logp(mean, log_width, seen):
    ...     total = 0.0
    ...     for y in seen:
    ...         total -= 0.5 * ((y - mean) / math.exp(log_width)) ** 2 + log_width
    ...     return total
    >>> seen = np.array([1.0, 2.0, 4.0, 2.5, 3.0])
    >>> model = ad.interop.nutpie(logp, {"seen": seen}, variables={"mean": (), "log_width": ()})
    >>> trace = nutpie.sample(model, seed=1, chains=2, draws=400, tune=300, progress_bar=False)
    >>> abs(float(trace.posterior["mean"].mean()) - 2.5) < 0.3
    True
    """
    known = variables_of(variables)
    given = Data(logp, data, len(known.names))
    function = CFunction(logp, known, given, fastmath)
    more, names = derived or (None, {})
    map_ = CMap(known, given, variables_of(names), more)
    traced = map_.variables
    return CompiledPyMCModel(
        dims={name: tuple(each) for name, each in (dims or {}).items()},
        compiled_logp_func=function,
        compiled_expand_func=map_.compiled,
        initial_point_func=_beginning(known, start or {}),
        shared_data={},
        user_data=given.addresses,
        n_expanded=traced.size,
        shape_info=(list(traced.names), traced.slices, [list(shape) for shape in traced.shapes]),
        logp_func=None,
        expand_func=None,
        _n_dim=known.size,
        _shapes=dict(zip(traced.names, traced.shapes, strict=True)),
        _coords={name: Index(each) for name, each in (coords or {}).items()},
    )


def _beginning(variables: Variables, start: Mapping[str, Any]) -> Callable[[Any], np.ndarray[Any, Any]]:
    """The first point of a chain, by its seed."""
    parts = [
        np.broadcast_to(np.asarray(start.get(name, 0.0), float), shape).ravel()
        for name, shape in zip(variables.names, variables.shapes, strict=True)
    ]
    centre = np.concatenate(parts)
    return lambda seed: centre + np.random.default_rng(seed).uniform(-1.0, 1.0, len(centre))
