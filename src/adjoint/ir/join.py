"""The type of an atom, and the type of a value that is one of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Attribute, Const, Load, Var
from adjoint.ir.types import (
    INT,
    KINDS_OF_DTYPES,
    OPAQUE,
    Array,
    Dict,
    Dim,
    Instance,
    List,
    Number,
    Opaque,
    PerPlace,
    Reference,
    Scalar,
    ScalarKind,
    Storage,
    Tuple,
    Type,
    same_dtype,
)
from adjoint.records import dataclass

DType = np.dtype[Any] | None
_METADATA = frozenset({"shape", "ndim", "size", "dtype", "nbytes", "itemsize", "strides", "flags", "device"})
_PYTHON_NUMBERS = {bool: Scalar("bool"), int: Scalar("int"), float: Scalar("float"), complex: Scalar("complex")}


def type_of_atom(atom: Atom) -> Type | None:
    """The type of a variable or constant; None for a value that is never read."""
    if type(atom) is Var:
        return atom.type
    return _type_of_value(atom.value) if type(atom) is Const else None


def is_array(atom: Atom) -> bool:
    """Whether a variable holds an array."""
    return type(atom) is Var and isinstance(atom.type, Array)


def is_attribute_of_numbers(load: Load) -> bool:
    """Whether a load reads an attribute of an array or a number."""
    return isinstance(load.key, Attribute) and isinstance(type_of_atom(load.base), (Array, Scalar, Number))


def reads_metadata(load: Load) -> bool:
    """Whether a load only asks what an array is like, not what is in it."""
    return is_attribute_of_numbers(load) and load.key.name in _METADATA  # type: ignore[union-attr]


def is_whole_number(atom: object) -> bool:
    """Whether an item of a key is a whole number of Python: a variable that holds one, or a constant."""
    if type(atom) is Var:
        return isinstance(atom.type, Scalar) and atom.type.kind == "int"
    return type(atom) is Const and type(atom.value) is int


def kind_of_numbers(atom: Atom) -> ScalarKind | None:
    """The kind of a number or of those in an array; None where it is not known."""
    match type_of_atom(atom):
        case Scalar(kind=kind):
            return kind
        case Array(dtype=dtype) if dtype is not None:
            return KINDS_OF_DTYPES.get(dtype.kind)
        case _:
            return None


def _type_of_value(value: object) -> Type:
    number = _PYTHON_NUMBERS.get(type(value))
    if number is not None:
        return number
    if isinstance(value, np.generic) and value.dtype.kind in KINDS_OF_DTYPES:
        return Scalar(KINDS_OF_DTYPES[value.dtype.kind], value.dtype)
    if isinstance(value, np.ndarray):
        dims: tuple[Dim, ...] = tuple("one" if extent == 1 else "many" for extent in value.shape)
        return Array(value.dtype, dims)
    if type(value) is tuple:
        return Tuple(tuple(map(_type_of_value, value)))
    return Opaque(type(value))


def join_atoms(atoms: Iterable[Atom]) -> Type:
    """The type of a value that is one of ``atoms``; those that are never read do not count."""
    types = [type_ for type_ in map(type_of_atom, atoms) if type_ is not None]
    return reduce(join_types, types) if types else OPAQUE


@dataclass(frozen=True, slots=True)
class Lattice:
    """Joins of types: what a value is that is one of two. Memory that either may be becomes one storage class.

    Attributes
    ----------
    scalars
        The join of two numbers.
    top
        What two types join to that have nothing in common; with None neither they nor what they lie in have a join.
    mixes_tuples
        Whether a list and a tuple whose length is known at run time only have a join.
    """

    scalars: Callable[[Scalar, Scalar], Type]
    top: Type | None
    mixes_tuples: bool

    def join(self, one: Type, other: Type) -> Type | None:
        """The least type of both."""
        match one, other:
            case (Reference(), _) | (_, Reference()):
                return self._reference(one, other) or self._reference(other, one) or self.top
            case Scalar(), Scalar():
                return self.scalars(one, other)
            case Array(), Array():
                return _join_arrays(one, other)
            case (Scalar() | Array() | Number(), Scalar() | Array() | Number()):
                return Number()
            case List(), List() if self.mixes_tuples or one.is_tuple == other.is_tuple:
                storage = _united(one.storage, other.storage)
                return self._container(
                    one.element, other.element, lambda part: List(part, storage, one.is_tuple and other.is_tuple)
                )
            case Dict(), Dict():
                storage = _united(one.storage, other.storage)
                return self._container(one.value, other.value, lambda part: Dict(part, storage))
            case Tuple(items=mine), Tuple(items=theirs) if len(mine) == len(theirs):
                parts, cls = self._parts(mine, theirs), one.cls if one.cls is other.cls else tuple
                return None if parts is None else Tuple(parts, cls)
            case PerPlace(items=mine), PerPlace(items=theirs) if len(mine) == len(theirs):
                parts = self._parts(mine, theirs)
                return None if parts is None else PerPlace(parts)
            case Instance(), Instance() if one.cls is other.cls and one.fields.keys() == other.fields.keys():
                storage = _united(one.storage, other.storage)
                parts = self._parts(tuple(one.fields.values()), tuple(other.fields[name] for name in one.fields))
                return None if parts is None else Instance(one.cls, dict(zip(one.fields, parts, strict=True)), storage)
            case Opaque(), Opaque():
                return one if one == other else OPAQUE
            case _:
                return self.top

    def _reference(self, one: Type, other: Type) -> Type | None:
        """What is one of the objects of a class that refer to each other, or one of them or None."""
        if not isinstance(one, Reference):
            return None
        if one == other or other == Opaque(type(None)):
            return one
        return INT if self.top is not None and other == INT else None

    def _parts(self, mine: tuple[Type, ...], theirs: tuple[Type, ...]) -> tuple[Type, ...] | None:
        parts = [self.join(one, other) for one, other in zip(mine, theirs, strict=True)]
        known = tuple(part for part in parts if part is not None)
        return known if len(known) == len(parts) else None

    def _container(self, mine: Type | None, theirs: Type | None, made: Callable[[Type | None], Type]) -> Type | None:
        """A container of what either holds, if it holds anything."""
        if mine is None or theirs is None:
            return made(theirs if mine is None else mine)
        part = self.join(mine, theirs)
        return None if part is None else made(part)


_LATTICE = Lattice(lambda one, other: one if one == other else Number(), OPAQUE, mixes_tuples=True)


def join_types(one: Type, other: Type) -> Type:
    """What a variable of the IR is that holds values of one type or the other; nothing is converted."""
    joined = _LATTICE.join(one, other)
    assert joined is not None
    return joined


def _join_arrays(one: Array, other: Array) -> Array:
    dtype = one.dtype if same_dtype(one.dtype, other.dtype) else None
    dims: tuple[Dim, ...] | None = None
    if one.dims is not None and other.dims is not None and len(one.dims) == len(other.dims):
        dims = tuple(mine if mine == theirs else "any" for mine, theirs in zip(one.dims, other.dims, strict=True))
    return Array(dtype, dims, _united(one.storage, other.storage))


def _united(one: Storage, other: Storage) -> Storage:
    one.unite(other)
    return one.find()
