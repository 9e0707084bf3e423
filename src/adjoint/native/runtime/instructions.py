"""Functions of the runtime that are a few instructions, for Numba: written where they are called.

What is declared as a function is compiled as one, optimised and linked, and each call asks whether it raised.
Additions whose order is of no meaning are those that LLVM may reorder.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"

from __future__ import annotations

import operator

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from adjoint.native.runtime.declaring import declare_instruction
from adjoint.native.runtime.new_memory import new_array
from adjoint.runtime.arithmetic import fused_loops, indices
from adjoint.runtime.array_functions import plain

_FREE = ("reassoc", "nsz")
_BROADCAST = "operands could not be broadcast together"


def _instruction(function, typed):
    """Declares a function by its types; what it decorates writes its instructions."""

    def declare(write):
        type_callable(function)(lambda context: typed)
        lower_builtin(function, *[types.Any] * typed.__code__.co_argcount)(write)
        declare_instruction(function, typed)
        return write

    return declare


def _is_whole(kind):
    return isinstance(kind, types.Integer)


def _are_whole(*kinds):
    return all(map(_is_whole, kinds))


# Indices


@_instruction(indices.unsigned, lambda index: types.uintp if _is_whole(index) else None)
def _unsigned(context, builder, signature, args):
    return context.cast(builder, args[0], signature.args[0], types.uintp)


@_instruction(indices.row, lambda index: types.uintp if _is_whole(index) else None)
def _row(context, builder, signature, args):
    index = context.cast(builder, args[0], signature.args[0], types.uintp)
    return builder.asm(llvm.FunctionType(index.type, [index.type]), "", "=r,0", [index], side_effect=False)


@_instruction(indices.natural, lambda number: number if _is_whole(number) else None)
def _natural(context, builder, signature, args):
    return args[0]


# Sums and extremes


def _are_floats(a, b):
    return isinstance(a, types.Float) and a == b


def _combining(function, ordinary, write):
    """Two floats of one type by instructions of our own; other numbers as ``ordinary`` combines them."""

    def of_context(context):
        def typed(a, b):
            if _are_floats(a, b):
                return a
            found = context.resolve_function_type(ordinary, (a, b), {})
            return None if found is None else found.return_type

        return typed

    type_callable(function)(of_context)
    declare_instruction(function, lambda a, b: all(isinstance(kind, (types.Number, types.Boolean)) for kind in (a, b)))

    @lower_builtin(function, types.Any, types.Any)
    def combine(context, builder, signature, args):
        if _are_floats(*signature.args):
            return write(builder, *args)
        known = context.typing_context.resolve_function_type(ordinary, signature.args, {})
        cast = [
            context.cast(builder, arg, given, wanted)
            for arg, given, wanted in zip(args, signature.args, known.args, strict=True)
        ]
        found = context.get_function(ordinary, known)(builder, cast)
        return context.cast(builder, found, known.return_type, signature.return_type)


def _declare_extreme(function, order, name):
    """The larger or smaller of two numbers, of the type that both have in common."""

    def of_context(context):
        def typed(best, x):
            return context.unify_types(best, x) if _are_numbers(best, x) else None

        return typed

    type_callable(function)(of_context)
    declare_instruction(function, _are_numbers)

    @lower_builtin(function, types.Any, types.Any)
    def write(context, builder, signature, args):
        kind = signature.return_type
        a, b = [context.cast(builder, arg, given, kind) for arg, given in zip(args, signature.args, strict=True)]
        if isinstance(kind, types.Float):
            intrinsic = llvm.FunctionType(a.type, [a.type, b.type])
            return builder.call(builder.module.declare_intrinsic(name, [a.type], intrinsic), [a, b])
        compare = builder.icmp_signed if getattr(kind, "signed", False) else builder.icmp_unsigned
        return builder.select(compare(order, a, b), a, b)


def _are_numbers(a, b):
    return all(isinstance(kind, (types.Float, types.Integer, types.Boolean)) for kind in (a, b))


_combining(fused_loops.plus, operator.add, lambda builder, a, b: builder.fadd(a, b, flags=_FREE))
_combining(fused_loops.times_by, operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=_FREE))
_declare_extreme(fused_loops.largest, ">", "llvm.maximum")
_declare_extreme(fused_loops.smallest, "<", "llvm.minimum")


# Extents


def _as_extents(context, builder, signature, args):
    return [context.cast(builder, arg, kind, types.intp) for arg, kind in zip(args, signature.args, strict=True)]


def _raise_if(context, builder, condition, message, error=ValueError):
    with builder.if_then(condition, likely=False):
        context.call_conv.return_user_exc(builder, error, (message,))


def _checked(*extents):
    return types.none if _are_whole(*extents) else None


def _counted(*extents):
    return types.intp if _are_whole(*extents) else None


def _is(builder, value, number):
    return builder.icmp_signed("==", value, value.type(number))


def _lesser(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _greater(builder, a, b):
    return builder.select(builder.icmp_signed(">", a, b), a, b)


@_instruction(fused_loops.fits_extent, lambda narrow, wide: _checked(narrow, wide))
def _fits_extent(context, builder, signature, args):
    narrow, wide = _as_extents(context, builder, signature, args)
    differs = builder.and_(builder.icmp_signed("!=", narrow, narrow.type(1)), builder.icmp_signed("!=", narrow, wide))
    _raise_if(context, builder, differs, _BROADCAST)
    return context.get_dummy_value()


def _declare_comparison(function, error, message):
    @_instruction(function, lambda one, other: _checked(one, other))
    def compare(context, builder, signature, args):
        one, other = _as_extents(context, builder, signature, args)
        _raise_if(context, builder, builder.icmp_signed("!=", one, other), message, error)
        return context.get_dummy_value()


@_instruction(fused_loops.agrees, lambda one, other, more: _checked(one, other, more))
def _agrees(context, builder, signature, args):
    one, other, more = _as_extents(context, builder, signature, args)
    differs = builder.icmp_signed("!=", one, builder.add(other, more))
    _raise_if(context, builder, differs, "made for other extents", fused_loops.ExtentsDiffer)
    return context.get_dummy_value()


_declare_comparison(fused_loops.same_extent, ValueError, _BROADCAST)
_declare_comparison(
    fused_loops.contracts_extent, ValueError, "matmul: operands have a mismatch in their core dimensions"
)
_declare_comparison(fused_loops.selects_extent, IndexError, "boolean index did not match indexed array")


@_instruction(fused_loops.inside_extent, lambda place, extent: _checked(place, extent))
def _inside_extent(context, builder, signature, args):
    place, extent = _as_extents(context, builder, signature, args)
    counted = builder.select(builder.icmp_signed("<", place, place.type(0)), builder.add(place, extent), place)
    _raise_if(context, builder, builder.icmp_unsigned(">=", counted, extent), "index is out of bounds", IndexError)
    return context.get_dummy_value()


@_instruction(fused_loops.some, lambda extent: _checked(extent))
def _some(context, builder, signature, args):
    (extent,) = _as_extents(context, builder, signature, args)
    message = "zero-size array to reduction operation which has no identity"
    _raise_if(context, builder, _is(builder, extent, 0), message)
    return context.get_dummy_value()


def _declare_broadcast(function, error, message):
    @_instruction(function, lambda one, other: _counted(one, other))
    def broadcast(context, builder, signature, args):
        one, other = _as_extents(context, builder, signature, args)
        takes_other = builder.or_(_is(builder, one, 1), builder.icmp_signed("==", one, other))
        fits = builder.or_(takes_other, _is(builder, other, 1))
        _raise_if(context, builder, builder.not_(fits), message, error)
        return builder.select(takes_other, other, one)


_declare_broadcast(fused_loops.common_extent, ValueError, _BROADCAST)
_declare_broadcast(
    fused_loops.common_places, IndexError, "shape mismatch: indexing arrays could not be broadcast together"
)


@_instruction(fused_loops.sliced, lambda extent, lower, upper: _counted(extent, lower, upper))
def _sliced(context, builder, signature, args):
    extent, lower, upper = _as_extents(context, builder, signature, args)
    counted = builder.select(builder.icmp_signed("<", upper, upper.type(0)), builder.add(upper, extent), upper)
    return _greater(builder, builder.sub(_lesser(builder, counted, extent), lower), extent.type(0))


@_instruction(fused_loops.step_along, lambda extent: _counted(extent))
def _step_along(context, builder, signature, args):
    (extent,) = _as_extents(context, builder, signature, args)
    return builder.select(_is(builder, extent, 1), extent.type(0), extent.type(1))


@_instruction(fused_loops.wrapped, lambda index, offset, extent: _counted(index, offset, extent))
def _wrapped(context, builder, signature, args):
    index, offset, extent = _as_extents(context, builder, signature, args)
    rest = builder.srem(builder.add(index, offset), extent)
    return builder.select(builder.icmp_signed("<", rest, rest.type(0)), builder.add(rest, extent), rest)


@_instruction(fused_loops.around, lambda count, start, length: _counted(count, start, length))
def _around(context, builder, signature, args):
    count, start, length = _as_extents(context, builder, signature, args)
    return builder.select(builder.icmp_signed(">=", count, start), builder.add(count, length), count)


@_instruction(fused_loops.block_size, lambda extent: _counted(extent))
def _block_size(context, builder, signature, args):
    (extent,) = _as_extents(context, builder, signature, args)
    double = llvm.DoubleType()
    root = builder.module.declare_intrinsic("llvm.sqrt", [double], llvm.FunctionType(double, [double]))
    size = builder.fptosi(builder.call(root, [builder.sitofp(extent, double)]), extent.type)
    return _greater(builder, size, extent.type(fused_loops._SHORTEST))


@_instruction(fused_loops.block_end, lambda start, size, stop: _counted(start, size, stop))
def _block_end(context, builder, signature, args):
    start, size, stop = _as_extents(context, builder, signature, args)
    return _lesser(builder, builder.add(start, size), stop)


# Arrays without elements yet


def rank_of_shape(shape):
    """The rank that a shape tells; None for what is none."""
    if _is_whole(shape):
        return 1
    return len(shape) if isinstance(shape, types.BaseTuple) and _are_whole(*shape) else None


def _typed_like_empty(shape, dtype=None):
    rank = rank_of_shape(shape)
    element = types.float64 if dtype is None else getattr(dtype, "dtype", None)
    return None if rank is None or element is None else types.Array(element, rank, "C")


def _extents_of(context, builder, kind, shape):
    kinds = (kind,) if _is_whole(kind) else tuple(kind)
    parts = [shape] if _is_whole(kind) else cgutils.unpack_tuple(builder, shape, len(kinds))
    extents = [context.cast(builder, part, of, types.intp) for part, of in zip(parts, kinds, strict=True)]
    for extent in extents:
        is_negative = builder.icmp_signed("<", extent, extent.type(0))
        _raise_if(context, builder, is_negative, "negative dimensions are not allowed")
    return extents


def make(context, builder, signature, args):
    extents = _extents_of(context, builder, signature.args[0], args[0])
    return new_array(context, builder, signature.return_type, extents)


def cleared(builder, array):
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return array._getvalue()


def declare_maker(function, typed, write):
    type_callable(function)(lambda context: typed)
    lower_builtin(function, types.Any)(write)
    lower_builtin(function, types.Any, types.Any)(write)
    declare_instruction(function, typed)


declare_maker(plain.empty, _typed_like_empty, lambda *given: make(*given)._getvalue())
declare_maker(plain.zeros, _typed_like_empty, lambda *given: cleared(given[1], make(*given)))


def _typed_like(x, dtype=None):
    if not isinstance(x, types.Array):
        return None
    element = x.dtype if dtype is None or isinstance(dtype, types.NoneType) else getattr(dtype, "dtype", None)
    return None if element is None else types.Array(element, x.ndim, "F" if x.layout == "F" else "C")


def _make_like(context, builder, signature, args):
    given = context.make_array(signature.args[0])(context, builder, args[0])
    extents = cgutils.unpack_tuple(builder, given.shape)
    return new_array(context, builder, signature.return_type, extents)


declare_maker(plain.empty_like, _typed_like, lambda *given: _make_like(*given)._getvalue())
declare_maker(plain.zeros_in_shape, _typed_like, lambda *given: cleared(given[1], _make_like(*given)))
