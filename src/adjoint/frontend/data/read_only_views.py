"""Views that nobody may write: NumPy raises where somebody does, and programs may wait for that."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.places import users_frame
from adjoint.ir.join import is_array
from adjoint.ir.walk import is_view

_READ_ONLY = frozenset(map(id, (np.broadcast_to, sliding_window_view, np.diagonal, np.ndarray.diagonal)))
"""What gives such a view."""
_VIEWS = frozenset(
    map(
        id,
        (
            *(np.transpose, np.ndarray.transpose, np.swapaxes, np.ndarray.swapaxes, np.moveaxis, np.rollaxis),
            *(np.expand_dims, np.squeeze, np.ndarray.squeeze, np.flip, np.flipud, np.fliplr, np.rot90),
        ),
    )
)
"""What always gives a view of its first argument, which may be written if that may."""
_HELPS = ("write a copy: y = y.copy()",)


def note_view(lo: Lowerer, target: ir.Var, callee: Any, args: Sequence[ir.Atom], named: Sequence[Any]) -> None:
    """Takes down that a call gives a view that nobody may write.

    Where a definition of ours makes one, the function that it stands for may give one that somebody may write.
    """
    found = None
    if id(callee) in _READ_ONLY:
        is_asked_for = lo.frame is None or users_frame(lo.frame)[0] is lo.frame
        found = None if any(name == "writeable" for name, _ in named) else is_asked_for
    elif id(callee) in _VIEWS and args:
        found = is_read_only(lo, args[0])
    if found is not None and is_array(target):
        lo.read_only[target] = found


def is_read_only(lo: Lowerer, array: ir.Atom | None) -> bool | None:
    """Whether an array is surely a view that nobody may write; None where it is none."""
    while lo.read_only and isinstance(array, ir.Var):
        if array in lo.read_only:
            return lo.read_only[array]
        base, key = lo.origins.get(array, (None, None))
        is_part = key == ir.Attribute("T") or (isinstance(key, ir.Subscript) and is_view(key))
        array = base if is_part and base is not None and is_array(array) and is_array(base) else None
    return None


def stop_at_read_only(lo: Lowerer, array: ir.Var, node: ast.AST | None) -> None:
    """Ends with the exception that NumPy raises where such a view is written."""
    found = is_read_only(lo, array)
    if found:
        raise lo.mistake(ValueError, node, "assignment destination is read-only", helps=_HELPS)
    if found is not None:
        label = "this is written, and is a view that NumPy lets nobody write, or warns of"
        raise lo.problem("AD0303", node, label, helps=_HELPS)


def refuse_writable_again(lo: Lowerer, flags: ir.Atom, node: ast.AST | None) -> None:
    """Refuses that what is read as a view that nobody may write becomes one that somebody may."""
    array, key = lo.origins.get(flags, (None, None)) if isinstance(flags, ir.Var) else (None, None)
    if key == ir.Attribute("flags") and is_read_only(lo, array) is not None:
        raise lo.problem("AD0303", node, "this is made a view that may be written", helps=_HELPS)
