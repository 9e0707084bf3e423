"""Whether arrays share memory, where only a running program tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.types.structure import fields_of


def check_separate(*memory: Any) -> None:
    """Refuses arrays that share memory, and containers or objects that lie in two places.

    Raises
    ------
    DifferentiationError
        AD0303.
    """
    arrays: list[Any] = []
    holders: set[int] = set()
    for part in _reached(memory):
        if isinstance(part, np.ndarray):
            arrays.append(part)
        elif id(part) in holders:
            raise _shared()
        else:
            holders.add(id(part))
    arrays.sort(key=_first_byte)
    for place, array in enumerate(arrays):
        end = np.lib.array_utils.byte_bounds(array)[1]
        for other in arrays[place + 1 :]:
            if _first_byte(other) >= end:
                break
            if np.shares_memory(array, other):
                raise _shared()


def _reached(value: Any) -> Iterator[Any]:
    """The arrays, containers and objects that can be reached from a value."""
    if isinstance(value, np.ndarray):
        yield value
        return
    if isinstance(value, (list, tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
    elif fields := fields_of(value):
        parts = fields.values()
    else:
        return
    if not isinstance(value, tuple):
        yield value
    for part in parts:
        yield from _reached(part)


def _first_byte(array: Any) -> int:
    return int(np.lib.array_utils.byte_bounds(array)[0])


def _shared() -> Exception:
    label = "two arguments share memory, and the function that is differentiated writes one"
    return error("AD0303", None, label, helps=("pass a copy of one of them",))
