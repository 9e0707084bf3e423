"""Functions that are made of several steps for each element."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.native.fusion.nodes.complexes import is_complex
from adjoint.native.fusion.nodes.recipes import REDUCTIONS, converted, is_number
from adjoint.native.fusion.nodes.terms import START, Axis, Dims, Extent, Place
from adjoint.native.fusion.nodes.views import View
from adjoint.native.fusion.scalars import DTYPES, Scalars, dtype_of_target, rank_of
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import arrays

if TYPE_CHECKING:
    from adjoint.native.fusion.nodes.recognize import Recognizer

_NONE, _FALSE, _ZERO = ir.Const(None), ir.Const(False), ir.Const(0)
_TRUTH = np.dtype(np.bool_)


def reduction_of(callee: Any) -> Any:
    """The reader of calls of a reduction."""
    combine, start, needs_some = REDUCTIONS[callee]

    def reduction(
        reader: Recognizer, target: ir.Var, x: ir.Atom, axis: ir.Atom = _NONE, keepdims: ir.Atom = _FALSE
    ) -> bool:
        axes = reader.reduced_axes(x, axis)
        if axes is None or not isinstance(keepdims, ir.Const) or not _is_flag(keepdims) or not is_number(x):
            return False
        dtype = dtype_of_target(target)
        if is_complex(x) and (callee is not np.sum or dtype.kind != "c"):
            return False
        given = x.type.dtype if isinstance(x, ir.Var) and isinstance(x.type, ir.Array) else None
        if dtype.kind == "b" and (callee not in (np.any, np.all) or given != dtype):
            return False
        shape = reader.shapes.of(x) or ()
        for place in axes if needs_some else ():
            extent = shape[place]
            if extent is not None:
                reader.shapes.require_some(extent, reader.order)
        return reader.reduce(target, x, axes, keepdims.value, combine, _start(start, dtype))

    return reduction


def _start(start: float, dtype: np.dtype) -> float:
    """What to start with: infinity is the last of the whole numbers."""
    if dtype.kind != "i" or not np.isinf(start):
        return start
    limits = np.iinfo(dtype)
    return int(limits.min if start < 0 else limits.max)


def _mean(
    reader: Recognizer,
    target: ir.Var,
    x: ir.Atom,
    axis: ir.Atom = _NONE,
    dtype: ir.Atom = _NONE,
    keepdims: ir.Atom = _FALSE,
) -> bool:
    axes = reader.reduced_axes(x, axis)
    if axes is None or dtype != _NONE or not _is_flag(keepdims) or not _can_hold(target, x) or not _is_float(target):
        return False
    return _averaged(reader, target, x, axes, keepdims)


def _averaged(
    reader: Recognizer, target: ir.Var, x: ir.Atom, axes: frozenset[int], keepdims: ir.Atom, less: int = 0
) -> bool:
    """The sum over some axes, divided by how many elements it is of, less some."""
    total, shape, kind = ir.Var("total", target.type), reader.shapes.of(x), dtype_of_target(target)
    if not reader.reduce(total, x, axes, keepdims == ir.Const(True), fused_loops.plus, 0):
        return False
    assert shape is not None
    counted = [extent for place, extent in enumerate(shape) if place in axes and extent is not None]

    def recipe(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
        count = _product(scalars, parts[1:])
        if less:
            count = scalars.call(operator.sub, count, ir.Const(less), type=ir.INT, hint="n")
            count = scalars.call(max, count, ir.Const(0), type=ir.INT, hint="n")  # else of the other sign
        count = scalars.cast(count, kind)
        return scalars.of_dtype(operator.truediv, scalars.cast(parts[0], kind), count, dtype=kind)

    return reader.spread(target, reader.shapes.of(total) or (), [total, *counted], recipe, 5)


def _variance(
    reader: Recognizer,
    target: ir.Var,
    x: ir.Atom,
    axis: ir.Atom = _NONE,
    dtype: ir.Atom = _NONE,
    out: ir.Atom = _NONE,
    ddof: ir.Atom = _ZERO,
    keepdims: ir.Atom = _FALSE,
) -> bool:
    """The mean square of what is left of ``x`` without its mean, in two passes, as NumPy computes it."""
    axes, shape = reader.reduced_axes(x, axis), reader.shapes.of(x)
    if axes is None or not shape or (dtype, out) != (_NONE, _NONE) or is_complex(x) or not _is_flag(keepdims):
        return False
    less, kind = getattr(ddof, "value", None), dtype_of_target(target)
    if type(less) is not int or not isinstance(x, ir.Var) or not isinstance(x.type, ir.Array) or x.type.dtype != kind:
        return False
    kept = tuple(None if place in axes else extent for place, extent in enumerate(shape))
    mean, left = ir.Var("mean", _typed(target, kept)), ir.Var("left", _typed(target, shape))
    square = ir.Var("square", left.type)
    if not _mean(reader, mean, x, axis, keepdims=ir.Const(True)) or not reader.map(left, np.subtract, (x, mean)):
        return False
    return reader.map(square, np.multiply, (left, left)) and _averaged(reader, target, square, axes, keepdims, less)


def _deviation(reader: Recognizer, target: ir.Var, x: ir.Atom, *args: ir.Atom, **named: ir.Atom) -> bool:
    variance = ir.Var("variance", target.type)
    return _variance(reader, variance, x, *args, **named) and reader.map(target, np.sqrt, (variance,))


def _product(scalars: Scalars, parts: Sequence[ir.Atom]) -> ir.Atom:
    result: ir.Atom = ir.Const(1)
    for part in parts:
        result = part if result == ir.Const(1) else scalars.call(operator.mul, result, part, type=ir.INT, hint="n")
    return result


def _size(reader: Recognizer, target: ir.Var, x: ir.Atom, axis: ir.Atom = _NONE) -> bool:
    """How many elements there are, along some axes."""
    axes = reader.reduced_axes(x, axis)
    shape = reader.shapes.of(x)
    if axes is None or shape is None:
        return False
    counted = [extent for place, extent in enumerate(shape) if place in axes and extent is not None]
    return reader.spread(target, (), counted, _product, 0)


def _length(reader: Recognizer, target: ir.Var, x: ir.Atom) -> bool:
    return isinstance(x, ir.Var) and isinstance(x.type, ir.Array) and _size(reader, target, x, ir.Const(0))


def _spread(
    reader: Recognizer, target: ir.Var, ct: ir.Atom, x: ir.Atom, axis: ir.Atom = _NONE, keepdims: ir.Atom = _FALSE
) -> bool:
    dims = reader.shapes.of(x)
    if not dims or not _can_hold(target, ct):
        return False
    restored = _restored(reader, ct, x, axis, keepdims)
    return restored is not None and reader.spread(target, dims, [restored], converted(dtype_of_target(target)), 0)


def _restored(reader: Recognizer, reduced: ir.Atom, x: ir.Atom, axis: ir.Atom, keepdims: ir.Atom) -> ir.Atom | None:
    """A reduction of ``x`` with the axes that it lost."""
    shape, dims, axes = reader.shapes.of(reduced), reader.shapes.of(x), reader.reduced_axes(x, axis)
    if shape is None or dims is None or axes is None or not _is_flag(keepdims):
        return None
    if not shape:
        return reduced
    kept = [place for place in range(len(dims)) if place not in axes]
    if keepdims == ir.Const(True):
        if len(shape) != len(dims):
            return None
        kept = list(range(len(dims)))
        shape = tuple(None if place in axes else extent for place, extent in enumerate(shape))
    if len(shape) != len(kept) or not isinstance(reduced, ir.Var) or not isinstance(reduced.type, ir.Array):
        return None
    for extent, place in zip(shape, kept, strict=True):
        theirs = dims[place]
        if extent is not None and theirs is None:
            return None
        if extent is not None and theirs is not None:
            reader.shapes.equate(theirs, extent, reader.order)
    own = [None if extent is None else Axis(extent) for extent in shape]
    by_place: dict[int, tuple[Axis | None, Extent | None]] = dict(zip(kept, zip(own, shape, strict=True), strict=True))
    axes_of = tuple(by_place.get(place, (None, None))[0] for place in range(len(dims)))
    extents = tuple(by_place.get(place, (None, None))[1] for place in range(len(dims)))
    view = ir.Var(reduced.hint, ir.Array(reduced.type.dtype, tuple("one" if e is None else "any" for e in extents)))
    places = tuple(START if part is None else Place(part) for part in own)
    reader.add_view(view, View(reduced, axes_of, places, extents))
    return view


def _unbroadcast(reader: Recognizer, target: ir.Var, ct: ir.Atom, like: ir.Atom) -> bool:
    shape, dims = reader.shapes.of(ct), reader.shapes.of(like)
    if not shape or dims is None or not _can_hold(target, ct) or len(shape) < len(dims) or rank_of(target) != len(dims):
        return False
    extra = len(shape) - len(dims)
    summed = set(range(extra))
    for place, (mine, theirs) in enumerate(zip(shape[extra:], dims, strict=True)):
        if theirs is None and mine is not None:
            summed.add(extra + place)
        elif theirs is not None and (mine is None or mine.find() is not theirs.find()):
            if mine is None or mine.may_be_one or theirs.may_be_one:
                return False
            reader.shapes.equate(theirs, mine, reader.order)
    recipe = converted(dtype_of_target(target))
    if not summed:
        return reader.spread(target, dims, [ct], recipe, 0)
    total: ir.Var = target
    if dims and extra:  # sums keep the axes of extent 1 that are summed, or drop all that are
        total = ir.Var(target.hint, _typed(target, (None,) * extra + dims))
    if not reader.reduce(total, ct, frozenset(summed), bool(dims), fused_loops.plus, 0):
        return False
    if total is target:
        return True
    own = tuple(None if extent is None else Axis(extent) for extent in dims)
    places = (START,) * extra + tuple(START if part is None else Place(part) for part in own)
    view = ir.Var(target.hint, _typed(target, dims))
    reader.add_view(view, View(total, own, places, dims))
    return reader.spread(target, dims, [view], recipe, 0)


def _typed(like: ir.Var, dims: Dims, dtype: np.dtype | None = None) -> ir.Type:
    return ir.Array(dtype or dtype_of_target(like), tuple("one" if extent is None else "any" for extent in dims))


def _match(reader: Recognizer, target: ir.Var, x: ir.Atom, like: ir.Atom) -> bool:
    shape, dims = reader.shapes.of(x), reader.shapes.of(like)
    if not dims or shape is None or len(shape) > len(dims) or not _can_hold(target, x):
        return False
    for mine, theirs in zip(shape, dims[len(dims) - len(shape) :], strict=True):
        if mine is not None and (theirs is None or mine.find() is not theirs.find()):
            return False
    return reader.spread(target, dims, [x], converted(dtype_of_target(target)), 0)


def _share(
    reader: Recognizer,
    target: ir.Var,
    ct: ir.Atom,
    y: ir.Atom,
    x: ir.Atom,
    axis: ir.Atom = _NONE,
    keepdims: ir.Atom = _FALSE,
) -> bool:
    dims, axes = reader.shapes.of(x), reader.reduced_axes(x, axis)
    if not dims or axes is None or not all(_can_hold(target, part) for part in (ct, y, x)) or is_complex(x):
        return False
    extremes, cotangents = (_restored(reader, part, x, axis, keepdims) for part in (y, ct))
    if extremes is None or cotangents is None:
        return False
    attained = ir.Var("attained", _typed(target, dims, _TRUTH))
    if not reader.map(attained, operator.eq, (x, extremes)):
        return False
    kept = tuple(None if place in axes else extent for place, extent in enumerate(dims))
    count = ir.Var("count", _typed(target, kept, np.dtype(np.int64)))
    share = ir.Var("share", _typed(target, kept, np.dtype(np.float64)))
    if not reader.reduce(count, attained, axes, True, fused_loops.plus, 0):
        return False
    dtype = dtype_of_target(target)
    return reader.spread(share, kept, [count], _inverse, 5) and reader.spread(
        target, dims, [attained, share, cotangents], _share_of(dtype), 2
    )


_DOUBLE = np.dtype(np.float64)


def _inverse(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
    count = scalars.call(max, *parts, ir.Const(1), type=ir.INT, hint="n")
    return scalars.of_dtype(operator.truediv, ir.Const(1.0), scalars.cast(count, _DOUBLE), dtype=_DOUBLE)


def _share_of(dtype: np.dtype) -> Any:
    def recipe(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
        attained, share, ct = parts
        part = scalars.choose(attained, share, ir.Const(0.0), _DOUBLE)
        return scalars.cast(scalars.of_dtype(operator.mul, part, scalars.cast(ct, _DOUBLE), dtype=_DOUBLE), dtype)

    return recipe


def _filled(value: float) -> Any:
    def fill(reader: Recognizer, target: ir.Var, x: ir.Atom) -> bool:
        dims = reader.shapes.of(x)
        if not dims or reader.aliases.is_written(target):
            return False
        return reader.spread(target, dims, [ir.Const(value)], converted(dtype_of_target(target)), 0)

    return fill


def _empty_sum(reader: Recognizer, target: ir.Var, a: ir.Atom, b: ir.Atom) -> bool:
    """The extents of a sum. Nobody reads the elements: none of ``a`` and ``b`` is read for them."""
    shapes = [reader.shapes.of(x) for x in (a, b)]
    known = [shape for shape in shapes if shape]
    if len(known) < 2 or reader.aliases.is_written(target):
        return False
    dims = reader.shapes.broadcast(known, reader.order)
    return reader.spread(target, dims, [ir.Const(0.0)], converted(dtype_of_target(target)), 0)


def _shape_only(reader: Recognizer, target: ir.Var, x: ir.Atom) -> bool:
    dims = reader.shapes.of(x)
    return bool(dims) and reader.hollow(target, dims)  # type: ignore[arg-type]


def _astype(reader: Recognizer, target: ir.Var, x: ir.Atom, dtype: ir.Atom, copy: ir.Atom = _NONE) -> bool:
    dims = reader.shapes.of(x)
    if not dims or not _can_hold(target, x) or dtype_of_target(target) not in DTYPES or not isinstance(dtype, ir.Const):
        return False
    given = x.type.dtype if isinstance(x, ir.Var) and isinstance(x.type, ir.Array) else None
    if given is None or (given.kind == "f" and dtype_of_target(target).kind not in "fc"):
        return False
    return reader.spread(target, dims, [x], converted(dtype_of_target(target)), 1)


def _copy(reader: Recognizer, target: ir.Var, x: ir.Atom) -> bool:
    dims = reader.shapes.of(x)
    if not dims or not _can_hold(target, x):
        return False
    return reader.spread(target, dims, [x], converted(dtype_of_target(target)), 0)


def _clip(reader: Recognizer, target: ir.Var, x: ir.Atom, low: ir.Atom = _NONE, high: ir.Atom = _NONE) -> bool:
    if low == _NONE or high == _NONE:
        if low == _NONE and high == _NONE:
            return False
        return reader.map(target, np.minimum if low == _NONE else np.maximum, (x, high if low == _NONE else low))
    raised = ir.Var("raised", target.type)
    return reader.map(raised, np.maximum, (x, low)) and reader.map(target, np.minimum, (raised, high))


def _outer(reader: Recognizer, target: ir.Var, a: ir.Atom, b: ir.Atom) -> bool:
    shape = reader.shapes.of(a)
    if shape is None or len(shape) != 1 or len(reader.shapes.of(b) or ()) != 1:
        return False
    assert isinstance(a, ir.Var) and isinstance(a.type, ir.Array)
    own = None if shape[0] is None else Axis(shape[0])
    column = ir.Var(a.hint, _typed(a, (*shape, None)))
    reader.add_view(column, View(a, (own, None), (START if own is None else Place(own),), (*shape, None)))
    return reader.map(target, np.multiply, (column, b))


def _roll(reader: Recognizer, target: ir.Var, x: ir.Atom, shift: ir.Atom, axis: ir.Atom = _NONE) -> bool:
    """Elements from elsewhere along some axes, by shifts that are known."""
    dims = reader.shapes.of(x)
    if not dims or not _can_hold(target, x) or not isinstance(shift, ir.Const) or not isinstance(axis, ir.Const):
        return False
    if axis == _NONE:
        axis = ir.Const(0) if len(dims) == 1 else axis
    shifts, axes = (part.value if isinstance(part.value, tuple) else (part.value,) for part in (shift, axis))
    if len(shifts) != len(axes) or not all(type(part) is int for part in (*shifts, *axes)):
        return False
    if not all(-len(dims) <= place < len(dims) for place in axes):
        return False
    offsets = [0] * len(dims)
    for by, place in zip(shifts, axes, strict=True):
        offsets[place] -= by
    assert isinstance(x, ir.Var) and isinstance(x.type, ir.Array)
    own = tuple(None if extent is None else Axis(extent) for extent in dims)
    places = tuple(
        START if part is None else Place(part, offset, wrap=part.extent if offset else None)
        for part, offset in zip(own, offsets, strict=True)
    )
    rolled = ir.Var(x.hint, _typed(target, dims))
    reader.add_view(rolled, View(x, own, places, dims))
    return reader.spread(target, dims, [rolled], converted(dtype_of_target(target)), 0)


def _is_flag(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) is bool


def _is_float(target: ir.Var) -> bool:
    return dtype_of_target(target).kind in "fc"


def _can_hold(target: ir.Var, x: ir.Atom) -> bool:
    """Whether elements of ``x`` become those of ``target`` without a loss: real parts are not taken in silence."""
    return is_number(x) and (dtype_of_target(target).kind == "c" or not is_complex(x))


COMPOSITES: dict[Any, Any] = {
    np.mean: _mean,
    np.var: _variance,
    np.std: _deviation,
    np.size: _size,
    arrays.count: _size,
    len: _length,
    arrays.spread: _spread,
    arrays.unbroadcast: _unbroadcast,
    arrays.match: _match,
    arrays.share: _share,
    arrays.zeros_like: _filled(0.0),
    arrays.zeros_in_memory: _filled(0.0),
    arrays.empty_sum: _empty_sum,
    arrays.shape_only: _shape_only,
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.ndarray.astype: _astype,
    np.copy: _copy,
    np.ndarray.copy: _copy,
    np.clip: _clip,
    np.outer: _outer,
    np.roll: _roll,
}
"""Each reads one call; False where the call has to stay as it is."""
