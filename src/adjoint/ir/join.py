"""The type of an atom, and the type of a value that is one of several."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Const, Var
from adjoint.ir.types import (
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
    Scalar,
    ScalarKind,
    Storage,
    Tuple,
    Type,
    same_dtype,
)

DType = np.dtype[Any] | None
_PYTHON_NUMBERS = {bool: Scalar("bool"), int: Scalar("int"), float: Scalar("float"), complex: Scalar("complex")}


def type_of_atom(atom: Atom) -> Type | None:
    """The type of a variable or constant; None for a value that is never read."""
    if type(atom) is Var:
        return atom.type
    return _type_of_value(atom.value) if type(atom) is Const else None


def is_array(atom: Atom) -> bool:
    """Whether a variable holds an array."""
    return type(atom) is Var and isinstance(atom.type, Array)


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


def join_types(one: Type, other: Type) -> Type:
    """The least type of both. Memory that either may be becomes one storage class."""
    match one, other:
        case Array(), Array():
            return _join_arrays(one, other)
        case (Scalar() | Array() | Number(), Scalar() | Array() | Number()):
            return one if one == other else Number()
        case List(), List():
            element = _join_optional(one.element, other.element)
            return List(element, _united(one.storage, other.storage), one.is_tuple and other.is_tuple)
        case Dict(), Dict():
            return Dict(_join_optional(one.value, other.value), _united(one.storage, other.storage))
        case Tuple(items=mine), Tuple(items=theirs) if len(mine) == len(theirs):
            return Tuple(tuple(map(join_types, mine, theirs)), one.cls if one.cls is other.cls else tuple)
        case PerPlace(items=mine), PerPlace(items=theirs) if len(mine) == len(theirs):
            return PerPlace(tuple(map(join_types, mine, theirs)))
        case Instance(), Instance() if one.cls is other.cls and one.fields.keys() == other.fields.keys():
            fields = {name: join_types(type_, other.fields[name]) for name, type_ in one.fields.items()}
            return Instance(one.cls, fields, _united(one.storage, other.storage))
        case Opaque(), Opaque() if one.cls is other.cls:
            return one
        case _:
            return OPAQUE


def _join_optional(one: Type | None, other: Type | None) -> Type | None:
    if one is None or other is None:
        return one if other is None else other
    return join_types(one, other)


def _join_arrays(one: Array, other: Array) -> Array:
    dtype = one.dtype if same_dtype(one.dtype, other.dtype) else None
    dims: tuple[Dim, ...] | None = None
    if one.dims is not None and other.dims is not None and len(one.dims) == len(other.dims):
        dims = tuple(mine if mine == theirs else "any" for mine, theirs in zip(one.dims, other.dims, strict=True))
    return Array(dtype, dims, _united(one.storage, other.storage))


def _united(one: Storage, other: Storage) -> Storage:
    one.unite(other)
    return one.find()
