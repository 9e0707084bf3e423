"""The functions of the runtime that Numba knows, but for those of bundles: importing this module declares them."""

import adjoint.backend.instructions
import adjoint.backend.overloads_of_checks
import adjoint.backend.overloads_of_indices
import adjoint.backend.overloads_of_insertion
import adjoint.backend.overloads_of_itertools
import adjoint.backend.overloads_of_joining
import adjoint.backend.overloads_of_linalg
import adjoint.backend.overloads_of_masks
import adjoint.backend.overloads_of_numbers
import adjoint.backend.overloads_of_order
import adjoint.backend.overloads_of_parts
import adjoint.backend.overloads_of_places
import adjoint.backend.overloads_of_products
import adjoint.backend.overloads_of_snapshots
import adjoint.backend.overloads_of_sparse_products
import adjoint.backend.vector_math  # noqa: F401
