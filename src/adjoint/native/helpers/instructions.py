"""What helpers are made of that no text of Python says: each back end writes it itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.ir.types import BOOL, Array, Opaque, Storage, Type
from adjoint.rules.declare import no_derivative
from adjoint.rules.typing import type_of_known

_NOTHING = Opaque(type(None))


def room_of(x: Any, rows: int, columns: int) -> Any:
    """A new matrix of elements of the kind that ``x`` has."""
    return np.empty((rows, columns), x.dtype)


def is_zero(x: Any) -> bool:
    """Whether a number is zero, or all of a bundle."""
    return not np.any(x)


def tile(rows: int, columns: int, a: Any, i: int, b: Any, j: int, places: Any, start: int, stop: int, out: Any) -> None:
    """Adds products of some rows of ``a`` and columns of ``b``, from ``i`` and ``j`` on, to what is in ``out``.

    ``places`` are the columns of ``a``, and rows of ``b``, that count: those from ``start`` to ``stop`` of them. For
    the first of all, what was in ``out`` is of no account.
    """
    part = (slice(i, i + rows), slice(j, j + columns))
    chosen = places[start:stop]
    out[part] = (out[part] if start > 0 else 0.0) + a[part[0], chosen] @ b[chosen, part[1]]


def _matrix_like(arguments: Sequence[Any]) -> tuple[Type, ...]:
    given = type_of_known(arguments[0])
    assert isinstance(given, Array)
    return (Array(given.dtype, ("any", "any"), Storage(written=True)),)


no_derivative(room_of, typed=_matrix_like)
no_derivative(is_zero, typed=lambda _: (BOOL,))
no_derivative(tile, pure=False, writes=(9,), typed=lambda _: (_NOTHING,))
