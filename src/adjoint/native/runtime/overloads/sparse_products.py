"""Products of matrices with many zeros, for Numba: what is other than zero is copied together for BLAS."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba.core import types

from adjoint.native.costs import FEWEST_WITH_ZEROS
from adjoint.native.runtime.declaring import overload
from adjoint.runtime.array_functions import plain, sparse


def _are_real_matrices(*arrays):
    return all(isinstance(a, types.Array) and a.ndim == 2 and isinstance(a.dtype, types.Float) for a in arrays)


@overload(sparse.lets_zeros_be_skipped)
def _lets_zeros_be_skipped(factor):
    if not _are_real_matrices(factor):
        return None

    def lets_zeros_be_skipped(factor):
        rows, columns = factor.shape
        if rows * columns < FEWEST_WITH_ZEROS:
            return False
        for i in range(rows):
            others = 0
            for j in range(columns):
                others |= factor[i, j] * 0.0 != 0.0
            if others:
                return False
        return True

    return lets_zeros_be_skipped


@overload(sparse.product_of_moving)
def _product_of_moving(a, b, skips, moves_left):
    """One function for each pair of types: it is compiled with every derivative that has a product."""
    if not _are_real_matrices(a, b) or a.dtype != b.dtype:
        return None

    def product_of_moving(a, b, skips, moves_left):
        rows, inner = a.shape
        columns = b.shape[1]
        if not skips or b.shape[0] != inner:
            return np.dot(a, b)
        places = plain.empty(inner, np.uint64)
        count = 0
        for k in range(inner):
            is_zero = True
            for i in range(rows if moves_left else columns):
                if (a[i, k] if moves_left else b[k, i]) != 0.0:
                    is_zero = False
                    break
            if not is_zero:
                places[count] = k
                count += 1
        if 4 * count > 3 * inner:
            return np.dot(a, b)
        of_a, of_b = plain.empty((rows, count), a.dtype), plain.empty((count, columns), a.dtype)
        for i in range(rows):
            for k in range(count):
                of_a[i, k] = a[i, places[k]]
        for k in range(count):
            for j in range(columns):
                of_b[k, j] = b[places[k], j]
        return np.dot(of_a, of_b)

    return product_of_moving
