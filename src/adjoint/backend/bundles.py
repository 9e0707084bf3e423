"""Bundles for Numba: an element type of several doubles, which are one vector of the processor.

Arrays of bundles are arrays like all others; what is computed with bundles is computed with all their numbers at once.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, attr-defined"

from __future__ import annotations

import operator

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, imputils, types
from numba.core.datamodel import models, register_default
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, type_callable
from numba.np import arrayobj

from adjoint.runtime.bundles import SIZE, unless_zero

_DOUBLE, _INDEX, EXTENT = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
VECTOR, _MEMORY = ir.VectorType(_DOUBLE, SIZE), ir.ArrayType(_DOUBLE, SIZE)
ITEM = 8


class Bundle(types.Type):
    """The type of a bundle; a number becomes one that has it everywhere."""

    def __init__(self):
        super().__init__(name="bundle")
        self.bitwidth = 8 * ITEM * SIZE

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if _is_number(other) else None

    def unify(self, typingctx, other):
        return self if _is_number(other) else None


bundle = Bundle()


def _is_number(kind):
    return isinstance(kind, (types.Float, types.Integer))


@register_default(Bundle)
class _BundleModel(models.DataModel):
    """In registers a vector, in memory doubles one after another, wherever the first of them lies."""

    def get_value_type(self):
        return VECTOR

    def get_data_type(self):
        return _MEMORY

    def get_argument_type(self):
        return VECTOR

    def get_return_type(self):
        return VECTOR

    def as_data(self, builder, value):
        found = ir.Constant(_MEMORY, ir.Undefined)
        for place in range(SIZE):
            found = builder.insert_value(found, builder.extract_element(value, _INDEX(place)), place)
        return found

    def from_data(self, builder, value):
        found = ir.Constant(VECTOR, ir.Undefined)
        for place in range(SIZE):
            found = builder.insert_element(found, builder.extract_value(value, place), _INDEX(place))
        return found

    def load_from_data_pointer(self, builder, ptr, align=None):
        return builder.load(builder.bitcast(ptr, VECTOR.as_pointer()), align=ITEM)

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value

    def as_return(self, builder, value):
        return value

    def from_return(self, builder, value):
        return value

    def traverse(self, builder):
        return []


def same_everywhere(builder, number):
    """The bundle of one double again and again."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_INDEX, SIZE), [0] * SIZE))


@lower_cast(types.Float, Bundle)
@lower_cast(types.Integer, Bundle)
def _cast(context, builder, given, wanted, value):
    return same_everywhere(builder, context.cast(builder, value, given, types.float64))


# Arithmetic


def _declare_arithmetic(name, *functions):
    for function in functions:

        @infer_global(function)
        class _Typed(AbstractTemplate):
            def generic(self, args, kws):
                is_bundled = any(arg == bundle for arg in args) and all(
                    arg == bundle or _is_number(arg) for arg in args
                )
                return signature(bundle, bundle, bundle) if is_bundled else None

        @lower_builtin(function, Bundle, Bundle)
        def _write(context, builder, sig, args):
            return getattr(builder, name)(*args)


_declare_arithmetic("fadd", operator.add, operator.iadd)
_declare_arithmetic("fsub", operator.sub, operator.isub)
_declare_arithmetic("fmul", operator.mul, operator.imul)
_declare_arithmetic("fdiv", operator.truediv, operator.itruediv)


@infer_global(operator.neg)
class _TypedNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(bundle, bundle) if args == (bundle,) else None


@lower_builtin(operator.neg, Bundle)
def _negation(context, builder, sig, args):
    return builder.fneg(args[0])


@type_callable(unless_zero)
def _typed_unless_zero(context):
    return lambda a, found: bundle if a == bundle and (found == bundle or _is_number(found)) else None


@lower_builtin(unless_zero, Bundle, types.Any)
def _unless_zero(context, builder, sig, args):
    a, found = args[0], context.cast(builder, args[1], sig.args[1], bundle)
    zero = ir.Constant(VECTOR, [0.0] * SIZE)
    return builder.select(builder.fcmp_ordered("==", a, zero), builder.fmul(a, zero), found)


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
        itemsize=EXTENT(ITEM if wanted.dtype == types.float64 else ITEM * SIZE),
        meminfo=given.meminfo,
    )
    return imputils.impl_ret_borrowed(context, builder, wanted, found._getvalue())


@intrinsic
def of_numbers(context, x):
    """An array of doubles, the last axis of which is as long as a bundle, as one of bundles."""
    if not (isinstance(x, types.Array) and x.dtype == types.float64 and x.layout == "C" and x.ndim):
        return None

    def write(context, builder, sig, args):
        return _in_other_parts(context, builder, sig, args[0], lambda shape, strides: (shape[:-1], strides[:-1]))

    return types.Array(bundle, x.ndim - 1, "C")(x), write


@intrinsic
def numbers_of(context, x):
    """An array of bundles as one of doubles."""
    if not (isinstance(x, types.Array) and x.dtype == bundle):
        return None

    def write(context, builder, sig, args):
        def change(shape, strides):
            return [*shape, EXTENT(SIZE)], [*strides, EXTENT(ITEM)]

        return _in_other_parts(context, builder, sig, args[0], change)

    return types.Array(types.float64, x.ndim + 1, "C" if x.layout == "C" else "A")(x), write
