"""What types tell of values: whether one has the shape and dtype of another, whether it may be complex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint import ir


def place_of_number(type_: ir.Type | None) -> ir.Type | None:
    """The place of a linear argument: a whole number there has a zero tangent, too."""
    return type_ if ir.may_vary(type_) or not isinstance(type_, (ir.Scalar, ir.Array)) else ir.Number()


def same_kind(one: ir.Type | None, other: ir.Type) -> bool:
    """Whether values of two types surely have one dtype and shape."""
    if isinstance(one, ir.Scalar) and isinstance(other, ir.Scalar):
        return one.dtype == other.dtype
    if not (isinstance(one, ir.Array) and isinstance(other, ir.Array)):
        return False
    if one.dtype is None or one.dtype != other.dtype or one.dims is None or other.dims is None:
        return False
    pairs = zip(one.dims, other.dims, strict=False)  # one broadcasts to the other: an extent that is not 1 is the same
    return len(one.dims) == len(other.dims) and all(mine == "many" or theirs == "one" for mine, theirs in pairs)


def is_complex(type_: ir.Type | None) -> bool:
    """Whether a value is known to be complex."""
    dtype = getattr(type_, "dtype", None)
    return (isinstance(type_, ir.Scalar) and type_.kind == "complex") or (dtype is not None and dtype.kind == "c")


def may_be_complex(type_: ir.Type | None) -> bool:
    """Whether a value is not known to be real."""
    return not isinstance(type_, (ir.Scalar, ir.Array)) or (isinstance(type_, ir.Array) and type_.dtype is None)


def may_enlarge(passive: ir.Type | None, seen: Sequence[ir.Type | None]) -> bool:
    """Whether an argument may give the result a larger shape, or another dtype, than those that were seen."""
    if isinstance(passive, ir.Scalar):
        if passive.dtype is None:
            return False
        return not any(isinstance(type_, (ir.Array, ir.Scalar)) and type_.dtype == passive.dtype for type_ in seen)
    if not isinstance(passive, ir.Array) or passive.dims is None or passive.dtype is None:
        return True
    return not any(_covers(type_, passive) for type_ in seen)


def _covers(type_: ir.Type | None, passive: ir.Array) -> bool:
    if not isinstance(type_, ir.Array) or type_.dims is None or passive.dims is None or type_.dtype is None:
        return False
    assert passive.dtype is not None
    if len(type_.dims) < len(passive.dims) or np.result_type(type_.dtype, passive.dtype) != type_.dtype:
        return False
    aligned = type_.dims[len(type_.dims) - len(passive.dims) :]
    return all(theirs == "one" or mine == "many" for mine, theirs in zip(aligned, passive.dims, strict=True))
