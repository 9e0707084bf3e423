"""What values of the IR are in LLVM IR: numbers, arrays, tuples and lists as first-class values.

A number is one LLVM value. An array is the address of the memory that it lies in, that of its first element, and an
extent and a stride for each axis; strides that its layout tells are computed, not carried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics.spans import Span
from adjoint.records import dataclass, field


class _Types(dict[str, str]):
    """The types of numbers, and of bundles of them: ``f8x4`` is four doubles."""

    def __missing__(self, kind: str) -> str:
        number, _, count = kind.partition("x")
        found = self[kind] = f"<{count} x {self[number]}>"
        return found


LLVM_TYPES = _Types({
    "f8": "double", "f4": "float", "b1": "i1",
    "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8", "u8": "i64", "u4": "i32", "u2": "i16", "u1": "i8",
})  # fmt: skip
"""How NumPy's kinds of numbers are called by LLVM, where they are values."""
IN_MEMORY = _Types(LLVM_TYPES | {"b1": "i8", "c8": "[2 x double]", "c4": "[2 x float]"})
"""How they lie in arrays. Complex numbers, which are two values, are named after their parts: ``c8`` is two doubles."""


NUMBERS = tuple(IN_MEMORY)
"""The kinds of numbers."""
TUPLE_ITEMS = tuple.__basicsize__
"""Where the items of tuples begin: from Python 3.14 on their hash stands before."""


class Unsupported(Exception):
    """A statement has no form in LLVM IR here.

    Attributes
    ----------
    span
        The user's line, as soon as it is known.
    """

    span: Span | None = None


def kind_of(dtype: Any) -> str:
    """The kind of numbers of a dtype: ``f8`` for doubles."""
    dtype = np.dtype(dtype)
    kind = f"{dtype.kind}{dtype.itemsize // (2 if dtype.kind == 'c' else 1)}"
    if kind not in IN_MEMORY or not dtype.isnative:
        raise Unsupported(f"numbers of {dtype}")
    return kind


def dtype_of(kind: str) -> np.dtype[Any]:
    """The dtype of numbers of a kind."""
    return np.dtype(_DTYPES.get(kind, kind))


_DTYPES = {"b1": "?", "c8": "c16", "c4": "c8"}


def size_of(kind: str) -> int:
    """The bytes of a number, or a bundle, in memory."""
    return int(kind[1]) * (width_of(kind) or (2 if is_complex(kind) else 1))


def is_complex(kind: Kind) -> bool:
    """Whether a kind is one of complex numbers."""
    return isinstance(kind, str) and kind[0] == "c"


def part_of(kind: str) -> str:
    """The kind of the real part of numbers: of floats their own."""
    return f"f{kind[1]}" if is_complex(kind) else kind


def width_of(kind: str) -> int:
    """How many numbers a bundle has; 0 for numbers."""
    return int(kind[3:] or 0)


def bundle_of(kind: str, width: int) -> str:
    """The kind of bundles of numbers of a kind; of that kind itself for width 0."""
    return f"{kind[:2]}x{width}" if width else kind[:2]


class TakenAsObject(Exception):
    """An argument has to stay an object of Python: a list of the caller's is written, or handed on."""

    def __init__(self, place: int) -> None:
        super().__init__(f"argument {place}")
        self.place = place


class SeveralKinds:
    """Stands for the class of lists of several kinds, of which machine code makes what :class:`Tuple` says."""


class LeftToPython(Exception):
    """Objects of a class have to be Python's: something is done with one that machine code has no form for."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls.__qualname__)
        self.cls = cls


# Kinds: what tells how a value is made up


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """Arrays of numbers of a kind. ``by_rows``: their elements lie in the order of rows, without gaps."""

    element: str
    rank: int
    by_rows: bool
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class TupleKind:
    """Tuples of values of these kinds; also lists of several kinds, which are as long as they are made.

    Of lists, numbers lie in arrays of one, because they may be written: at the places ``numbers``. Tuples have none.
    """

    items: tuple[Kind, ...]
    numbers: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ListKind:
    """Lists of values of one kind; None as long as nothing was put on one.

    ``read_only``: they are the caller's. ``key``: which statement makes them; of the caller's, the argument's place.
    """

    element: Kind | None
    read_only: bool = False
    key: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StructKind:
    """Objects of a user's class, whose fields machine code has. ``optional``: or None.

    How they are laid out, all parts of a module agree on.
    """

    cls: type
    optional: bool = False


@dataclass(frozen=True, slots=True)
class NothingKind:
    """None."""


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """Objects of Python of which machine code knows nothing: what is done with them, Python does."""


OBJECT = ObjectKind()
Kind = str | ArrayKind | TupleKind | ListKind | StructKind | NothingKind | ObjectKind

# Values


@dataclass(eq=False, slots=True)
class Owner:
    """A reference to memory that has to be given up: the address of a block, counted by the block's header."""

    base: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number: ``name`` is an LLVM value, or a literal. ``natural``: an index that counts from the start."""

    kind: str
    name: str
    natural: bool = False

    @property
    def type(self) -> str:
        return LLVM_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number: its parts are LLVM values, or literals."""

    kind: str
    real: str
    imag: str

    @property
    def parts(self) -> tuple[Number, Number]:
        part = part_of(self.kind)
        return Number(part, self.real), Number(part, self.imag)


@dataclass(frozen=True, slots=True)
class Array:
    """An array; ``strides`` are in bytes. ``owner``: who keeps its memory alive, None for that of the caller."""

    kind: ArrayKind
    base: str
    data: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, or a list of several kinds."""

    items: tuple[Value, ...]
    numbers: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class List:
    """A list: the address of its block."""

    kind: ListKind
    base: str
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class Struct:
    """An object whose fields machine code has: the address of its block."""

    kind: StructKind
    base: str
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class Object:
    """An object of Python: the address of the block that refers to it."""

    base: str
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class Known:
    """A value that the compiler knows and machine code never sees: None, a dtype, a text."""

    value: Any


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that exceptions tell: its parts are texts, and values, each with its conversion and its format."""

    parts: tuple[str | tuple[Value, str, str], ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """A range of whole numbers, of which only the length is asked for."""

    start: str
    stop: str
    step: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """A slice: its bounds and its step, or None."""

    lower: Value
    upper: Value
    step: Value


Value = Number | Complex | Array | Tuple | List | Struct | Object | Known | Shown | Steps | Bounds


def kind(value: Value) -> Kind:
    """The kind of a value."""
    match value:
        case Number(kind=found) | Complex(kind=found) | Array(kind=found) | List(kind=found) | Struct(kind=found):
            return found
        case Tuple(items=items, numbers=numbers):
            return TupleKind(tuple(map(kind, items)), numbers)
        case Object():
            return OBJECT
        case Known(value=None):
            return NothingKind()
        case Shown() | Steps() | Bounds():
            raise Unsupported("a text, a range or a slice at run time")
    raise Unsupported(f"{value.value!r} at run time")


def parts(value: Value) -> Iterator[tuple[str, str]]:
    """The LLVM values that make up a value, with their types."""
    match value:
        case Number():
            yield value.type, value.name
        case Complex():
            yield from ((part.type, part.name) for part in value.parts)
        case Array():
            yield "ptr", value.base
            yield "ptr", value.data
            yield from (("i64", extent) for extent in value.shape)
            if not value.kind.by_rows:
                yield from (("i64", stride) for stride in value.strides)
        case List() | Struct() | Object():
            yield "ptr", value.base
        case Tuple(items=items):
            for item in items:
                yield from parts(item)


def types_of_parts(found: Kind) -> list[str]:
    """The types of what makes up values of a kind."""
    match found:
        case str():
            return [LLVM_TYPES[part_of(found)]] * (2 if is_complex(found) else 1)
        case ArrayKind(rank=rank, by_rows=by_rows):
            return ["ptr", "ptr"] + ["i64"] * (rank if by_rows else 2 * rank)
        case ListKind() | StructKind() | ObjectKind():
            return ["ptr"]
        case TupleKind(items=items):
            return [part for item in items for part in types_of_parts(item)]
        case _:
            return []


def references(value: Value) -> list[tuple[str, Owner | None]]:
    """The blocks of memory that a value refers to, each with who keeps it alive."""
    match value:
        case Array() | List() | Struct() | Object():
            return [(value.base, value.owner)]
        case Tuple(items=items):
            return [pair for item in items for pair in references(item)]
        case _:
            return []


def joined(kinds: Sequence[Kind]) -> Kind:
    """The kind of a value that is of one of these kinds: objects of Python where they have nothing in common."""
    try:
        return _in_common(kinds)
    except Unsupported:
        if any(isinstance(each, str) and width_of(each) for one in kinds for each in kinds_in(one)):
            raise
        return OBJECT


def kinds_in(found: Kind) -> Iterator[Kind]:
    """A kind, and those of which it is made up."""
    yield found
    match found:
        case ArrayKind(element=element):
            yield element
        case TupleKind(items=items):
            for item in items:
                yield from kinds_in(item)
        case ListKind(element=element) if element is not None:
            yield from kinds_in(element)


def _in_common(kinds: Sequence[Kind]) -> Kind:
    first, *rest = kinds
    if all(one == first for one in rest):
        return first
    structs = [one for one in kinds if isinstance(one, StructKind)]
    missing = [one for one in kinds if isinstance(one, NothingKind)]
    if len({one.cls for one in structs}) == 1 and len(structs) + len(missing) == len(kinds):
        return StructKind(structs[0].cls, bool(missing) or any(one.optional for one in structs))
    if all(isinstance(one, ArrayKind) for one in kinds):
        shapes = {(one.element, one.rank) for one in kinds if isinstance(one, ArrayKind)}
        if len(shapes) == 1:
            ((element, rank),) = shapes
            return ArrayKind(element, rank, False, any(one.read_only for one in kinds if isinstance(one, ArrayKind)))
    if all(isinstance(one, TupleKind) for one in kinds):
        tuples = [one for one in kinds if isinstance(one, TupleKind)]
        if len({(len(one.items), one.numbers) for one in tuples}) == 1:
            places = zip(*[one.items for one in tuples], strict=True)
            return TupleKind(tuple(map(_in_common, places)), tuples[0].numbers)
    if all(isinstance(one, ListKind) for one in kinds):
        elements = [one.element for one in kinds if isinstance(one, ListKind) and one.element is not None]
        read_only = any(one.read_only for one in kinds if isinstance(one, ListKind))
        key = first.key if isinstance(first, ListKind) else None
        return ListKind(_in_common(elements) if elements else None, read_only, key)
    if all(isinstance(one, str) for one in kinds):
        return common_kind([one for one in kinds if isinstance(one, str)])
    raise Unsupported("a value of several kinds")


def common_kind(kinds: Sequence[str]) -> str:
    """The kind that numbers of these have in common where they meet."""
    found = set(kinds)
    if len(found) == 1:
        return kinds[0]
    widths = {width_of(kind) for kind in found} - {0}
    if widths:
        if len(widths) > 1:
            raise Unsupported("bundles of several widths")
        return bundle_of("b1" if all(kind[0] == "b" for kind in found) else "f8", widths.pop())
    if any(map(is_complex, found)):
        return f"c{common_kind([part_of(kind) for kind in kinds])[1]}"
    if any(kind[0] == "f" for kind in found):
        return "f4" if found <= {"f4", "b1", "i1", "u1", "i2", "u2"} else "f8"
    if "u8" in found:
        raise Unsupported("unsigned numbers of 64 bits beside others")
    return "i8"
