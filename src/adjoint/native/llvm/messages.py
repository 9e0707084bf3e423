"""What exceptions of machine code say of the call, of the words that the call left for it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.native.llvm.values import is_complex, part_of
from adjoint.records import dataclass
from adjoint.runtime.display import format_value

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


@dataclass(frozen=True, slots=True)
class Message:
    """The arguments of an exception.

    Attributes
    ----------
    parts
        For each argument a text's parts, or the kind of a value. Parts are texts, and fields: the kind of a value, its
        conversion, its format. Kinds are those of numbers, and tuples of kinds for those of tuples.
    """

    parts: tuple[Any, ...]

    def arguments(self, address: int) -> tuple[Any, ...]:
        """The arguments; their values lie one behind the other at an address."""
        words = words_at(address, "".join(map(_format, self.parts)))
        return tuple([_text(part, words) if isinstance(part, tuple) else number(part, words) for part in self.parts])


def is_told(kind: Any) -> bool:
    """Whether a message may have values of a kind."""
    return all(map(is_told, kind)) if isinstance(kind, tuple) else part_of(kind) in FORMATS


def _format(part: Any) -> str:
    """How the words of an argument are read."""
    if not isinstance(part, tuple):
        return format_of(part)
    return "".join([_format_of(piece[0]) for piece in part if isinstance(piece, tuple)])


def _format_of(kind: Any) -> str:
    return "".join(map(_format_of, kind)) if isinstance(kind, tuple) else format_of(kind)


def _text(parts: tuple[Any, ...], words: Iterator[Any]) -> str:
    return "".join([part if isinstance(part, str) else _field(words, *part) for part in parts])


def _field(words: Iterator[Any], kind: Any, conversion: str, spec: str) -> str:
    return format_value(_value(kind, words), conversion, spec)


def _value(kind: Any, words: Iterator[Any]) -> Any:
    return tuple([_value(item, words) for item in kind]) if isinstance(kind, tuple) else number(kind, words)
