"""Which calls run by machine code of Adjoint's own: the kinds of their arguments, and the options that it knows."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.native.compile.not_native import NotNative
from adjoint.native.llvm.values import (
    OBJECT,
    TUPLE_ITEMS,
    ArrayKind,
    Kind,
    ListKind,
    NothingKind,
    TupleKind,
    Unsupported,
    kind_of,
)

_FIRST_LLVM = 20
"""The first version of LLVM that reads what is written here."""


def require_known_here() -> None:
    """Refuses where machine code was never tried.

    Raises
    ------
    NotNative
        Where objects lie in memory otherwise than is known, or LLVM is too old.
    """
    if not _is_known_here():
        raise NotNative("machine code is made on Linux and macOS, by CPython of 64 bits with its lock, and LLVM 20")


@functools.cache
def _is_known_here() -> bool:
    """Whether objects lie in memory as machine code expects it, and LLVM is new enough."""
    is_known_system = sys.platform in ("linux", "darwin") and sys.implementation.name == "cpython"
    if (
        not is_known_system
        or ctypes.sizeof(ctypes.c_void_p) != 8
        or not getattr(sys, "_is_gil_enabled", lambda: True)()
    ):
        return False
    from llvmlite import binding  # type: ignore[import-untyped]  # lazy

    array, items = np.arange(6.0).reshape(2, 3), (1.5, 2)
    several = [items]
    found = (
        _word(array, 16), _word(array, 24) & 0xFFFFFFFF, _word(array, 56),
        ctypes.c_int64.from_address(_word(array, 32) + 8).value,
        ctypes.c_int64.from_address(_word(array, 40)).value,
        ctypes.c_double.from_address(id(items[0]) + 16).value,
        _word(items, 16), _word(items, TUPLE_ITEMS + 8), _word(several, 16),
        ctypes.c_int64.from_address(_word(several, 24)).value,
    )  # fmt: skip
    expected = (array.ctypes.data, 2, id(array.dtype), 3, 24, 1.5, 2, id(items[1]), 1, id(items))
    return found == expected and binding.llvm_version_info[0] >= _FIRST_LLVM


def _word(value: object, offset: int) -> int:
    """A word of an object."""
    return ctypes.c_int64.from_address(id(value) + offset).value


def kinds_of(args: Sequence[Any]) -> tuple[Kind, ...]:
    """The kinds of arguments."""
    return tuple(map(_kind_of, args))


def _kind_of(arg: Any) -> Kind:
    given = type(arg)
    if given is float or given is np.float64:
        return "f8"
    if given is np.ndarray and arg.flags.aligned:
        try:
            return ArrayKind(kind_of(arg.dtype), arg.ndim, arg.flags.c_contiguous, not arg.flags.writeable)
        except Unsupported:
            return OBJECT
    if (given is int and -(2**63) <= arg < 2**63) or given is np.int64:
        return "i8"
    if given is complex or given is np.complex128:
        return "c8"
    if given is bool:
        return "b1"
    if arg is None:
        return NothingKind()
    if given is list and arg:
        first, *others = map(_kind_of, arg)
        return OBJECT if first == OBJECT or any(other != first for other in others) else ListKind(first, read_only=True)
    if issubclass(given, tuple):
        return TupleKind(tuple(map(_kind_of, arg)))
    if given is np.float32 or given is np.complex64:
        return "f4" if given is np.float32 else "c4"
    return OBJECT
