"""Which arguments a differential operator differentiates with respect to."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any, get_origin

from adjoint import ir
from adjoint.diagnostics import Span, diagnostic
from adjoint.diagnostics.similar import did_you_mean
from adjoint.frontend.entry.operator_marks import MARK
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Closure, Method, Operator, Partial, Record, Ref, Value
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.special_methods import special_method
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.sources import definitions
from adjoint.sources.definitions import FunctionSource
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import DICTS, own_attribute

if TYPE_CHECKING:
    from adjoint.keypaths.path import KeyPath


def parameter_names(lo: Lowerer, function: Value, node: ast.AST | None) -> list[str]:
    """The names of the positional parameters of a function."""
    match function:
        case Closure():
            spec = function.source.node.args
            return [parameter.arg for parameter in [*spec.posonlyargs, *spec.args]]
        case Method():
            return parameter_names(lo, function.function, node)[1:]
        case Partial():
            return parameter_names(lo, function.function, node)[len(function.args) :]
        case Operator():
            return parameter_names(lo, function.function, node)
        case ir.Const(value=ir.Function(params=params)):
            return [param.hint for param in params]
        case ir.Const(value=constant):
            mark = own_attribute(constant, MARK)
            if isinstance(mark, tuple):
                return parameter_names(lo, ir.Const(mark[1]), node)
            found = definitions.underlying(constant)
            if found is not None:
                names = parameter_names(lo, closure_of(lo, found, node), node)
                return names[1:] if hasattr(constant, "__self__") else names
            if isinstance(constant, type):
                return _names_told(constant)
    method = special_method(lo, function, "__call__")
    return [] if method is None else parameter_names(lo, method, node)


def _names_told(cls: type) -> list[str]:
    """The names of the positional parameters by which objects of a class are made."""
    try:
        parameters = signature(cls).parameters.values()
    except (TypeError, ValueError):  # nobody knows them
        return []
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def _keyword_only_names(function: Value) -> tuple[str, ...]:
    """The names of the parameters of a function object that can only be given by name."""
    found = definitions.underlying(function.value) if isinstance(function, ir.Const) else None
    if found is None:
        return ()
    code = found.__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def positions(
    lo: Lowerer,
    function: Value,
    wrt: Any,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> list[int | str]:
    """The arguments that ``wrt`` means: indices of positional ones, names of those given by name."""
    chosen = list(wrt) if isinstance(wrt, (tuple, list)) else [wrt]
    names = parameter_names(lo, function, node)
    places: list[int | str] = []
    seen: list[tuple[int | str, KeyPath[Any, Any] | None]] = []
    for choice in map(as_part, chosen):
        if isinstance(choice, PartOf):
            place, path = _position_of_part(lo, function, choice, names, args, kwargs, node), choice.path
        else:
            place, path = _position(lo, function, choice, names, args, kwargs, node), None
        if any(place == other and _overlap(path, way) for other, way in seen):
            raise refusal(lo, "AD0405", function, node, f"wrt={wrt!r} names the argument {choice!r} twice")
        seen.append((place, path))
        places.append(place)
    return places


def with_receiver(
    lo: Lowerer, function: Value, wrt: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[Value, Any, list[Value]]:
    """A bound method as its function, with the object as the first argument, where ``wrt`` means the object."""
    if not isinstance(function, Method):
        return function, wrt, args
    own = parameter_names(lo, function.function, node)[:1]
    choices = list(map(as_part, wrt)) if isinstance(wrt, (tuple, list)) else [as_part(wrt)]
    taken = [*args, *kwargs.values()]
    if not any(choice in own or _is_of_receiver(lo, choice, function, taken) for choice in choices):
        return function, wrt, args
    shifted = [choice + 1 if type(choice) is int and choice >= 0 else choice for choice in choices]
    several = tuple(shifted) if isinstance(wrt, (tuple, list)) else shifted[0]
    return function.function, several, [function.receiver, *args]


def _is_of_receiver(lo: Lowerer, choice: Any, function: Method, taken: Sequence[Value]) -> bool:
    """Whether a key path starts from the object of a bound method, and from none of the arguments."""
    if not isinstance(choice, PartOf) or choice.origin is None:
        return False
    origin = get_origin(choice.origin) or choice.origin
    fits = [issubclass(class_of(lo, value) or object, origin) for value in (function.receiver, *taken)]
    return fits[0] and not any(fits[1:])


def _overlap(path: KeyPath[Any, Any] | None, other: KeyPath[Any, Any] | None) -> bool:
    """Whether one part of an argument lies in the other; None is all of it."""
    return path is None or other is None or path.starts_with(other) or other.starts_with(path)


def _position_of_part(
    lo: Lowerer,
    function: Value,
    part: PartOf,
    names: Sequence[str],
    args: Sequence[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> int | str:
    """The argument that a key path starts from: the instance of its class; the first one if it has none."""
    if part.origin is None:
        return _position(lo, function, 0, names, args, kwargs, node)
    origin = get_origin(part.origin) or part.origin
    places: list[tuple[int | str, Value]] = [*enumerate(args), *kwargs.items()]
    fitting = [place for place, value in places if issubclass(class_of(lo, value) or object, origin)]
    if len(fitting) == 1:
        return fitting[0]
    count = "no argument" if not fitting else "more than one argument"
    label = f"{part.path} starts from {origin.__qualname__}, and {count} is one"
    raise refusal(lo, "AD0405", function, node, label)


def _position(
    lo: Lowerer,
    function: Value,
    choice: Any,
    names: Sequence[str],
    args: Sequence[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> int | str:
    count = len(args)
    helps: tuple[str, ...] = ()
    if isinstance(choice, str):
        if choice in kwargs:
            return choice
        if choice in names and names.index(choice) < count:
            return names.index(choice)
        known = dict.fromkeys([*names, *_keyword_only_names(function), *kwargs])
        missing = "is not given in this call" if choice in known else "is not among its parameters"
        label = f"{choice!r} {missing}" + (f": {', '.join(map(repr, known))}" if known else ", which have no names")
        helps = did_you_mean(choice, known, "wrt={!r}") if choice not in known else ("hand it over, or leave it out",)
        if "," in choice:
            helps = (f"several are named by a tuple: wrt={tuple(part.strip() for part in choice.split(','))!r}",)
        if not helps and args and _has_part(lo, args[0], choice):
            helps = (f"a part of the first argument is named by a key path: wrt=ad.keypath()[{choice!r}]",)
    elif isinstance(choice, int) and not isinstance(choice, bool):
        index = choice + count if choice < 0 else choice
        if 0 <= index < count:
            return index
        if 0 <= index < len(names) and names[index] in kwargs:
            return names[index]
        own_names = [*names, *_keyword_only_names(function)]
        unknown = next((name for name in kwargs if own_names and name not in own_names), None)
        if count == 0 and unknown is not None and not _takes_any_name(function):
            label = f"the call gives {unknown!r}, which is not among its parameters: {', '.join(map(repr, own_names))}"
            raise refusal(lo, "AD0203", function, node, label, helps=did_you_mean(unknown, own_names, "{}="))
        given = "1 positional argument" if count == 1 else f"{count} positional arguments"
        label = f"wrt={choice!r}, but the call has {given}"
        ways = [f"wrt={index}" + (f" or wrt={names[index]!r}" if index < len(names) else "") for index in range(count)]
        helps = (f"counted from 0: {', '.join(ways)}",) if 0 < count <= _FEW else ()
    else:
        label = f"wrt={choice!r} is no index, name or key path"
    raise refusal(lo, "AD0405", function, node, label, helps=helps or None)


_FEW = 4


def _takes_any_name(function: Value) -> bool:
    """Whether a function may be given arguments by any name."""
    source = source_of(function)
    return source is None or source.node.args.kwarg is not None


def _has_part(lo: Lowerer, value: Value, key: str) -> bool:
    """Whether a value is a dict with such a key."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    return isinstance(record, Record) and record.cls in DICTS and record.get(key) is not None


def refusal(
    lo: Lowerer,
    code: str,
    function: Value,
    node: ast.AST | None,
    label: str,
    *,
    place: int | str | None = None,
    helps: Sequence[str] | None = None,
    others: Sequence[tuple[Span, str]] = (),
    **fields: Any,
) -> Problem:
    """A problem with a function as a whole, or with a parameter: at the definition where the user asked for it."""
    source = None if node is not None else source_of(function)
    if source is None:
        return lo.problem(code, node, label, helps=helps, others=others, **fields)
    found = parameter_node(function, place)
    span = source.heading if found is None else source.span(found)
    return Problem(diagnostic(code, span, label, helps=helps, others=others, **fields))


def source_of(function: Value) -> FunctionSource | None:
    """The source of a function, where it has one."""
    match function:
        case Closure():
            return function.source
        case Method() | Partial() | Operator():
            return source_of(function.function)
        case ir.Const(value=constant) if definitions.underlying(constant) is not None:
            return definitions.find(constant)
        case _:
            return None


def parameter_node(function: Value, place: int | str | None) -> ast.arg | None:
    source = source_of(function)
    if source is None or place is None or isinstance(function, (Partial, Operator)):
        return None
    spec = source.node.args
    parameters = [*spec.posonlyargs, *spec.args]
    if isinstance(place, str):
        return next((node for node in [*parameters, *spec.kwonlyargs] if node.arg == place), None)
    bound = isinstance(function, Method) or (isinstance(function, ir.Const) and hasattr(function.value, "__self__"))
    place += bound
    return parameters[place] if place < len(parameters) else None
