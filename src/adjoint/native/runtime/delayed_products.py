"""Delayed updates of matrices, for Numba: what is kept is added as one product of matrices, by BLAS."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc, call-arg, var-annotated"

from __future__ import annotations

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable
from numba.np import linalg as of_numba

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.linear_algebra import _kind
from adjoint.native.runtime.overloads.strided_products import _COLUMNS, _ROWS
from adjoint.runtime.array_functions import delayed, plain

_BROADCAST = "operands could not be broadcast together"
_FEWEST, _MOST = delayed.FEWEST_ROWS, delayed.MOST_ROWS


def _are_floats(*arrays):
    """Whether all are arrays of real numbers of one dtype."""
    dtypes = {getattr(array, "dtype", None) for array in arrays}
    return all(isinstance(array, types.Array) for array in arrays) and len(dtypes) == 1 and _is_real(dtypes.pop())


def _is_real(dtype):
    return dtype in (types.float64, types.float32)


@register_jitable
def _count_of_rows(n, m, matrix):
    """How many products are kept: none for a matrix whose rows are not told to BLAS."""
    rows = min(_MOST, n * m // max(n + m, 1))
    is_told = matrix.strides[1] == matrix.itemsize and matrix.strides[0] >= matrix.itemsize * matrix.shape[1]
    return rows if rows >= _FEWEST and is_told else 0


@overload(delayed.room_for_outer)
def _room_for_outer(matrix):
    if not _are_floats(matrix):
        return None

    def room_for_outer(matrix):
        n, m = matrix.shape
        rows = _count_of_rows(n, m, matrix)
        us, vs = plain.empty((rows, n), matrix.dtype), plain.empty((rows, m), matrix.dtype)
        return us, vs, plain.zeros((rows + 1, 4), np.int64)

    return room_for_outer


@overload(delayed.room_for_lines)
def _room_for_lines(matrix, factor):
    if not _are_floats(matrix, factor):
        return None

    def room_for_lines(matrix, factor):
        n, m = factor.shape
        down, across = factor.strides
        size = factor.itemsize
        is_told = (across == size and down >= size * m) or (down == size and across >= size * n)
        rows = _count_of_rows(n, m, matrix) if is_told else 0
        return plain.empty((rows, m), matrix.dtype), plain.zeros((rows + 1, 5), np.int64)

    return room_for_lines


@intrinsic
def _bytes_between(context, whole, part):
    """How far the first elements of two arrays are apart."""
    del context

    def write(context, builder, signature, args):
        first, last = [
            builder.ptrtoint(context.make_array(kind)(context, builder, arg).data, context.get_value_type(types.intp))
            for kind, arg in zip(signature.args, args, strict=True)
        ]
        return builder.sub(last, first)

    return types.intp(whole, part), write


@intrinsic
def _add_product(context, kind, ways, sizes, a, at_a, b, at_b, keeps, out, at_out, rows):
    """Adds a product, as BLAS counts, to what ``keeps`` times was there: elements from a place on, rows so far apart.

    The product has ``sizes[0]`` rows and ``sizes[1]`` columns, of ``sizes[2]`` products each.
    """
    del context
    of_numba.ensure_blas()

    def write(context, builder, signature, args):
        kind, ways, sizes, a, at_a, b, at_b, keeps, out, at_out, rows = args
        types_of = dict(zip(("a", "b", "out"), (signature.args[3], signature.args[5], signature.args[8]), strict=True))
        number = context.get_value_type(signature.args[3].dtype)

        def pointer(name, array, place):
            data = context.make_array(types_of[name])(context, builder, array).data
            return builder.bitcast(builder.gep(data, [place]), cgutils.voidptr_t)

        def kept(value):
            slot = cgutils.alloca_once_value(builder, value)
            return builder.bitcast(slot, cgutils.voidptr_t)

        char, whole, any_ = ir.IntType(8), context.get_value_type(types.intp), cgutils.voidptr_t
        given = [char, char, char, whole, whole, whole, any_, any_, whole, any_, whole, any_, any_, whole]
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(32), given), "numba_xxgemm"
        )
        way_a, way_b = cgutils.unpack_tuple(builder, ways)
        m, n, inner = cgutils.unpack_tuple(builder, sizes)
        apart_a, apart_b, apart_out = cgutils.unpack_tuple(builder, rows)
        builder.call(
            function,
            [
                *(builder.trunc(letter, char) for letter in (kind, way_a, way_b)),
                *(m, n, inner, kept(ir.Constant(number, 1.0)), pointer("a", a, at_a), apart_a),
                *(pointer("b", b, at_b), apart_b, kept(keeps), pointer("out", out, at_out), apart_out),
            ],
        )
        return context.get_dummy_value()

    ints = types.UniTuple(types.intp, 2), types.UniTuple(types.intp, 3)
    signature = types.none(types.intp, *ints, a, types.intp, b, types.intp, a.dtype, out, types.intp, ints[1])
    return signature, write


@register_jitable
def _place(part, whole):
    """The first row and column of a part of a matrix."""
    apart = _bytes_between(whole, part)
    across, down = whole.strides[1], whole.strides[0]
    if down >= across:
        row = apart // down
        return row, (apart - row * down) // across
    column = apart // across
    return (apart - column * across) // down, column


@register_jitable
def _put(rows, k, vector, first, factor):
    """A vector as a part of a row of zeros."""
    for i in range(rows.shape[1] if vector.shape[0] < rows.shape[1] else 0):
        rows[k, i] = 0.0
    for i in range(vector.shape[0]):
        rows[k, first + i] = factor * vector[i]


@register_jitable
def _are_finite(rows, count, first, last):
    total = 0.0
    for i in range(count):
        for j in range(first, last):
            total += rows[i, j] * 0.0
    return total == 0.0


@register_jitable
def _reach(spans, count, place):
    """The first and last of what parts reach."""
    first, last = spans[1, place], spans[1, place + 1]
    for k in range(2, count + 1):
        first, last = min(first, spans[k, place]), max(last, spans[k, place + 1])
    return first, last


@overload(delayed.add_outer)
def _add_outer(matrix, part, u, v, takes, us, vs, spans):
    if not _are_floats(matrix, part, u, v, us, vs):
        return None

    def add_outer(matrix, part, u, v, takes, us, vs, spans):
        n, m = part.shape
        along, across = int(u.shape[0] == n), int(v.shape[0] == m)
        if (along == 0 and u.shape[0] != 1) or (across == 0 and v.shape[0] != 1):
            raise ValueError(_BROADCAST)
        sign = -1.0 if takes else 1.0
        if us.shape[0] * along * across == 0 or part.strides != matrix.strides:
            for i in range(n):
                factor = sign * u[i * along]
                for j in range(m):
                    part[i, j] += factor * v[j * across]
        elif n > 0 and m > 0:
            row, column = _place(part, matrix)
            count = spans[0, 0]
            _put(us, count, u, row, sign)
            _put(vs, count, v, column, 1.0)
            if n < matrix.shape[0] or m < matrix.shape[1]:
                spans[0, 1] = 1
            count += 1
            spans[count, 0], spans[count, 1], spans[count, 2], spans[count, 3] = row, row + n, column, column + m
            spans[0, 0] = count
            if count == us.shape[0]:
                delayed.add_delayed(matrix, us, vs, spans)

    return add_outer


@overload(delayed.add_rows)
def _add_rows(matrix, part, x, y, takes, us, vs, spans):
    if not _are_floats(matrix, part, x, y, us, vs):
        return None

    def add_rows(matrix, part, x, y, takes, us, vs, spans):
        if x.shape[0] != y.shape[0]:
            raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension 0")
        for k in range(x.shape[0]):
            delayed.add_outer(matrix, part, x[k], y[k], takes, us, vs, spans)

    return add_rows


@overload(delayed.add_delayed)
def _add_delayed(matrix, us, vs, spans):
    if not _are_floats(matrix, us, vs):
        return None
    kind = _kind(matrix.dtype, "dot")

    def add_delayed(matrix, us, vs, spans):
        count = spans[0, 0]
        if count == 0:
            return
        top, bottom, left, right = 0, matrix.shape[0], 0, matrix.shape[1]
        if spans[0, 1] != 0:
            top, bottom = _reach(spans, count, 0)
            left, right = _reach(spans, count, 2)
        if spans[0, 1] == 0 or (_are_finite(us, count, top, bottom) and _are_finite(vs, count, left, right)):
            apart = matrix.strides[0] // matrix.itemsize
            sizes, rows = (right - left, bottom - top, count), (vs.shape[1], us.shape[1], apart)
            start = top * apart + left
            _add_product(kind, (_COLUMNS, _ROWS), sizes, vs, left, us, top, 1.0, matrix, start, rows)
        else:  # nothing is multiplied with the zeros around a part
            for k in range(count):
                for i in range(spans[k + 1, 0], spans[k + 1, 1]):
                    for j in range(spans[k + 1, 2], spans[k + 1, 3]):
                        matrix[i, j] += us[k, i] * vs[k, j]
        spans[0, 0] = 0
        spans[0, 1] = 0

    return add_delayed


@overload(delayed.add_line)
def _add_line(matrix, part, factor, a, v, takes, vs, spans):
    if not _are_floats(matrix, part, factor, a, v, vs):
        return None

    def add_line(matrix, part, factor, a, v, takes, vs, spans):
        n, m = a.shape
        along = int(part.shape[0] == n)
        if m != v.shape[0]:
            raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension 0")
        if along == 0 and n != 1:
            raise ValueError(_BROADCAST)
        sign = -1.0 if takes else 1.0
        is_column = part.strides[0] == matrix.strides[0]
        row, column = _place(a, factor)
        is_line = is_column or part.strides[0] == matrix.strides[1]
        is_whole = along == 1 and is_line and n == factor.shape[0] and row == 0 and a.strides == factor.strides
        if vs.shape[0] == 0 or a.size == 0 or not is_whole:
            for i in range(part.shape[0]):
                total = 0.0
                for j in range(m):
                    total += a[i * along, j] * v[j]
                part[i] += sign * total
            return
        count = spans[0, 0]
        _put(vs, count, v, column, sign)
        if m < factor.shape[1]:
            spans[0, 1] = 1
        count += 1
        down, across = _place(part, matrix)
        spans[count, 0], spans[count, 1], spans[count, 2] = down, across, is_column
        spans[count, 3], spans[count, 4] = column, column + m
        spans[0, 0] = count
        if count == vs.shape[0]:
            delayed.add_delayed_lines(matrix, factor, vs, spans)

    return add_line


@overload(delayed.add_delayed_lines)
def _add_delayed_lines(matrix, factor, vs, spans):
    if not _are_floats(matrix, factor, vs):
        return None
    kind = _kind(matrix.dtype, "dot")

    def add_delayed_lines(matrix, factor, vs, spans):
        count = spans[0, 0]
        if count == 0:
            return
        n, left, right = factor.shape[0], 0, factor.shape[1]
        if spans[0, 1] != 0:
            left, right = _reach(spans, count, 3)
        products = plain.empty((n, count), matrix.dtype)
        if factor.strides[1] == factor.itemsize:
            way, apart, start = _COLUMNS, factor.strides[0] // factor.itemsize, left
        else:
            way, apart, start = (
                _ROWS,
                factor.strides[1] // factor.itemsize,
                left * (factor.strides[1] // factor.itemsize),
            )
        sizes, rows = (count, n, right - left), (vs.shape[1], apart, count)
        _add_product(kind, (_ROWS, way), sizes, vs, left, factor, start, 0.0, products, 0, rows)
        if spans[0, 1] != 0 and not _are_finite(products, n, 0, count):
            for i in range(n):  # nothing is multiplied with the zeros around a part
                for k in range(count):
                    products[i, k] = 0.0
                    for j in range(spans[k + 1, 3], spans[k + 1, 4]):
                        products[i, k] += factor[i, j] * vs[k, j]
        for i in range(n):
            for k in range(count):
                if spans[k + 1, 2]:
                    matrix[spans[k + 1, 0] + i, spans[k + 1, 1]] += products[i, k]
                else:
                    matrix[spans[k + 1, 0], spans[k + 1, 1] + i] += products[i, k]
        spans[0, 0] = 0
        spans[0, 1] = 0

    return add_delayed_lines
