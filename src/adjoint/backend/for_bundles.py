"""What Numba is told of bundles: importing this module declares it, where sweeps of bundles are compiled."""

import adjoint.backend.overloads_of_bundles
import adjoint.backend.products_of_bundles
import adjoint.backend.rows_of_products  # noqa: F401
