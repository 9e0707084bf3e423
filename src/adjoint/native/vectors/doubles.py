"""What doubles are made of: an exponent, a mantissa and a sign."""

from __future__ import annotations

MANTISSA = 52
BIAS = 1023
ROUNDING = 1.5 * 2.0**MANTISSA
"""A double so large that what is added to it is rounded to a whole number, found in its lowest bits."""

SIGN = 1 << 63
