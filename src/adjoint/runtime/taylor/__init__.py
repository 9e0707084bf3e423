"""Truncated Taylor series: the arithmetic with which ``ad.jet`` computes.

A series has coefficients ``c[n]``, the n-th derivative along a curve divided by ``n!``. Sums, products and quotients
have the recurrences of power series; any other function gets one from its own derivative: from ``y' = f'(x) x'``
follows ``n y[n]``, the coefficient ``n - 1`` of the right-hand side, which needs coefficients of ``y`` only up to
``n - 1``. So a function that has a rule needs nothing else, and k coefficients cost O(k**2).
"""
