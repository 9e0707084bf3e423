"""What is asked of objects by name: attributes, and the parameters of functions, for decorators of libraries."""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
import typing
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from adjoint import ir
from adjoint.analysis.user_code_effects import is_of_the_user
from adjoint.frontend.calls.handlers import Handler, handles
from adjoint.frontend.data.element_types import sites_of
from adjoint.frontend.data.making import new_list
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.entry.inputs import guard_presence
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import original_sites
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import (
    NONE,
    Closure,
    IteratorValue,
    Method,
    Record,
    Ref,
    SuperValue,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python.bound_arguments import KINDS, BoundArguments
from adjoint.frontend.library.in_python.collections_definitions import UsersList, UsersTable
from adjoint.frontend.objects.attributes import attribute, presence_of
from adjoint.frontend.objects.classes import (
    class_of,
    class_property,
    is_instance,
    is_kind_of,
    is_object,
    note_owner,
    seen,
)
from adjoint.frontend.objects.linked import identity
from adjoint.sources.library_folders import is_class_of_a_library
from adjoint.types.classes.safe_lookups import is_marked


@handles(inspect.getfullargspec)
def _parameters_of(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [Closure(function=FunctionType() as function)] | [ir.Const(value=FunctionType() as function)]:
            found = inspect.getfullargspec(function)
        case [Method(function=bound)]:
            return _parameters_of(lo, [bound], kwargs, node)
        case _:
            return NotImplemented
    names, named_only = (new_list(lo, list(map(ir.Const, names)), node) for names in (found.args, found.kwonlyargs))
    others: list[Value] = [ir.Const(each) for each in (found.varargs, found.varkw, found.defaults)]
    items: tuple[Value, ...] = (names, *others, named_only, ir.Const(found.kwonlydefaults), ir.Const(found.annotations))
    return TupleValue(items, inspect.FullArgSpec)


@handles(inspect.signature)
def _signature_of(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [Closure(function=FunctionType() as function)] | [ir.Const(value=FunctionType() as function)]:
            return NotImplemented if kwargs else ir.Const(inspect.signature(function))
        case [Method(function=bound)] if not kwargs:
            found = _signature_of(lo, [bound], {}, node)
            return ir.Const(_without_first(found.value)) if isinstance(found, ir.Const) else NotImplemented
        case _:
            return NotImplemented


def _without_first(signature: inspect.Signature) -> inspect.Signature:
    """That of a method whose object is given."""
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _binder(binds: Callable[..., inspect.BoundArguments]) -> Handler:
    """Handles a method of a signature that is known: it is asked here, with values in place of arguments."""

    def bound(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        match args:
            case [ir.Const(value=inspect.Signature() as signature), *rest]:
                pass
            case _:
                return NotImplemented
        if "**" in kwargs or any(isinstance(value, IteratorValue) for value in rest):
            return NotImplemented
        try:
            given = binds(signature, *rest, **kwargs).arguments
        except TypeError as mistake:
            raise lo.mistake(TypeError, node, str(mistake)) from None
        parameters = TupleValue(tuple(map(_described, signature.parameters.values())))
        arguments = _pairs({name: _as_value(value) for name, value in given.items()})
        return lo.call(ir.Const(BoundArguments), [ir.Const(signature), parameters, arguments], {}, node)

    return bound


for _binds in (inspect.Signature.bind, inspect.Signature.bind_partial):
    handles(_binds)(_binder(_binds))


def _described(parameter: inspect.Parameter) -> Value:
    """The name of a parameter, its kind, whether it has a default, and that."""
    has_default = parameter.default is not inspect.Parameter.empty
    default = ir.Const(parameter.default if has_default else None)
    return TupleValue((ir.Const(parameter.name), ir.Const(KINDS[parameter.kind]), ir.Const(has_default), default))


def _as_value(bound: Any) -> Value:
    """What is bound to a parameter: a value, several, or several with names."""
    if isinstance(bound, dict):
        return _pairs(bound)
    return TupleValue(bound) if isinstance(bound, tuple) else bound


def _pairs(values: dict[str, Value]) -> Value:
    return TupleValue(tuple(TupleValue((ir.Const(name), value)) for name, value in values.items()))


def _looks_up_by_methods(lo: Lowerer, base: Value) -> bool:
    """Whether the class of an object says itself which attributes its objects have."""
    cls = class_of(lo, base) if is_object(lo, base) else None
    if cls is None or _shown(cls) is not cls:
        return False
    return hasattr(cls, "__getattr__") or isinstance(cls.__getattribute__, FunctionType)


def _shown(cls: type) -> type:
    """The class whose attributes a program finds: the library's, where one stands for it."""
    return cls if issubclass(cls, (UsersList, UsersTable)) else seen(cls)


@handles(hasattr)
def _hasattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    base, name = args
    if not isinstance(name, ir.Const):
        return NotImplemented
    if isinstance(base, ir.Const):
        return _has_now(lo, base.value, name.value)
    if _looks_up_by_methods(lo, base):
        return python_functions.call(lo, python_functions.has_attribute, [base, name], node)
    if isinstance(base, Ref):
        record = lo.store[base]
        assert isinstance(record, Record)
        shown = _shown(record.cls)
        is_held = record.get(name.value) is not None
        if shown is record.cls and (is_held or _is_slot(shown, name.value)):
            return ir.Const(is_held)
        return _instances_have(lo, shown, name.value)
    if isinstance(base, SuperValue):
        cls = class_of(lo, base.receiver)
        if isinstance(base.receiver, ir.Const) and isinstance(base.receiver.value, type):
            cls = base.receiver.value
        if cls is None:
            return NotImplemented
        return ir.Const(hasattr(super(base.owner, cls if issubclass(cls, base.owner) else seen(cls)), name.value))
    if isinstance(base, Closure):
        if base.attributes.get(name.value) in lo.store:
            return ir.Const(True)
        return _has_now(lo, base.function, name.value) if base.function else ir.Const(hasattr(_shown, name.value))
    if isinstance(base, Method):
        inner = _hasattr(lo, [base.function, name], {}, node)
        return ir.Const(True) if hasattr(_A_METHOD, name.value) else inner
    cls = class_of(lo, base)
    if cls is None:
        return NotImplemented
    note_owner(lo, base, lambda number: hasattr(number, name.value))
    if _shown(cls) is not cls:
        return ir.Const(is_marked(_shown(cls), name.value))
    is_own = not is_marked(cls, name.value) or _is_slot(cls, name.value)
    if isinstance(base, ir.Var) and isinstance(base.type, ir.Instance) and is_own:
        if name.value not in base.type.fields:
            return ir.Const(False)  # as far as is known: where it is assigned this starts again
        lo.run_data.asked_for.add(name.value)
        return lo.open.call(hasattr, base, name)
    return _instances_have(lo, cls, name.value)


@handles(inspect.getattr_static)
def _getattr_static(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """What a number, an array or None has none of, which have no attributes but those of their classes."""
    match args:
        case [
            ir.Var(type=ir.Array() | ir.Scalar()) | ir.Const(value=None) as base,
            ir.Const(value=str() as name),
            default,
        ]:
            cls = class_of(lo, base)
            return default if cls is not None and inspect.getattr_static(cls, name, ir) is ir else NotImplemented
    return NotImplemented


_A_METHOD = MethodType(_shown, object)


def _is_slot(cls: type, name: str) -> bool:
    """Whether the class only has a place for the attribute, which an object may leave empty."""
    return isinstance(inspect.getattr_static(cls, name, None), MemberDescriptorType)


def _has_now(lo: Lowerer, owner: Any, name: str) -> Value:
    flag = presence_of(lo, owner, name)
    return ir.Const(guard_presence(lo, owner, name)) if flag is None else flag


def _instances_have(lo: Lowerer, cls: type, name: str) -> Value:
    """Whether objects of a class have an attribute by it: not one that the class itself has by its metaclass."""
    flag = presence_of(lo, cls, name)
    if flag is not None:
        return flag
    path, found = ("in_class", cls, name), is_marked(cls, name)
    is_guarded = lo.run_data.all_constant or any(guard.path == path for guard in lo.run_data.guards)
    if not is_guarded and not is_class_of_a_library(cls):
        lo.run_data.guards.append(Guard(path, reader(path), found))
    return ir.Const(found)


@handles(isinstance)
def _isinstance(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = materialize(lo, args[1], node)
    if isinstance(args[0], Union):
        return on_each_option(lo, args[0], lambda option: _isinstance(lo, [option, args[1]], {}, node), node)
    if not isinstance(given, ir.Const):
        return NotImplemented
    classes = given.value if isinstance(given.value, tuple) else (given.value,)
    lo.run_data.asked_classes.update(dict.fromkeys(map(type, classes)))
    own = None if isinstance(args[0], ir.Const) else _said_by_class(lo, args[0], given.value, node)
    if own is not None:
        return own
    try:
        if isinstance(args[0], ir.Var) and isinstance(args[0].type, ir.Reference):
            return _is_instance_or_none(lo, args[0], args[0].type.cls, given.value)
        found = is_instance(lo, args[0], given.value)
        said = _said_by_object(lo, args[0], found, node)
        if said is not None:
            return lo.call(ir.Const(issubclass), [said, given], {}, node)
        return NotImplemented if found is None else ir.Const(found)
    except TypeError:
        raise lo.mistake(TypeError, node, "the second argument of 'isinstance' is not a class") from None


def _said_by_object(lo: Lowerer, value: Value, found: bool | None, node: ast.AST | None) -> Value | None:
    """The class that an object says to be of, where that decides: what stands for others is asked in doubt only."""
    cls = class_of(lo, value)
    is_decided = found or (found is False and cls is not None and seen(cls) is not cls)
    return None if is_decided else class_property(lo, value, node)


def _is_instance_or_none(lo: Lowerer, value: ir.Var, cls: type, classes: Any) -> Any:
    """Of an object that others of its class refer to, or None."""
    is_so, none_is = is_kind_of(cls, classes), isinstance(None, classes)
    if is_so is None or is_so == none_is:
        return NotImplemented if is_so is None else ir.Const(is_so)
    return identity(lo, operator.is_not if is_so else operator.is_, value, NONE)


def _said_by_class(lo: Lowerer, value: Value, cls: Any, node: ast.AST | None) -> Value | None:
    """Whether a value is an instance of a class that says so by itself: its metaclass, or a protocol with data."""
    if not isinstance(cls, type):
        return None
    method = inspect.getattr_static(type(cls), "__instancecheck__")
    if isinstance(method, FunctionType) and is_of_the_user(method):
        return lo.call(ir.Const(bool), [lo.call(ir.Const(method), [ir.Const(cls), value], {}, node)], {}, node)
    if not is_marked(cls, "_is_protocol") or not cls._is_protocol or not cls._is_runtime_protocol:  # type: ignore[attr-defined]
        return None
    known = getattr(cls, "__protocol_attrs__", None)  # from Python 3.12 on
    asked = sorted(known or getattr(typing, "_get_protocol_attrs")(cls))  # noqa: B009
    if all(callable(getattr(cls, name, None)) for name in asked):
        return None  # which the class decides
    flags = [_hasattr(lo, [value, ir.Const(name)], {}, node) for name in asked]
    return ir.Const(all(flag.value for flag in flags)) if all(isinstance(flag, ir.Const) for flag in flags) else None


@handles(getattr)
def _getattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    base, name, *default = args
    if not isinstance(name, ir.Const):
        _tell_texts_apart(lo, base, name)
        return NotImplemented
    if not default:
        return attribute(lo, base, name.value, node)
    if _looks_up_by_methods(lo, base):
        return python_functions.call(lo, python_functions.attribute_or, [base, name, default[0]], node)
    present = _hasattr(lo, [base, name], {}, node)
    if present is NotImplemented:
        present = lo.open.call(hasattr, materialize(lo, base, node, observer=True), name)
    return lo.branch(present, lambda: attribute(lo, base, name.value, node), lambda: default[0], node)


def _tell_texts_apart(lo: Lowerer, owner: Value, name: Value) -> None:
    """Starts again where an attribute is named by an item of a list that exists at run time: each may be looked up.

    Where it is named otherwise, the loop around is written out, whose counter may tell the name.
    """
    if not is_object(lo, owner) and not isinstance(owner, (ir.Const, Union)):
        return
    container = lo.origins[name][0] if isinstance(name, ir.Var) and name in lo.origins else None
    if not isinstance(container, ir.Var) or not isinstance(container.type, ir.List):
        lo.unroll_innermost(given=True)
        return
    sites = set(original_sites(tuple(sites_of(lo, container.type)))) - lo.settings.texts_told_apart
    if sites:
        lo.settings.texts_told_apart |= sites
        for site in sites:
            lo.settings.runtime_sites.discard(site)
        raise Restart


@handles(MethodType)
def _bound(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A function with its first argument, as descriptors of libraries make it."""
    if len(args) != 2 or kwargs or args[1] == NONE:
        return NotImplemented
    return Method(args[0], args[1])


@handles(object.__getattribute__)
def _bare_getattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    base, name = args
    if not isinstance(name, ir.Const):
        raise lo.problem("AD0301", node, "the name of the attribute is not known")
    return attribute(lo, base, name.value, node, bare=True)


@handles(setattr)
def _setattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return _set_named(lo, args, node, bare=False)


@handles(object.__setattr__)
def _bare_setattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return _set_named(lo, args, node, bare=True)


def _set_named(lo: Lowerer, args: list[Value], node: ast.AST | None, *, bare: bool) -> Any:
    from adjoint.frontend.objects.attribute_writes import set_attribute  # lazy

    base, name, value = args
    if isinstance(name, Union):
        return on_each_option(lo, name, lambda each: _set_named(lo, [base, each, value], node, bare=bare), node)
    if not isinstance(name, ir.Const):
        _tell_texts_apart(lo, base, name)
        raise lo.problem("AD0301", node, "the name of the attribute is not known")
    set_attribute(lo, base, name.value, value, node, bare=bare)
    return NONE


@handles(delattr)
def _delattr(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    from adjoint.frontend.objects.attribute_writes import delete_attribute  # lazy

    base, name = args
    if not isinstance(name, ir.Const):
        raise lo.problem("AD0301", node, "the name of the attribute is not known")
    delete_attribute(lo, base, name.value, node)
    return NONE


@handles(importlib.import_module)
def _import_module(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A module by its name, as packages choose what they compute with."""
    if kwargs or len(args) != 1 or not isinstance(args[0], ir.Const):
        return NotImplemented
    try:
        return ir.Const(importlib.import_module(args[0].value))
    except ImportError as error:
        raise lo.mistake(type(error), node, str(error)) from None
