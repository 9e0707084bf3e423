"""The runtime's arithmetic of numbers, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, union-attr, call-arg"

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _is_array, _is_number, _zero_of
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import plain
from adjoint.runtime.numerical_methods import bessel
from adjoint.runtime.sets import entries
from adjoint.runtime.sets import functions as of_sets
from adjoint.runtime.sets import numbers as sets


@overload(numbers.divide)
def _divide(a, b):
    if _is_number(a) and _is_number(b):
        if isinstance(b, types.Complex):

            def divide(a, b):
                if a == 0:
                    return a * complex(0.0)
                return a * complex(math.inf) if b == 0 else a / b
        else:

            def divide(a, b):
                if a == 0:
                    return a * 0.0
                return a * math.copysign(math.inf, b) if b == 0 else a / b

        return divide
    if (_is_array(a) or _is_array(b)) and isinstance(_zero_of(a, b), np.complexfloating):
        return _divide_complex(a, b)
    if _is_array(a):
        zero = _zero_of(a, b)

        def divide(a, b):
            quotient = a / b
            return np.where(a == 0, zero, quotient) if np.any(np.isnan(quotient)) else quotient

        return divide
    if _is_number(a) and _is_array(b):
        return lambda a, b: plain.zeros_in_shape(b) if a == 0 else a / b
    return None


def _divide_complex(a, b):
    """Numba raises where a complex number is divided by zero."""
    zero = _zero_of(a, b)
    one, unknown = type(zero)(1), type(zero)(np.nan)
    if _is_array(b):
        return lambda a, b: np.where(a == 0, zero, np.where(b == 0, unknown, a / np.where(b == 0, one, b)))
    return lambda a, b: np.where(a == 0, zero, unknown) if b == 0 else a / b


@overload(numbers.times)
def _times(a, b):
    if _is_number(a) and isinstance(b, types.Complex):
        return lambda a, b: a * complex(0.0) if a == 0 else a * b
    if _is_number(a) and _is_number(b):
        return lambda a, b: a * 0.0 if a == 0 else a * b
    if _is_array(a):
        zero = _zero_of(a, b)

        def times(a, b):
            product = a * b
            return np.where(a == 0, zero, product) if np.any(np.isnan(product)) else product

        return times
    if _is_number(a) and _is_array(b):
        return lambda a, b: plain.zeros_in_shape(b) if a == 0 else a * b
    return None


@overload(numbers.quotient)
def _quotient(a, b):
    if not _is_number(a) or not _is_number(b):
        complex_ = isinstance(_zero_of(a, b), np.complexfloating)
        return _quotient_complex(a, b) if complex_ else lambda a, b: a / b
    if isinstance(b, types.Complex):
        return lambda a, b: a * complex(math.inf) if b == 0 else a / b
    return lambda a, b: a * math.copysign(math.inf, b) if b == 0 else a / b


def _quotient_complex(a, b):
    """Numba raises where a complex number is divided by zero."""
    one, unknown = type(_zero_of(a, b))(1), type(_zero_of(a, b))(np.nan)
    if _is_array(b):
        return lambda a, b: np.where(b == 0, unknown, a / np.where(b == 0, one, b))
    return lambda a, b: np.where(a == a, unknown, unknown) if b == 0 else a / b


@overload(numbers.product)
def _product(a, b):
    return lambda a, b: a * b


@overload(numbers.selected)
def _selected(support, value):
    if _is_array(support):
        zero = _zero_of(value, value)
        return lambda support, value: np.where(support != 0, value, zero)
    if _is_array(value):
        return lambda support, value: value if support != 0 else plain.zeros_in_shape(value)
    zero = _zero_of(value, value)
    return lambda support, value: value if support != 0 else zero


@overload(numbers.somewhere)
def _somewhere(support):
    return (lambda support: np.any(support != 0)) if _is_array(support) else lambda support: support != 0


@overload(numbers.power)
def _power(a, b):
    if isinstance(a, (types.Complex, types.Array)) or isinstance(b, (types.Complex, types.Array)):
        return lambda a, b: a**b
    if isinstance(b, types.Integer) and isinstance(a, types.Float):
        return lambda a, b: numbers.raised(a, b)
    if _is_number(a) and _is_number(b):
        return lambda a, b: math.inf if a == 0 and b < 0 else float(a) ** float(b)
    return None


@overload(numbers.raised)
def _raised(x, n):
    if not isinstance(x, types.Float) or not isinstance(n, types.Integer):
        return None
    one = as_dtype(x).type(1)

    def raised(x, n):
        product, left = one, abs(n)
        while left != 0:
            if left & 1:
                product *= x
            left >>= 1
            x *= x
        return product if n >= 0 else numbers.divide(one, product)

    return raised


@overload(numbers.log)
def _log(x):
    return (lambda x: math.log(x)) if _is_real(x) else (lambda x: np.log(x))


@overload(numbers.sqrt)
def _sqrt(x):
    return (lambda x: math.sqrt(x)) if _is_real(x) else (lambda x: np.sqrt(x))


def _is_real(x):
    return _is_number(x) and not isinstance(x, types.Complex)


@overload(numbers.sign)
def _sign(x):
    if isinstance(x, types.Float):
        kind = as_dtype(x).type
        one, other = kind(1), kind(-1)
        return lambda x: one if x > 0 else (other if x < 0 else x * 0)
    if _is_real(x):
        return lambda x: x * 0 + 1 if x > 0 else (x * 0 - 1 if x < 0 else x * 0)
    if isinstance(x, types.Complex):
        return lambda x: np.conj(x) / abs(x) if x != 0 else 0 * x
    if _is_array(x) and not isinstance(x.dtype, types.Complex):
        return lambda x: np.sign(x)
    return None


@overload(numbers.choose)
def _choose(condition, a, b):
    if any(map(_is_array, (condition, a, b))):
        return lambda condition, a, b: np.where(condition, a, b)
    return lambda condition, a, b: a if condition else b


@overload(numbers.unit)
def _unit_of(ct, index, place):
    return lambda ct, index, place: ct if index == place else ct * 0.0


@overload(numbers.first_equal)
def _first_equal(y, *candidates):
    def first_equal(y, *candidates):
        for place in range(len(candidates)):
            if candidates[place] == y:
                return place
        return 0

    return first_equal


@overload(numbers.exact_sum)
def _exact_sum(a):
    """Shewchuk's: parts of the sum that do not overlap, and at last the largest of them, rounded half to even."""
    if not _is_array(a) or a.ndim != 1:
        return None

    def exact_sum(a):
        parts, count, special = np.empty(8), 0, 0.0
        for item in a:
            x = float(item)
            if not np.isfinite(x):
                special += x
                continue
            kept = 0
            for i in range(count):
                y = parts[i]
                if abs(x) < abs(y):
                    x, y = y, x
                high = x + y
                low = y - (high - x)
                if low != 0.0:
                    parts[kept] = low
                    kept += 1
                x = high
            if kept == len(parts):
                parts = np.append(parts, np.empty(kept))
            parts[kept] = x
            count = kept + 1
        if special != 0.0:
            return special
        total, low = 0.0, 0.0
        while count > 0 and low == 0.0:
            count -= 1
            high = total + parts[count]
            low = parts[count] - (high - total)
            total = high
        if count > 0 and ((low < 0.0) == (parts[count - 1] < 0.0)):
            twice = 2.0 * low
            high = total + twice
            if twice == high - total:
                total = high
        return total

    return exact_sum


@overload(bessel.sinc_slope)
def _sinc_slope(n, x):
    if _is_array(x):

        def slopes(n, x):
            out = np.empty(x.shape, x.dtype)
            for index, part in np.ndenumerate(x):
                out[index] = bessel.sinc_slope(n, part)
            return out

        return slopes

    def slope(n, x):
        z = math.pi * x
        found = 0.0
        if abs(z) < n + 2:
            for j in range(n + 30, (n - 1) // 2, -1):
                power = 2 * j - n
                found += (-1.0) ** j * z**power / (math.gamma(power + 1.0) * (2 * j + 1))
        else:
            found = math.sin(z) / z
            for k in range(1, n + 1):
                found = (math.sin(z + k * (math.pi / 2)) - k * found) / z
        return math.pi**n * found

    return slope


@overload(numbers.polygamma)
def _polygamma(n, x):
    if not _is_real(x):
        return None

    def polygamma(n, x):
        if (x <= 0 and x == math.floor(x)) or (n > 0 and x < -1000.0):
            return math.nan
        total = 0.0
        if x < -1000.0:
            total -= math.pi / math.tan(math.pi * x)
            x = 1.0 - x
        scale = math.gamma(n + 1.0)
        sign = 1.0 if n % 2 else -1.0
        while x < 15.0:
            total += sign * scale / x ** (n + 1)
            x += 1.0
        return total + _far(n, float(x))

    return polygamma


_BERNOULLI = numbers._BERNOULLI


@register_jitable
def _far(n, x):
    """Stirling's series and its derivatives."""
    if n == 0:
        total = math.log(x) - 0.5 / x
        for k in range(1, len(_BERNOULLI) + 1):
            total -= _BERNOULLI[k - 1] / (2 * k * x ** (2 * k))
        return total
    total = math.gamma(float(n)) / x**n + math.gamma(n + 1.0) / (2 * x ** (n + 1))
    for k in range(1, len(_BERNOULLI) + 1):
        total += _BERNOULLI[k - 1] * math.gamma(2.0 * k + n) / (math.gamma(2.0 * k + 1) * x ** (2 * k + n))
    return total if n % 2 else -total


_union = njit(sets.union)


@overload(sets.union)
def _union_of_sets(unions, a, b):
    if not (isinstance(a, types.Float) and isinstance(b, types.Float)):
        return None
    return lambda unions, a, b: _union(unions, float(a), float(b))


@overload(of_sets.either)
def _either(a, b):
    return (lambda a, b: a + b) if isinstance(a, types.Number) and isinstance(b, types.Number) else None


@overload(entries.place_in)
def _place_in(index, extent):
    return lambda index, extent: index + extent if index < 0 else index


@overload(entries.place_in_rows)
def _place_in_rows(row, column, rows, columns):
    return lambda row, column, rows, columns: (
        (row + rows if row < 0 else row) * columns + (column + columns if column < 0 else column)
    )


@overload(entries.start_of)
def _start_of(lower, extent):
    return lambda lower, extent: max(lower + extent, 0) if lower < 0 else min(lower, extent)


@overload(entries.put_entry)
def _put_entry(rows, cols, at, row, col):
    def put_entry(rows, cols, at, row, col):
        if at < len(rows):
            rows[at] = row
            cols[at] = col

    return put_entry


@overload(entries.put_store)
def _put_store(last, row, at):
    def put_store(last, row, at):
        last[row] = at

    return put_store
