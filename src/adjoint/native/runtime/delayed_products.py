"""Delayed updates of matrices, for Numba: what is kept is added as one product of matrices, by BLAS."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc, call-arg, var-annotated"

from __future__ import annotations

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable
from numba.np import linalg as of_numba

from adjoint.native.helpers import delayed_products, instructions
from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.linear_algebra import _kind
from adjoint.native.runtime.overloads.strided_products import _COLUMNS, _ROWS
from adjoint.runtime.array_functions import delayed


def _are_floats(*arrays):
    """Whether all are arrays of real numbers of one dtype."""
    dtypes = {getattr(array, "dtype", None) for array in arrays}
    return all(isinstance(array, types.Array) for array in arrays) and len(dtypes) == 1 and _is_real(dtypes.pop())


def _is_real(dtype):
    return dtype in (types.float64, types.float32)


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

        char, whole, any_ = llvm.IntType(8), context.get_value_type(types.intp), cgutils.voidptr_t
        given = [char, char, char, whole, whole, whole, any_, any_, whole, any_, whole, any_, any_, whole]
        function = cgutils.get_or_insert_function(
            builder.module, llvm.FunctionType(llvm.IntType(32), given), "numba_xxgemm"
        )
        way_a, way_b = cgutils.unpack_tuple(builder, ways)
        m, n, inner = cgutils.unpack_tuple(builder, sizes)
        apart_a, apart_b, apart_out = cgutils.unpack_tuple(builder, rows)
        builder.call(
            function,
            [
                *(builder.trunc(letter, char) for letter in (kind, way_a, way_b)),
                *(m, n, inner, kept(llvm.Constant(number, 1.0)), pointer("a", a, at_a), apart_a),
                *(pointer("b", b, at_b), apart_b, kept(keeps), pointer("out", out, at_out), apart_out),
            ],
        )
        return context.get_dummy_value()

    ints = types.UniTuple(types.intp, 2), types.UniTuple(types.intp, 3)
    signature = types.none(types.intp, *ints, a, types.intp, b, types.intp, a.dtype, out, types.intp, ints[1])
    return signature, write


overload(instructions.item_size)(lambda x: lambda x: x.itemsize)
overload(instructions.stride)(lambda x, axis: lambda x, axis: x.strides[axis])
overload(instructions.bytes_between)(lambda whole, part: lambda whole, part: _bytes_between(whole, part))


@overload(instructions.add_product)
def _product(turns, sizes, a, at_a, apart_a, b, at_b, apart_b, keeps, out, at_out, apart_out):
    if not _are_floats(a, b, out):
        return None
    kind = _kind(out.dtype, "dot")

    def add_product(turns, sizes, a, at_a, apart_a, b, at_b, apart_b, keeps, out, at_out, apart_out):
        ways = _ROWS if turns[0] else _COLUMNS, _ROWS if turns[1] else _COLUMNS
        rows = apart_a, apart_b, apart_out
        _add_product(kind, ways, sizes, a, at_a, b, at_b, keeps, out, at_out, rows)

    return add_product


for _helper in (delayed.rows_to_keep, *vars(delayed_products).values()):
    if getattr(_helper, "__module__", None) in (delayed.__name__, delayed_products.__name__):
        register_jitable(_helper)


@overload(delayed.room_for_outer)
def _room_for_outer(matrix):
    return (lambda matrix: delayed_products.room_for_outer(matrix)) if _are_floats(matrix) else None


@overload(delayed.room_for_lines)
def _room_for_lines(matrix, factor):
    is_here = _are_floats(matrix, factor)
    return (lambda matrix, factor: delayed_products.room_for_lines(matrix, factor)) if is_here else None


@overload(delayed.add_outer)
def _add_outer(matrix, part, u, v, takes, us, vs, spans):
    if not _are_floats(matrix, part, u, v, us, vs):
        return None
    add = delayed_products.add_outer
    return lambda matrix, part, u, v, takes, us, vs, spans: add(matrix, part, u, v, takes, us, vs, spans)


@overload(delayed.add_rows)
def _add_rows(matrix, part, x, y, takes, us, vs, spans):
    if not _are_floats(matrix, part, x, y, us, vs):
        return None
    add = delayed_products.add_rows
    return lambda matrix, part, x, y, takes, us, vs, spans: add(matrix, part, x, y, takes, us, vs, spans)


@overload(delayed.add_delayed)
def _add_delayed(matrix, us, vs, spans):
    is_here = _are_floats(matrix, us, vs)
    return (lambda matrix, us, vs, spans: delayed_products.add_delayed(matrix, us, vs, spans)) if is_here else None


@overload(delayed.add_line)
def _add_line(matrix, part, factor, a, v, takes, vs, spans):
    if not _are_floats(matrix, part, factor, a, v, vs):
        return None
    add = delayed_products.add_line
    return lambda matrix, part, factor, a, v, takes, vs, spans: add(matrix, part, factor, a, v, takes, vs, spans)


@overload(delayed.add_delayed_lines)
def _add_delayed_lines(matrix, factor, vs, spans):
    if not _are_floats(matrix, factor, vs):
        return None
    add = delayed_products.add_delayed_lines
    return lambda matrix, factor, vs, spans: add(matrix, factor, vs, spans)
