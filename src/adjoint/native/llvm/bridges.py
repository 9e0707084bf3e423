"""Calls of Python from machine code: what has no form there runs as Python, for as long as it takes.

Machine code leaves the arguments in words one behind the other, and finds the results in others. Arrays are handed over
as they lie in memory; results are copied by machine code before they are given up.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from adjoint.codegen.texts import Emitted, load
from adjoint.ir.addresses import address_of, found_at
from adjoint.ir.fingerprint import Nameless
from adjoint.native.llvm.values import ArrayKind, Kind, ListKind, NothingKind, TupleKind, dtype_of, types_of_parts
from adjoint.native.llvm.words import format_of, number, put_words, words_at
from adjoint.records import dataclass

_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Bridge:
    """A statement as a function of Python.

    Attributes
    ----------
    symbol
        The name by which machine code calls it.
    emitted
        The function.
    given, results
        The kinds of its arguments and of its results, which are numbers and arrays.
    """

    symbol: str
    emitted: Emitted
    given: tuple[Kind, ...]
    results: tuple[str | ArrayKind, ...]

    def plain(self) -> list[Any]:
        """What another process needs.

        Raises
        ------
        Nameless
            If it refers to what only this process knows.
        """
        named = {name: _named(value) for name, value in self.emitted.namespace.items()}
        kinds = [_plain_kind(kind) for kind in self.given], [_plain_kind(kind) for kind in self.results]
        return [self.symbol, self.emitted.text, self.emitted.name, named, *kinds]

    def load(self) -> Callable[[int, int], tuple[Any, ...]]:
        """What machine code calls, with the addresses of arguments and of results; it gives what these rest on."""
        function, given, results = load(self.emitted), self.given, self.results
        form, form_of_results = "".join(map(_format, given)), "".join(map(_format_of_result, results))

        def bridge(source: int, target: int) -> tuple[Any, ...]:
            words = words_at(source, form)
            found = function(*[_read(kind, words) for kind in given])
            kept = found if len(results) > 1 else (found,) * len(results)
            pairs = [_words_of(kind, value) for kind, value in zip(results, kept, strict=True)]
            put_words(target, form_of_results, [word for words_, _ in pairs for word in words_])
            return tuple([memory for _, memory in pairs])

        return bridge


def bridge_for(emitted: Emitted, given: tuple[Kind, ...], results: tuple[str | ArrayKind, ...]) -> Bridge:
    """The bridge to a function; its symbol tells what it does."""
    named = sorted((name, _fact(value)) for name, value in emitted.namespace.items())
    facts = (emitted.text, named, given, results)
    return Bridge(f"python_{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}", emitted, given, results)


def of_plain(plain: list[Any]) -> Bridge:
    """The bridge of which this is what another process needs."""
    symbol, text, name, named, given, results = plain
    namespace = {key: _value(*each) for key, each in named.items()}
    made = tuple(map(_kind_of_plain, results))
    assert all(isinstance(kind, (str, ArrayKind)) for kind in made)
    return Bridge(symbol, Emitted(text, namespace, name), tuple(map(_kind_of_plain, given)), made)  # type: ignore[arg-type]


def words_of(results: tuple[str | ArrayKind, ...]) -> int:
    """How many words results take: of arrays the address, the extents and the strides."""
    return sum(len(types_of_parts(kind)) if isinstance(kind, str) else 1 + 2 * kind.rank for kind in results)


# What a text refers to, by name


def _fact(value: Any) -> str:
    try:
        return repr(_named(value))
    except Nameless:
        return f"of this process {id(value)}"


def _named(value: Any) -> list[Any]:
    if type(value) in _PLAIN:
        return ["is", value]
    if isinstance(value, np.dtype) and value.names is None and not value.hasobject:
        return ["dtype", value.str]
    return ["at", *address_of(value)]


def _value(how: str, *told: Any) -> Any:
    match how, told:
        case "is", (value,):
            return value
        case "dtype", (name,):
            return np.dtype(name)
    import_module(told[0])
    return found_at(*told)


def _plain_kind(kind: Kind) -> Any:
    match kind:
        case str():
            return kind
        case ArrayKind():
            return {"array": [kind.element, kind.rank, kind.by_rows, kind.read_only]}
        case TupleKind(items=items):
            return {"tuple": [_plain_kind(item) for item in items]}
        case ListKind(element=element) if element is not None:
            return {"list": _plain_kind(element)}
        case NothingKind():
            return {"nothing": 0}
    raise Nameless(kind)


def _kind_of_plain(plain: Any) -> Kind:
    match plain:
        case str():
            return plain
        case {"array": told}:
            return ArrayKind(*told)
        case {"tuple": items}:
            return TupleKind(tuple(map(_kind_of_plain, items)))
        case {"list": element}:
            return ListKind(_kind_of_plain(element))
    return NothingKind()


# Words


class _InPlace:
    """An array as it lies in memory."""

    def __init__(self, address: int, kind: ArrayKind, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.__array_interface__ = {
            "data": (address, kind.read_only),
            "shape": shape,
            "strides": strides,
            "typestr": dtype_of(kind.element).str,
            "version": 3,
        }


def _format(kind: Kind) -> str:
    """How the words of a value are read."""
    match kind:
        case str():
            return format_of(kind)
        case TupleKind(items=items):
            return "".join(map(_format, items))
    return "q" * len(types_of_parts(kind))


def _read(kind: Kind, words: Iterator[Any]) -> Any:
    match kind:
        case str():
            return number(kind, words)
        case ArrayKind(rank=rank, by_rows=by_rows):
            next(words)
            address, *shape = islice(words, 1 + rank)
            strides = _by_rows(kind, shape) if by_rows else tuple(islice(words, rank))
            return np.asarray(_InPlace(address, kind, tuple(shape), strides))
        case TupleKind(items=items):
            return tuple([_read(item, words) for item in items])
        case ListKind(element=element) if element is not None:
            size, _, items = words_at(next(words), "qqq")
            form = _format(element)
            step = struct.calcsize(form)
            return [_read(element, words_at(items + step * place, form)) for place in range(size)]
    return None


def _by_rows(kind: ArrayKind, shape: Sequence[int]) -> tuple[int, ...]:
    strides = [dtype_of(kind.element).itemsize]
    for extent in shape[:0:-1]:
        strides.append(strides[-1] * extent)
    return tuple(strides[::-1][: len(shape)])


def _format_of_result(kind: str | ArrayKind) -> str:
    return format_of(kind) if isinstance(kind, str) else "q" * (1 + 2 * kind.rank)


def _words_of(kind: str | ArrayKind, value: Any) -> tuple[list[Any], Any]:
    """The words of a result, and what the memory of an array rests on, in which it has no gaps."""
    if isinstance(kind, str):
        return ([value.real, value.imag] if kind[0] == "c" else [value]), None
    found = np.asarray(value)
    if found.dtype != dtype_of(kind.element) or found.ndim != kind.rank:
        raise TypeError(f"an array of rank {found.ndim} of {found.dtype} where one of rank {kind.rank} was announced")
    flags = found.flags
    if not (flags.c_contiguous or (flags.f_contiguous and not kind.by_rows)):
        found = np.copy(found, order="C" if kind.by_rows else "K")
    return [found.__array_interface__["data"][0], *found.shape, *found.strides], found
