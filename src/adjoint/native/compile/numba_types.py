"""Types of the intermediate representation as types of Numba."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from adjoint import ir

_PYTHON = {"float": np.float64, "int": np.int64, "bool": np.bool_, "complex": np.complex128}


def numba_type(type_: ir.Type) -> Any:
    """The type of Numba for values of a type, arrays of any layout; None where there is none, or not just one."""
    from numba.core import types  # lazy

    match type_:
        case ir.Scalar():
            return _of_dtype(dtype_of(type_))
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None and dims is not None:
            element = _of_dtype(dtype)
            return None if element is None else types.Array(element, len(dims), "A")
        case ir.Tuple(items=items):
            parts = [numba_type(item) for item in items]
            return None if None in parts else types.Tuple(parts)  # type: ignore[no-untyped-call]
        case ir.List(element=element) if element is not None:
            part = numba_type(element)
            return None if part is None else types.List(part)  # type: ignore[no-untyped-call]
        case ir.Opaque(cls=builtins.str):
            return types.unicode_type
        case _:
            return None


def dtype_of(type_: ir.Scalar) -> np.dtype:
    """The dtype of a number."""
    return np.dtype(_PYTHON[type_.kind]) if type_.dtype is None else type_.dtype


def _of_dtype(dtype: np.dtype) -> Any:
    from numba.core.errors import NumbaError  # lazy
    from numba.np.numpy_support import from_dtype  # lazy

    try:
        return from_dtype(dtype)
    except NumbaError:
        return None


def declared_type(type_: ir.Type) -> str | None:
    """A type of a number, array or text as Numba reads it from a text; None where there is none."""
    match type_:
        case ir.Scalar():
            return _name(dtype_of(type_))
        case ir.Opaque(cls=builtins.str):
            return "unicode_type"
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None and dims is not None:
            name = _name(dtype)
            if name is None:
                return None
            return f"{name}[{', '.join([':'] * len(dims))}]" if dims else f"Array({name}, 0, 'C')"
        case _:
            return None


def _name(dtype: np.dtype) -> str | None:
    return None if dtype.kind not in "biufc" or dtype.itemsize > 16 else {"bool": "boolean"}.get(dtype.name, dtype.name)
