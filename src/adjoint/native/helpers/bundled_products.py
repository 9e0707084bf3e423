"""Products of matrices of numbers with matrices of bundles: some rows and columns at a time, in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]

from adjoint.native.costs import FEW_ROWS, ROWS_OF_TILES
from adjoint.native.helpers.instructions import is_zero, room_of, tile

_HAS_MANY_REGISTERS = binding.get_host_cpu_features().get("avx512vl", False)
"""Whether there are 32 registers for vectors of four doubles."""
ROWS, COLUMNS = 4 if _HAS_MANY_REGISTERS else 2, 4
"""A tile has so many: its sums must fit into the registers, and each number that is loaded should serve several."""
_MISMATCH = "matmul: operands have a mismatch in their core dimensions"


def product_to_bundles(a: Any, b: Any, skips: bool) -> Any:
    """``a @ b``; rows of ``b`` that are zero in all directions may be left out if ``skips``."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(_MISMATCH)
    out = room_of(b, a.shape[0], b.shape[1])
    multiply(a, b, moving_rows(b, skips), out)
    return out


def product_of_bundles(a: Any, b: Any, skips: bool) -> Any:
    """``a @ b``; columns of ``a`` that are zero in all directions may be left out if ``skips``."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(_MISMATCH)
    out = room_of(a, a.shape[0], b.shape[1])
    multiply(b.T, a.T, moving_rows(a.T, skips), out.T)
    return out


def product_by_rows(a: Any, b: Any, skips: bool, width: int) -> Any:
    """What rows of ``a @ b`` are made of, if that is little; else the product."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(_MISMATCH)
    places = moving_rows(b, skips)
    if len(places) > FEW_ROWS:
        whole = room_of(b, a.shape[0], b.shape[1])
        multiply(a, b, places, whole)
        return places[:0], room_of(b, 0, width), whole
    return places, rows_at(b, places, width), room_of(b, 0, width)


def multiply(a: Any, b: Any, places: Any, out: Any) -> None:
    """``out[...] = a[:, places] @ b[places]``"""
    rows, columns = out.shape
    for begin in range(0, max(len(places), 1), ROWS_OF_TILES):
        end = min(begin + ROWS_OF_TILES, len(places))
        for start in range(0, rows, ROWS_OF_TILES):
            stop = min(start + ROWS_OF_TILES, rows)
            for j in range(0, columns - COLUMNS + 1, COLUMNS):
                for i in range(start, stop - ROWS + 1, ROWS):
                    tile(ROWS, COLUMNS, a, i, b, j, places, begin, end, out)
                for i in range(stop - (stop - start) % ROWS, stop):
                    tile(1, COLUMNS, a, i, b, j, places, begin, end, out)
            for j in range(columns - columns % COLUMNS, columns):
                for i in range(start, stop - ROWS + 1, ROWS):
                    tile(ROWS, 1, a, i, b, j, places, begin, end, out)
                for i in range(stop - (stop - start) % ROWS, stop):
                    tile(1, 1, a, i, b, j, places, begin, end, out)


def moving_rows(matrix: Any, skips: bool) -> Any:
    """The rows that are not zero in all directions; all rows unless such may be left out."""
    places = np.empty(matrix.shape[0], np.int64)
    count = 0
    for k in range(matrix.shape[0]):
        moves = not skips
        for j in range(matrix.shape[1]):
            if moves:
                break
            moves = not is_zero(matrix[k, j])
        if moves:
            places[count] = k
            count += 1
    return places[:count]


def rows_at(matrix: Any, places: Any, width: int) -> Any:
    """The first elements of some rows, one row after another in memory; zeros where there are no more."""
    rows = room_of(matrix, len(places), width)
    for row in range(len(places)):
        for column in range(width):
            if column < matrix.shape[1]:
                rows[row, column] = matrix[places[row], column]
            else:
                rows[row, column] = 0.0
    return rows
