"""What fused loops call, for Numba: instructions whose order LLVM may choose, where ours is of no meaning."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="no-any-return, misc, call-arg, arg-type"

from __future__ import annotations

import math

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic, overload

from adjoint.runtime import lanes

_FREE = ("reassoc", "nsz")
_INLINED = {"forceinline": True}


@intrinsic
def _free_sum(context, a, b):
    def generate(_, builder, signature, args):
        return builder.fadd(*args, flags=_FREE)

    return a(a, a), generate


@intrinsic
def _free_product(context, a, b):
    def generate(_, builder, signature, args):
        return builder.fmul(*args, flags=_FREE)

    return a(a, a), generate


def _extreme(name):
    def typed(context, a, b):
        def generate(_, builder, signature, args):
            kind = args[0].type
            callee = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(callee, args)

        return a(a, a), generate

    return typed


@intrinsic
def _largest(context, a, b):
    return _extreme("llvm.maximum")(context, a, b)


@intrinsic
def _smallest(context, a, b):
    return _extreme("llvm.minimum")(context, a, b)


def _are_floats(a, b):
    return isinstance(a, types.Float) and a == b


@overload(lanes.plus, jit_options=_INLINED)
def _plus(total, x):
    if _are_floats(total, x):
        return lambda total, x: _free_sum(total, x)
    return lambda total, x: total + x


@overload(lanes.times_by, jit_options=_INLINED)
def _times_by(product, x):
    if _are_floats(product, x):
        return lambda product, x: _free_product(product, x)
    return lambda product, x: product * x


@overload(lanes.largest, jit_options=_INLINED)
def _largest_of(best, x):
    if _are_floats(best, x):
        return lambda best, x: _largest(best, x)
    return lambda best, x: max(best, x)


@overload(lanes.smallest, jit_options=_INLINED)
def _smallest_of(best, x):
    if _are_floats(best, x):
        return lambda best, x: _smallest(best, x)
    return lambda best, x: min(best, x)


@overload(lanes.same_extent, jit_options=_INLINED)
def _same_extent(one, other):
    def same_extent(one, other):
        if one != other:
            raise ValueError("operands could not be broadcast together")

    return same_extent


@overload(lanes.fits_extent, jit_options=_INLINED)
def _fits_extent(narrow, wide):
    def fits_extent(narrow, wide):
        if narrow != 1 and narrow != wide:
            raise ValueError("operands could not be broadcast together")

    return fits_extent


@overload(lanes.common_extent, jit_options=_INLINED)
def _common_extent(one, other):
    def common_extent(one, other):
        if one == 1 or one == other:
            return other
        if other != 1:
            raise ValueError("operands could not be broadcast together")
        return one

    return common_extent


@overload(lanes.sliced, jit_options=_INLINED)
def _sliced(extent, lower, upper):
    return lambda extent, lower, upper: max(min(upper + extent if upper < 0 else upper, extent) - lower, 0)


@overload(lanes.step_along, jit_options=_INLINED)
def _step_along(extent):
    return lambda extent: 0 if extent == 1 else 1


@overload(lanes.some, jit_options=_INLINED)
def _some(extent):
    def some(extent):
        if extent == 0:
            raise ValueError("zero-size array to reduction operation which has no identity")

    return some


_SHORTEST = lanes._SHORTEST


@overload(lanes.block_size, jit_options=_INLINED)
def _block_size(extent):
    return lambda extent: max(_SHORTEST, int(math.sqrt(extent)))


@overload(lanes.block_end, jit_options=_INLINED)
def _block_end(start, size, stop):
    return lambda start, size, stop: min(start + size, stop)
