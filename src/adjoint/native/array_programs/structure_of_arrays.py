"""Lists of objects as arrays: a function that takes a list of equal objects takes an array for each of their fields.

An object of such a list is told by its place. That is possible where the function only reads and writes fields of the
objects, in whatever order and by whatever names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.joins import joins
from adjoint.differentiation.reverse.residuals.tapes import dtype_of
from adjoint.ir.join import is_whole_number
from adjoint.ir.rebuild import rebuild, rebuild_terminator
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
    var: ir.Var
    kind: type
    written: bool

    @property
    def dtype(self) -> np.dtype:
        assert isinstance(self.var.type, ir.Array)
        assert self.var.type.dtype is not None
        return self.var.type.dtype

    @property
    def varies(self) -> bool:
        """Whether it carries a derivative."""
        return self.dtype.kind == "f"


def holds_numbers(type_: ir.Type | None) -> bool:
    """Whether values of a type are objects with nothing but numbers in their fields."""
    return isinstance(type_, ir.Instance) and bool(type_.fields) and all(map(_is_number, type_.fields.values()))


def _is_number(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in _CLASSES


def fields_as_arrays(function: ir.Function, param: ir.Var) -> tuple[Field, ...] | None:
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
    assert isinstance(param.type, ir.List)
    element = param.type.element
    assert isinstance(element, ir.Instance)
    found = []
    for name, type_ in element.fields.items():
        if name in read or name in written:
            assert isinstance(type_, ir.Scalar)
            array = ir.Array(dtype_of(type_), ("any",), ir.Storage(written=name in written))
            kind: type = _CLASSES[type_.kind] if type_.dtype is None else type_.dtype.type
            found.append(Field(name, ir.Var(f"{param.hint}_{name}", array, True), kind, name in written))
    return tuple(found) or None


def with_arrays(function: ir.Function, param: ir.Var, fields: Sequence[Field]) -> ir.Function:
    """The function of the arrays of the fields, in place of the list; the arrays follow the other parameters."""
    places = _places(function, param)
    assert places is not None
    body = _Stacking(param, fields, places).block(function.body)
    params = (*(other for other in function.params if other is not param), *(field.var for field in fields))
    return ir.Function(function.name, params, body, function.doc)


def _places(function: ir.Function, param: ir.Var) -> set[ir.Atom] | None:
    """The variables that are objects of a list, or lists of such; None where one of them is used for anything else."""
    found: set[ir.Atom] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for statement in statements_in(function.body):
            found.update(_found_in(statement, param, found))
    for statement in statements_in(function.body):
        if not _is_fit(statement, param, found):
            return None
    for terminator in terminators_in(function.body):
        handed = isinstance(terminator, (ir.Yield, ir.Continue, ir.Exit))
        if param in operands(terminator) or (not handed and not found.isdisjoint(operands(terminator))):
            return None
    return found


def _found_in(statement: ir.Statement, param: ir.Var, known: set[ir.Atom]) -> Iterable[ir.Var]:
    """What a statement makes objects of the list, or lists of such."""
    match statement:
        case ir.Load(target=target, base=base, key=ir.Subscript()) if base is param or base in known:
            yield target
        case ir.Call(targets=targets, callee=display.make_list, args=args) if not known.isdisjoint(args):
            yield from targets
        case ir.Call(callee=list.append, args=(ir.Var() as into, item)) if item in known:
            yield into
    for value, bound in joins(statement):
        if value in known:
            yield bound
        elif bound in known and isinstance(value, ir.Var) and isinstance(value.type, ir.List):
            yield value  # it was empty


def _is_fit(statement: ir.Statement, param: ir.Var, places: set[ir.Atom]) -> bool:
    """Whether a statement uses the list and its objects as arrays allow it."""
    if any(bound in places and value not in places and value != ir.UNDEFINED for value, bound in joins(statement)):
        return False
    match statement:
        case ir.Load(base=base, key=ir.Subscript(items=(place,), tupled=False)) if base is param or base in places:
            return isinstance(place, ir.Atom) and is_whole_number(place)
        case ir.Load(base=base, key=ir.Attribute(), target=target) if base in places:
            return _is_number(target.type)
        case ir.Store(base=base, key=ir.Attribute(), value=value, mode="set") if base in places:
            return value not in places and value is not param
        case ir.Call(callee=callee, args=(_, *others)) if callee in (len, slice_bounds):
            return param not in others and places.isdisjoint(others)
        case ir.Call(targets=(target,), callee=display.make_list, args=items) if target in places:
            return places.issuperset(items)
        case ir.Call(callee=list.append, args=(into, item)) if into in places:
            return item in places
        case ir.If() | ir.Loop():
            return True
        case _:
            return param not in operands(statement) and places.isdisjoint(operands(statement))


def _fields(function: ir.Function, places: set[ir.Atom]) -> tuple[set[str], set[str]]:
    """The names of the fields that are read, and of those that are written."""
    read: set[str] = set()
    written: set[str] = set()
    for statement in statements_in(function.body):
        match statement:
            case ir.Load(base=base, key=ir.Attribute(name=name)) if base in places:
                read.add(name)
            case ir.Store(base=base, key=ir.Attribute(name=name)) if base in places:
                written.add(name)
    return read, written


class _Stacking:
    """Rewrites loads and stores of fields."""

    def __init__(self, param: ir.Var, fields: Sequence[Field], places: set[ir.Atom]) -> None:
        self.param = param
        self.fields = {field.name: field for field in fields}
        self.homes: dict[ir.Storage, ir.Storage] = {}
        self.indices = {var: ir.Var(var.hint, self.type_of(var)) for var in places if isinstance(var, ir.Var)}
        self.size = fields[0].var

    def type_of(self, var: ir.Var) -> ir.Type:
        """Of an object its place, of a list of objects a list of places."""
        if not isinstance(var.type, ir.List):
            return ir.INT
        return ir.List(ir.INT, self.homes.setdefault(var.type.storage.find(), ir.Storage(written=True)))

    def atom(self, atom: ir.Atom) -> ir.Atom:
        if atom is self.param:
            return self.size
        return self.indices.get(atom, atom) if isinstance(atom, ir.Var) else atom

    def binder(self, var: ir.Var) -> ir.Var:
        return self.indices.get(var, var)

    def block(self, block: ir.Block) -> ir.Block:
        statements = [new for statement in block.statements for new in self.statement(statement)]
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, self.atom, self.block))

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        match statement:
            case ir.Load(target=target, base=base, key=ir.Subscript(items=(place,)), span=span) if base is self.param:
                assert isinstance(place, ir.Atom)
                return [ir.Call((self.indices[target],), int, (self.atom(place),), (), span)]
            case ir.Load(target=target, base=base, key=ir.Attribute(name=name), span=span) if base in self.indices:
                return self.load(target, self.fields[name], self.atom(base), span)
            case ir.Store(base=base, key=ir.Attribute(name=name), value=value, mode=mode, span=span) if (
                base in self.indices
            ):
                return [ir.Store(self.fields[name].var, ir.Subscript((self.atom(base),)), self.atom(value), mode, span)]
            case _:
                return [rebuild(statement, self.atom, self.block, self.binder)]

    def load(self, target: ir.Var, field: Field, place: ir.Atom, span: Any) -> list[ir.Statement]:
        """Numbers of Python stay such, with the errors of their arithmetic."""
        assert isinstance(target.type, ir.Scalar)
        if target.type.dtype is not None:
            return [ir.Load(target, field.var, ir.Subscript((place,)), span)]
        held = ir.Var(target.hint, ir.Scalar(target.type.kind, field.dtype))
        return [
            ir.Load(held, field.var, ir.Subscript((place,)), span),
            ir.Call((target,), field.kind, (held,), (), span),
        ]
