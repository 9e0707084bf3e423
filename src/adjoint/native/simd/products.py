"""Products of matrices of numbers with matrices of bundles, for Numba: some rows and columns at a time, in registers.

All of them are one function, which is compiled once: a product with bundles on the left is one with bundles on the
right of what is transposed.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, call-arg"

from __future__ import annotations

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, imputils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, lower_builtin, register_jitable, type_callable

from adjoint.native.costs import ROWS_OF_TILES
from adjoint.native.runtime.declaring import declare_instruction, overload
from adjoint.native.simd.bundle_type import ITEM, bundle, same_everywhere
from adjoint.native.simd.bundles import EXTENT
from adjoint.runtime.arithmetic import bundles
from adjoint.runtime.array_functions import plain

_SIZE, _VECTOR = bundle.size, bundle.vector
_BYTES, _DOUBLES = ir.IntType(8).as_pointer(), ir.DoubleType().as_pointer()
_IS_LARGE = "+avx512vl" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")
"""Whether there are 32 registers for vectors of four doubles."""
_ROWS, _COLUMNS = 4 if _IS_LARGE else 2, 4
"""A tile has so many: its sums must fit into the registers, and each number that is loaded should serve several."""


class _Tile:
    """The instructions that add products of some rows of ``a`` and some columns of ``b`` to what is in ``out``.

    The arrays are matrices in any layout; ``places`` are the columns of ``a``, and rows of ``b``, that count.
    """

    def __init__(self, builder, a, places, b, out) -> None:
        self.builder = builder
        self.a, self.places, self.b, self.out = a, places, b, out

    def write(self, rows: int, columns: int, i, j, start, stop) -> None:
        builder = self.builder
        numbers = [self._element(self.a, 0, self._plus(i, row)) for row in range(rows)]
        factors = [self._element(self.b, 1, self._plus(j, column)) for column in range(columns)]
        along_a, along_b = self._strides(self.a)[1], self._strides(self.b)[0]
        begun = builder.icmp_signed(">", start, EXTENT(0))
        sums = []
        for row in range(rows):
            line = self._element(self.out, 0, self._plus(i, row))
            for column in range(columns):
                at = self._bundle(self._moved(line, self._strides(self.out)[1], self._plus(j, column)))
                sums.append((at, cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * _SIZE))))
        with builder.if_then(begun):
            for at, total in sums:
                builder.store(builder.load(at, align=ITEM), total)
        with cgutils.for_range_slice(builder, start, stop, EXTENT(1)) as (index, _):
            place = builder.bitcast(builder.load(builder.gep(self.places.data, [index])), EXTENT)
            loaded = [builder.load(self._bundle(self._moved(at, along_b, place)), align=ITEM) for at in factors]
            for row, at in enumerate(numbers):
                number = builder.load(builder.bitcast(self._moved(at, along_a, place), _DOUBLES))
                everywhere = same_everywhere(builder, bundle, number)
                for factor, (_, total) in zip(loaded, sums[row * columns :], strict=False):
                    builder.store(multiply_add(builder, everywhere, factor, builder.load(total)), total)
        for at, total in sums:
            builder.store(builder.load(total), at, align=ITEM)

    def _strides(self, array):
        return cgutils.unpack_tuple(self.builder, array.strides)

    def _element(self, array, axis: int, index):
        return self._moved(self.builder.bitcast(array.data, _BYTES), self._strides(array)[axis], index)

    def _moved(self, pointer, stride, index):
        return self.builder.gep(pointer, [self.builder.mul(stride, index)])

    def _plus(self, index, number: int):
        return self.builder.add(index, EXTENT(number))

    def _bundle(self, pointer):
        return self.builder.bitcast(pointer, _VECTOR.as_pointer())


def multiply_add(builder, a, b, c):
    """``a * b + c`` of bundles, rounded once where the processor does that at once."""
    kind = ir.FunctionType(a.type, [a.type] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{a.type.count}f64")
    return builder.call(function, [a, b, c])


def _tile_of(rows: int, columns: int):
    @intrinsic
    def tile(context, a, i, b, j, places, start, stop, out):
        def write(context, builder, sig, args):
            a, b, places, out = (context.make_array(sig.args[at])(context, builder, args[at]) for at in (0, 2, 4, 7))
            i, j, start, stop = (args[at] for at in (1, 3, 5, 6))
            _Tile(builder, a, places, b, out).write(rows, columns, i, j, start, stop)

        index = types.intp
        return types.void(a, index, b, index, places, index, index, out), write

    return tile


_tile, _row_of_tile = _tile_of(_ROWS, _COLUMNS), _tile_of(1, _COLUMNS)
_column_of_tile, _one = _tile_of(_ROWS, 1), _tile_of(1, 1)


@register_jitable
def _multiply(a, b, skips, out):
    """``out[...] = a @ b``; rows of ``b`` that are zero in all directions may be left out if ``skips``."""
    rows, columns = out.shape
    places = moving_rows(b, skips)
    for begin in range(0, max(len(places), 1), ROWS_OF_TILES):
        end = min(begin + ROWS_OF_TILES, len(places))
        for start in range(0, rows, ROWS_OF_TILES):
            stop = min(start + ROWS_OF_TILES, rows)
            for j in range(0, columns - _COLUMNS + 1, _COLUMNS):
                for i in range(start, stop - _ROWS + 1, _ROWS):
                    _tile(a, i, b, j, places, begin, end, out)
                for i in range(stop - (stop - start) % _ROWS, stop):
                    _row_of_tile(a, i, b, j, places, begin, end, out)
            for j in range(columns - columns % _COLUMNS, columns):
                for i in range(start, stop - _ROWS + 1, _ROWS):
                    _column_of_tile(a, i, b, j, places, begin, end, out)
                for i in range(stop - (stop - start) % _ROWS, stop):
                    _one(a, i, b, j, places, begin, end, out)


@register_jitable
def moving_rows(matrix, skips):
    """The rows that are not zero in all directions; all rows unless such may be left out."""
    places = plain.empty(matrix.shape[0], np.int64)
    count = 0
    for k in range(matrix.shape[0]):
        is_zero = skips
        for j in range(matrix.shape[1]):
            if not is_zero:
                break
            is_zero = _is_zero(matrix[k, j])
        if not is_zero:
            places[count] = k
            count += 1
    return places[:count]


@intrinsic
def _is_zero(context, x):
    """Whether all numbers of a bundle are zero."""

    def write(context, builder, sig, args):
        equal = builder.fcmp_ordered("==", args[0], ir.Constant(_VECTOR, [0.0] * _SIZE))
        bits = builder.bitcast(equal, ir.IntType(_SIZE))
        return builder.icmp_unsigned("==", bits, bits.type(2**_SIZE - 1))

    return types.boolean(bundle), write


@intrinsic
def _in_any_layout(context, x):
    """The array, of a type that says nothing of how it lies in memory."""

    def write(context, builder, sig, args):
        array = context.cast(builder, args[0], sig.args[0], sig.return_type)
        return imputils.impl_ret_borrowed(context, builder, sig.return_type, array)

    return x.copy(layout="A")(x), write


def _product_to_bundles(a, b, skips):
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: operands have a mismatch in their core dimensions")
    out = bundles.no_bundles_yet((a.shape[0], b.shape[1]), _SIZE)
    _multiply(a, b, skips, _in_any_layout(out))
    return out


def _product_of_bundles(a, b, skips):
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: operands have a mismatch in their core dimensions")
    out = bundles.no_bundles_yet((a.shape[0], b.shape[1]), _SIZE)
    _multiply(b.T, a.T, skips, _in_any_layout(out.T))
    return out


def _typed(a, b, skips, moves_left):
    fits = are_factors(a, b) and a.ndim == b.ndim == 2 and isinstance(skips, types.Boolean)
    return types.Array(bundle, 2, "C") if fits else None


def are_factors(a, b) -> bool:
    """Whether one type is of an array of bundles, and one of an array of numbers."""
    arrays = isinstance(a, types.Array) and isinstance(b, types.Array)
    return arrays and (a.dtype, b.dtype) in ((bundle, types.float64), (types.float64, bundle))


type_callable(bundles.product_of_moving_bundles)(lambda context: _typed)
declare_instruction(bundles.product_of_moving_bundles, _typed)


@lower_builtin(bundles.product_of_moving_bundles, types.Array, types.Array, types.Boolean, types.Any)
def _product(context, builder, sig, args):
    a, b, skips, _ = sig.args
    wanted = sig.return_type(a.copy(layout="A"), b.copy(layout="A"), types.boolean)
    given = [context.cast(builder, *part) for part in zip(args, (a, b, skips), wanted.args, strict=False)]
    product = _product_of_bundles if a.dtype == bundle else _product_to_bundles
    return context.compile_internal(builder, product, wanted, given)


@overload(bundles.product_with_bundles)
def _product_with_bundles(a, b, moves_left):
    """Of matrices; a vector is made one."""
    if not are_factors(a, b) or not {a.ndim, b.ndim} <= {1, 2}:
        return None
    if a.ndim == b.ndim == 2:
        return lambda a, b, moves_left: bundles.product_of_moving_bundles(a, b, False, moves_left)
    if a.ndim == 2:
        return lambda a, b, moves_left: bundles.product_of_moving_bundles(a, _as_row(b).T, False, moves_left)[:, 0]
    if b.ndim == 2:
        return lambda a, b, moves_left: bundles.product_of_moving_bundles(_as_row(a), b, False, moves_left)[0]
    return lambda a, b, moves_left: bundles.product_of_moving_bundles(_as_row(a), _as_row(b).T, False, moves_left)[0, 0]


@register_jitable
def _as_row(x):
    return np.ascontiguousarray(x).reshape((1, x.shape[0]))
