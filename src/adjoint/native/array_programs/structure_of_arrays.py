"""Lists of objects as arrays: a function that takes a list of equal objects takes an array for each of their fields.

An object of such a list is told by its place. That is possible where the function only reads and writes fields of the
objects, in whatever order and by whatever names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.analysis.joins import joins
from adjoint.differentiation.reverse.residuals.tapes import dtype_of
from adjoint.ir.join import is_whole_number
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Attribute,
    Block,
    Call,
    Continue,
    Exit,
    Function,
    If,
    Load,
    Loop,
    Statement,
    Store,
    Subscript,
    Var,
    Yield,
)
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.types import INT, Array, Instance, List, Scalar, Storage, Type
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.records import dataclass
from adjoint.runtime import display
from adjoint.runtime.objects import slice_bounds

_CLASSES: dict[str, type] = {"float": float, "int": int, "bool": bool}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the objects of a list, as an array.

    Attributes
    ----------
    name
        Its name.
    var
        The parameter that stands for it.
    kind
        The class of its numbers.
    written
        Whether the function writes it.
    """

    name: str
    var: Var
    kind: type
    written: bool

    @property
    def dtype(self) -> np.dtype:
        assert isinstance(self.var.type, Array)
        assert self.var.type.dtype is not None
        return self.var.type.dtype

    @property
    def varies(self) -> bool:
        """Whether it carries a derivative."""
        return self.dtype.kind == "f"


def holds_numbers(type_: Type | None) -> bool:
    """Whether values of a type are objects with nothing but numbers in their fields."""
    return isinstance(type_, Instance) and bool(type_.fields) and all(map(_is_number, type_.fields.values()))


def _is_number(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.kind in _CLASSES


def fields_as_arrays(function: Function, param: Var) -> tuple[Field, ...] | None:
    """The fields that a function reads or writes of the objects in a list; None where it does more with them.

    Parameters
    ----------
    function
        A core function that is not yet differentiated.
    param
        A parameter that is a list of objects which hold numbers.
    """
    places = _places(function, param)
    if places is None:
        return None
    read, written = _fields(function, places)
    assert isinstance(param.type, List)
    element = param.type.element
    assert isinstance(element, Instance)
    found = []
    for name, type_ in element.fields.items():
        if name in read or name in written:
            assert isinstance(type_, Scalar)
            array = Array(dtype_of(type_), ("any",), Storage(written=name in written))
            kind: type = _CLASSES[type_.kind] if type_.dtype is None else type_.dtype.type
            found.append(Field(name, Var(f"{param.hint}_{name}", array, True), kind, name in written))
    return tuple(found) or None


def with_arrays(function: Function, param: Var, fields: Sequence[Field]) -> Function:
    """The function of the arrays of the fields, in place of the list; the arrays follow the other parameters."""
    places = _places(function, param)
    assert places is not None
    body = _Stacking(param, fields, places).block(function.body)
    params = (*(other for other in function.params if other is not param), *(field.var for field in fields))
    return Function(function.name, params, body, function.doc)


def _places(function: Function, param: Var) -> set[Atom] | None:
    """The variables that are objects of a list, or lists of such; None where one of them is used for anything else."""
    found: set[Atom] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for statement in statements_in(function.body):
            found.update(_found_in(statement, param, found))
    for statement in statements_in(function.body):
        if not _is_fit(statement, param, found):
            return None
    for terminator in terminators_in(function.body):
        handed = isinstance(terminator, (Yield, Continue, Exit))
        if param in operands(terminator) or (not handed and not found.isdisjoint(operands(terminator))):
            return None
    return found


def _found_in(statement: Statement, param: Var, known: set[Atom]) -> Iterable[Var]:
    """What a statement makes objects of the list, or lists of such."""
    match statement:
        case Load(target=target, base=base, key=Subscript()) if base is param or base in known:
            yield target
        case Call(targets=targets, callee=display.make_list, args=args) if not known.isdisjoint(args):
            yield from targets
        case Call(callee=list.append, args=(Var() as into, item)) if item in known:
            yield into
    for value, bound in joins(statement):
        if value in known:
            yield bound
        elif bound in known and isinstance(value, Var) and isinstance(value.type, List):
            yield value  # it was empty


def _is_fit(statement: Statement, param: Var, places: set[Atom]) -> bool:
    """Whether a statement uses the list and its objects as arrays allow it."""
    if any(bound in places and value not in places and value != UNDEFINED for value, bound in joins(statement)):
        return False
    match statement:
        case Load(base=base, key=Subscript(items=(place,), tupled=False)) if base is param or base in places:
            return isinstance(place, Atom) and is_whole_number(place)
        case Load(base=base, key=Attribute(), target=target) if base in places:
            return _is_number(target.type)
        case Store(base=base, key=Attribute(), value=value, mode="set") if base in places:
            return value not in places and value is not param
        case Call(callee=callee, args=(_, *others)) if callee in (len, slice_bounds):
            return param not in others and places.isdisjoint(others)
        case Call(targets=(target,), callee=display.make_list, args=items) if target in places:
            return places.issuperset(items)
        case Call(callee=list.append, args=(into, item)) if into in places:
            return item in places
        case If() | Loop():
            return True
        case _:
            return param not in operands(statement) and places.isdisjoint(operands(statement))


def _fields(function: Function, places: set[Atom]) -> tuple[set[str], set[str]]:
    """The names of the fields that are read, and of those that are written."""
    read: set[str] = set()
    written: set[str] = set()
    for statement in statements_in(function.body):
        match statement:
            case Load(base=base, key=Attribute(name=name)) if base in places:
                read.add(name)
            case Store(base=base, key=Attribute(name=name)) if base in places:
                written.add(name)
    return read, written


class _Stacking:
    """Rewrites loads and stores of fields."""

    def __init__(self, param: Var, fields: Sequence[Field], places: set[Atom]) -> None:
        self.param = param
        self.fields = {field.name: field for field in fields}
        self.homes: dict[Storage, Storage] = {}
        self.indices = {var: Var(var.hint, self.type_of(var)) for var in places if isinstance(var, Var)}
        self.size = fields[0].var

    def type_of(self, var: Var) -> Type:
        """Of an object its place, of a list of objects a list of places."""
        if not isinstance(var.type, List):
            return INT
        return List(INT, self.homes.setdefault(var.type.storage.find(), Storage(written=True)))

    def atom(self, atom: Atom) -> Atom:
        if atom is self.param:
            return self.size
        return self.indices.get(atom, atom) if isinstance(atom, Var) else atom

    def binder(self, var: Var) -> Var:
        return self.indices.get(var, var)

    def block(self, block: Block) -> Block:
        statements = [new for statement in block.statements for new in self.statement(statement)]
        return Block(tuple(statements), rebuild_terminator(block.terminator, self.atom, self.block))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Load(target=target, base=base, key=Subscript(items=(place,)), span=span) if base is self.param:
                assert isinstance(place, Atom)
                return [Call((self.indices[target],), int, (self.atom(place),), (), span)]
            case Load(target=target, base=base, key=Attribute(name=name), span=span) if base in self.indices:
                return self.load(target, self.fields[name], self.atom(base), span)
            case Store(base=base, key=Attribute(name=name), value=value, mode=mode, span=span) if base in self.indices:
                return [Store(self.fields[name].var, Subscript((self.atom(base),)), self.atom(value), mode, span)]
            case _:
                return [rebuild(statement, self.atom, self.block, self.binder)]

    def load(self, target: Var, field: Field, place: Atom, span: Any) -> list[Statement]:
        """Numbers of Python stay such, with the errors of their arithmetic."""
        assert isinstance(target.type, Scalar)
        if target.type.dtype is not None:
            return [Load(target, field.var, Subscript((place,)), span)]
        held = Var(target.hint, Scalar(target.type.kind, field.dtype))
        return [Load(held, field.var, Subscript((place,)), span), Call((target,), field.kind, (held,), (), span)]
