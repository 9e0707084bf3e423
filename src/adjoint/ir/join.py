"""The type of an atom, and the type of a value that is one of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.records import dataclass

DType = np.dtype[Any] | None
_METADATA = frozenset({"dtype", "nbytes", "itemsize", "strides", "flags", "device"})
_PYTHON_NUMBERS = {
    bool: ir.Scalar("bool"),
    int: ir.Scalar("int"),
    float: ir.Scalar("float"),
    complex: ir.Scalar("complex"),
}


def type_of_atom(atom: ir.Atom) -> ir.Type | None:
    """The type of a variable or constant; None for a value that is never read."""
    if type(atom) is ir.Var:
        return atom.type
    return _type_of_value(atom.value) if type(atom) is ir.Const else None


def is_array(atom: ir.Atom) -> bool:
    """Whether a variable holds an array."""
    return type(atom) is ir.Var and isinstance(atom.type, ir.Array)


def is_attribute_of_numbers(load: ir.Load) -> bool:
    """Whether a load reads an attribute of an array or a number."""
    return isinstance(load.key, ir.Attribute) and isinstance(type_of_atom(load.base), (ir.Array, ir.Scalar, ir.Number))


def reads_metadata(load: ir.Load) -> bool:
    """Whether a load only asks what an array is like, not what is in it; for its extents, calls ask."""
    return is_attribute_of_numbers(load) and load.key.name in _METADATA  # type: ignore[union-attr]


def is_whole_number(atom: object) -> bool:
    """Whether an item of a key is a whole number of Python: a variable that holds one, or a constant."""
    if type(atom) is ir.Var:
        return isinstance(atom.type, ir.Scalar) and atom.type.kind == "int"
    return type(atom) is ir.Const and type(atom.value) is int


def is_integer(item: object) -> bool:
    """Whether an item of a key is one whole number, of Python or of NumPy."""
    return isinstance(item, (ir.Var, ir.Const)) and _is_of_kind(item, "int")


def is_float(atom: ir.Atom) -> bool:
    """Whether it is one float."""
    return _is_of_kind(atom, "float")


def _is_of_kind(atom: ir.Atom, kind: ir.ScalarKind) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind == kind


def is_python_number(atom: ir.Atom) -> bool:
    """Whether arithmetic of Python's own is done on it, which is not what NumPy does."""
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.dtype is None


def kind_of_numbers(atom: ir.Atom) -> ir.ScalarKind | None:
    """The kind of a number or of those in an array; None where it is not known."""
    match type_of_atom(atom):
        case ir.Scalar(kind=kind):
            return kind
        case ir.Array(dtype=dtype) if dtype is not None:
            return ir.KINDS_OF_DTYPES.get(dtype.kind)
        case _:
            return None


def _type_of_value(value: object) -> ir.Type:
    number = _PYTHON_NUMBERS.get(type(value))
    if number is not None:
        return number
    if isinstance(value, np.generic) and value.dtype.kind in ir.KINDS_OF_DTYPES:
        return ir.Scalar(ir.KINDS_OF_DTYPES[value.dtype.kind], value.dtype)
    if isinstance(value, np.ndarray):
        dims: tuple[ir.Dim, ...] = tuple("one" if extent == 1 else "many" for extent in value.shape)
        return ir.Array(value.dtype, dims)
    if type(value) is tuple:
        return ir.Tuple(tuple(map(_type_of_value, value)))
    return ir.Opaque(type(value))


def join_atoms(atoms: Iterable[ir.Atom]) -> ir.Type:
    """The type of a value that is one of ``atoms``; those that are never read do not count."""
    types = [type_ for type_ in map(type_of_atom, atoms) if type_ is not None]
    return reduce(join_types, types) if types else ir.OPAQUE


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

    scalars: Callable[[ir.Scalar, ir.Scalar], ir.Type]
    top: ir.Type | None
    mixes_tuples: bool

    def join(self, one: ir.Type, other: ir.Type) -> ir.Type | None:
        """The least type of both."""
        match one, other:
            case (ir.Reference(), _) | (_, ir.Reference()):
                return self._reference(one, other) or self._reference(other, one) or self.top
            case ir.Scalar(), ir.Scalar():
                return self.scalars(one, other)
            case ir.Array(), ir.Array():
                return join_arrays(one, other)
            case (ir.Scalar() | ir.Array() | ir.Number(), ir.Scalar() | ir.Array() | ir.Number()):
                return ir.Number()
            case ir.List(), ir.List() if self.mixes_tuples or one.is_tuple == other.is_tuple:
                storage = _united(one.storage, other.storage)
                return self._container(
                    one.element, other.element, lambda part: ir.List(part, storage, one.is_tuple and other.is_tuple)
                )
            case ir.Dict(), ir.Dict():
                storage = _united(one.storage, other.storage)
                return self._container(one.value, other.value, lambda part: ir.Dict(part, storage))
            case ir.Tuple(items=mine), ir.Tuple(items=theirs) if len(mine) == len(theirs) and ir.are_of_one_form(
                one, other
            ):
                parts, cls = self._parts(mine, theirs), one.cls if one.cls is other.cls else tuple
                return None if parts is None else ir.Tuple(parts, cls)
            case ir.PerPlace(items=mine), ir.PerPlace(items=theirs) if len(mine) == len(theirs):
                parts = self._parts(mine, theirs)
                return None if parts is None else ir.PerPlace(parts)
            case ir.Instance(), ir.Instance() if one.cls is other.cls and one.fields.keys() == other.fields.keys():
                storage = _united(one.storage, other.storage)
                parts = self._parts(tuple(one.fields.values()), tuple(other.fields[name] for name in one.fields))
                return (
                    None if parts is None else ir.Instance(one.cls, dict(zip(one.fields, parts, strict=True)), storage)
                )
            case ir.Opaque(), ir.Opaque():
                return one if one == other else ir.join_functions(one, other) or ir.OPAQUE
            case _:
                return self.top

    def _reference(self, one: ir.Type, other: ir.Type) -> ir.Type | None:
        """What is one of the objects of a class that refer to each other, or one of them or None."""
        if not isinstance(one, ir.Reference):
            return None
        if one == other or other == ir.Opaque(type(None)):
            return one
        return ir.INT if self.top is not None and other == ir.INT else None

    def _parts(self, mine: tuple[ir.Type, ...], theirs: tuple[ir.Type, ...]) -> tuple[ir.Type, ...] | None:
        parts = [self.join(one, other) for one, other in zip(mine, theirs, strict=True)]
        known = tuple(part for part in parts if part is not None)
        return known if len(known) == len(parts) else None

    def _container(
        self, mine: ir.Type | None, theirs: ir.Type | None, made: Callable[[ir.Type | None], ir.Type]
    ) -> ir.Type | None:
        """A container of what either holds, if it holds anything."""
        if mine is None or theirs is None:
            return made(theirs if mine is None else mine)
        part = self.join(mine, theirs)
        return None if part is None else made(part)


_LATTICE = Lattice(lambda one, other: one if one == other else ir.Number(), ir.OPAQUE, mixes_tuples=True)


def join_types(one: ir.Type, other: ir.Type) -> ir.Type:
    """What a variable of the IR is that holds values of one type or the other; nothing is converted."""
    joined = _LATTICE.join(one, other)
    assert joined is not None
    return joined


def are_of_constants(one: ir.Type, other: ir.Type) -> bool:
    """Whether two containers of one kind hold what carries no derivative, and has no items itself."""
    match one, other:
        case ir.List(element=mine), ir.List(element=theirs) if one.is_tuple == other.is_tuple:
            parts = mine, theirs
        case ir.Dict(value=mine), ir.Dict(value=theirs):
            parts = mine, theirs
        case _:
            return False
    structures = (ir.Reference, ir.List, ir.Dict, ir.Instance)
    return all(part is None or not (isinstance(part, structures) or ir.carries_derivative(part)) for part in parts)


def join_arrays(one: ir.Array, other: ir.Array) -> ir.Array:
    dtype = one.dtype if ir.same_dtype(one.dtype, other.dtype) else None
    dims: tuple[ir.Dim, ...] | None = None
    if one.dims is not None and other.dims is not None and len(one.dims) == len(other.dims):
        dims = tuple(mine if mine == theirs else "any" for mine, theirs in zip(one.dims, other.dims, strict=True))
    return ir.Array(dtype, dims, _united(one.storage, other.storage))


def _united(one: ir.Storage, other: ir.Storage) -> ir.Storage:
    one.unite(other)
    return one.find()


def memory_pairs(one: ir.Type | None, other: ir.Type | None) -> Iterator[tuple[ir.Storage, ir.Storage]]:
    """The classes of memory of two types of one structure that stand for each other."""
    memory, its = ir.storage_of(one), ir.storage_of(other)
    if memory is None or its is None:
        return
    match one, other:
        case (ir.Array(), ir.Array()):
            yield memory, its
        case (ir.List(element=part), ir.List(element=same)) | (ir.Dict(value=part), ir.Dict(value=same)):
            yield memory, its
            yield from memory_pairs(part, same)
        case ir.Instance(fields=parts), ir.Instance(fields=others):
            yield memory, its
            for name in parts.keys() & others.keys():
                yield from memory_pairs(parts[name], others[name])
