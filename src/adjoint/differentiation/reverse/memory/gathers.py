"""What masks and integers pick out of arrays lies in memory of its own; what is put in another order does not."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom

REORDERED = (
    *(np.transpose, np.matrix_transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze),
    *(np.flip, np.fliplr, np.flipud, np.rot90, np.diagonal),
)
"""Functions that always give a view, without overlap."""


def is_gathered(load: ir.Load) -> bool:
    """Whether what is read from an array lies in memory of its own."""
    base, target = load.base, load.target
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not isinstance(target.type, ir.Array):
        return False
    return copies(load.key) is not False or base.type.storage.find() is not target.type.storage.find()


def copies(key: ir.Key) -> bool | None:
    """Whether an index has a mask or an array of integers in it; None where it is not known what is in it.

    A slice picks out a view, whatever its bounds are.
    """
    found: bool | None = False
    for atom in key.items if isinstance(key, ir.Subscript) else ():
        if isinstance(atom, ir.Slice):
            continue
        type_ = type_of_atom(atom)
        if isinstance(type_, (ir.Array, ir.List)) or (
            isinstance(atom, ir.Const) and isinstance(atom.value, (list, tuple))
        ):
            return True
        if isinstance(type_, ir.Scalar) and type_.kind == "bool":
            return True
        if isinstance(atom, ir.Var) and not isinstance(type_, ir.Scalar):
            found = None
    return found
