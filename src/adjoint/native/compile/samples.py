"""Values that show a compiler the type of what a list will hold."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.runtime.lists import any_layout, no_items

_ZEROS = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}


def sample_of(type_: ir.Type) -> tuple[ir.Atom, list[ir.Statement]] | None:
    """A value of a type, and what makes it; None where the type is not known well enough."""
    match type_:
        case ir.Scalar(kind=kind, dtype=None):
            return ir.Const(_ZEROS[kind]), []
        case ir.Scalar(dtype=dtype) if dtype is not None:
            return ir.Const(dtype.type(0)), []
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None and dims:
            array, sample = ir.Var("sample", type_), ir.Var("sample", type_)
            made = ir.Call((array,), np.zeros, (ir.Const((0,) * len(dims)), ir.Const(dtype.type)))
            return sample, [made, ir.Call((sample,), any_layout, (array,))]
        case ir.List(element=element) if element is not None:
            inner = sample_of(element)
            if inner is None:
                return None
            item, statements = inner
            found = ir.Var("sample", type_)
            return found, [*statements, ir.Call((found,), no_items, (item,))]
        case _:
            return None
