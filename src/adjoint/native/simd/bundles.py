"""Bundles for Numba: what it computes with them, and arrays of which they are the elements.

Arrays of bundles are arrays like all others; what is computed with bundles is computed with all their numbers at once.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, attr-defined, call-arg"

from __future__ import annotations

import operator

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, imputils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, overload, type_callable
from numba.np import arrayobj

from adjoint.native.simd.bundle_type import ITEM, Bundle, Conditions, common_bundle, is_number, is_size, same_everywhere
from adjoint.runtime.arithmetic.bundles import unless_zero

_DOUBLE, EXTENT = llvm.DoubleType(), llvm.IntType(64)

# Arithmetic


def _declare_arithmetic(name, *functions):
    for function in functions:

        @infer_global(function)
        class _Typed(AbstractTemplate):
            def generic(self, args, kws):
                kind = common_bundle(args)
                return signature(kind, kind, kind) if kind else None

        @lower_builtin(function, Bundle, Bundle)
        def _write(context, builder, sig, args):
            return getattr(builder, name)(*args)


_declare_arithmetic("fadd", operator.add, operator.iadd)
_declare_arithmetic("fsub", operator.sub, operator.isub)
_declare_arithmetic("fmul", operator.mul, operator.imul)
_declare_arithmetic("fdiv", operator.truediv, operator.itruediv)


def _declare_comparison(sign, function):
    @infer_global(function)
    class _Typed(AbstractTemplate):
        def generic(self, args, kws):
            kind = common_bundle(args)
            return signature(Conditions(kind.size), kind, kind) if kind else None

    @lower_builtin(function, Bundle, Bundle)
    def _write(context, builder, sig, args):
        compared = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return compared(sign, *args)


_declare_comparison("<", operator.lt)
_declare_comparison("<=", operator.le)
_declare_comparison(">", operator.gt)
_declare_comparison(">=", operator.ge)
_declare_comparison("==", operator.eq)
_declare_comparison("!=", operator.ne)


@infer_global(operator.neg)
class _TypedNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], Bundle) else None


@lower_builtin(operator.neg, Bundle)
def _negation(context, builder, sig, args):
    return builder.fneg(args[0])


@overload(operator.pos)
def _itself(x):
    return (lambda x: x) if isinstance(x, Bundle) else None


@type_callable(unless_zero)
def _typed_unless_zero(context):
    return lambda a, found: common_bundle((a, found)) if isinstance(a, Bundle) else None


@lower_builtin(unless_zero, Bundle, types.Any)
def _unless_zero(context, builder, sig, args):
    a, found = args[0], context.cast(builder, args[1], sig.args[1], sig.return_type)
    zero = sig.return_type.same(0.0)
    return builder.select(builder.fcmp_ordered("==", a, zero), builder.fmul(a, zero), found)


@intrinsic
def counted_from(context, first, size):
    """The numbers from one on."""
    if not (isinstance(first, types.Integer) and is_size(size)):
        return None
    kind = Bundle(size.literal_value)

    def write(context, builder, sig, args):
        start = context.cast(builder, args[0], sig.args[0], types.float64)
        steps = llvm.Constant(kind.vector, [float(place) for place in range(kind.size)])
        # with flags of its own there are no others: these numbers are whole, whatever may be reordered around them
        return builder.fadd(same_everywhere(builder, kind, start), steps, flags=("afn",))

    return kind(first, size), write


@intrinsic
def added_up(context, x):
    """The sum of a bundle, in any order."""
    if not isinstance(x, Bundle):
        return None

    def write(context, builder, sig, args):
        kind = llvm.FunctionType(_DOUBLE, [_DOUBLE, x.vector])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{x.size}f64")
        return builder.call(function, [_DOUBLE(-0.0), args[0]], fastmath=("reassoc",))

    return types.float64(x), write


@intrinsic
def signs_of(context, x):
    """``np.sign`` of each number."""
    if not isinstance(x, Bundle):
        return None

    def write(context, builder, sig, args):
        given, zero = args[0], x.same(0.0)
        below = builder.select(builder.fcmp_ordered("<", given, zero), x.same(-1.0), given)
        return builder.select(builder.fcmp_ordered(">", given, zero), x.same(1.0), below)

    return x(x), write


@intrinsic
def as_bundle(context, x, other):
    """A bundle, or a number, as a bundle of the same type as another is, if ``x`` is none."""
    kind = common_bundle((x, other))
    return None if kind is None else (kind(kind, other), lambda context, builder, sig, args: args[0])


@intrinsic
def holds_somewhere(context, condition):
    """Whether one of several conditions holds."""
    if not isinstance(condition, Conditions):
        return None

    def write(context, builder, sig, args):
        bits = builder.bitcast(args[0], llvm.IntType(condition.size))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(condition), write


@intrinsic
def holds_not(context, condition):
    """Where a condition does not hold."""
    is_known = isinstance(condition, Conditions)
    return (condition(condition), lambda context, builder, sig, args: builder.not_(args[0])) if is_known else None


def _of_conditions(name):
    @intrinsic
    def combined(context, condition, other):
        """What holds where two conditions hold in some way, of which one may be the same everywhere."""
        kind = next((kind for kind in (condition, other) if isinstance(kind, Conditions)), None)
        if kind is None:
            return None
        return kind(kind, kind), lambda context, builder, sig, args: getattr(builder, name)(*args)

    return combined


hold_both, holds_either = _of_conditions("and_"), _of_conditions("or_")


def _extreme(sign):
    @intrinsic
    def extreme(context, a, b):
        """The larger or the smaller of two numbers each; not a number if one of them is not."""
        kind = common_bundle((a, b))
        if kind is None:
            return None

        def write(context, builder, sig, args):
            one, other = args
            is_first = builder.or_(builder.fcmp_ordered(sign, one, other), builder.fcmp_unordered("uno", one, one))
            return builder.select(is_first, one, other)

        return kind(kind, kind), write

    return extreme


maximum_of, minimum_of = _extreme(">="), _extreme("<=")


@intrinsic
def choice_of(context, condition, a, b):
    """Numbers, or conditions, from one of two where a condition holds, and from the other where it does not."""
    sizes = {kind.size for kind in (condition, a, b) if isinstance(kind, (Bundle, Conditions))}
    if len(sizes) != 1:
        return None
    (size,) = sizes
    are_numbers = all(isinstance(kind, Bundle) or is_number(kind) for kind in (a, b))
    kind = Bundle(size) if are_numbers else Conditions(size)
    return kind(Conditions(size), kind, kind), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def with_number(context, x, place, number):
    """A bundle with another number in one place."""
    if not (isinstance(x, Bundle) and isinstance(place, types.Integer) and number == types.float64):
        return None

    def write(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], args[1])

    return x(x, place, number), write


@intrinsic
def number_in(context, x, place):
    """The number in one place."""
    if not (isinstance(x, Bundle) and isinstance(place, types.Integer)):
        return None

    def write(context, builder, sig, args):
        return builder.extract_element(*args)

    return types.float64(x, place), write


def number_at(found, place):
    """One number of a bundle, or the number that stands for all of them."""


@overload(number_at)
def _number_at(found, place):
    return (lambda found, place: number_in(found, place)) if isinstance(found, Bundle) else lambda found, place: found


PRODUCTS = range(1, 9)
"""Exponents of powers that are written as products."""


@intrinsic
def product_of(context, x, exponent):
    """A power of a bundle as products."""
    if not (isinstance(x, Bundle) and is_size(exponent)):
        return None

    def write(context, builder, sig, args):
        found = args[0]
        for bit in f"{exponent.literal_value:b}"[1:]:
            found = builder.fmul(found, found)
            if bit == "1":
                found = builder.fmul(found, args[0])
        return found

    return x(x, exponent), write


@intrinsic
def all_zero(context, size):
    """A bundle of zeros."""
    if not is_size(size):
        return None
    kind = Bundle(size.literal_value)
    return kind(size), lambda context, builder, sig, args: kind.same(0.0)


# Arrays of bundles and of their numbers


def _in_other_parts(context, builder, sig, array, change):
    """The same memory as an array of other elements."""
    kind, wanted = sig.args[0], sig.return_type
    given = context.make_array(kind)(context, builder, array)
    found = context.make_array(wanted)(context, builder)
    shape, strides = change(*(cgutils.unpack_tuple(builder, part) for part in (given.shape, given.strides)))
    arrayobj.populate_array(
        found,
        data=builder.bitcast(given.data, found.data.type),
        shape=cgutils.pack_array(builder, shape, ty=EXTENT),
        strides=cgutils.pack_array(builder, strides, ty=EXTENT),
        itemsize=EXTENT(ITEM if wanted.dtype == types.float64 else ITEM * wanted.dtype.size),
        meminfo=given.meminfo,
    )
    return imputils.impl_ret_borrowed(context, builder, wanted, found._getvalue())


@intrinsic
def of_numbers(context, x, size):
    """An array of doubles, the last axis of which is as long as a bundle, as one of bundles."""
    if not (isinstance(x, types.Array) and x.dtype == types.float64 and x.layout == "C" and x.ndim and is_size(size)):
        return None

    def write(context, builder, sig, args):
        return _in_other_parts(context, builder, sig, args[0], lambda shape, strides: (shape[:-1], strides[:-1]))

    return types.Array(Bundle(size.literal_value), x.ndim - 1, "C")(x, size), write


@intrinsic
def numbers_of(context, x):
    """An array of bundles as one of doubles."""
    if not (isinstance(x, types.Array) and isinstance(x.dtype, Bundle)):
        return None

    def write(context, builder, sig, args):
        def change(shape, strides):
            return [*shape, EXTENT(x.dtype.size)], [*strides, EXTENT(ITEM)]

        return _in_other_parts(context, builder, sig, args[0], change)

    return types.Array(types.float64, x.ndim + 1, "C" if x.layout == "C" else "A")(x), write
