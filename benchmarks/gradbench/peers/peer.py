"""What takes part in a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Peer:
    """A program and its derivative, for arguments that are given already.

    Parameters
    ----------
    primal
        Runs the program to its end.
    gradient
        Computes the derivative: a number, an array, or a tuple of them, of any kind that NumPy can read.
    """

    primal: Callable[[], Any]
    gradient: Callable[[], Any]


Peers = Mapping[str, Callable[..., Peer]]
"""For an eval what makes a peer of its arguments."""


def numbers(found: Any) -> np.ndarray:
    """All numbers of a derivative, in order."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in _parts(found)])


def _parts(found: Any) -> Iterator[Any]:
    if isinstance(found, Mapping):
        found = tuple(found.values())
    if isinstance(found, tuple | list):
        for part in found:
            yield from _parts(part)
    else:
        yield found
