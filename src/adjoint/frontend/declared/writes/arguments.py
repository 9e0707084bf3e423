"""What a function with a declared derivative writes of the arguments of one call, which no declaration tells about.

Arrays, containers and objects that it changes are refused. Of attributes that are bound anew nothing is known from the
call on: the call is refused if the program reads them, as it is if it reads what is written outside.
"""

from __future__ import annotations

import ast
from types import MethodType

from adjoint import ir
from adjoint.frontend.declared.arguments import Arguments
from adjoint.frontend.declared.parameters import called_by, parameters_of
from adjoint.frontend.declared.writes.outside import note_outside, read_outside
from adjoint.frontend.declared.writes.parameters import accesses_of
from adjoint.frontend.declared.writes.paths import Outside, Path, Write
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import FORGOTTEN, FORGOTTEN_CONSTANT, Forgotten, Record, Ref, Value
from adjoint.frontend.objects.classes import class_of
from adjoint.rules.declarations import Declaration
from adjoint.sources.definitions import underlying
from adjoint.types.structure import CONTAINERS


def settle_outside(
    lo: Lowerer, declaration: Declaration, given: Arguments, node: ast.AST | None
) -> list[tuple[str, ir.Atom]]:
    """Refuses a call that changes what it is given, and forgets the attributes that it binds anew.

    Gives what the function reads of what the program has from outside, by which no derivative is declared.
    """
    fn = declaration.fn if underlying(declaration.fn) is not None else called_by(declaration.fn)
    function = underlying(fn)
    if function is None or isinstance(declaration.fn, type):
        return []
    values = _by_name(declaration, given)
    if given.receiver is not None and function.__code__.co_argcount:
        values.setdefault(function.__code__.co_varnames[0], given.receiver)
    elif isinstance(declaration.fn, MethodType) and function.__code__.co_argcount:
        values.setdefault(function.__code__.co_varnames[0], ir.Const(declaration.fn.__self__))
    written, read = accesses_of(function, values, lambda path: _class_at(lo, values, path))
    read_there = read_outside(lo, read)
    for write in sorted(written, key=lambda each: (each.bound, each.path.fields)):
        if isinstance(write.path.start, Outside):
            note_outside(lo, declaration, write, node)
            continue
        value = values.get(write.path.start)
        if value is not None and not _is_forgotten(lo, value, write):
            whose, helps = f"its argument {write.path.start!r}", ("let it write a copy, and return that",)
            if write.path.fields and not (isinstance(value, ir.Var) and isinstance(value.type, ir.Array)):
                whose = f"the attribute {write.path.fields[0]!r} of {whose}"
                helps = (f"let it return the new {write.path.fields[0]!r}, and assign that where it is called",)
            label = f"{declaration.name!r} writes {whose}"
            raise lo.problem("AD0303", node, label, helps=helps)
    return read_there


def _class_at(lo: Lowerer, values: dict[str, Value], path: Path) -> type | None:
    """The class of an argument, or of what is behind some attributes of it."""
    value = values.get(path.start) if isinstance(path.start, str) else None
    for name in path.fields:
        record = lo.store.get(value) if isinstance(value, Ref) else None
        value = record.get(name) if isinstance(record, Record) else None
    return class_of(lo, value) if value is not None and _may_be_written(value) else None


def _by_name(declaration: Declaration, given: Arguments) -> dict[str, Value]:
    values: dict[str, Value] = dict(given.named)
    for place, parameter in enumerate(parameters_of(declaration.fn) or ()):
        value = None if parameter.kind is parameter.KEYWORD_ONLY else given.at(place)
        if value is not None:
            values[parameter.name] = value
    return values


def _may_be_written(value: Value) -> bool:
    match value:
        case ir.Var(type=type_):
            return isinstance(type_, (ir.Array, ir.List, ir.Dict, ir.Instance, ir.Opaque, ir.Reference))
        case ir.Const(value=constant):
            return hasattr(constant, "__dict__") and not callable(constant)
        case _:
            return isinstance(value, Ref)


def _is_forgotten(lo: Lowerer, value: Value, write: Write) -> bool:
    """Whether nothing the program may know is written: a number has no parts, and an attribute can be forgotten."""
    for place, name in enumerate(write.path.fields, 1):
        record = lo.store.get(value)
        if not isinstance(value, Ref) or not isinstance(record, Record) or record.cls in CONTAINERS:
            return not _may_be_written(value)
        part = record.get(name)
        if write.bound and place == len(write.path.fields):
            if part is None and hasattr(getattr(record.cls, name, None), "__set__"):
                return False
            varies = not write.counts or part is None or joins.may_vary(joins.shape_of(part, lo.store))
            lo.store[value] = record.with_part(name, FORGOTTEN if varies else FORGOTTEN_CONSTANT)
            return True
        if part is None or isinstance(part, Forgotten):
            return part is FORGOTTEN_CONSTANT
        value = part
    match value:
        case ir.Var(type=type_):
            return isinstance(type_, ir.Scalar if write.path.fields else (ir.Scalar, ir.Number))
        case ir.Const(value=constant):
            return not hasattr(constant, "__dict__") or callable(constant)
        case _:
            return not isinstance(value, Ref)
