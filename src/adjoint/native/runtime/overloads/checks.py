"""Checks of arithmetic, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, arg-type"

from __future__ import annotations

import math

from numba.core import types
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.simd.bundle_type import Bundle
from adjoint.runtime.arithmetic import checks


def _somewhere(condition, *kinds):
    """A condition, which of bundles holds if it does for one of their numbers."""
    size = next((kind.size for kind in kinds if isinstance(kind, Bundle)), None)
    if size is None:
        return condition
    from adjoint.native.simd.bundles import number_at  # lazy

    @register_jitable
    def of_one(x):
        found = False
        for place in range(size):
            found |= condition(number_at(x, place))
        return found

    @register_jitable
    def of_two(x, y):
        found = False
        for place in range(size):
            found |= condition(number_at(x, place), number_at(y, place))
        return found

    @register_jitable
    def of_three(x, y, z):
        found = False
        for place in range(size):
            found |= condition(number_at(x, place), number_at(y, place), number_at(z, place))
        return found

    return (of_one, of_two, of_three)[len(kinds) - 1]


@register_jitable
def _is_zero(x):
    return x == 0


@register_jitable
def _is_out_of_range(x, y):
    return math.isinf(y) and math.isfinite(x)


_OUTSIDE = {
    name: register_jitable(condition) if condition is not math.isinf else register_jitable(lambda x: math.isinf(x))
    for name, condition in checks.OUTSIDE.items()
}


@overload(checks.check_divisor, prefer_literal=True)
def _check_divisor(divisor, message):
    text, is_zero = message.literal_value, _somewhere(_is_zero, divisor)

    def check_divisor(divisor, message):
        if is_zero(divisor):
            raise ZeroDivisionError(text)

    return check_divisor


@overload(checks.check_operand)
def _check_operand(operand, name):
    return lambda operand, name: None  # whatever machine code has a type for is a number or a plain array


@overload(checks.check_array)
def _check_array(operand, name):
    # machine code has no number that turns out to be an array: Python refuses it
    return (lambda operand, name: None) if isinstance(operand, types.Array) else None


@overload(checks.check_fits)
def _check_fits(number, least, most):
    def check_fits(number, least, most):
        if number < least or number > most:
            raise OverflowError("Python integer out of bounds of the dtype")

    return check_fits


@overload(checks.check_depth)
def _check_depth(depth, limit):
    text = checks.TOO_DEEP_SAID

    def check_depth(depth, limit):
        if depth > limit:
            raise RecursionError(text)

    return check_depth


@overload(checks.check_bound, prefer_literal=True)
def _check_bound(is_bound, name):
    text = checks.unbound_said(name.literal_value)

    def check_bound(is_bound, name):
        if not is_bound:
            raise UnboundLocalError(text)

    return check_bound


@overload(checks.check_domain, prefer_literal=True)
def _check_domain(name, x):
    is_outside = _somewhere(_OUTSIDE[name.literal_value], x)

    def check_domain(name, x):
        if is_outside(x):
            raise ValueError("math domain error")

    return check_domain


_TOO_LARGE = checks.TOO_LARGE


@overload(checks.check_whole)
def _check_whole(x):
    def check_whole(x):
        if not abs(x) < _TOO_LARGE:
            if x != x:
                raise ValueError("cannot convert float NaN to integer")
            if math.isinf(x):
                raise OverflowError("cannot convert float infinity to integer")
            raise OverflowError("int too large for machine code")

    return check_whole


@overload(checks.check_exponents)
def _check_exponents(exponents):
    if not isinstance(exponents, types.Array):
        return lambda exponents: _refuse_inverse(exponents)

    def check_exponents(exponents):
        for exponent in exponents.flat:
            _refuse_inverse(exponent)

    return check_exponents


@register_jitable
def _refuse_inverse(exponent):
    if exponent < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")


_BITS = checks.BITS


@overload(checks.check_shift)
def _check_shift(count, leftwards):
    def check_shift(count, leftwards):
        if count < 0:
            raise ValueError("negative shift count")
        if leftwards and count >= _BITS:
            raise OverflowError("int too large for machine code")

    return check_shift


@overload(checks.check_range)
def _check_range(x, y):
    is_out_of_range = _somewhere(_is_out_of_range, x, y)

    def check_range(x, y):
        if is_out_of_range(x, y):
            raise OverflowError("math range error")

    return check_range


_INLINED = {"forceinline": True}


@overload(checks.note_divisor, jit_options=_INLINED)
def _note_divisor(found, place, divisor):
    is_zero = _somewhere(_is_zero, divisor)
    return lambda found, place, divisor: min(found, place) if is_zero(divisor) else found


@overload(checks.note_domain, prefer_literal=True, jit_options=_INLINED)
def _note_domain(found, place, name, x):
    is_outside = _somewhere(_OUTSIDE[name.literal_value], x)
    return lambda found, place, name, x: min(found, place) if is_outside(x) else found


@overload(checks.note_range, jit_options=_INLINED)
def _note_range(found, place, x, y):
    is_out_of_range = _somewhere(_is_out_of_range, x, y)
    return lambda found, place, x, y: min(found, place) if is_out_of_range(x, y) else found


@overload(checks.earlier, jit_options=_INLINED)
def _earlier(first, index, found, count):
    return lambda first, index, found, count: min(first, index * count + found) if found < count else first


_NEVER = checks.NEVER


@overload(checks.refuse, prefer_literal=True)
def _refuse(first, count, places, error, message):
    kind, text = checks.ERRORS[error.literal_value], message.literal_value

    def refuse(first, count, places, error, message):
        if first != _NEVER and (places >> (first % count)) & 1:
            raise kind(text)

    return refuse


_FAULTS = {kind: register_jitable(fault) for kind, fault in checks.FAULTS_OF_POWERS.items()}


def _refusal(kind):
    error, words = checks.REFUSED_POWERS[kind]
    if len(words) == 1:
        (text,) = words

        def refuse():
            raise error(text)
    else:
        number, text = words

        def refuse():
            raise error(number, text)

    return register_jitable(refuse)


_REFUSALS = {kind: _refusal(kind) for kind in checks.REFUSED_POWERS}


@overload(checks.check_power, prefer_literal=True)
def _check_power(kind, x, y, z):
    is_fault, refusal = _somewhere(_FAULTS[kind.literal_value], x, y, z), _REFUSALS[kind.literal_value]

    def check_power(kind, x, y, z):
        if is_fault(x, y, z):
            refusal()

    return check_power


@overload(checks.note_power, prefer_literal=True, jit_options=_INLINED)
def _note_power(found, place, kind, x, y, z):
    is_fault = _somewhere(_FAULTS[kind.literal_value], x, y, z)
    return lambda found, place, kind, x, y, z: min(found, place) if is_fault(x, y, z) else found


@overload(checks.refuse_power, prefer_literal=True)
def _refuse_power(first, count, places, kind):
    refusal = _REFUSALS[kind.literal_value]

    def refuse_power(first, count, places, kind):
        if first != _NEVER and (places >> (first % count)) & 1:
            refusal()

    return refuse_power
