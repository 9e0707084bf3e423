"""What Numba is told of bundles: importing this module declares it, where sweeps of bundles are compiled."""

import adjoint.native.simd.overloads
import adjoint.native.simd.products
import adjoint.native.simd.rows_of_products  # noqa: F401
