"""The kinds of values that types of the IR tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.llvm.values import (
    ArrayKind,
    Complex,
    Kind,
    ListKind,
    Number,
    TupleKind,
    Unsupported,
    Value,
    kind_of,
    width_of,
)

_DECLARED = {"float": "f8", "int": "i8", "bool": "b1", "complex": "c8"}


def declared_kind(key: Any, value: Value) -> Kind | None:
    """The kind that a variable is declared to have, of a number."""
    found = getattr(key, "type", None)
    if not isinstance(found, ir.Scalar) or not isinstance(value, (Number, Complex)):
        return None
    if found.kind == "complex" or isinstance(value, Complex):
        return "c8" if found.kind == "complex" and found.dtype != np.complex64 else None
    if found.dtype is not None and found.dtype not in (np.float64, np.int64, np.bool_):
        return None
    wanted = _DECLARED.get(found.kind)
    if width_of(value.kind):
        return None
    if wanted is None or (value.kind[0] == "f" and wanted != "f8"):
        return None
    return wanted


def kind_of_type(found: ir.Type | None) -> Kind:
    """The kind of values of a type that is known, as far as one can guess."""
    match found:
        case ir.Scalar(kind=name, dtype=dtype):
            return _DECLARED[name] if dtype is None else kind_of(dtype)
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None and dims is not None:
            return ArrayKind(kind_of(dtype), len(dims), True)
        case ir.List(element=element):
            return ListKind(None if element is None else kind_of_type(element))
        case ir.Tuple(items=items):
            return TupleKind(tuple(map(kind_of_type, items)))
    raise Unsupported("a value that is not there yet")
