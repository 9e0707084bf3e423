"""Assertions of ``numpy.testing``: they look at what they are handed, and raise where it is not as it should be."""

from __future__ import annotations

from numpy import testing

from adjoint.rules.declare import observer

observer(
    testing.assert_allclose,
    testing.assert_almost_equal,
    testing.assert_approx_equal,
    testing.assert_array_almost_equal,
    testing.assert_array_almost_equal_nulp,
    testing.assert_array_equal,
    testing.assert_array_less,
    testing.assert_array_max_ulp,
    testing.assert_equal,
    pure=False,
)
