"""What the runtime does with bundles, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc, call-arg"

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numba import extending
from numba.core import types
from numba.core.targetconfig import ConfigStack
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.instructions import cleared, declare_maker, make, rank_of_shape
from adjoint.native.simd.bundle_type import Bundle, Conditions, common_bundle, is_number, is_size
from adjoint.native.simd.bundles import (
    PRODUCTS,
    added_up,
    all_zero,
    as_bundle,
    choice_of,
    counted_from,
    hold_both,
    holds_either,
    holds_not,
    holds_somewhere,
    maximum_of,
    minimum_of,
    number_at,
    numbers_of,
    of_numbers,
    product_of,
    signs_of,
    with_number,
)
from adjoint.native.vectors.functions import cos, exp, log, magnitude, power, power_to_infinity, sin, square_root, tanh
from adjoint.runtime.arithmetic import bundles, indices, numbers, vector_math
from adjoint.runtime.array_functions import plain


def _is_bundles(kind):
    return isinstance(kind, types.Array) and isinstance(kind.dtype, Bundle)


def _is_numbers(kind):
    return isinstance(kind, types.Array) and kind.dtype == types.float64


# Making them


@overload(bundles.bundled, prefer_literal=True)
def _bundled(x, size):
    if not (_is_numbers(x) and is_size(size)):
        return None
    return (lambda x, size: of_numbers(x, size)[()]) if x.ndim == 1 else (lambda x, size: of_numbers(x, size))


@overload(bundles.unbundled, prefer_literal=True)
def _unbundled(x, size):
    if _is_bundles(x):
        return lambda x, size: numbers_of(x)
    if not isinstance(x, Bundle) or not is_size(size):
        return None

    def unbundled(x, size):
        out = plain.empty(size)
        of_numbers(out, size)[()] = x
        return out

    return unbundled


def _typed_of_shape(shape, size):
    rank = rank_of_shape(shape)
    return None if rank is None or not is_size(size) else types.Array(Bundle(size.literal_value), rank, "C")


declare_maker(bundles.no_bundles_yet, _typed_of_shape, lambda *given: make(*given)._getvalue())
declare_maker(bundles.zero_bundles, _typed_of_shape, lambda *given: cleared(given[1], make(*given)))


@overload(bundles.same_in_bundles, prefer_literal=True)
def _same_in_bundles(x, size):
    if not _is_numbers(x) or not is_size(size):
        return None

    def same_in_bundles(x, size):
        out = bundles.no_bundles_yet(x.shape, size)
        for index, number in np.ndenumerate(x):
            out[index] = number
        return out

    return same_in_bundles


@overload(bundles.anywhere, prefer_literal=True)
def _anywhere(x, size):
    if not _is_bundles(x) or not is_size(size):
        return None

    def anywhere(x, size):
        found = bundles.zero_bundles((1,), size)
        for index in np.ndindex(x.shape):
            found[0] = found[0] + bundles.unless_zero(x[index], 1.0)
        return found[0]

    return anywhere


# Arithmetic


@overload(numbers.divide)
def _divide(a, b):
    if isinstance(a, Bundle) and is_number(b):
        return lambda a, b: a / b if b != 0 else bundles.unless_zero(a, a * math.copysign(math.inf, b))
    return None if common_bundle((a, b)) is None else lambda a, b: bundles.unless_zero(as_bundle(a, b), a / b)


@overload(numbers.times)
def _times(a, b):
    return None if common_bundle((a, b)) is None else lambda a, b: bundles.unless_zero(as_bundle(a, b), a * b)


@overload(numbers.quotient)
def _quotient(a, b):
    if isinstance(a, Bundle) and is_number(b):
        return lambda a, b: a / b if b != 0 else a * math.copysign(math.inf, b)
    return None if common_bundle((a, b)) is None else lambda a, b: a / b


@overload(numbers.product)
def _product(a, b):
    return None if common_bundle((a, b)) is None else lambda a, b: a * b


@overload(numbers.selected)
def _selected(support, value):
    if common_bundle((support, value)) is None:
        return None
    return lambda support, value: bundles.unless_zero(as_bundle(support, value), as_bundle(value, support))


def _declare_extreme(function, of_bundles, of_numbers):
    @overload(function)
    def declared(a, b):
        if common_bundle((a, b)) is not None:
            return lambda a, b: of_bundles(a, b)
        return (lambda a, b: of_numbers(a, b)) if is_number(a) and is_number(b) else None


_declare_extreme(bundles.bundle_maximum, maximum_of, np.maximum)
_declare_extreme(bundles.bundle_minimum, minimum_of, np.minimum)


def _declare(function, of_bundles, of_numbers):
    """A function of bundles; Numba also asks for that of numbers, as long as it does not know what will be bundles."""

    @overload(function)
    def declared(x):
        if isinstance(x, Bundle):
            return lambda x: of_bundles(x)
        return (lambda x: of_numbers(x)) if is_number(x) else None


@overload(bundles.bundle_any)
def _any(condition):
    if isinstance(condition, Conditions):
        return lambda condition: holds_somewhere(condition)
    return (lambda condition: condition) if isinstance(condition, types.Boolean) else None


@overload(bundles.bundle_not)
def _not(condition):
    if isinstance(condition, Conditions):
        return lambda condition: holds_not(condition)
    return (lambda condition: not condition) if isinstance(condition, types.Boolean) else None


def _declare_logic(function, of_conditions, of_one):
    @overload(function)
    def declared(condition, other):
        kinds = (condition, other)
        if any(isinstance(kind, Conditions) for kind in kinds):
            return lambda condition, other: of_conditions(condition, other)
        are_known = all(isinstance(kind, types.Boolean) for kind in kinds)
        return (lambda condition, other: of_one(condition, other)) if are_known else None


_declare_logic(bundles.bundle_both, hold_both, operator.and_)
_declare_logic(bundles.bundle_either, holds_either, operator.or_)


@overload(bundles.bundle_choice)
def _choice(condition, a, b):
    if any(isinstance(kind, (Bundle, Conditions)) for kind in (condition, a, b)):
        return lambda condition, a, b: choice_of(condition, a, b)
    return (lambda condition, a, b: a if condition else b) if isinstance(condition, types.Boolean) else None


_declare(bundles.bundle_sqrt, square_root, np.sqrt)
_declare(bundles.bundle_sign, signs_of, np.sign)
_declare(bundles.bundle_magnitude, magnitude, np.abs)


@overload(bundles.unless_zero)
def _unless_zero(a, found):
    both = is_number(a) and is_number(found)
    return (lambda a, found: a * 0.0 if a == 0 else found * 1.0) if both else None


def _declare_power(function, general):
    @extending.overload(function, prefer_literal=True)
    def declared(x, y):
        if common_bundle((x, y)) is None:
            return None
        is_product = isinstance(x, Bundle) and isinstance(y, types.IntegerLiteral) and y.literal_value in PRODUCTS
        return (lambda x, y: product_of(x, y)) if is_product else lambda x, y: general(x, y)


_declare_power(operator.pow, power)
_declare_power(math.pow, power)
_declare_power(vector_math.vector_power, power)
_declare_power(vector_math.vector_power_to_infinity, power_to_infinity)


def _declare_of_math(function, of_bundles):
    @extending.overload(function)
    def declared(x):
        return (lambda x: of_bundles(x)) if isinstance(x, Bundle) else None


_declare_of_math(math.exp, exp)
_declare_of_math(math.log, log)
_declare_of_math(math.tanh, tanh)
_declare_of_math(math.sin, sin)
_declare_of_math(math.cos, cos)
_declare_of_math(math.sqrt, square_root)
_declare_of_math(math.fabs, magnitude)


# Iterations


@overload(bundles.bundle_from, prefer_literal=True)
def _iterations_from(first, size):
    if not isinstance(first, types.Integer) or not is_size(size):
        return None
    return lambda first, size: counted_from(first, size)


@overload(bundles.bundle_total)
def _total(x, size):
    if isinstance(x, Bundle):
        return lambda x, size: added_up(x)
    return (lambda x, size: x * size) if is_number(x) else None


def _are_elements(x, rank, size, *places):
    are_places = all(isinstance(place, types.Integer) for place in places)
    return _is_numbers(x) and x.ndim == rank and is_size(size) and are_places


@register_jitable
def _raise_beyond(first, size, extent, place, others):
    if first + size > extent or place >= others or place < -others:
        raise IndexError("index is out of bounds")


@register_jitable
def _raise_nothing(first, size, extent, place, others):
    pass


def _check_of_elements():
    """What raises unless there are all elements, one question for all of them: where indices are checked."""
    flags = ConfigStack.top_or_none()
    return _raise_nothing if flags is None or not flags.boundscheck else _raise_beyond


@overload(bundles.bundle_at, prefer_literal=True)
def _bundle_at(x, first, size):
    if not _are_elements(x, 1, size, first):
        return None

    check = _check_of_elements()

    def bundle_at(x, first, size):
        check(first, size, x.shape[0], 0, 1)
        found: Any = all_zero(size)
        for place in range(size):
            found = with_number(found, place, x[indices.unsigned(first + place)])
        return found

    return bundle_at


@overload(bundles.bundle_down, prefer_literal=True)
def _bundle_down(x, first, column, size):
    if not _are_elements(x, 2, size, first, column):
        return None

    check = _check_of_elements()

    def bundle_down(x, first, column, size):
        check(first, size, x.shape[0], column, x.shape[1])
        found: Any = all_zero(size)
        for place in range(size):
            found = with_number(found, place, x[indices.unsigned(first + place), column])
        return found

    return bundle_down


@overload(bundles.bundle_across, prefer_literal=True)
def _bundle_across(x, row, first, size):
    if not _are_elements(x, 2, size, row, first):
        return None

    check = _check_of_elements()

    def bundle_across(x, row, first, size):
        check(first, size, x.shape[1], row, x.shape[0])
        found: Any = all_zero(size)
        for place in range(size):
            found = with_number(found, place, x[row, indices.unsigned(first + place)])
        return found

    return bundle_across


def _can_be_put(found):
    return isinstance(found, Bundle) or is_number(found)


@overload(bundles.put_bundle, prefer_literal=True)
def _put_bundle(x, first, found, size):
    if not _are_elements(x, 1, size, first) or not _can_be_put(found):
        return None

    check = _check_of_elements()

    def put_bundle(x, first, found, size):
        check(first, size, x.shape[0], 0, 1)
        for place in range(size):
            x[indices.unsigned(first + place)] = number_at(found, place)

    return put_bundle


@overload(bundles.put_bundle_down, prefer_literal=True)
def _put_bundle_down(x, first, column, found, size):
    if not _are_elements(x, 2, size, first, column) or not _can_be_put(found):
        return None

    check = _check_of_elements()

    def put_bundle_down(x, first, column, found, size):
        check(first, size, x.shape[0], column, x.shape[1])
        for place in range(size):
            x[indices.unsigned(first + place), column] = number_at(found, place)

    return put_bundle_down


@overload(bundles.put_bundle_across, prefer_literal=True)
def _put_bundle_across(x, row, first, found, size):
    if not _are_elements(x, 2, size, row, first) or not _can_be_put(found):
        return None

    check = _check_of_elements()

    def put_bundle_across(x, row, first, found, size):
        check(first, size, x.shape[1], row, x.shape[0])
        for place in range(size):
            x[row, indices.unsigned(first + place)] = number_at(found, place)

    return put_bundle_across
