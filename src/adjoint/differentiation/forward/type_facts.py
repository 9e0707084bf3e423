"""What types tell of values: whether one has the shape and dtype of another, whether it may be complex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint.ir.types import Array, Number, Scalar, Type, may_vary


def place_of_number(type_: Type | None) -> Type | None:
    """The place of a linear argument: a whole number there has a zero tangent, too."""
    return type_ if may_vary(type_) or not isinstance(type_, (Scalar, Array)) else Number()


def same_kind(one: Type | None, other: Type) -> bool:
    """Whether values of two types surely have one dtype and shape."""
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return one.dtype == other.dtype
    if not (isinstance(one, Array) and isinstance(other, Array)):
        return False
    if one.dtype is None or one.dtype != other.dtype or one.dims is None or other.dims is None:
        return False
    pairs = zip(one.dims, other.dims, strict=False)  # one broadcasts to the other: an extent that is not 1 is the same
    return len(one.dims) == len(other.dims) and all(mine == "many" or theirs == "one" for mine, theirs in pairs)


def is_complex(type_: Type | None) -> bool:
    """Whether a value is known to be complex."""
    dtype = getattr(type_, "dtype", None)
    return (isinstance(type_, Scalar) and type_.kind == "complex") or (dtype is not None and dtype.kind == "c")


def may_be_complex(type_: Type | None) -> bool:
    """Whether a value is not known to be real."""
    return not isinstance(type_, (Scalar, Array)) or (isinstance(type_, Array) and type_.dtype is None)


def may_enlarge(passive: Type | None, seen: Sequence[Type | None]) -> bool:
    """Whether an argument may give the result a larger shape, or another dtype, than those that were seen."""
    if isinstance(passive, Scalar):
        if passive.dtype is None:
            return False
        return not any(isinstance(type_, (Array, Scalar)) and type_.dtype == passive.dtype for type_ in seen)
    if not isinstance(passive, Array) or passive.dims is None or passive.dtype is None:
        return True
    return not any(_covers(type_, passive) for type_ in seen)


def _covers(type_: Type | None, passive: Array) -> bool:
    if not isinstance(type_, Array) or type_.dims is None or passive.dims is None or type_.dtype is None:
        return False
    assert passive.dtype is not None
    if len(type_.dims) < len(passive.dims) or np.result_type(type_.dtype, passive.dtype) != type_.dtype:
        return False
    aligned = type_.dims[len(type_.dims) - len(passive.dims) :]
    return all(theirs == "one" or mine == "many" for mine, theirs in zip(aligned, passive.dims, strict=True))
