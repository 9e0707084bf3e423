"""Values that machine code leaves in words of eight bytes, one behind the other, and Python reads."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.native.llvm.values import is_complex, part_of

FORMATS = {"f8": "d", "f4": "f4x", "b1": "?7x", "i8": "q", "i4": "i4x", "i2": "h6x", "i1": "b7x"}
FORMATS |= {"u8": "Q", "u4": "I4x", "u2": "H6x", "u1": "B7x"}
"""How the words of numbers are read."""


def format_of(kind: str) -> str:
    """How the words of a number are read."""
    return FORMATS[part_of(kind)] * (2 if is_complex(kind) else 1)


def words_at(address: int, form: str) -> Iterator[Any]:
    """What lies at an address, one word after the other."""
    return iter(struct.unpack(form, ctypes.string_at(address, struct.calcsize(form))))


def number(kind: str, words: Iterator[Any]) -> Any:
    """The next number, one of Python's where it has such."""
    if is_complex(kind):
        found = complex(next(words), next(words))
        return np.complex64(found) if kind == "c4" else found
    found = next(words)
    return found if kind in ("f8", "i8", "b1") else np.dtype(kind).type(found)
