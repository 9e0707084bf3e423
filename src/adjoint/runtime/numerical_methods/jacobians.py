"""Matrices of derivatives inside functions, in the part of the language that is differentiated itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad


def jacobian_of(function: Any, args: Any, place: Any) -> Any:
    """The Jacobian with respect to one argument."""
    x = args[place]
    if isinstance(x, float):
        return ad.jvp(function, args, _along(args, place, 1.0))[1]
    n = x.size
    columns = [_column(function, _own(args), place, _unit(x, i)) for i in range(n - 1)]
    columns.append(ad.jvp(function, args, _along(args, place, _unit(x, n - 1)))[1])
    return np.stack(columns, axis=-1)


def _own(args: Any) -> Any:
    """Arguments for a call that may write them."""
    return tuple([arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])


def _unit(x: Any, i: Any) -> Any:
    unit = np.zeros(x.size)
    unit[i] = 1.0
    return unit.reshape(x.shape)


def _column(function: Any, args: Any, place: Any, unit: Any) -> Any:
    """A column behind which there is another: the function runs again, and finds what it found."""
    return ad.jvp(function, args, _along(args, place, unit))[1]


def _along(args: Any, place: Any, unit: Any) -> Any:
    tangents = [None] * len(args)
    tangents[place] = unit
    return tuple(tangents)


def hessian_of(function: Any, args: Any, place: Any) -> Any:
    """The Hessian with respect to one argument."""
    return jacobian_of(ad.grad(function, place), args, place)
