"""Checks of arithmetic, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import math

from numba.extending import overload, register_jitable

from adjoint.runtime import checks

_OUTSIDE = {
    name: register_jitable(condition) if condition is not math.isinf else register_jitable(lambda x: math.isinf(x))
    for name, condition in checks.OUTSIDE.items()
}


@overload(checks.check_divisor, prefer_literal=True)
def _check_divisor(divisor, message):
    text = message.literal_value

    def check_divisor(divisor, message):
        if divisor == 0:
            raise ZeroDivisionError(text)

    return check_divisor


@overload(checks.check_domain, prefer_literal=True)
def _check_domain(name, x):
    is_outside = _OUTSIDE[name.literal_value]

    def check_domain(name, x):
        if is_outside(x):
            raise ValueError("math domain error")

    return check_domain


@overload(checks.check_range)
def _check_range(x, y):
    def check_range(x, y):
        if math.isinf(y) and math.isfinite(x):
            raise OverflowError("math range error")

    return check_range
