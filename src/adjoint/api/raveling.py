"""Structures as vectors: for optimizers, samplers and solvers that know vectors only."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.api.structured_matrices import refuse_complex
from adjoint.api.tools.float_leaves import children, is_float_leaf, leaves
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance

T = TypeVar("T")


@entrance
def ravel(x: T) -> tuple[np.ndarray[Any, Any], Callable[[Any], T]]:
    """The numbers of a structure as one vector, and the way back.

    Parameters
    ----------
    x
        A number, an array, or a tuple, list, dict or object of them. What does not vary, as integers, strings and
        fields that are marked by ``NoDerivative``, is not in the vector.

    Returns
    -------
    vector, unravel
        ``unravel(vector)`` is a new structure like ``x``, with the numbers of the vector; constructors do not run. It
        may be called inside of what is differentiated.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> vector, unravel = ad.ravel({"w": np.ones(2), "b": 0.5, "name": "linear"})
    >>> vector
    array([1. , 1. , 0.5])
    >>> unravel(2 * vector)
    {'w': array([2., 2.]), 'b': 1.0, 'name': 'linear'}
    >>> def loss(parameters):
    ...     return np.sum(parameters["w"] ** 2) * parameters["b"]
    >>> ad.grad(lambda v: loss(unravel(v)))(vector)
    array([1., 1., 2.])
    """
    refuse_complex(x, "the value")
    found = [np.ravel(leaf) for _, leaf in leaves(x)]
    if not found:
        raise error("AD0404", None, f"{type(x).__name__!r} holds no floats")
    return np.concatenate(found), _reader(x, 0)[0]


Reader = Callable[[Any], Any]


def _reader(like: Any, start: int) -> tuple[Reader, int]:
    """What makes the structure of a vector, from a place on, and the place behind it."""
    if is_float_leaf(like):
        return _of_leaf(like, start)
    keys, parts = [], []
    for (_, key), item in children(like):
        part, stop = _reader(item, start)
        if stop > start or isinstance(like, (list, tuple, dict)):
            keys.append(key)
            parts.append(part)
        start = stop
    if isinstance(like, list):
        return _of_list(tuple(parts)), start
    if isinstance(like, tuple):
        return _of_tuple(tuple(parts), type(like)), start
    if isinstance(like, dict):
        return _of_dict(tuple(zip(keys, parts, strict=True))), start
    return (_of_object(like, tuple(zip(keys, parts, strict=True))) if parts else _of_constant(like)), start


def _of_leaf(like: Any, start: int) -> tuple[Reader, int]:
    stop = start + int(np.size(like))
    if type(like) is float:
        return lambda vector: float(vector[start]), stop
    if not isinstance(like, np.ndarray):
        kind = type(like)
        return lambda vector: kind(vector[start]), stop
    shape, dtype = like.shape, like.dtype
    if dtype == np.float64:
        return lambda vector: np.reshape(vector[start:stop], shape), stop
    return lambda vector: np.reshape(vector[start:stop], shape).astype(dtype), stop


def _of_constant(like: Any) -> Reader:
    return lambda vector: like


def _of_list(parts: tuple[Reader, ...]) -> Reader:
    return lambda vector: [part(vector) for part in parts]


def _of_tuple(parts: tuple[Reader, ...], cls: type) -> Reader:
    if cls is tuple:
        return lambda vector: tuple([part(vector) for part in parts])
    return lambda vector: cls(*[part(vector) for part in parts])


def _of_dict(parts: tuple[tuple[Any, Reader], ...]) -> Reader:
    return lambda vector: {key: part(vector) for key, part in parts}


def _of_object(like: Any, parts: tuple[tuple[Any, Reader], ...]) -> Reader:
    def read(vector: Any) -> Any:
        made = copy.copy(like)
        for name, part in parts:
            object.__setattr__(made, name, part(vector))
        return made

    return read


ravel.__adjoint_operator__ = "ravel"  # type: ignore[attr-defined]
