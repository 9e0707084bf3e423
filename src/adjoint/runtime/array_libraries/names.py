"""NumPy's names for arrays of another library: what ``np`` stands for in generated code.

Each function is written in the terms of the array API standard, of which every library has its own version. Signatures
are those of NumPy, as far as they are supported: calls are held against them before anything runs. Numbers of Python
stay numbers of Python.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from adjoint.runtime.array_libraries.linalg import LinearAlgebra
from adjoint.runtime.array_libraries.shapes import Shapes
from adjoint.types.array_libraries import Library, name_of, name_of_dtype, shares_memory, words

_UNARY = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    **{name: name for name in words("cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh")},
}
"""Functions of floats, by NumPy's name, with that of the standard."""
_UNARY_OF_ANY = {
    "abs": "abs",
    "absolute": "abs",
    "fabs": "abs",
    "ceil": "ceil",
    "conj": "conj",
    "conjugate": "conj",
    "bitwise_not": "bitwise_invert",
    "fix": "trunc",
    "invert": "bitwise_invert",
    "floor": "floor",
    "isfinite": "isfinite",
    "isinf": "isinf",
    "isnan": "isnan",
    "logical_not": "logical_not",
    "negative": "negative",
    "rint": "round",
    "sign": "sign",
    "square": "square",
    "trunc": "trunc",
}
_BINARY = {
    "arctan2": "atan2",
    "copysign": "copysign",
    "hypot": "hypot",
    "logaddexp": "logaddexp",
    "maximum": "maximum",
    "minimum": "minimum",
    "divide": "divide",
    "true_divide": "divide",
}
_OF_FLOATS = frozenset(_BINARY) - {"maximum", "minimum"}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "remainder": lambda a, b: a % b,
    "power": lambda a, b: a**b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}
_DTYPES = words("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128")


class Names(Shapes):
    """NumPy's names for one library and one device."""

    newaxis = None
    s_ = np.s_
    pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
    generic = number = inexact = floating = complexfloating = integer = bool_ = ()
    """No number is of a class of NumPy."""

    def __init__(self, library: Library, device: Any) -> None:
        self.library = library
        self.device = device
        self.xp = xp = importlib.import_module(HOMES[library.name])
        self.is_array = lambda x: name_of(x) == library.name
        self.ndarray = _ArrayClass(self.is_array)
        self.linalg = LinearAlgebra(self)
        for name in _DTYPES:
            if hasattr(xp, name):
                setattr(self, "bool_dtype" if name == "bool" else name, getattr(xp, name))
        self.intp = self.int64
        if not hasattr(xp, "einsum"):
            self.einsum = None  # type: ignore[assignment]
        for name, own in _UNARY.items():
            setattr(self, name, self._unary(name, getattr(xp, own), floats=True))
        for name, own in _UNARY_OF_ANY.items():
            setattr(self, name, self._unary(name, getattr(xp, own), floats=False))
        for name, own in _BINARY.items():
            setattr(self, name, self._binary(name, getattr(xp, own)))
        for name, operation in _OPERATORS.items():
            setattr(self, name, self._binary(name, operation))

    def __getattr__(self, name: str) -> Any:
        """What only libraries after NumPy's pattern have: they mean by a name what NumPy means."""
        if name.startswith("_") or self.library.name not in ("jax", "cupy"):
            raise AttributeError(name)
        native = importlib.import_module({"jax": "jax.numpy"}.get(self.library.name, self.library.name))
        return getattr(native, name)

    # Elementwise

    def _unary(self, name: str, own: Callable[[Any], Any], *, floats: bool) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            if not self.is_array(x):
                return _on_numbers(getattr(np, name), x)
            return own(self.as_floats(x) if floats else x)

        return function

    def _binary(self, name: str, own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def function(x1: Any, x2: Any) -> Any:
            if not self.is_array(x1) and not self.is_array(x2):
                return _on_numbers(getattr(np, name), x1, x2)
            given = self.alike(x1, x2)
            return own(*[self.as_floats(x) for x in given] if name in _OF_FLOATS else given)

        def outer(x1: Any, x2: Any) -> Any:
            x1, x2 = self.asarray(x1), self.asarray(x2)
            return function(self.reshape(x1, (*x1.shape, *(1 for _ in x2.shape))), x2)

        function.outer = outer  # type: ignore[attr-defined]
        return function

    def as_floats(self, x: Any) -> Any:
        """``x`` with floats for whole numbers."""
        return x if self.is_floating(x.dtype) else self.astype(x, self.float64)

    def is_floating(self, dtype: Any) -> bool:
        """Whether a dtype is of real or complex floats."""
        return name_of_dtype(dtype).startswith(("float", "bfloat", "complex"))

    def alike(self, *values: Any) -> list[Any]:
        """Arrays and numbers as arrays: a number takes the dtype of the arrays beside it."""
        dtypes = [value.dtype for value in values if self.is_array(value)]
        dtype = self.xp.result_type(*dtypes)
        return [value if self.is_array(value) else self._number(value, dtype) for value in values]

    def _number(self, value: Any, dtype: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return self.asarray(value)
        if isinstance(value, complex) and not name_of_dtype(dtype).startswith("complex"):
            dtype = self.complex128 if "64" in name_of_dtype(dtype) else self.complex64
        elif isinstance(value, float) and not self.is_floating(dtype):
            dtype = self.float64
        elif isinstance(value, int) and not isinstance(value, bool) and name_of_dtype(dtype) == "bool":
            dtype = self.int64
        return self.xp.full((), value, dtype=dtype, device=self.device)

    def exp2(self, x: Any) -> Any:
        return 2.0**x

    def reciprocal(self, x: Any) -> Any:
        return 1.0 / x

    def float_power(self, x1: Any, x2: Any) -> Any:
        x1, x2 = (self.as_floats(x) if self.is_array(x) else float(x) for x in (x1, x2))
        return x1**x2

    def deg2rad(self, x: Any) -> Any:
        return x * (math.pi / 180)

    def rad2deg(self, x: Any) -> Any:
        return x * (180 / math.pi)

    radians, degrees = deg2rad, rad2deg

    def logical_and(self, x1: Any, x2: Any) -> Any:
        return self._truth(x1) & self._truth(x2)

    def logical_or(self, x1: Any, x2: Any) -> Any:
        return self._truth(x1) | self._truth(x2)

    def logical_xor(self, x1: Any, x2: Any) -> Any:
        return self._truth(x1) ^ self._truth(x2)

    def positive(self, x: Any) -> Any:
        return self.copy(x) if self.is_array(x) else +x

    def _truth(self, x: Any) -> Any:
        return (x if name_of_dtype(x.dtype) == "bool" else x != 0) if self.is_array(x) else bool(x)

    def real(self, x: Any) -> Any:
        is_complex = self.is_array(x) and name_of_dtype(x.dtype).startswith("complex")
        return self.xp.real(x) if is_complex else x if self.is_array(x) else x.real

    def imag(self, x: Any) -> Any:
        is_complex = self.is_array(x) and name_of_dtype(x.dtype).startswith("complex")
        return self.xp.imag(x) if is_complex else self.zeros_like(x) if self.is_array(x) else x.imag

    def iscomplexobj(self, x: Any) -> bool:
        return name_of_dtype(x.dtype).startswith("complex") if self.is_array(x) else isinstance(x, complex)

    def round(self, a: Any, decimals: int = 0) -> Any:
        if not self.is_array(a):
            return _on_numbers(np.round, a, decimals)
        return self.xp.round(a) if decimals == 0 else self.xp.round(a * 10.0**decimals) / 10.0**decimals

    def clip(self, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
        low, high = a_min if min is None else min, a_max if max is None else max
        found = a if low is None else self.maximum(a, low)
        return found if high is None else self.minimum(found, high)

    def where(self, condition: Any, x: Any = None, y: Any = None) -> Any:
        if x is None and y is None:
            return self.nonzero(condition)
        if not self.is_array(x) and not self.is_array(y):
            x = self.asarray(x)
        condition = self._truth(condition) if self.is_array(condition) else self.asarray(bool(condition))
        return self.xp.where(condition, *self.alike(x, y))

    def nan_to_num(self, x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
        limits = self.xp.finfo(x.dtype)
        found = self.where(self.isnan(x), nan, x)
        found = self.where(found == math.inf, limits.max if posinf is None else posinf, found)
        return self.where(found == -math.inf, limits.min if neginf is None else neginf, found)

    # Reductions

    def _reduced(self, name: str, a: Any, axis: Any, keepdims: bool, **options: Any) -> Any:
        if not self.is_array(a):
            a = self.asarray(a)
        axis = tuple(axis) if isinstance(axis, list) else axis
        return getattr(self.xp, name)(a, axis=axis, keepdims=keepdims, **options)

    def sum(self, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        if self.is_array(a) and name_of_dtype(a.dtype) == "bool":
            a = self.astype(a, self.int64)
        return self._reduced("sum", a, axis, keepdims, dtype=self.dtype_of(dtype))

    def prod(self, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        if not isinstance(axis, tuple):
            return self._reduced("prod", a, axis, keepdims, dtype=self.dtype_of(dtype))
        for one in sorted((one % a.ndim for one in axis), reverse=True):
            a = self.prod(a, one, dtype, keepdims=keepdims)
        return a

    def mean(self, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        a = self.as_floats(self.asarray(a))
        return self._reduced("mean", a if dtype is None else self.astype(a, dtype), axis, keepdims)

    def max(self, a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
        found = self._reduced("max", a, axis, keepdims)
        return found if initial is None else self.maximum(found, initial)

    def min(self, a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
        found = self._reduced("min", a, axis, keepdims)
        return found if initial is None else self.minimum(found, initial)

    amax, amin = max, min

    def std(self, a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        return self._reduced("std", self.as_floats(a), axis, keepdims, correction=ddof)

    def var(self, a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        return self._reduced("var", self.as_floats(a), axis, keepdims, correction=ddof)

    def any(self, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return self._reduced("any", self._truth(a), axis, keepdims) if self.is_array(a) else bool(np.any(a))

    def all(self, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return self._reduced("all", self._truth(a), axis, keepdims) if self.is_array(a) else bool(np.all(a))

    def argmax(self, a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
        return self._reduced("argmax", a, axis, keepdims)

    def argmin(self, a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
        return self._reduced("argmin", a, axis, keepdims)

    def count_nonzero(self, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return self.sum(self.astype(self._truth(a), self.int64), axis, keepdims=keepdims)

    def cumsum(self, a: Any, axis: int | None = None) -> Any:
        rows = self.ravel(a) if axis is None else a
        return self.xp.cumulative_sum(rows, axis=0 if axis is None else axis)

    def cumprod(self, a: Any, axis: int | None = None) -> Any:
        rows = self.ravel(a) if axis is None else a
        return self.xp.cumulative_prod(rows, axis=0 if axis is None else axis)

    def diff(self, a: Any, n: int = 1, axis: int = -1) -> Any:
        for _ in range(n):
            rows = self.moveaxis(a, axis, -1)
            a = self.moveaxis(rows[..., 1:] - rows[..., :-1], -1, axis)
        return a

    # What is asked of values and dtypes

    def errstate(self, **_: str) -> Any:
        """Libraries do not warn."""
        return nullcontext()

    def result_type(self, *values: Any) -> Any:
        dtypes = [value.dtype if self.is_array(value) else value for value in values if not _is_number(value)]
        return self.xp.result_type(*[self.dtype_of(dtype) for dtype in dtypes])

    def finfo(self, dtype: Any) -> Any:
        return self.xp.finfo(self.dtype_of(dtype))

    def may_share_memory(self, a: Any, b: Any) -> bool:
        return shares_memory(a, b)

    shares_memory = may_share_memory


HOMES = {
    "torch": "array_api_compat.torch",
    "cupy": "array_api_compat.cupy",
    "jax": "jax.numpy",
    "array_api_strict": "array_api_strict",
}
"""Where the standard's functions are, by library."""


class _ArrayClass:
    """Stands for ``np.ndarray``: an array of the library is an instance."""

    def __init__(self, is_array: Callable[[Any], bool]) -> None:
        self._is_array = is_array

    def __instancecheck__(self, x: Any) -> bool:
        return self._is_array(x)


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex))


def _on_numbers(function: Callable[..., Any], *values: Any) -> Any:
    """What a function of NumPy gives for numbers of Python: a number of Python."""
    with np.errstate(all="ignore"):
        return function(*values).item()
