"""Products of matrices of numbers with matrices of bundles, for Numba."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, call-arg"

from __future__ import annotations

import numpy as np
from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, register_jitable, type_callable

from adjoint.native.helpers import bundled_products, instructions
from adjoint.native.runtime.declaring import declare_instruction, overload
from adjoint.native.simd.bundle_type import ITEM, bundle, is_size, same_everywhere
from adjoint.native.simd.bundles import EXTENT
from adjoint.runtime.arithmetic import bundles

_SIZE, _VECTOR = bundle.size, bundle.vector
_BYTES, _DOUBLES = llvm.IntType(8).as_pointer(), llvm.DoubleType().as_pointer()


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
                sums.append((at, cgutils.alloca_once_value(builder, llvm.Constant(_VECTOR, [0.0] * _SIZE))))
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
    kind = llvm.FunctionType(a.type, [a.type] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{a.type.count}f64")
    return builder.call(function, [a, b, c])


@type_callable(instructions.tile)
def _typed_tile(context):
    def typed(rows, columns, a, i, b, j, places, start, stop, out):
        return types.none if is_size(rows) and is_size(columns) and out.dtype == bundle else None

    return typed


@lower_builtin(instructions.tile, *[types.Any] * 10)
def _tile(context, builder, sig, args):
    rows, columns, *_ = sig.args
    a, b, places, out = (context.make_array(sig.args[at])(context, builder, args[at]) for at in (2, 4, 6, 9))
    i, j, start, stop = (context.cast(builder, args[at], sig.args[at], types.intp) for at in (3, 5, 7, 8))
    _Tile(builder, a, places, b, out).write(rows.literal_value, columns.literal_value, i, j, start, stop)
    return context.get_dummy_value()


@intrinsic
def _is_zero(context, x):
    """Whether all numbers of a bundle are zero."""

    def write(context, builder, sig, args):
        equal = builder.fcmp_ordered("==", args[0], llvm.Constant(_VECTOR, [0.0] * _SIZE))
        bits = builder.bitcast(equal, llvm.IntType(_SIZE))
        return builder.icmp_unsigned("==", bits, bits.type(2**_SIZE - 1))

    return types.boolean(bundle), write


@overload(instructions.is_zero)
def _is_zero_bundle(x):
    return (lambda x: _is_zero(x)) if x == bundle else None


@overload(instructions.room_of)
def _room_of(x, rows, columns):
    if getattr(x, "dtype", None) != bundle:
        return None
    return lambda x, rows, columns: bundles.no_bundles_yet((rows, columns), _SIZE)


for _helper in (
    bundled_products.multiply,
    bundled_products.moving_rows,
    bundled_products.rows_at,
    bundled_products.product_by_rows,
):
    register_jitable(_helper)


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
    moves_left = a.dtype == bundle
    product = bundled_products.product_of_bundles if moves_left else bundled_products.product_to_bundles
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
