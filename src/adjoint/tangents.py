"""Tangents as vectors, whatever structure they have: zero, sum, difference, multiples, inner product.

A tangent has the structure of the value that it belongs to, with None at what carries no derivative. None in place of
a part, or of all, is zero; and so is ``ZERO``, the zero of everything, wherever a tangent is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.runtime.tangents import accumulate, zero_tangent
from adjoint.types.structure import children, is_container, is_leaf_value, like_leaf, map_structure
from adjoint.types.zero import ZERO, SymbolicZero, without_symbol

__all__ = ["ZERO", "SymbolicZero", "add", "dot", "materialize", "negate", "norm", "scale", "subtract", "zero"]


def zero(value: Any) -> Any:
    """The zero tangent of a value; of a tangent, the zero of its structure.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.zero({"weight": 2.0, "name": "a"})
    {'weight': 0.0, 'name': None}
    """
    return zero_tangent(value)


def materialize(tangent: Any, value: Any) -> Any:
    """A tangent of a value, with the zeros of its structure where it is ``ZERO``.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.materialize(ad.tangents.ZERO, [1.0, 2.0])
    [0.0, 0.0]
    """
    return zero(value) if tangent is ZERO or tangent is None else tangent


def add(a: Any, b: Any) -> Any:
    """The sum of two tangents of one value: new memory, sharing none with either.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.add((1.0, None), (2.0, 3.0))
    (3.0, 3.0)
    """
    if a is ZERO and b is ZERO:
        return ZERO
    total = accumulate(without_symbol(a), without_symbol(b))
    return map_structure(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, total)


def negate(tangent: Any) -> Any:
    """The tangent in the opposite direction."""
    if tangent is ZERO:
        return ZERO
    return _mapped(lambda leaf: like_leaf(-leaf, leaf), tangent)


def subtract(a: Any, b: Any) -> Any:
    """The difference of two tangents of one value.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.subtract([1.0, 5.0], [2.0, 3.0])
    [-1.0, 2.0]
    """
    return add(a, negate(b))


def scale(tangent: Any, factor: float) -> Any:
    """A multiple of a tangent, of the same dtypes.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.scale((1.0, None), 3.0)
    (3.0, None)
    """
    if tangent is ZERO:
        return ZERO
    return _mapped(lambda leaf: like_leaf(leaf * factor, leaf), tangent)


def dot(a: Any, b: Any) -> float:
    """The sum of the products of all components of two tangents of one value.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tangents.dot((1.0, 2.0), (3.0, 4.0))
    11.0
    """
    return math.fsum(float(np.vdot(mine, theirs).real) for mine, theirs in _common_leaves(a, b))


def _common_leaves(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    if without_symbol(a) is None or without_symbol(b) is None:
        return
    if not is_container(a):
        yield a, b
        return
    theirs = dict(children(b))
    for step, part in children(a):
        yield from _common_leaves(part, theirs.get(step))


def norm(tangent: Any) -> float:
    """The Euclidean length of a tangent: the root of the sum of the squares of all components."""
    return math.sqrt(dot(tangent, tangent))


def _mapped(fn: Any, tangent: Any) -> Any:
    return map_structure(lambda leaf: fn(leaf) if is_leaf_value(leaf) else None, tangent)
