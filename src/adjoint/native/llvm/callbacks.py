"""Functions of Python that machine code calls: what has no form there runs as Python, for as long as it takes."""

from __future__ import annotations

import hashlib
import re
from _thread import get_ident
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.codegen.texts import ByPython, Emitted, load
from adjoint.ir.addresses import address_of, imported
from adjoint.ir.fingerprint import Nameless
from adjoint.records import dataclass

SYMBOLS = re.compile(r"python_[0-9a-f]{24}")
"""What callbacks are called by."""
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Callback:
    """A statement as a function of Python.

    Attributes
    ----------
    symbol
        The name by which machine code calls it.
    emitted
        The function.
    """

    symbol: str
    emitted: Emitted

    def plain(self) -> list[Any]:
        """What another process needs.

        Raises
        ------
        Nameless
            If it refers to what only this process knows.
        """
        named = {name: _named(value) for name, value in self.emitted.namespace.items()}
        return [self.symbol, self.emitted.text, self.emitted.name, named]

    def load(self) -> Callable[..., Any]:
        """What machine code calls."""
        return load(self.emitted)


def callback_for(emitted: Emitted) -> Callback:
    """The callback to a function; its symbol tells what it does."""
    facts = emitted.text, sorted((name, _fact(value)) for name, value in emitted.namespace.items())
    return Callback(f"python_{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}", emitted)


def of_plain(plain: list[Any]) -> Callback:
    """The callback of which this is what another process needs."""
    symbol, text, name, named = plain
    return Callback(symbol, Emitted(text, {key: _value(*each) for key, each in named.items()}, name))


def dense(value: Any, dtype: np.dtype[Any], rank: int, by_rows: bool) -> np.ndarray:
    """An array as it was announced, in memory without gaps.

    Raises
    ------
    TypeError
        If it is another one.

    >>> dense(np.ones((2, 4))[:, ::2], np.dtype(float), 2, True).flags.c_contiguous
    True
    """
    found = _as_announced(value, dtype, rank)
    flags = found.flags
    if flags.c_contiguous or (flags.f_contiguous and not by_rows):
        return found
    return np.copy(found, order="C" if by_rows else "K")


def announced(value: Any, dtype: np.dtype[Any], rank: int, written: bool) -> np.ndarray:
    """An array as it was announced, where it lies.

    Raises
    ------
    TypeError
        If it is another one.
    ValueError
        If it is to be written, and cannot be.

    >>> announced(np.ones((2, 4))[:, ::2], np.dtype(float), 2, True).shape
    (2, 2)
    """
    found = _as_announced(value, dtype, rank)
    if not found.flags.aligned:
        raise TypeError("an array whose numbers lie at odd addresses")
    if written and not found.flags.writeable:
        raise ValueError("assignment destination is read-only")
    return found


def _as_announced(value: Any, dtype: np.dtype[Any], rank: int) -> np.ndarray:
    found = np.asarray(value)
    if found.shape == (0,) and found.dtype == float and rank > 1:  # as NumPy makes of any list without items
        return np.zeros((0,) * rank, dtype)
    if found.dtype != dtype or found.ndim != rank:
        raise TypeError(f"an array of rank {found.ndim} of {found.dtype} where one of rank {rank} was announced")
    return found


_kept: dict[int, BaseException] = {}


def keep_exception(problem: BaseException) -> None:
    """Keeps what Python raised inside of machine code, for the thread that called it."""
    _kept[get_ident()] = problem


def raise_kept() -> None:
    """Raises it."""
    raise _kept.pop(get_ident())


def _fact(value: Any) -> str:
    try:
        return repr(_named(value))
    except Nameless:
        return f"of this process {id(value)}"


def _named(value: Any) -> list[Any]:
    """What a text refers to, by name."""
    if type(value) in _PLAIN:
        return ["is", value]
    if isinstance(value, np.dtype) and value.names is None and not value.hasobject:
        return ["dtype", value.str]
    if isinstance(value, ByPython):
        own = value.emitted
        return ["text", own.text, own.name, {name: _named(each) for name, each in own.namespace.items()}]
    return ["at", *address_of(value)]


def _value(how: str, *told: Any) -> Any:
    match how, told:
        case "is", (value,):
            return value
        case "dtype", (name,):
            return np.dtype(name)
        case "text", (text, name, named):
            return ByPython(Emitted(text, {key: _value(*each) for key, each in named.items()}, name))
    return imported(*told)
