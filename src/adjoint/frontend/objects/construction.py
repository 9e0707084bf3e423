"""Calls of classes: objects of a user's classes are built part by part, those of a library are made at run time."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

from adjoint import ir
from adjoint.analysis.user_code_effects import changes_others
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.calls.opaque import library_classes
from adjoint.frontend.calls.opaque.arguments import lend, may_carry
from adjoint.frontend.calls.tangent_arithmetic import made
from adjoint.frontend.data import making
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import (
    NONE,
    Held,
    Method,
    Record,
    Ref,
    Site,
    TupleValue,
    Union,
    Value,
    local_mark,
)
from adjoint.frontend.library import classes_of_containers, python_functions
from adjoint.frontend.objects import class_customs
from adjoint.frontend.objects.classes import class_of, has_source, is_instance, refuse_other_items
from adjoint.frontend.objects.fields import put_attribute
from adjoint.frontend.objects.linked import linked_object
from adjoint.sources.library_folders import is_class_of_a_library
from adjoint.types.classes.dataclass_fields import dataclass_fields, is_dataclass
from adjoint.types.classes.safe_lookups import asked
from adjoint.types.structure import is_namedtuple_class
from adjoint.types.vectors import Fields


def call_class(lo: Lowerer, cls: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    if _is_users(cls) and (node is not None or lo.frame is None):
        node = _OUTERMOST if node is None else node
        _refuse_deletion(lo, cls, node)
        by_metaclass = class_customs.call_by_metaclass(lo, cls, node)
        if by_metaclass is not None:
            return lo.call(ir.Const(by_metaclass), [ir.Const(cls), *args], kwargs, node)
        stands_in = classes_of_containers.standing_for(lo, cls) if issubclass(cls, (dict, list)) else None
        return construct(lo, stands_in or cls, args, kwargs, node)
    if _is_tuple_of_users(cls) and any(may_carry(lo, value) for value in (*args, *kwargs.values())):
        class_customs.maker(lo, cls, node)
    if issubclass(cls, enum.Enum) and len(args) == 1 and not kwargs and isinstance(args[0], ir.Var):
        return _member(lo, cls, args[0], node)
    if node is not None and library_classes.is_looked_into(lo, cls, [*args, *kwargs.values()]):
        body = functools.partial(construct, lo, cls, args, kwargs, node)
        return library_classes.followed(lo, cls, None, body)
    atoms = [materialize(lo, value, node, observer=True) for value in args]
    pairs = {name: materialize(lo, value, node, observer=True) for name, value in kwargs.items()}
    lend(cls, atoms, pairs)
    return library_classes.note_object(lo, call_any(lo, cls, list(atoms), node, **pairs), cls)


def _refuse_deletion(lo: Lowerer, cls: type, node: ast.AST) -> None:
    """Raises where Python would run what changes something once nobody refers to an object any more."""
    deletion = inspect.getattr_static(cls, "__del__", None)
    if isinstance(deletion, types.FunctionType) and changes_others(deletion):
        label = f"'{cls.__qualname__}.__del__' runs at some time, and may change what is read elsewhere"
        raise lo.problem("AD0303", node, label, helps=("change it in a method, and call that",))


_OUTERMOST = ast.Call(ast.Name("cls"), [], [])
"""The call of a class that is differentiated itself."""


def _member(lo: Lowerer, cls: type[enum.Enum], value: ir.Var, node: ast.AST | None) -> Value:
    """The member of an enumeration that has a value which is known at run time only."""
    members, missing = list(cls), getattr(cls._missing_, "__func__", None)
    plain = all(type(member.value) in (int, float, str) for member in members) and not issubclass(cls, enum.Flag)
    if not plain or missing is not enum.Enum._missing_.__func__:  # type: ignore[attr-defined]
        return call_any(lo, cls, [value], node)
    values = TupleValue(tuple(ir.Const(member.value) for member in members))
    place = python_functions.call(lo, python_functions.place_of_value, [value, values, ir.Const(cls.__name__)], node)
    return Union(materialize(lo, place, node), tuple(map(ir.Const, members)))


def _is_users(cls: type) -> bool:
    if issubclass(cls, BaseException) or asked(cls, "__members__") is not None:
        return False
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    if local_mark(cls) is not None:
        return True
    # What runs a program, a profiler or a test runner, may pass for its main module.
    is_of_library = cls.__module__ != "__main__" and is_class_of_a_library(cls)
    return not is_of_library and not library_classes.is_native(cls)


def _is_tuple_of_users(cls: type) -> bool:
    return issubclass(cls, tuple) and cls is not tuple and not is_class_of_a_library(cls)


def bind_dataclass(
    lo: Lowerer, cls: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Iterator[tuple[str, Value]]:
    """The values of a dataclass's fields, and of what only ``__post_init__`` gets, for a call of its ``__init__``."""
    remaining, named = list(args), dict(kwargs)
    for spec in cls.__dataclass_fields__.values():
        if spec._field_type is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if spec.init and spec.name in named:
            yield spec.name, named.pop(spec.name)
        elif spec.init and remaining and not spec.kw_only:
            yield spec.name, remaining.pop(0)
        elif (default := default_of_field(lo, cls, spec, node)) is not None:
            yield spec.name, default
        elif spec.init:
            raise lo.mistake(TypeError, node, f"the field {spec.name!r} of {cls.__name__!r} is missing", code="AD0203")
    if remaining or named:
        raise lo.mistake(TypeError, node, f"the call does not fit the fields of {cls.__name__!r}", code="AD0203")


def default_of_field(lo: Lowerer, cls: Any, spec: dataclasses.Field[Any], node: ast.AST | None) -> Value | None:
    """What a field of a dataclass is that is not given; None where it has to be."""
    if spec.default is not dataclasses.MISSING:
        return inputs.captured(lo, spec.default, ("default", cls, spec.name), spec.name, node)
    if spec.default_factory is not dataclasses.MISSING:
        return lo.call(ir.Const(spec.default_factory), [], {}, node)
    return None


_ABSTRACT = 1 << 20
"""The flag of classes with abstract methods, of which Python makes no objects."""


def construct(
    lo: Lowerer,
    cls: type,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    site: Site | None = None,
) -> Value:
    """``cls(*args, **kwargs)`` for a user's class; ``site`` is where that is made, if not just at ``node``."""
    if is_namedtuple_class(cls):
        return _named_tuple(lo, cls, args, kwargs, node)
    if issubclass(cls, Fields):
        return made(lo, cls, [*zip(cls.__match_args__, args, strict=False), *kwargs.items()], node)
    if cls.__flags__ & _ABSTRACT:
        names = ", ".join(sorted(map(repr, asked(cls, "__abstractmethods__", ()))))
        raise lo.mistake(TypeError, node, f"the class {cls.__name__!r} is abstract: it does not say {names}")
    lo.run_data.asked_classes[cls] = None
    new_of_class = class_customs.maker(lo, cls, node)
    assert node is not None
    if new_of_class is not None:
        return _made_by_new(lo, cls, new_of_class, args, kwargs, node)
    ref = Ref(lo.site(node) if site is None else site)
    lo.store[ref] = Record(cls, ())
    init = inspect.getattr_static(cls, "__init__", None)
    if is_dataclass(cls) and not has_source(init):
        fields = {field.name for field in dataclass_fields(cls)}
        for_the_rest: list[Value] = []
        for name, value in bind_dataclass(lo, cls, args, kwargs, node):
            if name in fields:
                put_attribute(lo, ref, name, value, node)
            else:
                for_the_rest.append(value)
        init, args, kwargs = inspect.getattr_static(cls, "__post_init__", None), for_the_rest, {}
    is_linked = cls in lo.settings.linked
    exist = linked_object if is_linked else making.runtime_object
    is_bare = ref.site in (lo.settings.runtime_sites if is_linked else lo.settings.bare_sites)
    new: Value = exist(lo, ref, node) if is_bare else ref
    if isinstance(init, types.FunctionType):
        lo.call(Method(ir.Const(init), new), args, kwargs, node)
    if lo.block is None:
        return ir.UNDEFINED  # it raises whatever it is given
    _note_links(lo, cls, ref)
    if (is_linked or ref.site in lo.settings.runtime_sites) and not is_bare:
        return exist(lo, ref, node)
    return new


def _made_by_new(
    lo: Lowerer,
    cls: type,
    new: types.FunctionType,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
) -> Value:
    """An object of a class that makes its objects by a ``__new__`` in Python."""
    made = lo.call(ir.Const(new), [ir.Const(cls), *args], kwargs, node)
    if lo.block is None:
        return ir.UNDEFINED
    if isinstance(made, Union):
        return on_each_option(lo, made, lambda option: _initialised(lo, cls, option, args, kwargs, node), node)
    return _initialised(lo, cls, made, args, kwargs, node)


def _initialised(
    lo: Lowerer, cls: type, made: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    """What ``__new__`` gave, prepared by ``__init__`` if it is an object of the class."""
    is_of_class = is_instance(lo, made, cls)
    if is_of_class is None:
        raise lo.problem("AD0301", node, f"whether '__new__' gives an object of {cls.__name__!r} is not known")
    if not is_of_class:
        return made
    found = class_of(lo, made)
    init = inspect.getattr_static(found, "__init__", None)
    if isinstance(init, types.FunctionType):
        if not has_source(init):
            label = f"the class {cls.__name__!r} defines '__new__', and has an '__init__' without source"
            raise lo.problem("AD0301", node, label)
        lo.call(Method(ir.Const(init), made), args, kwargs, node)
    if isinstance(made, Ref):
        _note_links(lo, cls, made)
        if made.site in lo.settings.runtime_sites:
            return making.runtime_object(lo, made, node)
    return made


@handles(type.__dict__["__call__"])
def _called_by_type(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``super().__call__(*args)`` in a metaclass: what a class does that has none of its own."""
    match args:
        case [ir.Const(value=type() as cls), *rest] if _is_users(cls) and node is not None:
            return construct(lo, cls, rest, kwargs, node)
        case _:
            return NotImplemented


@handles(object.__new__)
def _object_new(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``object.__new__(cls)``: an object without attributes."""
    match args:
        case [ir.Const(value=type() as cls)] if not kwargs and node is not None:
            pass
        case _:
            return NotImplemented
    if not _is_users(cls) and not library_classes.is_looked_into(lo, cls, ()):
        return NotImplemented
    ref = Ref(lo.site(node))
    lo.store[ref] = Record(cls, ())
    if cls in lo.settings.linked:
        return linked_object(lo, ref, node)
    return making.runtime_object(lo, ref, node) if ref.site in lo.settings.bare_sites else ref


@handles(tuple.__new__)
def _tuple_new(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``tuple.__new__(cls, items)``: a named tuple past the ``__new__`` of its class."""
    match args:
        case [ir.Const(value=type() as cls), items] if is_namedtuple_class(cls) and not kwargs:
            values = lo.call(ir.Const(tuple), [items], {}, node)
            if isinstance(values, TupleValue) and len(values.items) == len(cls._fields):  # type: ignore[attr-defined]
                refuse_other_items(lo, cls, node)
                return TupleValue(values.items, cls)
    return NotImplemented


def by_given_new(
    lo: Lowerer, function: types.FunctionType, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """``super().__new__(cls, *fields)`` of a class of named tuples; None where a function is no such ``__new__``."""
    match args:
        case [ir.Const(value=type() as cls), *fields] if is_namedtuple_class(cls) and not has_source(function):
            own = (vars(base).get("__new__") for base in cls.__mro__)
            if any(getattr(new, "__func__", None) is function for new in own):
                return _of_fields(lo, cls, fields, kwargs, node)
    return None


def _note_links(lo: Lowerer, cls: type, ref: Ref) -> None:
    """Takes down a class whose objects may refer to others: they hold None, objects or lists."""
    record = lo.store.get(ref)
    if isinstance(record, Record) and any(map(_may_refer, record.items)):
        lo.settings.may_be_linked.add(cls)


_NUMBERS = (ir.Scalar, ir.Number, ir.Array)


def _may_refer(part: Value) -> bool:
    return part == NONE or isinstance(part, Ref) or (isinstance(part, ir.Var) and not isinstance(part.type, _NUMBERS))


def _named_tuple(lo: Lowerer, cls: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    refuse_other_items(lo, cls, node)
    if has_source(cls.__new__):
        return lo.call(ir.Const(cls.__new__), [ir.Const(cls), *args], kwargs, node)
    return _of_fields(lo, cls, args, kwargs, node)


def _of_fields(lo: Lowerer, cls: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> TupleValue:
    """What the ``__new__`` makes that a class of named tuples is given."""
    values = dict(zip(cls._fields, args, strict=False)) | kwargs
    for name, default in getattr(cls, "_field_defaults", {}).items():
        values.setdefault(name, lo.store[default] if isinstance(default, Held) else ir.Const(default))
    if set(values) != set(cls._fields) or len(args) > len(cls._fields):
        raise lo.mistake(TypeError, node, f"the call does not fit the fields of {cls.__name__!r}", code="AD0203")
    return TupleValue(tuple(values[name] for name in cls._fields), cls, is_itself=True)
