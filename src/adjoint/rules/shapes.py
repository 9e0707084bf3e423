"""Types of the calls whose result has a shape that is an argument; examples seldom fit there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.runtime.array_functions import arrays, places, products, segments, sequences, sparse

_LIKE: dict[Any, int] = {
    **dict.fromkeys((arrays.undiff, arrays.unrepeat, arrays.untile, arrays.unpad, arrays.unpad_places), 1),
    **dict.fromkeys((arrays.scatter, arrays.scatter_take, arrays.scatter_along, arrays.reverse_cumsum), 1),
    **dict.fromkeys((arrays.place_diagonal, arrays.place_trace, arrays.undiag, places.unwindow, places.unstrided), 1),
    **dict.fromkeys((arrays.reshape_like, arrays.unrows, places.uninserted, segments.unreduceat), 1),
    places.insertions: 3,
    sequences.stacked_part: 3,
    **dict.fromkeys((products.kron_left, arrays.dot_left, arrays.tensordot_left, arrays.inner_left), 1),
    **dict.fromkeys((products.kron_right, arrays.dot_right, arrays.tensordot_right, arrays.inner_right), 2),
    products.cross_left: 1,
    products.cross_right: 2,
}
"""Functions of a cotangent that give what an argument is like, and which."""
_PARTS: dict[Any, int] = {
    sequences.concatenated_part: 3,
    **dict.fromkeys((sequences.rows_part, sequences.beside_part, sequences.columns_part), 2),
}
"""Those that give what one of several arguments is like, as the second argument tells, and where these begin."""


_MAKERS: dict[Any, int] = {np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2}
"""Functions that make arrays of a shape, and where they are given a dtype."""


_MOVERS: tuple[Any, ...] = (np.moveaxis, np.swapaxes, np.rollaxis)
"""Functions that give the axes of an array another order."""


_BY_METHODS: tuple[Any, ...] = (np.squeeze, np.transpose, np.moveaxis, np.swapaxes)
"""Functions that ask a number of NumPy's for itself, and make an array of one of Python's."""


_LEAST_RANKS: dict[Any, int] = {np.atleast_1d: 1, np.atleast_2d: 2, np.atleast_3d: 3}


def typed(fn: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> ir.Type | None:
    """The type of the result; None where this module knows nothing of ``fn``."""
    if fn in (np.reshape, np.broadcast_to, places.strided):
        shape = arguments[1] if len(arguments) > 1 else named.get("shape", named.get("newshape"))
        return _reshaped(arguments[0], shape) if arguments else None
    if fn in (places.all_but, places.repeated) and len(arguments) == 2:
        dims = ("any",) if fn is places.all_but else _dims(arguments[1])
        return ir.Array(np.dtype(np.intp), dims)
    if fn is np.ndarray.reshape:
        return _reshaped(arguments[0], arguments[1] if len(arguments) == 2 else arguments[1:])
    if fn in _BY_METHODS and arguments and isinstance(arguments[0], ir.Scalar):
        return arguments[0] if arguments[0].dtype is not None else ir.Number(has_no_axes=True)
    if fn in _LEAST_RANKS or fn is np.squeeze:
        return _with_other_rank(fn, arguments, named)
    if fn in (sparse.sparse_times, sparse.times_sparse):
        return _of_rank(arguments[0 if fn is sparse.times_sparse else 1])
    if fn in _MOVERS and any(isinstance(each, (ir.Opaque, ir.Number)) for each in (*arguments[1:], *named.values())):
        return _of_any_extents(arguments[0])
    if fn in _MAKERS and arguments:
        return _made(fn, arguments, named)
    place = model_of(fn, arguments) if callable(fn) else None
    return None if place is None or len(arguments) <= place else _alike(arguments[0], arguments[place])


def _with_other_rank(fn: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> ir.Type | None:
    """An array with further axes of extent 1, or without these, where it is known which they are."""
    if len(arguments) != 1 or named or not isinstance(arguments[0], ir.Array) or arguments[0].dims is None:
        return None
    dtype, dims = arguments[0].dtype, arguments[0].dims
    if fn is np.squeeze:
        return None if "any" in dims else ir.Array(dtype, tuple([dim for dim in dims if dim == "many"]))
    return ir.Array(dtype, dims) if len(dims) >= _LEAST_RANKS[fn] else None


def _of_rank(x: Any) -> ir.Type | None:
    """An array of the rank of another."""
    if not isinstance(x, ir.Array) or x.dims is None:
        return None
    return ir.Array(None, tuple(["any" for _ in x.dims]))


def _of_any_extents(x: Any) -> ir.Type | None:
    """An array as another, with its axes in an order that is not known."""
    if not isinstance(x, ir.Array) or x.dims is None:
        return None
    return ir.Array(x.dtype, tuple(["any" for _ in x.dims]))


def _made(fn: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> ir.Type | None:
    """An array of a shape with extents of which nothing is known, not even that they are numbers."""
    shape = arguments[0]
    if not isinstance(shape, ir.Tuple) or not any(isinstance(item, (ir.Opaque, ir.Number)) for item in shape.items):
        return None
    given = arguments[_MAKERS[fn]] if len(arguments) > _MAKERS[fn] else named.get("dtype")
    dtype = np.dtype(float) if given is None and fn is not np.full else None
    if isinstance(given, ir.Const) and isinstance(given.value, (type, np.dtype)):
        dtype = np.dtype(given.value)
    return ir.Array(dtype, _dims(shape))


def model_of(fn: Any, arguments: Sequence[Any]) -> int | None:
    """The place of the argument that the result of a function of a cotangent is like."""
    first = _PARTS.get(fn)
    if first is None or not isinstance(arguments[1], ir.Const):
        return _LIKE.get(fn)
    return first + int(arguments[1].value)


def _alike(cotangent: Any, model: Any) -> ir.Type | None:
    """An array of the shape of another, and of its dtype if the cotangent is of the same."""
    if isinstance(model, ir.Number):
        return model
    match cotangent, model:
        case ir.Array(dtype=given), ir.Array(dtype=dtype, dims=dims) if dims is not None:
            return ir.Array(dtype if dtype == given and dtype is not None and dtype.kind in "fc" else None, dims)
        case _:
            return None


def _reshaped(base: Any, shape: Any) -> ir.Type | None:
    dtype = _dtype(base)
    return None if dtype is None else ir.Array(dtype if dtype is not Ellipsis else None, _dims(shape))


def _dtype(base: Any) -> Any:
    """The dtype of an array made of ``base``; Ellipsis where it is not known."""
    match base:
        case ir.Array(dtype=dtype):
            return Ellipsis if dtype is None else dtype
        case ir.Scalar(kind=kind, dtype=dtype):
            return dtype or np.dtype(kind)
        case ir.List(element=ir.Scalar() as element):
            return _dtype(element)
        case ir.Number() | ir.List():
            return Ellipsis
        case _:
            return None


def _dims(shape: Any) -> tuple[ir.Dim, ...] | None:
    match shape:
        case ir.Const(value=tuple() | list() as extents):
            return tuple(_dim(extent) for extent in extents)
        case ir.Const(value=int() | np.integer() as extent):
            return (_dim(extent),)
        case ir.Tuple(items=items):
            return tuple(_dim(-1) for _ in items)
        case tuple():
            return tuple(_dim(part.value) if isinstance(part, ir.Const) else "any" for part in shape)
        case ir.Scalar():
            return ("any",)
        case _:
            return None


def _dim(extent: Any) -> ir.Dim:
    return "one" if extent == 1 else "any" if extent == -1 else "many"
