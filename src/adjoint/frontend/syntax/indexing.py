"""Indices of arrays: their form in the IR, and the type of what they select."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, SliceValue, TupleValue, Value
from adjoint.ir.nodes import Atom, Const, Slice, Subscript, Var
from adjoint.ir.types import KINDS_OF_DTYPES, Array, Dim, List, Number, Opaque, Scalar, Tuple, Type


def array_key(lo: Lowerer, index: Value, node: ast.AST | None) -> Subscript:
    """The subscript of an index expression."""
    match index:
        case TupleValue(items=items):
            return Subscript(tuple(_item(lo, item, node) for item in items), tupled=True)
        case Const(value=tuple() as constants):
            return Subscript(tuple(Const(constant) for constant in constants), tupled=True)
        case Var(type=List(is_tuple=True)):
            return Subscript((lo.open.call(tuple, index),))
        case _:
            return Subscript((_item(lo, index, node),))


def _item(lo: Lowerer, item: Value, node: ast.AST | None) -> Atom | Slice:
    match item:
        case SliceValue(lower=lower, upper=upper, step=step):
            return Slice(lower, upper, step)
        case Const(value=slice() as constant):
            return Slice(Const(constant.start), Const(constant.stop), Const(constant.step))
    return materialize(lo, item, node)


def type_of_item(base: Type, key: Subscript) -> Type:
    """The type of ``base[key]`` for an array."""
    if not isinstance(base, Array):
        return Number()
    if any(isinstance(item, Var) and isinstance(item.type, Opaque | Tuple | Number) for item in key.items):
        return Number()  # of whatever rank, a view or a copy
    if any(is_advanced(item) for item in key.items):
        return _advanced(base, key)
    if base.dims is None:
        return Number() if _only_integers(key) else Array(base.dtype, None, base.storage)
    given = sum(1 for item in key.items if not _is_none(item) and not _is_ellipsis(item))
    rest = list(base.dims)
    dims: list[Dim] = []
    for item in key.items:
        if _is_none(item):
            dims.append("one")
        elif _is_ellipsis(item):
            kept = len(base.dims) - given
            dims.extend(rest[:kept])
            del rest[:kept]
        elif not rest:
            return Number()  # too many indices: raises at run time
        elif isinstance(item, Slice):
            extent = rest.pop(0)
            dims.append(extent if _is_full(item) else "any")
        else:
            rest.pop(0)
    dims.extend(rest)
    if not dims and not any(_is_ellipsis(item) for item in key.items):
        return scalar_of(base)
    return Array(base.dtype, tuple(dims), base.storage)


def scalar_of(array: Array) -> Type:
    """The type of an element."""
    if array.dtype is None:
        return Number()
    kind = KINDS_OF_DTYPES.get(array.dtype.kind)
    return Number() if kind is None else Scalar(kind, array.dtype)


def _advanced(base: Array, key: Subscript) -> Type:
    """With masks and integer arrays the result is fresh memory; its rank is learnt from an example."""
    if base.dims is None:
        return Array(base.dtype, None)
    sample = np.zeros((3,) * len(base.dims))
    items: list[Any] = []
    axis = 0
    for item in key.items:
        example = _example(item, len(base.dims) - axis)
        if example is None:
            return Array(base.dtype, None)
        consumed = 0 if _is_none(item) else (example.ndim if getattr(example, "dtype", None) == np.bool_ else 1)
        axis += consumed
        items.append(example)
    try:
        result = sample[tuple(items)]
    except (IndexError, TypeError, ValueError):
        return Array(base.dtype, None)
    any_dims: tuple[Dim, ...] = tuple("any" for _ in range(np.ndim(result)))
    return Array(base.dtype, any_dims) if isinstance(result, np.ndarray) else scalar_of(base)


def _example(item: Atom | Slice, rank_left: int) -> Any:
    match item:
        case Slice():
            return slice(None)
        case Const(value=value):
            return _constant_example(value)
        case Var(type=Array(dtype=dtype, dims=dims)):
            if dims is None:
                return None
            if dtype is not None and dtype.kind == "b":
                return np.ones((3,) * len(dims), bool)
            return np.zeros((3,) * len(dims), int)
        case Var(type=Scalar()):
            return 0
        case Var(type=List()):
            return np.zeros(3, int)
        case _:
            return None


def _constant_example(value: Any) -> Any:
    if isinstance(value, (tuple, list, np.ndarray)):
        return np.zeros(np.shape(value), int)
    return value if value is None or value is Ellipsis else 0


def is_advanced(item: Atom | Slice) -> bool:
    """Whether what an index with this item picks out may be a copy."""
    match item:
        case Const(value=value):
            return isinstance(value, (tuple, list, np.ndarray, bool))
        case Var(type=type_):
            return not (isinstance(type_, Scalar) and type_.kind == "int")
        case _:
            return False


def _is_none(item: Atom | Slice) -> bool:
    return item == NONE


def _is_ellipsis(item: Atom | Slice) -> bool:
    return isinstance(item, Const) and item.value is Ellipsis


def _is_full(item: Slice) -> bool:
    return item.lower == NONE and item.upper == NONE and (item.step in (NONE, Const(-1)))


def _only_integers(key: Subscript) -> bool:
    return not any(isinstance(item, Slice) or _is_none(item) or _is_ellipsis(item) for item in key.items)
