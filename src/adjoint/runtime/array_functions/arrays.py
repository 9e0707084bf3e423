"""What derivatives of array functions are made of: undoing broadcasting, reductions, products and permutations.

Each of them has a rule of its own, so that derivatives can be differentiated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Axis = int | tuple[int, ...] | None


def unbroadcast(ct: Any, like: Any) -> Any:
    """Sums ``ct`` to the shape of ``like`` and gives it the kind of ``like``: dtype, or Python number."""
    if isinstance(like, np.ndarray):
        if isinstance(ct, np.ndarray) and ct.shape == like.shape:
            return ct if ct.dtype == like.dtype else _cast(ct, like.dtype)
        return _cast(_sum_to(np.asarray(ct), like.shape), like.dtype)
    if isinstance(ct, np.ndarray):
        ct = ct.sum()
    if isinstance(like, np.generic):
        return ct if type(ct) is type(like) else _cast(np.asarray(ct), like.dtype)[()]
    if isinstance(like, complex):
        return complex(ct)
    return float(ct.real if isinstance(ct, (complex, np.complexfloating)) else ct)


def _sum_to(ct: Any, shape: tuple[int, ...]) -> Any:
    extra = ct.ndim - len(shape)
    if extra < 0:
        return np.broadcast_to(ct, shape).copy()
    if ct.shape[extra:] == shape:  # the common case: a bias that was added to each row
        return np.asarray(np.add.reduce(ct, axis=0 if extra == 1 else tuple(range(extra)))) if extra else ct
    repeated = [extra + axis for axis, extent in enumerate(shape) if extent == 1 and ct.shape[extra + axis] != 1]
    summed = ct.sum(axis=(*range(extra), *repeated), keepdims=True) if extra or repeated else ct
    summed = np.reshape(summed, summed.shape[extra:])
    return summed if summed.shape == shape else np.broadcast_to(summed, shape).copy()


def _cast(ct: Any, dtype: Any) -> Any:
    real = ct.real if ct.dtype.kind == "c" and dtype.kind != "c" else ct
    return real.astype(dtype if dtype.kind in "fc" else np.float64, copy=False)


def match(x: Any, like: Any) -> Any:
    """``x`` broadcast to the shape of ``like`` and in its kind: the transpose of :func:`unbroadcast`."""
    if isinstance(like, np.ndarray):
        if isinstance(x, np.ndarray) and x.shape == like.shape and x.dtype == like.dtype:
            return x
        out = np.empty(like.shape, like.dtype if like.dtype.kind in "fc" else np.float64)
        out[...] = x if out.dtype.kind == "c" else np.real(x)
        return out
    return unbroadcast(x, like)


def zeros_like(x: Any) -> Any:
    """A zero for every number in ``x``, of a kind that derivatives can have, and laid out as they are."""
    if isinstance(x, np.ndarray):
        dtype = x.dtype if x.dtype.kind in "fc" else np.float64
        return np.zeros(x.shape, dtype) if x.flags.c_contiguous else _turned(np.zeros_like(x, dtype, subok=False), x)
    if isinstance(x, np.inexact):
        return type(x)(0)
    return 0j if isinstance(x, complex) else 0.0


def zeros_in_memory(x: Any) -> Any:
    """The same as an array, that can be added to: what is of an unknown rank may turn out to be a number of NumPy's."""
    return np.asarray(zeros_like(x))


def empty_as(x: Any) -> Any:
    """A new array whose elements lie as those of ``x`` do, also backwards; gaps between them are closed."""
    return _turned(np.empty_like(x, subok=False), x)


def zeros_as(x: Any) -> Any:
    """The same of zeros."""
    return _turned(np.zeros_like(x, subok=False), x)


def _turned(new: Any, x: Any) -> Any:
    """An array laid out like ``x``, of which NumPy makes every stride positive, with the strides' signs."""
    if min(x.strides, default=0) >= 0:
        return new
    return new[tuple(slice(None, None, -1 if stride < 0 else None) for stride in x.strides)]


def fitted(x: Any, like: Any) -> Any:
    """``x`` cut, or padded with zeros, to the shape of ``like``, and in its kind."""
    if np.shape(x) == np.shape(like):
        return match(x, like)
    out = zeros_like(np.asarray(like))
    common = tuple(slice(min(extents)) for extents in zip(out.shape, np.shape(x), strict=True))
    out[common] = x[common] if out.dtype.kind == "c" else np.real(x[common])
    return out


def spread(ct: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The cotangent of a sum of ``x`` over ``axis``, repeated for every summand."""
    if not isinstance(x, np.ndarray):
        return unbroadcast(ct, x)
    out = np.empty(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(ct, float):
        out.fill(ct)
    else:
        out[...] = _real_part(restore_axes(ct, x, axis, keepdims), out.dtype)
    return out


def _real_part(x: Any, dtype: Any) -> Any:
    return x if dtype.kind == "c" else np.real(x)


def empty_product(a: Any, b: Any) -> Any:
    """An array of the shape and dtype of ``a @ b``, with nothing in it: for what is asked only for its shape.

    Raises
    ------
    ValueError
        If the product would: the inner extents differ.

    >>> import numpy as np
    >>> empty_product(np.ones((2, 3)), np.ones(3)).shape
    (2,)
    """
    inner = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if a.shape[-1] != inner:
        raise ValueError(f"matmul: the inner extents of {a.shape} and {b.shape} differ")
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.empty(outer + a.shape[-2:-1] + (b.shape[-1:] if b.ndim > 1 else ()), np.result_type(a, b))


_NOTHING = bytes(32)
"""The one element, of any dtype, of arrays that have none."""


def shape_only(x: Any) -> Any:
    """An array of the shape and dtype of ``x`` that takes no memory: for what is kept only for its shape.

    >>> import numpy as np
    >>> kept = shape_only(np.ones((2, 3)))
    >>> kept.shape, kept.dtype, kept.strides
    ((2, 3), dtype('float64'), (0, 0))
    """
    return without_elements(x.shape, x.dtype) if isinstance(x, np.ndarray) else x


def without_elements(shape: int | tuple[int, ...], dtype: Any = np.float64) -> Any:
    """An array of a shape and dtype that takes no memory.

    >>> without_elements((2, 3)).strides
    (0, 0)
    """
    return np.ndarray(shape, dtype, _NOTHING, 0, (0,) * len(shape) if isinstance(shape, tuple) else (0,))


def empty_sum(a: Any, b: Any) -> Any:
    """An array of the shape and dtype of ``a + b``, with nothing in it.

    Raises
    ------
    ValueError
        If the sum would: the extents differ.

    >>> import numpy as np
    >>> empty_sum(np.ones((2, 1)), np.ones(3)).shape
    (2, 3)
    """
    shape = a.shape
    if shape != b.shape:
        try:
            shape = np.broadcast_shapes(shape, b.shape)
        except ValueError:
            message = f"operands could not be broadcast together with shapes {a.shape} {b.shape}"
            raise ValueError(message) from None
    return np.empty(shape, np.result_type(a, b))


def complex_of(real: Any, imag: Any) -> Any:
    """Complex numbers with the real parts of ``real``, and ``imag`` as their imaginary parts."""
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.result_type(real, imag, np.complex64))
    out.real = np.real(real)
    out.imag = imag
    return out[()]


def restore_axes(reduced: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """``reduced``, a reduction of ``x`` over ``axis``, with the axes that it lost as axes of extent 1."""
    if keepdims or not isinstance(reduced, np.ndarray) or axis is None:
        return reduced
    axes = axis if isinstance(axis, tuple) else (axis,)
    return np.expand_dims(reduced, tuple(a % np.ndim(x) for a in axes))


def count(x: Any, axis: Axis = None) -> int:
    """How many elements are reduced to one."""
    if not isinstance(x, np.ndarray):
        return 1
    if axis is None:
        return x.size
    axes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod(x.shape[a] for a in axes)


def share(ct: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The cotangent of a maximum or minimum ``y`` of ``x`` over ``axis``, shared by those who attain it."""
    if not isinstance(x, np.ndarray):
        return unbroadcast(ct, x)
    attained = np.equal(x, restore_axes(y, x, axis, keepdims))
    shares = np.sum(attained, axis=axis, keepdims=True)
    return (attained / np.maximum(shares, 1) * restore_axes(ct, x, axis, keepdims)).astype(x.dtype, copy=False)


def share_forward(dot: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The tangent of a maximum or minimum: the mean of the tangents of those who attain it."""
    if not isinstance(x, np.ndarray):
        return dot
    attained = np.equal(x, restore_axes(y, x, axis, keepdims))
    shares = np.maximum(np.sum(attained, axis=axis, keepdims=keepdims), 1)
    return (np.sum(attained * dot, axis=axis, keepdims=keepdims) / shares).astype(x.dtype, copy=False)


def prod_others(x: Any, axis: Axis = None) -> Any:
    """For each element the product of the others that are reduced with it, right also where some are zero."""
    x = np.asarray(x)
    rows = rows_of(x, axis)
    before = np.ones_like(rows)
    np.cumprod(rows[..., :-1], axis=-1, out=before[..., 1:])
    after = np.ones_like(rows)
    after[..., :-1] = np.cumprod(rows[..., :0:-1], axis=-1)[..., ::-1]
    return unrows(before * after, x, axis)


def rows_of(x: Any, axis: Axis = None) -> Any:
    """``x`` with the axes that are reduced as one, the last.

    >>> rows_of(np.zeros((2, 4, 3)), (0, 2)).shape
    (4, 6)
    """
    order, kept = _reduced_last(x, axis)
    moved = np.transpose(x, order)
    return np.reshape(moved, (*moved.shape[:kept], math.prod(moved.shape[kept:])))


def unrows(rows: Any, x: Any, axis: Axis = None) -> Any:
    """The elements of :func:`rows_of` where they are in ``x``: its transpose and its inverse."""
    order, _ = _reduced_last(x, axis)
    moved = np.reshape(rows, tuple([np.shape(x)[place] for place in order]))
    return unbroadcast(np.transpose(moved, np.argsort(order)), x)


def _reduced_last(x: Any, axis: Axis) -> tuple[tuple[int, ...], int]:
    """An order of the axes in which those that are reduced come last, and how many others there are."""
    rank = np.ndim(x)
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = tuple(a % rank for a in axes) if rank else ()
    kept = tuple(a for a in range(rank) if a not in reduced)
    return (*kept, *reduced), len(kept)


def reverse_cumsum(ct: Any, x: Any, axis: int | None = None) -> Any:
    """The transpose of ``np.cumsum``."""
    if axis is None:
        return np.cumsum(np.ravel(ct)[::-1])[::-1].reshape(np.shape(x))
    return np.flip(np.cumsum(np.flip(ct, axis), axis), axis)


def scatter(ct: Any, x: Any, index: Any) -> Any:
    """Zeros like ``x`` with ``ct`` added at ``index``, which may repeat."""
    out = zeros_like(x)
    np.add.at(out, index, ct)
    return out


def scatter_take(ct: Any, x: Any, indices: Any, axis: int | None = None) -> Any:
    """The transpose of ``np.take(x, indices, axis)``."""
    places = np.asarray(indices).astype(np.intp)  # of a list, NumPy takes places of any kind
    if axis is None:
        return _scattered(ct, x, places)
    out = zeros_like(x)
    np.add.at(out, (*(slice(None),) * (axis % out.ndim), places), ct)
    return out


def scatter_along(ct: Any, x: Any, indices: Any, axis: int | None = None) -> Any:
    """The transpose of ``np.take_along_axis(x, indices, axis)``."""
    if axis is None:
        return _scattered(ct, x, indices)
    out = zeros_like(x)
    grids = np.ogrid[tuple(slice(extent) for extent in np.shape(ct))]
    whole: list[Any] = [np.minimum(grid, extent - 1) for grid, extent in zip(grids, out.shape, strict=True)]
    whole[axis] = indices  # which are broadcast against the array, as it is against them
    np.add.at(out, tuple(whole), ct)
    return out


def _scattered(ct: Any, x: Any, places: Any) -> Any:
    flat = zeros_like(np.ravel(x))
    np.add.at(flat, places, ct)
    return reshape_like(flat, x)


def float_dtype(x: Any) -> np.dtype[Any]:
    """The dtype of ``x`` as an array, with floats for whole numbers."""
    return np.result_type(np.asarray(x), np.float16)


def made_finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """``x`` with numbers for what is none: `numpy.nan_to_num`."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def order_of(x: Any, axis: int | None = -1) -> Any:
    """The stable order in which ``np.sort`` puts ``x``."""
    return np.argsort(x, axis=axis, kind="stable")


def inverse_axes(axes: Any) -> Any:
    """The permutation that undoes ``np.transpose(x, axes)``."""
    if axes is None:
        return None
    return tuple(int(place) for place in np.argsort([axis % len(axes) for axis in axes]))


def opposite(shift: Any) -> Any:
    """The shift that undoes ``np.roll(x, shift)``."""
    return tuple([-part for part in shift]) if isinstance(shift, (tuple, list)) else -shift


def unrepeat(ct: Any, x: Any, repeats: Any, axis: int | None = None) -> Any:
    """The transpose of ``np.repeat``."""
    shape = np.shape(x)
    along = (math.prod(shape) if axis is None else shape[axis % len(shape)]) if shape else 1
    places = np.repeat(np.arange(along), repeats)
    return scatter_take(ct, np.asarray(x), places, axis) if shape else unbroadcast(ct, x)


def untile(ct: Any, x: Any, reps: Any) -> Any:
    """The transpose of ``np.tile``."""
    counts = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    shape = np.shape(x)
    rank = max(len(counts), len(shape))
    counts = (1,) * (rank - len(counts)) + counts
    padded = (1,) * (rank - len(shape)) + shape
    split = tuple(part for pair in zip(counts, padded, strict=True) for part in pair)
    summed = np.reshape(ct, split).sum(axis=tuple(range(0, 2 * rank, 2)))
    return unbroadcast(np.reshape(summed, shape), x)


def place_diagonal(ct: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Zeros like ``x`` with ``ct`` on a diagonal."""
    out = zeros_like(x)
    moved = np.moveaxis(out, (axis1, axis2), (-2, -1))
    length = np.shape(ct)[-1]
    rows, columns = np.arange(length) + max(-offset, 0), np.arange(length) + max(offset, 0)
    moved[..., rows, columns] = ct
    return out


def undiag(ct: Any, v: Any, k: int = 0) -> Any:
    """The transpose of ``np.diag``."""
    return np.diag(ct, k).copy() if np.ndim(v) == 1 else place_diagonal(ct, v, k)


def place_trace(ct: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Zeros like ``x`` with ``ct`` repeated along a diagonal."""
    length = np.diagonal(x, offset, axis1, axis2).shape[-1]
    return place_diagonal(np.repeat(np.asarray(ct)[..., None], length, axis=-1), x, offset, axis1, axis2)


def undiff(ct: Any, x: Any, n: int = 1, axis: int = -1) -> Any:
    """The transpose of ``np.diff``; of more differences than there are elements nothing is left."""
    if np.size(ct) == 0:
        return zeros_like(x)
    for _ in range(n):
        edge = np.zeros_like(np.take(ct, [0], axis=axis))
        ct = -np.diff(np.concatenate([edge, ct, edge], axis=axis), axis=axis)
    return unbroadcast(ct, x)


def unpad(ct: Any, x: Any, pad_width: Any) -> Any:
    """The transpose of padding with constants: the part of ``ct`` that is ``x``."""
    widths = np.broadcast_to(np.asarray(pad_width), (np.ndim(x), 2))
    return ct[
        tuple(slice(int(before), int(before) + extent) for (before, _), extent in zip(widths, np.shape(x), strict=True))
    ]


def unpad_places(ct: Any, x: Any, pad_width: Any, mode: str) -> Any:
    """The transpose of padding with copies of elements: every copy adds to its element."""
    places = np.arange(np.size(x)).reshape(np.shape(x))
    return _scattered(ct, x, np.pad(places, pad_width, mode=mode))  # type: ignore[call-overload]


def matmul_left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``a @ b``, for arrays of any rank."""
    ct, a, b = np.asarray(ct), np.asarray(a), np.asarray(b)
    if a.ndim == 1 and b.ndim == 1:
        return ct * b
    if b.ndim == 1:
        return unbroadcast(ct[..., :, None] * b, a)
    if a.ndim == 1:
        return unbroadcast((b @ ct[..., :, None])[..., 0], a)
    return unbroadcast(ct @ np.swapaxes(b, -1, -2), a)


def matmul_right(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``a @ b``, for arrays of any rank."""
    ct, a, b = np.asarray(ct), np.asarray(a), np.asarray(b)
    if a.ndim == 1 and b.ndim == 1:
        return ct * a
    if a.ndim == 1:
        return unbroadcast(a[:, None] * ct[..., None, :], b)
    if b.ndim == 1:
        return unbroadcast((np.swapaxes(a, -1, -2) @ ct[..., :, None])[..., 0], b)
    if a.ndim > b.ndim == 2:  # all rows of the stack at once
        return unbroadcast(a.reshape(-1, a.shape[-1]).T @ ct.reshape(-1, ct.shape[-1]), b)
    return unbroadcast(np.swapaxes(a, -1, -2) @ ct, b)


def dot_left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``np.dot(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(ct * b, a)
    if np.ndim(b) == 1:
        return np.multiply.outer(np.asarray(ct), b)
    last = np.ndim(b) - 2
    rest = [axis for axis in range(np.ndim(b)) if axis != last]
    return unbroadcast(np.tensordot(ct, b, axes=(list(range(np.ndim(a) - 1, np.ndim(ct))), rest)), a)


def dot_right(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``np.dot(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(ct * a, b)
    free = list(range(np.ndim(a) - 1))
    first = np.tensordot(a, ct, axes=(free, free))  # the summed axis comes first
    return unbroadcast(np.moveaxis(first, 0, max(np.ndim(b) - 2, 0)), b)


def inner_left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``np.inner(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(ct * b, a)
    return tensordot_left(ct, a, b, (-1, -1))


def inner_right(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``np.inner(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(ct * a, b)
    return tensordot_right(ct, a, b, (-1, -1))


def tensordot_left(ct: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``a`` in ``np.tensordot(a, b, axes)``."""
    summed_a, summed_b = contracted_axes(np.ndim(a), np.ndim(b), axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in summed_a]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in summed_b]
    result = np.tensordot(ct, b, axes=(list(range(len(free_a), len(free_a) + len(free_b))), free_b))
    by_b = [summed_a[k] for k in np.argsort(summed_b)]  # the contracted axes come out in the order of b
    return unbroadcast(np.transpose(result, np.argsort(free_a + by_b)), a)


def tensordot_right(ct: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``b`` in ``np.tensordot(a, b, axes)``."""
    summed_a, summed_b = contracted_axes(np.ndim(a), np.ndim(b), axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in summed_a]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in summed_b]
    result = np.tensordot(a, ct, axes=(free_a, list(range(len(free_a)))))
    by_a = [summed_b[k] for k in np.argsort(summed_a)]
    return unbroadcast(np.transpose(result, np.argsort(by_a + free_b)), b)


def contracted_axes(rank_a: int, rank_b: int, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of both operands that ``np.tensordot`` sums over."""
    if isinstance(axes, (int, np.integer)):
        return list(range(rank_a - int(axes), rank_a)), list(range(int(axes)))
    of_a: list[int]
    of_b: list[int]
    of_a, of_b = ([int(part)] if isinstance(part, (int, np.integer)) else list(part) for part in axes)
    return [axis % rank_a for axis in of_a], [axis % rank_b for axis in of_b]


def reshape_like(ct: Any, x: Any) -> Any:
    """The elements of ``ct`` in the shape of ``x``."""
    return np.reshape(ct, x.shape) if isinstance(x, np.ndarray) else unbroadcast(ct, x)


def copy_laid_out_like(x: Any, like: Any) -> Any:
    """A copy of ``x``, its elements in the order in which those of ``like`` lie, which has the same shape."""
    out = np.empty_like(like, x.dtype, subok=False)
    out[...] = x
    return out
