"""The functions of the runtime that Numba knows, but for those of bundles: importing this module declares them."""

import adjoint.native.runtime.delayed_products
import adjoint.native.runtime.instructions
import adjoint.native.runtime.linear_systems
import adjoint.native.runtime.overloads.checks
import adjoint.native.runtime.overloads.indices
import adjoint.native.runtime.overloads.insertion
import adjoint.native.runtime.overloads.joining
import adjoint.native.runtime.overloads.linear_algebra
import adjoint.native.runtime.overloads.masks
import adjoint.native.runtime.overloads.numbers
import adjoint.native.runtime.overloads.places
import adjoint.native.runtime.overloads.products
import adjoint.native.runtime.overloads.slices
import adjoint.native.runtime.overloads.snapshots
import adjoint.native.runtime.overloads.sorting
import adjoint.native.runtime.overloads.sparse_products
import adjoint.native.runtime.overloads.strided_products
import adjoint.native.vectors.functions  # noqa: F401
