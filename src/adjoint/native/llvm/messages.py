"""What exceptions of machine code say of the call: a form, and the words that the call left for it."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from adjoint.records import dataclass
from adjoint.runtime.display import format_value

FORMATS = {"f8": "d", "f4": "f", "b1": "?", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
FORMATS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}


@dataclass(frozen=True, slots=True)
class Form:
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
        words = Words(address)
        return tuple([_text(part, words) if isinstance(part, tuple) else words.value(part) for part in self.parts])


def _text(parts: tuple[Any, ...], words: Words) -> str:
    return "".join([part if isinstance(part, str) else _field(words, *part) for part in parts])


def _field(words: Words, kind: Any, conversion: str, spec: str) -> str:
    return format_value(words.value(kind), conversion, spec)


class Words:
    """Reads one value after the other, from an address on."""

    def __init__(self, address: int) -> None:
        self._address = address

    def value(self, kind: Any) -> Any:
        """The next value, which is of a kind: a number of Python's where it has such."""
        if isinstance(kind, tuple):
            return tuple(map(self.value, kind))
        if kind[0] == "c":
            part = f"f{kind[1]}"
            found = complex(self._number(part), self._number(part))
            return np.complex64(found) if kind == "c4" else found
        found = self._number(kind)
        return found if kind in ("f8", "i8", "b1") else np.dtype(kind).type(found)

    def _number(self, kind: str) -> Any:
        word = ctypes.string_at(self._address, 8)
        self._address += 8
        return struct.unpack_from(FORMATS[kind], word)[0]


def is_told(kind: Any) -> bool:
    """Whether a form may have values of a kind."""
    return all(map(is_told, kind)) if isinstance(kind, tuple) else kind in FORMATS or kind in ("c8", "c4")
