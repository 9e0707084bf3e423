"""Rows of products of numbers with bundles, for Numba: each in registers, when it is asked for."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, call-arg"

from __future__ import annotations

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from adjoint.native.helpers import bundled_products
from adjoint.native.runtime.declaring import declare_instruction, overload
from adjoint.native.simd.bundle_type import INDEX, ITEM, Bundle, bundle, is_size, same_everywhere
from adjoint.native.simd.bundles import EXTENT
from adjoint.native.simd.products import are_factors, multiply_add
from adjoint.runtime.arithmetic import bundles

_BYTES, _DOUBLES = llvm.IntType(8).as_pointer(), llvm.DoubleType().as_pointer()
_SIZE = bundle.size


@overload(bundles.product_by_rows, prefer_literal=True)
def _product_by_rows(a, b, skips, width):
    if not (are_factors(a, b) and b.dtype == bundle and a.ndim == b.ndim == 2 and is_size(width)):
        return None

    return lambda a, b, skips, width: bundled_products.product_by_rows(a, b, skips, width)


def _typed(a, row, places, moving, whole, width):
    fits = isinstance(row, types.Integer) and is_size(width)
    return types.UniTuple(bundle, width.literal_value) if fits else None


type_callable(bundles.row_of_product)(lambda context: _typed)
declare_instruction(bundles.row_of_product, _typed)


@lower_builtin(bundles.row_of_product, types.Array, types.Integer, types.Array, types.Array, types.Array, types.Any)
def _row(context, builder, sig, args):
    """The sums of multiples of rows that move, to what is in the row of the product if that is there as a whole."""
    a, places, moving, whole = (context.make_array(sig.args[at])(context, builder, args[at]) for at in (0, 2, 3, 4))
    row = context.cast(builder, args[1], sig.args[1], types.intp)
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, row, cgutils.unpack_tuple(builder, a.shape)[0], 0)
    sums = []
    for column, kind in _parts(sig.return_type.count):
        sums.append((column, kind, cgutils.alloca_once_value(builder, kind.same(0.0))))
        builder.store(kind.same(0.0), sums[-1][2])
    with builder.if_then(builder.icmp_signed(">", cgutils.unpack_tuple(builder, whole.shape)[0], EXTENT(0))):
        for column, kind, total in sums:
            builder.store(_part_at(builder, whole, row, column, kind), total)
    begin, along = _row_of_numbers(builder, sig.args[0], a, row)
    stop = cgutils.unpack_tuple(builder, moving.shape)[0]
    with cgutils.for_range_slice(builder, EXTENT(0), stop, EXTENT(1)) as (index, _):
        place = builder.load(builder.gep(places.data, [index]))
        number = builder.load(builder.bitcast(builder.gep(begin, [builder.mul(place, along)]), _DOUBLES))
        for column, kind, total in sums:
            factor = _part_at(builder, moving, index, column, kind)
            everywhere = same_everywhere(builder, kind, number)
            builder.store(multiply_add(builder, everywhere, factor, builder.load(total)), total)
    return context.make_tuple(builder, sig.return_type, list(_bundles_of(builder, sums)))


def _parts(width: int):
    """The elements of a row, two at a time: the column of the first, and the type of vectors that are so long.

    There are processors that compute with as many numbers at once; for others it is two vectors.
    """
    for column in range(0, width, 2):
        yield column, Bundle(_SIZE * min(2, width - column))


def _bundles_of(builder, sums):
    """The single elements of a row."""
    for _, kind, total in sums:
        found = builder.load(total)
        for first in range(0, kind.size, _SIZE):
            places = llvm.Constant(llvm.VectorType(INDEX, _SIZE), list(range(first, first + _SIZE)))
            yield builder.shuffle_vector(found, found, places)


def _row_of_numbers(builder, kind, array, row):
    """Where a row begins, and how far apart its elements are."""
    down, along = cgutils.unpack_tuple(builder, array.strides)
    begin = builder.gep(builder.bitcast(array.data, _BYTES), [builder.mul(row, down)])
    return begin, EXTENT(ITEM) if kind.layout == "C" else along


def _part_at(builder, array, row, column: int, kind):
    """Elements of a matrix of bundles, the rows of which lie one after another."""
    columns = cgutils.unpack_tuple(builder, array.shape)[1]
    place = builder.add(builder.mul(row, columns), EXTENT(column))
    pointer = builder.bitcast(builder.gep(array.data, [place]), kind.vector.as_pointer())
    return builder.load(pointer, align=ITEM)
