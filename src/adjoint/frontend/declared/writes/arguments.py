"""What a function with a declared derivative writes of the arguments of one call, which no declaration tells about.

Arrays, containers and objects that it changes are refused. Of attributes that are bound anew nothing is known from the
call on: the call is refused if the program reads them, as it is if it reads what is written outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, MethodType, ModuleType

import numpy as np

from adjoint import ir
from adjoint.frontend.data.outside.written import forget_written, values_of
from adjoint.frontend.declared.arguments import Arguments
from adjoint.frontend.declared.parameters import called_by, parameters_of
from adjoint.frontend.declared.writes.parameters import accesses_of
from adjoint.frontend.declared.writes.paths import MISSING, Outside, Path, Write, described, held_at, reached_from
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
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


# What a function with a declared derivative reads and writes outside of itself.
#
# By what it reads there is no derivative: it must not vary. Of what it writes, nothing is known from the call on;
# whether the program reads it shows where the program looks up what has it, before the call or after it.


def note_outside(lo: Lowerer, declaration: Declaration, write: Write, node: ast.AST | None) -> None:
    """Takes down what is written outside, and forgets it where it is known."""
    path, run = write.path, lo.run_data.written
    problem = lo.problem(
        "AD0303",
        node,
        f"{declaration.name!r} writes {described(path)}, which this program reads",
        helps=("let it return what it writes there, and assign that where it is called",),
    )
    if not write.bound:
        found = held_at(Path(path.start, path.fields))
        things = reached_from([found]) if path.inside else {id(found): found}
        run.things.update({key: (thing, problem) for key, thing in things.items() if _can_be_written(thing)})
    else:
        owner = held_at(Path(path.start, path.fields[:-1]))
        if owner is MISSING:
            return
        owner = vars(owner) if isinstance(owner, ModuleType) else owner
        is_variable = isinstance(owner, (CellType, type, FunctionType, dict))
        places = run.variables if is_variable else run.attributes
        places.setdefault((id(owner), path.fields[-1]), (owner, write.counts, problem))
    forget_written(lo)


def _can_be_written(thing: object) -> bool:
    return isinstance(thing, (np.ndarray, list, dict, set)) or (hasattr(thing, "__dict__") and not callable(thing))


def read_outside(lo: Lowerer, paths: Iterable[Path]) -> list[tuple[str, ir.Atom]]:
    """The numbers and arrays that a function finds outside and that the program has, each with a name for messages."""
    return [
        (f"{described(path)}, which it reads,", leaf)
        for path in sorted(paths, key=lambda each: each.fields)
        for value in _values_at(lo, path)
        for leaf in differentiable_leaves(lo, value)
        if isinstance(leaf, ir.Var) and ir.carries_derivative(leaf.type)
    ]


def _values_at(lo: Lowerer, path: Path) -> Iterator[Value]:
    """What stands in the program for what is at a path: what it assigned on the way, or what it has from there."""
    for count, name in enumerate(path.fields):
        owner = held_at(Path(path.start, path.fields[:count]))
        for each in (owner, *(type(owner).__mro__ if count == len(path.fields) - 1 else ())):
            cell = lo.run_data.globals.get((id(each), name)) or lo.run_data.cells.get(id(each))
            if cell is not None and cell in lo.store:
                yield lo.store[cell]
        for thing, value in lo.run_data.written.entered if count else ():
            record = lo.store.get(value) if thing is owner and isinstance(value, Ref) else None
            part = record.get(name) if isinstance(record, Record) else None
            if part is not None and not isinstance(part, ir.Undefined):
                yield part
    found = held_at(Path(path.start, path.fields))
    if isinstance(found, (np.ndarray, list, dict)) or hasattr(found, "__dict__"):
        yield from values_of(lo, found)
