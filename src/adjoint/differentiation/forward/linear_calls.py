"""Calls of functions that are linear, on tangents in place of what varies."""

from __future__ import annotations

from collections.abc import Sequence
from types import MethodDescriptorType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom


def called(builder: Builder, callee: Any, args: Sequence[ir.Atom], kwargs: dict[str, ir.Atom]) -> ir.Var:
    """Emits a call with one result; unlike ``Builder.call`` it takes keyword arguments of any name."""
    is_method = isinstance(callee, MethodDescriptorType) and issubclass(callee.__objclass__, (np.ndarray, np.generic))
    if is_method and not isinstance(type_of_atom(args[0]), ir.Array):
        args = (builder.call(np.positive, args[0]), *args[1:])  # Python's numbers have no methods of NumPy's
    (type_,) = builder.type_of_call(callee, args, tuple(kwargs.items()))
    target = ir.Var("t", type_)
    builder.emit(ir.Call((target,), callee, tuple(args), tuple(kwargs.items()), builder.span))
    return target
