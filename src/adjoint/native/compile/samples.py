"""Values that show a compiler the type of what a list will hold."""

from __future__ import annotations

import numpy as np

from adjoint.ir.nodes import Atom, Call, Const, Statement, Var
from adjoint.ir.types import Array, List, Scalar, Type
from adjoint.runtime.lists import any_layout, no_items

_ZEROS = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}


def sample_of(type_: Type) -> tuple[Atom, list[Statement]] | None:
    """A value of a type, and what makes it; None where the type is not known well enough."""
    match type_:
        case Scalar(kind=kind, dtype=None):
            return Const(_ZEROS[kind]), []
        case Scalar(dtype=dtype) if dtype is not None:
            return Const(dtype.type(0)), []
        case Array(dtype=dtype, dims=dims) if dtype is not None and dims:
            array, sample = Var("sample", type_), Var("sample", type_)
            made = Call((array,), np.zeros, (Const((0,) * len(dims)), Const(dtype.type)))
            return sample, [made, Call((sample,), any_layout, (array,))]
        case List(element=element) if element is not None:
            inner = sample_of(element)
            if inner is None:
                return None
            item, statements = inner
            found = Var("sample", type_)
            return found, [*statements, Call((found,), no_items, (item,))]
        case _:
            return None
