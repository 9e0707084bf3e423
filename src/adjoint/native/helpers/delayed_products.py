"""Delayed updates of matrices: what is kept is added as one product of matrices, by BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.native.helpers.instructions import add_product, bytes_between, item_size, stride
from adjoint.runtime.array_functions import delayed

_BROADCAST = "operands could not be broadcast together"
_MISMATCH = "matmul: Input operand 1 has a mismatch in its core dimension 0"


def count_of_rows(n: int, m: int, matrix: Any) -> int:
    """How many products are kept: none for a matrix whose rows are not told to BLAS."""
    size = item_size(matrix)
    is_told = stride(matrix, 1) == size and stride(matrix, 0) >= size * matrix.shape[1]
    return delayed.rows_to_keep(n, m) if is_told else 0


def room_for_outer(matrix: Any) -> Any:
    """Stands for :func:`~adjoint.runtime.array_functions.delayed.room_for_outer`, as all others for their namesakes."""
    n, m = matrix.shape
    rows = count_of_rows(n, m, matrix)
    us, vs = np.empty((rows, n), matrix.dtype), np.empty((rows, m), matrix.dtype)
    return us, vs, np.zeros((rows + 1, 4), np.int64)


def room_for_lines(matrix: Any, factor: Any) -> Any:
    """Room for vectors that ``factor`` is multiplied with, if that is told to BLAS, too."""
    n, m = factor.shape
    down, across, size = stride(factor, 0), stride(factor, 1), item_size(factor)
    is_told = (across == size and down >= size * m) or (down == size and across >= size * n)
    rows = count_of_rows(n, m, matrix) if is_told else 0
    return np.empty((rows, m), matrix.dtype), np.zeros((rows + 1, 5), np.int64)


def place_of(part: Any, whole: Any) -> Any:
    """The first row and column of a part of a matrix."""
    apart = bytes_between(whole, part)
    across, down = stride(whole, 1), stride(whole, 0)
    if down >= across:
        row = apart // down
        return row, (apart - row * down) // across
    column = apart // across
    return (apart - column * across) // down, column


def put(rows: Any, k: int, vector: Any, first: int, factor: float) -> None:
    """A vector as a part of a row of zeros."""
    for i in range(rows.shape[1] if vector.shape[0] < rows.shape[1] else 0):
        rows[k, i] = 0.0
    for i in range(vector.shape[0]):
        rows[k, first + i] = factor * vector[i]


def are_finite(rows: Any, count: int, first: int, last: int) -> bool:
    """Whether all numbers in some columns are finite."""
    total = 0.0
    for i in range(count):
        for j in range(first, last):
            total += rows[i, j] * 0.0
    return total == 0.0


def reach(spans: Any, count: int, place: int) -> Any:
    """The first and last of what parts reach."""
    first, last = spans[1, place], spans[1, place + 1]
    for k in range(2, count + 1):
        first, last = min(first, spans[k, place]), max(last, spans[k, place + 1])
    return first, last


def add_outer(matrix: Any, part: Any, u: Any, v: Any, takes: bool, us: Any, vs: Any, spans: Any) -> None:
    """Keeps the vectors of an outer product; where there is no room for any, adds it."""
    n, m = part.shape
    along, across = int(u.shape[0] == n), int(v.shape[0] == m)
    if (along == 0 and u.shape[0] != 1) or (across == 0 and v.shape[0] != 1):
        raise ValueError(_BROADCAST)
    sign = -1.0 if takes else 1.0
    is_plain = stride(part, 0) == stride(matrix, 0) and stride(part, 1) == stride(matrix, 1)
    if us.shape[0] * along * across == 0 or not is_plain:
        for i in range(n):
            factor = sign * u[i * along]
            for j in range(m):
                part[i, j] += factor * v[j * across]
    elif n > 0 and m > 0:
        row, column = place_of(part, matrix)
        count = spans[0, 0]
        put(us, count, u, row, sign)
        put(vs, count, v, column, 1.0)
        if n < matrix.shape[0] or m < matrix.shape[1]:
            spans[0, 1] = 1
        count += 1
        spans[count, 0] = row
        spans[count, 1] = row + n
        spans[count, 2] = column
        spans[count, 3] = column + m
        spans[0, 0] = count
        if count == us.shape[0]:
            add_delayed(matrix, us, vs, spans)


def add_rows(matrix: Any, part: Any, x: Any, y: Any, takes: bool, us: Any, vs: Any, spans: Any) -> None:
    """Keeps as many outer products as there are rows."""
    if x.shape[0] != y.shape[0]:
        raise ValueError(_MISMATCH)
    for k in range(x.shape[0]):
        add_outer(matrix, part, x[k], y[k], takes, us, vs, spans)


def add_delayed(matrix: Any, us: Any, vs: Any, spans: Any) -> None:
    """Adds what was kept."""
    count = spans[0, 0]
    if count > 0:
        top, bottom, left, right = 0, matrix.shape[0], 0, matrix.shape[1]
        if spans[0, 1] != 0:
            top, bottom = reach(spans, count, 0)
            left, right = reach(spans, count, 2)
        if spans[0, 1] == 0 or (are_finite(us, count, top, bottom) and are_finite(vs, count, left, right)):
            apart = stride(matrix, 0) // item_size(matrix)
            sizes = (right - left, bottom - top, count)
            start = top * apart + left
            add_product((False, True), sizes, vs, left, vs.shape[1], us, top, us.shape[1], 1.0, matrix, start, apart)
        else:  # nothing is multiplied with the zeros around a part
            for k in range(count):
                for i in range(spans[k + 1, 0], spans[k + 1, 1]):
                    for j in range(spans[k + 1, 2], spans[k + 1, 3]):
                        matrix[i, j] += us[k, i] * vs[k, j]
        spans[0, 0] = 0
        spans[0, 1] = 0


def add_line(matrix: Any, part: Any, factor: Any, a: Any, v: Any, takes: bool, vs: Any, spans: Any) -> None:
    """Keeps the vector of a product of ``a``, a part of ``factor``, and a vector; or adds that."""
    n, m = a.shape
    along = int(part.shape[0] == n)
    if m != v.shape[0]:
        raise ValueError(_MISMATCH)
    if along == 0 and n != 1:
        raise ValueError(_BROADCAST)
    sign = -1.0 if takes else 1.0
    is_column = stride(part, 0) == stride(matrix, 0)
    row, column = place_of(a, factor)
    is_line = is_column or stride(part, 0) == stride(matrix, 1)
    is_plain = stride(a, 0) == stride(factor, 0) and stride(a, 1) == stride(factor, 1)
    is_whole = along == 1 and is_line and n == factor.shape[0] and row == 0 and is_plain
    if vs.shape[0] == 0 or n * m == 0 or not is_whole:
        for i in range(part.shape[0]):
            total = 0.0
            for j in range(m):
                total += a[i * along, j] * v[j]
            part[i] += sign * total
    else:
        count = spans[0, 0]
        put(vs, count, v, column, sign)
        if m < factor.shape[1]:
            spans[0, 1] = 1
        count += 1
        down, across = place_of(part, matrix)
        spans[count, 0] = down
        spans[count, 1] = across
        spans[count, 2] = int(is_column)
        spans[count, 3] = column
        spans[count, 4] = column + m
        spans[0, 0] = count
        if count == vs.shape[0]:
            add_delayed_lines(matrix, factor, vs, spans)


def add_delayed_lines(matrix: Any, factor: Any, vs: Any, spans: Any) -> None:
    """Adds what was kept."""
    count = spans[0, 0]
    if count > 0:
        n, left, right = factor.shape[0], 0, factor.shape[1]
        if spans[0, 1] != 0:
            left, right = reach(spans, count, 3)
        products = np.empty((n, count), matrix.dtype)
        by_rows = stride(factor, 1) == item_size(factor)
        apart = (stride(factor, 0) if by_rows else stride(factor, 1)) // item_size(factor)
        start = left if by_rows else left * apart
        sizes = (count, n, right - left)
        add_product((True, not by_rows), sizes, vs, left, vs.shape[1], factor, start, apart, 0.0, products, 0, count)
        if spans[0, 1] != 0 and not are_finite(products, n, 0, count):
            for i in range(n):  # nothing is multiplied with the zeros around a part
                for k in range(count):
                    products[i, k] = 0.0
                    for j in range(spans[k + 1, 3], spans[k + 1, 4]):
                        products[i, k] += factor[i, j] * vs[k, j]
        for i in range(n):
            for k in range(count):
                if spans[k + 1, 2] != 0:
                    matrix[spans[k + 1, 0] + i, spans[k + 1, 1]] += products[i, k]
                else:
                    matrix[spans[k + 1, 0], spans[k + 1, 1] + i] += products[i, k]
        spans[0, 0] = 0
        spans[0, 1] = 0
