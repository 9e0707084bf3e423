"""Copies of memory as it is; of shadows, for the second half of a derivative, which may be called many times."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adjoint.types.vectors import TangentVector


def fresh_shadows(shadows: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of shadows that share memory with each other where these do: objects, and views of arrays."""
    copies = _Copies()
    return tuple(copies.of(shadow) for shadow in shadows)


def snapshot(memory: Any) -> Any:
    """A container or an object as it is now, with all that lies in it."""
    return copy.deepcopy(memory)


class _Copies:
    """One walk over shadows; what it has seen is alive as long as they are."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.memory: dict[int, Any] = {}

    def of(self, shadow: Any) -> Any:
        if id(shadow) in self.known:
            return self.known[id(shadow)]
        result: Any
        match shadow:
            case np.ndarray():
                result = self.known[id(shadow)] = self.array(shadow)
            case list():
                result = self.known[id(shadow)] = []
                result.extend(map(self.of, shadow))
            case dict():
                result = self.known[id(shadow)] = {}
                result.update((key, self.of(part)) for key, part in shadow.items())
            case TangentVector():
                result = self.known[id(shadow)] = type(shadow)()
                for name, part in vars(shadow).items():
                    setattr(result, name, self.of(part))
            case tuple():
                result = tuple(map(self.of, shadow))
            case _:
                result = shadow
        return result

    def array(self, array: Any) -> Any:
        """A copy; that of a view is a view of the copy of what owns the memory."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        flat = self.memory.get(id(owner))
        if flat is None:
            flat = self.memory[id(owner)] = owner.ravel(order="K").copy()
        if array.size == 0:
            return array.copy()
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, flat, start, array.strides)


def copy_as_it_lies(array: Any) -> Any:
    """A copy with the strides of ``array``: also its gaps, and backwards where that is.

    >>> copy_as_it_lies(np.arange(6.0)[::-2]).strides
    (-16,)
    """
    return _Copies().array(array)


def owned(x: Any) -> Any:
    """A copy of ``x`` that shares no memory with anything.

    >>> a = np.ones(2)
    >>> np.shares_memory(a, owned(a))
    False
    """
    return np.array(x) if isinstance(x, np.ndarray) else x


def of_dtype(x: Any, dtype: Any) -> Any:
    """An array in a dtype; the array itself where it is of it.

    >>> of_dtype(np.ones(1), np.float32)
    array([1.], dtype=float32)
    """
    return x.astype(dtype, copy=False)
