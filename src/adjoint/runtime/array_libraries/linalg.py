"""Products of arrays and ``np.linalg`` for other libraries."""

from __future__ import annotations

import importlib
from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.runtime.array_libraries.names import Names

SignAndLog = namedtuple("SignAndLog", ("sign", "logabsdet"))


class LinearAlgebra:
    """``np.linalg`` for one library."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._own = names.xp.linalg
        self.LinAlgError = ArithmeticError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._names.library.name not in ("jax", "cupy"):
            raise AttributeError(name)
        package = {"jax": "jax.numpy"}.get(self._names.library.name, self._names.library.name)
        return getattr(importlib.import_module(f"{package}.linalg"), name)

    def solve(self, a: Any, b: Any) -> Any:
        return self._own.solve(a, b)

    def inv(self, a: Any) -> Any:
        return self._own.inv(a)

    def det(self, a: Any) -> Any:
        return self._own.det(a)

    def slogdet(self, a: Any) -> Any:
        return SignAndLog(*self._own.slogdet(a))

    def cholesky(self, a: Any, *, upper: bool = False) -> Any:
        return self._own.cholesky(self._hermitian(a, "U" if upper else "L"), upper=upper)

    def eigh(self, a: Any, UPLO: str = "L") -> Any:
        return self._own.eigh(self._hermitian(a, UPLO))

    def eigvalsh(self, a: Any, UPLO: str = "L") -> Any:
        return self._own.eigvalsh(self._hermitian(a, UPLO))

    def _hermitian(self, a: Any, triangle: str) -> Any:
        """The matrix of which NumPy reads one triangle: libraries read one or the other, or both."""
        names = self._names
        half = names.triu(a, 1) if triangle == "U" else names.tril(a, -1)
        turned = names.swapaxes(half, -1, -2)
        diagonal = names.where(names.eye(a.shape[-1], dtype=bool), names.real(a), 0.0)
        return half + (names.conj(turned) if names.iscomplexobj(a) else turned) + diagonal

    def svdvals(self, x: Any) -> Any:
        return self._own.svdvals(x)

    def qr(self, a: Any) -> Any:
        return self._own.qr(a)

    def svd(self, a: Any, full_matrices: bool = True) -> Any:
        return self._own.svd(a, full_matrices=full_matrices)

    def pinv(self, a: Any) -> Any:
        return self._own.pinv(a)

    def matrix_power(self, a: Any, n: int) -> Any:
        return self._own.matrix_power(a, n)

    def vector_norm(self, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
        return self._own.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

    def norm(self, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        if ord is None or (axis is None and x.ndim == 1) or isinstance(axis, int):
            return self._own.vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
        if axis is not None and tuple(axis) != (-2, -1):
            x = self._names.moveaxis(x, tuple(axis), (-2, -1))
        return self._own.matrix_norm(x, keepdims=keepdims, ord=ord)


class Products:
    """Products of arrays, of the module itself."""

    xp: Any
    library: Any
    is_array: Any
    asarray: Any
    ravel: Any
    reshape: Any
    expand_dims: Any
    concatenate: Any
    sum: Any
    alike: Any

    def matmul(self, x1: Any, x2: Any) -> Any:
        dtype = self.xp.result_type(x1, x2)
        return self.xp.matmul(self.asarray(x1, dtype), self.asarray(x2, dtype))

    def dot(self, a: Any, b: Any) -> Any:
        if not self.is_array(a) or not self.is_array(b) or a.ndim == 0 or b.ndim == 0:
            return a * b
        return a @ b if b.ndim <= 2 or a.ndim == 0 else self.xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 2,)))

    def inner(self, a: Any, b: Any) -> Any:
        if not self.is_array(a) or not self.is_array(b) or a.ndim == 0 or b.ndim == 0:
            return a * b
        return self.xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))

    def outer(self, a: Any, b: Any) -> Any:
        return self.expand_dims(self.ravel(a), 1) * self.expand_dims(self.ravel(b), 0)

    def vdot(self, a: Any, b: Any) -> Any:
        return self.sum(self.xp.conj(self.ravel(a)) * self.ravel(b))

    def tensordot(self, a: Any, b: Any, axes: Any = 2) -> Any:
        if not isinstance(axes, int):
            first, second = ((part,) if isinstance(part, int) else tuple(part) for part in axes)
            axes = tuple(axis % a.ndim for axis in first), tuple(axis % b.ndim for axis in second)
            if not first:
                axes = 0
        return self.xp.tensordot(a, b, axes=axes)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        return self.xp.einsum(subscripts, *self.alike(*operands))
