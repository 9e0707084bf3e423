"""Tangent vectors of user classes: one synthesised class for each, with the fields that can be differentiated."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np


class TangentVector:
    """Base of the synthesised tangent classes: a bag of named fields that is a vector.

    A field that is missing, or None, is zero. Vectors of one class can be added and scaled whatever fields they
    have; the result has the fields of both.
    """

    _primal: ClassVar[Callable[[], type | None]] = lambda: None
    __array_ufunc__ = None  # a NumPy scalar times a vector asks the vector
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    @classmethod
    def primal_class(cls) -> type:
        """The class whose tangents these are."""
        primal = cls._primal()
        if primal is None:
            raise ReferenceError(f"the class of {cls.__qualname__} no longer exists")
        return primal

    @property
    def zero(self) -> Self:
        """The zero vector of the same structure."""
        return self._mapped(lambda part: part * 0 if not isinstance(part, np.ndarray) else np.zeros_like(part))

    def __add__(self, other: object) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        from adjoint.runtime.tangents import accumulate

        result: Self = accumulate(self, other)
        return result

    def __radd__(self, other: object) -> Self:
        return self if type(other) is int and other == 0 else NotImplemented  # so that sum() works

    def __sub__(self, other: object) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return self + (-other)

    def __neg__(self) -> Self:
        return self._mapped(lambda part: -part)

    def __mul__(self, factor: object) -> Self:
        if not _is_scalar(factor):
            return NotImplemented
        return self._mapped(lambda part: _scaled(part, factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Self:
        if not _is_scalar(divisor):
            return NotImplemented
        return self._mapped(lambda part: _divided(part, divisor))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        from adjoint.runtime.tangents import same_tangent

        return same_tangent(self, other)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__qualname__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, (self.primal_class(),), dict(self.__dict__)

    def _mapped(self, fn: Callable[[Any], Any]) -> Self:
        from adjoint.types.structure import map_structure

        result: Self = map_structure(lambda part: None if part is None else fn(part), self)
        return result


_classes: weakref.WeakKeyDictionary[type, type[TangentVector]] = weakref.WeakKeyDictionary()


def tangent_class(cls: type) -> type[TangentVector]:
    """The class of tangents of ``cls``, the same one at each call.

    Examples
    --------
    >>> class Model: pass
    >>> tangent_class(Model)(weight=1.0)
    Model.TangentVector(weight=1.0)
    """
    if issubclass(cls, TangentVector):
        return cls
    known = _classes.get(cls)
    if known is None:
        namespace = {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.TangentVector",
            "__doc__": f"A tangent vector of :class:`{cls.__qualname__}`.",
            "_primal": staticmethod(weakref.ref(cls)),  # a strong reference would keep the cache's key alive
        }
        known = _classes.setdefault(cls, type("TangentVector", (TangentVector,), namespace))
    return known


def _blank(cls: type) -> TangentVector:
    return tangent_class(cls)()


def _is_scalar(x: object) -> bool:
    return isinstance(x, (int, float, complex, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0)


def _scaled(part: Any, factor: Any) -> Any:
    if isinstance(part, TangentVector):
        return part * factor
    return np.asarray(part * factor, dtype=part.dtype) if isinstance(part, np.ndarray) else part * factor


def _divided(part: Any, divisor: Any) -> Any:
    return np.asarray(part / divisor, dtype=part.dtype) if isinstance(part, np.ndarray) else part / divisor
