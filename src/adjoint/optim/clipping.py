"""Gradients made smaller where they are too large."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from adjoint import tangents
from adjoint.parameters import unrolled

T = TypeVar("T")


@unrolled
def _bounded(g, *, low, high):  # type: ignore[no-untyped-def]
    g = np.clip(g, low, high)


def clipped_by_norm(gradient: T, maximum: float) -> T:
    """The gradient, or a shorter one of the same direction, so that its norm does not exceed a maximum.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.optim.clipped_by_norm((3.0, 4.0), 2.5)
    (1.5, 2.0)
    >>> ad.optim.clipped_by_norm((3.0, 4.0), 10.0)
    (3.0, 4.0)
    """
    norm = tangents.norm(gradient)
    if norm <= maximum:
        return gradient
    result: T = tangents.scale(gradient, maximum / norm)
    return result


def clipped_by_value(gradient: T, maximum: float) -> T:
    """The gradient with each component between ``-maximum`` and ``maximum``.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.optim.clipped_by_value((3.0, -0.5), 1.0)
    (1.0, -0.5)
    """
    result: T = _bounded.applied(gradient, low=-maximum, high=maximum)
    return result
