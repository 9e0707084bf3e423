"""Copies of memory as it is; of shadows, for the second half of a derivative, which may be called many times."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from adjoint.types.vectors import TangentVector


def fresh_shadows(shadows: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of shadows that share memory with each other where these do: objects, and views of arrays."""
    return _Copies.of_all(shadows)


def snapshot(memory: Any) -> Any:
    """A container or an object as it is now, with all that lies in it."""
    return copy.deepcopy(memory)


class _Copies:
    """One walk over shadows; what it has seen is alive as long as they are.

    Attributes
    ----------
    blocks
        Where memory lies that no array owns, and that arrays share: first and last addresses.
    met
        Where arrays lie in such memory, which machine code made, or a buffer is.
    """

    def __init__(self, blocks: Collection[tuple[int, int]] = ()) -> None:
        self.known: dict[int, Any] = {}
        self.memory: dict[int | tuple[int, int], Any] = {}
        self.blocks = blocks
        self.met: list[tuple[int, int]] = []

    @classmethod
    def of_all(cls, parts: Iterable[Any]) -> tuple[Any, ...]:
        """Copies of several; what shares memory that no array owns is known when all has been seen."""
        parts, copies = tuple(parts), cls()
        found, blocks = tuple(map(copies.of, parts)), _united(copies.met)
        return found if len(blocks) == len(copies.met) else tuple(map(cls(blocks).of, parts))

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
        if owner.base is not None and array.size and not array.dtype.hasobject:
            return self.part_of_block(array)
        flat = self.memory.get(id(owner))
        if flat is None:
            flat = self.memory[id(owner)] = owner.ravel(order="K").copy()
        if array.size == 0:
            return array.copy()
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, flat, start, array.strides)

    def part_of_block(self, array: Any) -> Any:
        """A copy of what lies in memory that no array owns."""
        low, high = np.lib.array_utils.byte_bounds(array)
        self.met.append((low, high))
        block = next((block for block in self.blocks if block[0] <= low and high <= block[1]), (low, high))
        flat = self.memory.get(block)
        if flat is None:
            size = block[1] - block[0]
            memory = memoryview((ctypes.c_ubyte * size).from_address(block[0]))
            flat = self.memory[block] = np.array(memory, np.uint8)
        start = array.__array_interface__["data"][0] - block[0]
        return np.ndarray(array.shape, array.dtype, flat, start, array.strides)


def _united(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Parts of memory, those that overlap as one.

    >>> _united([(4, 8), (0, 2), (6, 9), (4, 5)])
    [(0, 2), (4, 9)]
    """
    found: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


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
