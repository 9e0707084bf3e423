"""The type of what an index selects of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import ir

_NONE = ir.Const(None)


def type_of_item(base: ir.Type, key: ir.Subscript) -> ir.Type:
    """The type of ``base[key]`` for an array."""
    if not isinstance(base, ir.Array):
        return ir.Number()
    if any(isinstance(item, ir.Var) and isinstance(item.type, ir.Opaque | ir.Tuple | ir.Number) for item in key.items):
        return ir.Number()  # of whatever rank, a view or a copy
    if any(is_advanced(item) for item in key.items):
        return _advanced(base, key)
    if base.dims is None:
        return ir.Number() if _only_integers(key) else ir.Array(base.dtype, None, base.storage)
    given = sum(1 for item in key.items if not _is_none(item) and not _is_ellipsis(item))
    rest = list(base.dims)
    dims: list[ir.Dim] = []
    for item in key.items:
        if _is_none(item):
            dims.append("one")
        elif _is_ellipsis(item):
            kept = len(base.dims) - given
            dims.extend(rest[:kept])
            del rest[:kept]
        elif not rest:
            return ir.Number()  # too many indices: raises at run time
        elif isinstance(item, ir.Slice):
            extent = rest.pop(0)
            dims.append(extent if _is_full(item) else "any")
        else:
            rest.pop(0)
    dims.extend(rest)
    if not dims and not any(_is_ellipsis(item) for item in key.items):
        return scalar_of(base)
    return ir.Array(base.dtype, tuple(dims), base.storage)


def scalar_of(array: ir.Array) -> ir.Type:
    """The type of an element."""
    if array.dtype is None:
        return ir.Number()
    kind = ir.KINDS_OF_DTYPES.get(array.dtype.kind)
    return ir.Number() if kind is None else ir.Scalar(kind, array.dtype)


def _advanced(base: ir.Array, key: ir.Subscript) -> ir.Type:
    """With masks and integer arrays the result is fresh memory; its rank is learnt from an example."""
    if base.dims is None:
        return ir.Array(base.dtype, None)
    sample = np.zeros((3,) * len(base.dims))
    items = tuple(map(_example, key.items))
    if any(item is None for item in items):
        return ir.Array(base.dtype, None)
    try:
        result = sample[items]
    except (IndexError, TypeError, ValueError):
        return ir.Array(base.dtype, None)
    any_dims: tuple[ir.Dim, ...] = tuple("any" for _ in range(np.ndim(result)))
    return ir.Array(base.dtype, any_dims) if isinstance(result, np.ndarray) else scalar_of(base)


def _example(item: ir.Atom | ir.Slice) -> Any:
    match item:
        case ir.Slice():
            return slice(None)
        case ir.Const(value=value):
            return _constant_example(value)
        case ir.Var(type=ir.Array(dtype=dtype, dims=dims)):
            if dims is None:
                return None
            if dtype is not None and dtype.kind == "b":
                return np.ones((3,) * len(dims), bool)
            return np.zeros((3,) * len(dims), int)
        case ir.Var(type=ir.Scalar()):
            return 0
        case ir.Var(type=ir.List()):
            return np.zeros(3, int)
        case _:
            return None


def _constant_example(value: Any) -> Any:
    if isinstance(value, (tuple, list, np.ndarray)):
        return np.zeros(np.shape(value), int)
    return value if value is None or value is Ellipsis else 0


def is_advanced(item: ir.Atom | ir.Slice) -> bool:
    """Whether what an index with this item picks out may be a copy."""
    match item:
        case ir.Const(value=value):
            return isinstance(value, (tuple, list, np.ndarray, bool))
        case ir.Var(type=type_):
            return not (isinstance(type_, ir.Scalar) and type_.kind == "int")
        case _:
            return False


def _is_none(item: ir.Atom | ir.Slice) -> bool:
    return item == _NONE


def _is_ellipsis(item: ir.Atom | ir.Slice) -> bool:
    return isinstance(item, ir.Const) and item.value is Ellipsis


def _is_full(item: ir.Slice) -> bool:
    return item.lower == _NONE and item.upper == _NONE and item.step in (_NONE, ir.Const(-1))


def _only_integers(key: ir.Subscript) -> bool:
    return not any(isinstance(item, ir.Slice) or _is_none(item) or _is_ellipsis(item) for item in key.items)
