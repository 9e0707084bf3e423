"""The helpers of generated code for arrays of another library: what ``rt`` stands for.

Most are those for NumPy, as portable code (:mod:`adjoint.runtime.array_libraries.portable`). Written here are those
that do what only NumPy can: fill memory in place, look at layouts, or take numbers of NumPy for what they are.
"""

from __future__ import annotations

import math
from typing import Any

from adjoint.runtime.arithmetic.numbers import power
from adjoint.runtime.array_libraries.names import Names
from adjoint.runtime.array_libraries.operations import Operations
from adjoint.types.array_libraries import arrays_within, name_of_dtype, shares_memory

Axis = int | tuple[int, ...] | None


class Helpers:
    """The helpers that are written for other libraries, for one of them."""

    def __init__(self, names: Names, operations: Operations) -> None:
        self.np = names
        self.op = operations
        self.is_array = names.is_array

    # Kinds and shapes of cotangents

    def unbroadcast(self, ct: Any, like: Any) -> Any:
        if not self.is_array(like):
            total = self.np.sum(ct) if self.is_array(ct) else ct
            if isinstance(like, complex):
                return complex(total)
            return float(total.real if isinstance(total, complex) else self.np.real(total))
        if not self.is_array(ct):
            return self.np.full(like.shape, ct, self._dtype_of_cotangent(like))
        return self._cast(ct if ct.shape == like.shape else self._sum_to(ct, like.shape), like)

    def _sum_to(self, ct: Any, shape: Any) -> Any:
        extra = ct.ndim - len(shape)
        if extra < 0:
            return self.np.copy(self.np.broadcast_to(ct, shape))
        axes = tuple(range(extra)) + tuple(
            extra + axis for axis, extent in enumerate(shape) if extent == 1 and ct.shape[extra + axis] != 1
        )
        summed = self.np.sum(ct, axes) if axes else ct
        return summed if summed.shape == shape else self.np.reshape(summed, shape)

    def _cast(self, ct: Any, like: Any) -> Any:
        dtype = self._dtype_of_cotangent(like)
        if self.np.iscomplexobj(ct) and not name_of_dtype(dtype).startswith("complex"):
            ct = self.np.real(ct)
        return ct if ct.dtype == dtype else self.np.astype(ct, dtype)

    def _dtype_of_cotangent(self, like: Any) -> Any:
        return like.dtype if self.np.is_floating(like.dtype) else self.np.float64

    def match(self, x: Any, like: Any) -> Any:
        if not self.is_array(like):
            return self.unbroadcast(x, like)
        if not self.is_array(x):
            return self.unbroadcast(x, like)
        return self._cast(x if x.shape == like.shape else self.np.copy(self.np.broadcast_to(x, like.shape)), like)

    def zeros_like(self, x: Any) -> Any:
        if not self.is_array(x):
            return 0j if isinstance(x, complex) else 0.0
        return self.np.zeros_like(x, self._dtype_of_cotangent(x))

    def zeros_in_memory(self, x: Any) -> Any:
        return self.zeros_like(self.np.asarray(x))

    def zeros_as(self, x: Any) -> Any:
        return self.np.zeros_like(x)

    def empty_as(self, x: Any) -> Any:
        return self.np.empty_like(x)

    def shape_only(self, x: Any) -> Any:
        """The array itself: not every library has arrays without elements."""
        return x

    def zeros_in(self, value: Any) -> Any:
        return self.np.zeros_like(value) if self.is_array(value) else type(value)(0)

    def owned(self, x: Any) -> Any:
        return self.np.copy(x) if self.is_array(x) else x

    def of_dtype(self, x: Any, dtype: Any) -> Any:
        return self.np.astype(x, dtype, copy=False)

    def copy_laid_out_like(self, x: Any, like: Any) -> Any:
        return self.np.copy(x)

    def complex_of(self, real: Any, imag: Any) -> Any:
        return real + 1j * imag

    def float_dtype(self, x: Any) -> Any:
        return self._dtype_of_cotangent(self.np.asarray(x))

    # Reductions

    def spread(self, ct: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if not self.is_array(x):
            return self.unbroadcast(ct, x)
        dtype = self._dtype_of_cotangent(x)
        if not self.is_array(ct):
            return self.np.full(x.shape, ct, dtype)
        return self._cast(self.np.copy(self.np.broadcast_to(self.restore_axes(ct, x, axis, keepdims), x.shape)), x)

    def restore_axes(self, reduced: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if keepdims or axis is None or not self.is_array(reduced):
            return reduced
        axes = axis if isinstance(axis, tuple) else (axis,)
        return self.np.expand_dims(reduced, tuple(a % x.ndim for a in axes))

    def _attained(self, y: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
        """One where an extreme is attained, else zero."""
        return self.np.astype(x == self.restore_axes(y, x, axis, keepdims), self._dtype_of_cotangent(x))

    def share(self, ct: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if not self.is_array(x):
            return self.unbroadcast(ct, x)
        attained = self._attained(y, x, axis, keepdims)
        shares = self.np.sum(attained, axis, keepdims=True)
        return self._cast(attained / self.np.maximum(shares, 1.0) * self.restore_axes(ct, x, axis, keepdims), x)

    def share_forward(self, dot: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if not self.is_array(x):
            return dot
        attained = self._attained(y, x, axis, keepdims)
        shares = self.np.maximum(self.np.sum(attained, axis, keepdims=keepdims), 1.0)
        return self._cast(self.np.sum(attained * dot, axis, keepdims=keepdims) / shares, x)

    def prod_others(self, x: Any, axis: Axis = None) -> Any:
        rt: Any = self
        rows = rt.rows_of(x, axis)
        ones = self.np.ones_like(rows[..., :1])
        before = self.np.concatenate([ones, self.np.cumprod(rows[..., :-1], axis=-1)], axis=-1)
        turned = self.np.flip(rows[..., 1:], axis=-1)
        after = self.np.concatenate([self.np.flip(self.np.cumprod(turned, axis=-1), axis=-1), ones], axis=-1)
        return rt.unrows(before * after, x, axis)

    def reverse_cumsum(self, ct: Any, x: Any, axis: int | None = None) -> Any:
        if axis is None:
            return self.np.reshape(self.reverse_cumsum(self.np.ravel(ct), x, 0), x.shape)
        return self.np.flip(self.np.cumsum(self.np.flip(ct, axis), axis), axis)

    # Scattering

    def scatter(self, ct: Any, x: Any, index: Any) -> Any:
        return self.op.add_at(self.zeros_like(x), index, ct)

    def scatter_take(self, ct: Any, x: Any, indices: Any, axis: int | None = None) -> Any:
        places = self.np.astype(self.np.asarray(indices), self.np.int64)
        if axis is None:
            return self._scattered(ct, x, places)
        moved = self.zeros_like(self.np.moveaxis(x, axis, 0))
        rank, axis = places.ndim, axis % x.ndim
        first = self.np.moveaxis(ct, tuple(range(axis, axis + rank)), tuple(range(rank)))
        return self.np.moveaxis(self.op.add_at(moved, places, first), 0, axis)

    def scatter_along(self, ct: Any, x: Any, indices: Any, axis: int | None = None) -> Any:
        if axis is None:
            return self._scattered(ct, x, indices)
        axis = axis % x.ndim
        whole: list[Any] = []
        for place, extent in enumerate(ct.shape):
            grid = self.np.minimum(self.np.arange(extent), x.shape[place] - 1)
            grid = self.np.reshape(grid, tuple(extent if other == place else 1 for other in range(x.ndim)))
            whole.append(self.np.broadcast_to(indices if place == axis else grid, ct.shape))
        return self.op.add_at(self.zeros_like(x), tuple(whole), ct)

    def _scattered(self, ct: Any, x: Any, places: Any) -> Any:
        return self.np.reshape(self.op.add_at(self.zeros_like(self.np.ravel(x)), places, ct), x.shape)

    def place_diagonal(self, ct: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        moved = self.zeros_like(self.np.moveaxis(x, (axis1, axis2), (-2, -1)))
        rows, columns = moved.shape[-2:]
        on_diagonal = self.np.eye(rows, columns, offset, dtype=bool)
        before = max(offset, 0)
        ct = self.np.asarray(ct)
        padding = [self.np.zeros((*ct.shape[:-1], extent), ct.dtype) for extent in (before, columns)]
        row = self.np.concatenate([padding[0], ct, padding[1]], axis=-1)[..., :columns]
        found = self.np.where(on_diagonal, self.np.expand_dims(row, -2), moved)
        return self._cast(self.np.moveaxis(found, (-2, -1), (axis1, axis2)), x)

    def diagonal_of(self, m: Any) -> Any:
        return self.np.copy(self.np.diagonal(m, 0, -2, -1))

    def diagonal(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return self.np.diagonal(a, offset, axis1, axis2)

    def to_diagonal(self, m: Any, k: int = 0) -> Any:
        return self.np.copy(self.np.diag(m, k))

    # Quotients and products that zeros decide

    def divide(self, a: Any, b: Any) -> Any:
        return self._cleared(self.quotient(a, b), a)

    def times(self, a: Any, b: Any) -> Any:
        return self._cleared(a * b, a)

    def _cleared(self, values: Any, a: Any) -> Any:
        if self.is_array(a):
            return self.np.where(a == 0, 0.0, values)
        return values * 0.0 if a == 0 and not self.is_array(values) else self._zeros_of(values) if a == 0 else values

    def _zeros_of(self, values: Any) -> Any:
        return self.np.zeros_like(values)

    def quotient(self, a: Any, b: Any) -> Any:
        if self.is_array(a) or self.is_array(b):
            return a / b
        if b == 0:
            return a * math.nan if a == 0 else a * math.copysign(math.inf, b)
        return a / b

    def product(self, a: Any, b: Any) -> Any:
        return a * b

    def selected(self, support: Any, value: Any) -> Any:
        if self.is_array(support):
            return self.np.where(support, value, 0.0)
        return value if support else self.zeros_in(value)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        if any(map(self.is_array, (condition, a, b))):
            return self.np.where(condition, a, b)
        return a if condition else b

    def undefined(self, known: Any, varying: Any) -> Any:
        zero = self.np.where(known, 0.0, math.nan) if self.is_array(known) else 0.0 if known else math.nan
        return self._zeros_of(varying) + zero if self.is_array(varying) else zero

    def power(self, a: Any, b: Any) -> Any:
        if self.is_array(a) or self.is_array(b):
            return self.np.float_power(a, b)
        return power(a, b)

    def sign(self, x: Any) -> Any:
        if self.is_array(x):
            return self.divide(self.np.conj(x), self.np.abs(x)) if self.np.iscomplexobj(x) else self.np.sign(x)
        return x * 0 if x == 0 or x != x else math.copysign(1.0, x)

    # Decompositions

    def solve_triangular(self, a: Any, b: Any, lower: bool) -> Any:
        return self.np.linalg.solve(a, b)

    def lower_half(self, m: Any) -> Any:
        return self.np.tril(m) - 0.5 * self._on_diagonal(m)

    def completed(self, m: Any, lower: bool = True) -> Any:
        half = self.np.tril(m, -1) if lower else self.np.triu(m, 1)
        return half + self._hermitian(half) + self._on_diagonal(self._real(m))

    def folded(self, ct: Any, lower: bool = True) -> Any:
        whole = ct + self._hermitian(ct)
        return (self.np.tril(whole, -1) if lower else self.np.triu(whole, 1)) + self._on_diagonal(self._real(ct))

    def cholesky_pullback(self, ct: Any, factor: Any) -> Any:
        turned = self.np.swapaxes(factor, -1, -2)
        half = self.solve_triangular(turned, self._hermitian(self.lower_half(turned @ ct)), False)
        return self.folded(self.solve_triangular(turned, self._hermitian(half), False))

    def _hermitian(self, m: Any) -> Any:
        turned = self.np.swapaxes(m, -1, -2)
        return self.np.conj(turned) if self.np.iscomplexobj(m) else turned

    def _real(self, m: Any) -> Any:
        return self.np.real(m) if self.np.iscomplexobj(m) else m

    def _on_diagonal(self, m: Any) -> Any:
        return self.np.where(self.np.eye(m.shape[-1], dtype=bool), m, self.np.zeros_like(m))

    def hollow(self, m: Any) -> Any:
        return self.np.where(self.np.eye(m.shape[-1], dtype=bool), self.np.zeros_like(m), m)  # of truths, too

    def distinct(self, w: Any, asked: Any = None) -> Any:
        rt: Any = self
        rounding = self.np.max(self.np.abs(w), axis=-1, keepdims=True) * (w.shape[-1] * self.np.finfo(w.dtype).eps)
        apart = self.np.abs(rt.differences(w)) > self.np.expand_dims(rounding, -1)
        apart = self.np.logical_or(apart, self.np.eye(w.shape[-1], dtype=bool))
        if asked is not None:
            either = self.np.logical_or(self.np.expand_dims(asked, -1), self.np.expand_dims(asked, -2))
            apart = self.np.logical_or(apart, self.np.logical_not(either))
        return self.np.where(apart, self.np.ones((), w.dtype), math.nan)

    # Memory

    def follow_view(self, shadow: Any, base: Any, like: Any, like_base: Any) -> Any:
        if not self.np.may_share_memory(like, like_base) or self.np.size(like) == 0:
            return self.np.copy(shadow) if self.np.may_share_memory(shadow, base) else shadow
        if not self.np.may_share_memory(shadow, base):
            if like is like_base:  # the operation did nothing, such as a sum over an axis of one, and was left out
                return base
            raise ValueError("a tangent is laid out differently from the array that it belongs to")
        return shadow

    def fresh_shadows(self, shadows: tuple[Any, ...]) -> tuple[Any, ...]:
        arrays = list({id(array): array for array in arrays_within(shadows)}.values())
        for place, array in enumerate(arrays):
            if any(shares_memory(array, other) for other in arrays[:place]):
                raise NotImplementedError("the pullback would keep arrays that share memory: use ad.grad")
        copies = {id(array): self.np.copy(array) for array in arrays}
        return tuple(_with_arrays(shadow, copies) for shadow in shadows)


def _with_arrays(value: Any, copies: dict[int, Any]) -> Any:
    """A structure with other arrays in it."""
    if isinstance(value, (tuple, list)):
        return type(value)([_with_arrays(part, copies) for part in value])
    if isinstance(value, dict):
        return {key: _with_arrays(part, copies) for key, part in value.items()}
    return copies.get(id(value), value)
