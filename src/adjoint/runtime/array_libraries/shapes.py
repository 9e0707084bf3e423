"""NumPy's functions that make arrays, and that give them other shapes and orders, for other libraries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.runtime.array_libraries.linalg import Products
from adjoint.types.array_libraries import Library, name_of_dtype


class Shapes(Products):
    """The part of :class:`~adjoint.runtime.array_libraries.names.Names` that computes nothing."""

    library: Library
    device: Any
    xp: Any
    is_array: Any
    float64: Any
    int64: Any
    where: Any

    # New arrays

    def dtype_of(self, dtype: Any) -> Any:
        """The library's dtype for one of NumPy, of Python or of its own."""
        if dtype is None:
            return None
        is_of_numpy = isinstance(dtype, (str, np.dtype)) or (isinstance(dtype, type) and issubclass(dtype, np.generic))
        if not is_of_numpy and dtype not in (float, int, bool, complex):
            return dtype
        name = np.dtype(dtype).name
        if self.library.name == "jax" and name_of_dtype(self.xp.asarray(0.0).dtype) == "float32":
            name = {"complex128": "complex64"}.get(name, name.replace("64", "32"))
        return getattr(self.xp, name, dtype)

    def dtype(self, dtype: Any) -> Any:
        return self.dtype_of(dtype)

    def asarray(self, a: Any, dtype: Any = None) -> Any:
        dtype = self.dtype_of(dtype)
        if self.is_array(a):
            return a if dtype is None or a.dtype == dtype else self.astype(a, dtype)
        if isinstance(a, (list, tuple)):
            if any(_holds(part, self.is_array) for part in a):
                found = self.stack([self.asarray(part) for part in a])
                return found if dtype is None else self.astype(found, dtype, copy=False)
            dtype = dtype or self.dtype_of(np.asarray(a).dtype)
            return self.xp.asarray(a, dtype=dtype, device=self.device)
        if dtype is None:
            dtype = self.dtype_of(np.result_type(type(a)))
        return self.xp.full((), a, dtype=dtype, device=self.device)

    def array(self, object: Any, dtype: Any = None) -> Any:
        found = self.asarray(object, dtype)
        return self.copy(found) if found is object else found

    def ascontiguousarray(self, a: Any, dtype: Any = None) -> Any:
        return self.asarray(a, dtype)

    def copy(self, a: Any) -> Any:
        if a is None:
            return None
        return self.xp.asarray(a, copy=True) if self.is_array(a) else self.asarray(a)

    def astype(self, x: Any, dtype: Any, *, copy: bool = True) -> Any:
        return self.xp.astype(x, self.dtype_of(dtype), copy=copy)

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        return self.xp.zeros(_shape(shape), dtype=self.dtype_of(dtype), device=self.device)

    def ones(self, shape: Any, dtype: Any = float) -> Any:
        return self.xp.ones(_shape(shape), dtype=self.dtype_of(dtype), device=self.device)

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        return self.xp.empty(_shape(shape), dtype=self.dtype_of(dtype), device=self.device)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
        if self.is_array(fill_value):
            return self.copy(self.broadcast_to(self.asarray(fill_value, dtype), _shape(shape)))
        dtype = self.dtype_of(np.result_type(type(fill_value)) if dtype is None else dtype)
        return self.xp.full(_shape(shape), fill_value, dtype=dtype, device=self.device)

    def zeros_like(self, a: Any, dtype: Any = None) -> Any:
        return self.xp.zeros_like(a, dtype=self.dtype_of(dtype)) if self.is_array(a) else self.zeros(np.shape(a))

    def ones_like(self, a: Any, dtype: Any = None) -> Any:
        return self.xp.ones_like(a, dtype=self.dtype_of(dtype)) if self.is_array(a) else self.ones(np.shape(a))

    def empty_like(self, prototype: Any, dtype: Any = None) -> Any:
        return self.xp.empty_like(prototype, dtype=self.dtype_of(dtype))

    def full_like(self, a: Any, fill_value: Any, dtype: Any = None) -> Any:
        return self.full(a.shape, fill_value, a.dtype if dtype is None else dtype)

    def eye(self, N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
        return self.xp.eye(N, M, k=k, dtype=self.dtype_of(dtype), device=self.device)

    def identity(self, n: int, dtype: Any = float) -> Any:
        return self.eye(n, dtype=dtype)

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
        if stop is None:
            start, stop = 0, start
        if dtype is None:
            whole = all(isinstance(part, int) for part in (start, stop, step))
            dtype = self.int64 if whole else self.float64
        return self.xp.arange(start, stop, step, dtype=self.dtype_of(dtype), device=self.device)

    def linspace(self, start: Any, stop: Any, num: int = 50, endpoint: bool = True, *, dtype: Any = None) -> Any:
        dtype = self.float64 if dtype is None else self.dtype_of(dtype)
        if not (self.is_array(start) or self.is_array(stop)):
            return self.xp.linspace(start, stop, num, dtype=dtype, device=self.device, endpoint=endpoint)
        steps = self.arange(0, num, dtype=dtype) / max(num - 1 if endpoint else num, 1)
        way = stop - start
        return start + self.reshape(steps, (num, *(1 for _ in way.shape))) * way

    # Facts

    def shape(self, a: Any) -> Any:
        return tuple(a.shape) if self.is_array(a) else np.shape(a)

    def ndim(self, a: Any) -> int:
        return int(a.ndim) if self.is_array(a) else np.ndim(a)

    def size(self, a: Any, axis: int | None = None) -> int:
        shape = self.shape(a)
        return math.prod(shape) if axis is None else int(shape[axis])

    # Shapes

    def reshape(self, a: Any, shape: Any) -> Any:
        return self.xp.reshape(self.asarray(a), _shape(shape))

    def ravel(self, a: Any) -> Any:
        """A view of what lies one behind the other, else a copy, as in NumPy."""
        a = self.asarray(a)
        flat = self.reshape(a, (-1,))
        return self.copy(flat) if self.library.name == "torch" and not a.is_contiguous() else flat

    def flatten(self, a: Any) -> Any:
        return self.copy(self.ravel(a))

    def transpose(self, a: Any, axes: Any = None) -> Any:
        if a.ndim < 2:
            return a
        order = tuple(reversed(range(a.ndim))) if axes is None else tuple(int(axis) % a.ndim for axis in axes)
        return self.xp.permute_dims(a, order)

    def permute_dims(self, a: Any, axes: Any) -> Any:
        return self.transpose(a, axes)

    def matrix_transpose(self, x: Any) -> Any:
        return self.swapaxes(x, -1, -2)

    def swapaxes(self, a: Any, axis1: int, axis2: int) -> Any:
        order = list(range(a.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.xp.permute_dims(a, tuple(order))

    def moveaxis(self, a: Any, source: Any, destination: Any) -> Any:
        sources = [axis % a.ndim for axis in _axes(source)]
        places = [axis % a.ndim for axis in _axes(destination)]
        order = [axis for axis in range(a.ndim) if axis not in sources]
        for place, axis in sorted(zip(places, sources, strict=True)):
            order.insert(place, axis)
        return self.xp.permute_dims(a, tuple(order)) if a.ndim else a

    def expand_dims(self, a: Any, axis: Any) -> Any:
        a, axes = self.asarray(a), _axes(axis)
        for place in sorted(axis % (a.ndim + len(axes)) for axis in axes):
            a = self.xp.expand_dims(a, axis=place)
        return a

    def squeeze(self, a: Any, axis: Any = None) -> Any:
        axes = [place for place, extent in enumerate(a.shape) if extent == 1] if axis is None else _axes(axis)
        return self.xp.squeeze(a, axis=tuple(axes)) if axes else a

    def broadcast_to(self, array: Any, shape: Any) -> Any:
        return self.xp.broadcast_to(self.asarray(array), _shape(shape))

    def broadcast_shapes(self, *shapes: Any) -> Any:
        return np.broadcast_shapes(*[tuple(shape) for shape in shapes])

    def atleast_1d(self, a: Any) -> Any:
        a = self.asarray(a)
        return a if a.ndim else self.reshape(a, (1,))

    def atleast_2d(self, a: Any) -> Any:
        a = self.asarray(a)
        return a if a.ndim > 1 else self.reshape(a, (1, -1))

    # Joining and repeating

    def concatenate(self, arrays: Any, axis: int | None = 0) -> Any:
        return self.xp.concat([self.asarray(array) for array in arrays], axis=axis)

    concat = concatenate

    def stack(self, arrays: Any, axis: int = 0) -> Any:
        return self.xp.stack([self.asarray(array) for array in arrays], axis=axis)

    def vstack(self, tup: Any) -> Any:
        return self.concatenate([self.atleast_2d(array) for array in tup])

    def hstack(self, tup: Any) -> Any:
        arrays = [self.atleast_1d(array) for array in tup]
        return self.concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)

    def column_stack(self, tup: Any) -> Any:
        return self.concatenate([self._as_columns(self.asarray(array)) for array in tup], axis=1)

    def _as_columns(self, a: Any) -> Any:
        return a if a.ndim > 1 else self.reshape(a, (-1, 1))

    def flip(self, m: Any, axis: Any = None) -> Any:
        return self.xp.flip(m, axis=axis)

    def flipud(self, m: Any) -> Any:
        return self.flip(m, 0)

    def fliplr(self, m: Any) -> Any:
        return self.flip(m, 1)

    def roll(self, a: Any, shift: Any, axis: Any = None) -> Any:
        return self.xp.roll(a, shift, axis=axis)

    def repeat(self, a: Any, repeats: Any, axis: int | None = None) -> Any:
        a = self.asarray(a)
        return self.xp.repeat(self.ravel(a) if axis is None else a, repeats, axis=0 if axis is None else axis)

    def tile(self, A: Any, reps: Any) -> Any:
        return self.xp.tile(A, _shape(reps))

    # Parts of matrices

    def tril(self, m: Any, k: int = 0) -> Any:
        return self.xp.tril(m, k=k)

    def triu(self, m: Any, k: int = 0) -> Any:
        return self.xp.triu(m, k=k)

    def diagonal(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return self.xp.linalg.diagonal(self.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)

    def diag(self, v: Any, k: int = 0) -> Any:
        if v.ndim == 2:
            return self.diagonal(v, k)
        extent = v.shape[0] + abs(k)
        padding = self.zeros((abs(k),), v.dtype)
        row = self.concatenate([padding, v] if k >= 0 else [v, padding])
        return self.where(self.eye(extent, k=k, dtype=bool), self.expand_dims(row, 0), 0)

    def trace(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return self.xp.sum(self.diagonal(a, offset, axis1, axis2), axis=-1)

    # Places

    def take(self, a: Any, indices: Any, axis: int | None = None) -> Any:
        places, a = self._places(indices), self.ravel(a) if axis is None else a
        axis = 0 if axis is None else axis % a.ndim
        flat = self.xp.take(a, self.ravel(places), axis=axis)
        return self.reshape(flat, (*a.shape[:axis], *self.shape(places), *a.shape[axis + 1 :]))

    def _places(self, indices: Any) -> Any:
        """Places, counted from the end where they are negative, as every library takes them."""
        found = self.asarray(list(indices) if isinstance(indices, range) else indices)
        return found if name_of_dtype(found.dtype) == "int64" else self.astype(found, self.int64)

    def take_along_axis(self, arr: Any, indices: Any, axis: int | None = -1) -> Any:
        if axis is None:
            return self.xp.take_along_axis(self.ravel(arr), indices, axis=0)
        return self.xp.take_along_axis(arr, indices, axis=axis)

    def sort(self, a: Any, axis: int | None = -1) -> Any:
        return self.xp.sort(self.ravel(a) if axis is None else a, axis=-1 if axis is None else axis)

    def argsort(self, a: Any, axis: int | None = -1, *, kind: Any = None, stable: bool | None = None) -> Any:
        if not self.is_array(a):
            return np.argsort(a, kind="stable").tolist()
        return self.xp.argsort(self.ravel(a) if axis is None else a, axis=-1 if axis is None else axis, stable=True)

    def nonzero(self, a: Any) -> Any:
        return self.xp.nonzero(a)

    def flatnonzero(self, a: Any) -> Any:
        return self.nonzero(self.ravel(a))[0]

    def searchsorted(self, a: Any, v: Any, side: str = "left") -> Any:
        return self.xp.searchsorted(a, self.asarray(v, a.dtype), side=side)


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int) else tuple(int(extent) for extent in shape)


def _axes(axis: Any) -> tuple[int, ...]:
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def _holds(part: Any, is_array: Any) -> bool:
    if isinstance(part, (list, tuple)):
        return any(_holds(inner, is_array) for inner in part)
    return bool(is_array(part))
