"""Mathematical functions that LLVM turns into vector code where they are called in loops.

Numba calls the C library for each number. These are polynomials with neither branches nor tables, accurate to two
units in the last place (``exp``, ``log``) or four, over the whole range, special values included.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="no-untyped-call, misc, call-arg"

from __future__ import annotations

import math

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from adjoint.native.runtime.declaring import overload
from adjoint.native.simd.bundle_type import common_bundle, is_number
from adjoint.native.vectors.exponentials import write_exp, write_log, write_tanh
from adjoint.native.vectors.instructions import InstructionCode
from adjoint.native.vectors.power import write_power, write_power_to_infinity
from adjoint.native.vectors.waves import write_cos, write_sin
from adjoint.runtime.arithmetic import vector_math


def _of_doubles(write, context, *given):
    """The function that ``write`` writes, for what Numba may hand to it."""
    bundle = common_bundle(given)
    if bundle is not None:

        def generate_bundle(context, builder, signature, args):
            return write(InstructionCode(builder, bundle.size), *args)

        return bundle(*[bundle] * len(given)), generate_bundle
    result = types.float32 if all(kind == types.float32 for kind in given) else types.float64

    def generate(context, builder, signature, args):
        code = InstructionCode(builder)
        wide = [builder.fpext(arg, llvm.DoubleType()) if arg.type == llvm.FloatType() else arg for arg in args]
        found = write(code, *wide)
        return found if result == types.float64 else builder.fptrunc(found, llvm.FloatType())

    return result(*(kind if kind == types.float32 else types.float64 for kind in given)), generate


@intrinsic
def exp(context, x):
    return _of_doubles(write_exp, context, x)


@intrinsic
def log(context, x):
    return _of_doubles(write_log, context, x)


@intrinsic
def tanh(context, x):
    return _of_doubles(write_tanh, context, x)


@intrinsic
def sin(context, x):
    return _of_doubles(write_sin, context, x)


@intrinsic
def cos(context, x):
    return _of_doubles(write_cos, context, x)


@intrinsic
def power(context, x, y):
    return _of_doubles(write_power, context, x, y)


@intrinsic
def power_to_infinity(context, x, y):
    return _of_doubles(write_power_to_infinity, context, x, y)


@intrinsic
def magnitude(context, x):
    return _of_doubles(InstructionCode.magnitude, context, x)


@intrinsic
def square_root(context, x):
    return _of_doubles(InstructionCode.square_root, context, x)


def _has_fma():
    """Whether the processor multiplies and adds with one rounding; without, the C library's powers are faster."""
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return "+fma" in features.split(",") or triple.startswith(("aarch64", "arm64"))


def _are_real(*given):
    return all(map(is_number, given)) or common_bundle(given) is not None


def _declare(function, own):
    @overload(function, jit_options={"forceinline": True})
    def declared(x):
        return (lambda x: own(x)) if _are_real(x) else None


for _function, _own in (
    (vector_math.vector_exp, exp),
    (vector_math.vector_log, log),
    (vector_math.vector_tanh, tanh),
    (vector_math.vector_sin, sin),
    (vector_math.vector_cos, cos),
):
    _declare(_function, _own)


@overload(vector_math.vector_power, jit_options={"forceinline": True})
def _vector_power(x, y):
    if not (is_number(x) and is_number(y)):
        return None
    return (lambda x, y: power(x, y)) if _has_fma() else (lambda x, y: math.pow(x, y))


@overload(vector_math.vector_power_to_infinity, jit_options={"forceinline": True})
def _vector_power_to_infinity(x, y):
    if not (is_number(x) and is_number(y)):
        return None
    return lambda x, y: math.inf if x == 0 and y < 0 else vector_math.vector_power(x, y)
