"""How parameters begin: functions of a shape, a generator of random numbers and a dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Shape = tuple[int, ...]
Initializer = Callable[[Shape, np.random.Generator, DTypeLike], Array]

_TRUNCATED = 0.87962566103423978
"""The standard deviation of a standard normal variable that is drawn again beyond two."""


def generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """A generator of random numbers: itself, of a seed, or of a seed of the system."""
    return np.random.default_rng(rng)


def fans(shape: Shape) -> tuple[int, int]:
    """How many inputs and outputs a weight of the shape ``(*window, inputs, outputs)`` connects.

    >>> fans((3, 3, 8, 16))
    (72, 144)
    """
    if len(shape) < 2:
        raise ValueError(f"a weight has at least two axes, its inputs and its outputs, and not the shape {shape}")
    window = math.prod(shape[:-2])
    return window * shape[-2], window * shape[-1]


def zeros(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Zeros."""
    return np.zeros(shape, dtype)


def ones(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Ones."""
    return np.ones(shape, dtype)


def constant(value: float) -> Initializer:
    """Makes an initialiser that fills with one number.

    >>> constant(0.5)((2,), None, np.float64)
    array([0.5, 0.5])
    """
    return lambda shape, rng, dtype: np.full(shape, value, dtype)


def uniform(low: float = -1.0, high: float = 1.0) -> Initializer:
    """Makes an initialiser that draws from an interval."""
    return lambda shape, rng, dtype: generator(rng).uniform(low, high, shape).astype(dtype)


def normal(mean: float = 0.0, deviation: float = 1.0) -> Initializer:
    """Makes an initialiser that draws from a normal distribution."""
    return lambda shape, rng, dtype: generator(rng).normal(mean, deviation, shape).astype(dtype)


def truncated_normal(mean: float = 0.0, deviation: float = 1.0) -> Initializer:
    """Makes an initialiser that draws from a normal distribution, again what is off by more than two ``deviation``."""

    def draw(shape: Shape, rng: np.random.Generator | int | None, dtype: DTypeLike) -> Array:
        source = generator(rng)
        drawn = source.normal(size=shape)
        while np.any(is_far := np.abs(drawn) > 2.0):
            drawn[is_far] = source.normal(size=np.count_nonzero(is_far))
        return (mean + deviation * drawn).astype(dtype)

    return draw


def glorot_uniform(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Uniform, of variance ``2 / (inputs + outputs)`` (Glorot and Bengio, 2010).

    Examples
    --------
    >>> weight = glorot_uniform((300, 100), np.random.default_rng(0))
    >>> bool(abs(weight.max()) <= np.sqrt(6 / 400)), round(float(weight.var() * 200), 1)
    (True, 1.0)
    """
    return _uniform(2.0 / sum(fans(shape)), shape, rng, dtype)


def glorot_normal(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Truncated normal, of variance ``2 / (inputs + outputs)`` (Glorot and Bengio, 2010)."""
    return _normal(2.0 / sum(fans(shape)), shape, rng, dtype)


def he_uniform(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Uniform, of variance ``2 / inputs`` (He et al., 2015): for layers before a :func:`relu`."""
    return _uniform(2.0 / fans(shape)[0], shape, rng, dtype)


def he_normal(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Truncated normal, of variance ``2 / inputs`` (He et al., 2015): for layers before a :func:`relu`."""
    return _normal(2.0 / fans(shape)[0], shape, rng, dtype)


def lecun_uniform(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Uniform, of variance ``1 / inputs`` (LeCun et al., 1998)."""
    return _uniform(1.0 / fans(shape)[0], shape, rng, dtype)


def lecun_normal(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Truncated normal, of variance ``1 / inputs`` (LeCun et al., 1998)."""
    return _normal(1.0 / fans(shape)[0], shape, rng, dtype)


def orthogonal(shape: Shape, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """Orthonormal rows or columns, whichever are fewer, of the weight as a matrix (Saxe et al., 2013).

    >>> weight = orthogonal((4, 3), np.random.default_rng(0))
    >>> bool(np.allclose(weight.T @ weight, np.eye(3)))
    True
    """
    fans(shape)
    rows, columns = math.prod(shape[:-1]), shape[-1]
    drawn = generator(rng).normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q *= np.sign(np.diagonal(r))
    return (q if rows >= columns else q.T).reshape(shape).astype(dtype)


def _uniform(variance: float, shape: Shape, rng: np.random.Generator | int | None, dtype: DTypeLike) -> Array:
    limit = math.sqrt(3.0 * variance)
    return uniform(-limit, limit)(shape, generator(rng), dtype)


def _normal(variance: float, shape: Shape, rng: np.random.Generator | int | None, dtype: DTypeLike) -> Array:
    return truncated_normal(0.0, math.sqrt(variance) / _TRUNCATED)(shape, generator(rng), dtype)
