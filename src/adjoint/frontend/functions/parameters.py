"""The parameters of a function are bound to the arguments of a call, as Python does it."""

from __future__ import annotations

import ast

from adjoint.diagnostics.similar import did_you_mean
from adjoint.frontend.data import making
from adjoint.frontend.functions.closures import default_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Closure, IteratorValue, TupleValue, Value


def misfit(name: str, taken: int, given: int) -> str:
    return f"{name}() takes {taken} argument{'' if taken == 1 else 's'}, {given} {'is' if given == 1 else 'are'} given"


def _signature(name: str, spec: ast.arguments) -> str:
    """A function with its parameters, as messages show it."""
    named = ["*", *(p.arg for p in spec.kwonlyargs)] if spec.kwonlyargs and spec.vararg is None else []
    return f"{name}({', '.join([*(p.arg for p in [*spec.posonlyargs, *spec.args]), *named])})"


def _rest(args: list[Value]) -> Value:
    """What a ``*`` parameter takes: a tuple, of a length that may be known at run time only."""
    match args:
        case [IteratorValue(kind="rest", parts=(left,))]:
            return left
        case _:
            return TupleValue(tuple(args), is_itself=True)


def bind(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> dict[str, Value]:
    """Parameters of a function with the values of a call."""
    spec = closure.source.node.args
    positional = [*spec.posonlyargs, *spec.args]
    name = closure.source.name
    bound: dict[str, Value] = {}
    named = dict(kwargs)
    rest = named.pop("**", None)
    for parameter, value in zip(positional, args, strict=False):
        bound[parameter.arg] = value
    if spec.vararg is not None:
        bound[spec.vararg.arg] = _rest(args[len(positional) :])
    elif len(args) > len(positional):
        label, helps = misfit(name, len(positional), len(args)), [f"it is {_signature(name, spec)}"]
        path = getattr(closure.source.code, "co_qualname", name).split(".")
        if len(path) > 1 and path[-2] != "<locals>" and len(args) == len(positional) + 1:
            helps.append(f"a method takes its object first: {name}(self, ...)")
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)
    only_positional = {parameter.arg for parameter in spec.posonlyargs}
    for parameter in [*positional, *spec.kwonlyargs]:
        if parameter.arg in named and parameter.arg not in only_positional:
            if parameter.arg in bound:
                raise lo.mistake(
                    TypeError, node, f"{name}() is given {parameter.arg!r} twice", code="AD0203", name=name
                )
            bound[parameter.arg] = named.pop(parameter.arg)
    with_defaults = positional[len(positional) - len(closure.defaults) :]
    for place, (parameter, held) in enumerate(zip(with_defaults, closure.defaults, strict=True)):
        if parameter.arg not in bound:
            bound[parameter.arg] = default_of(lo, held)
            lo.run_data.defaults_taken.add((closure.function, place))
    for parameter in spec.kwonlyargs:
        if parameter.arg not in bound and parameter.arg in closure.kw_defaults:
            bound[parameter.arg] = default_of(lo, closure.kw_defaults[parameter.arg])
            lo.run_data.defaults_taken.add((closure.function, parameter.arg))
    parameters = [*positional, *spec.kwonlyargs]
    if named and spec.kwarg is None:
        unknown = next(iter(named))
        meant = did_you_mean(unknown, [p.arg for p in parameters])
        label = f"{name}() has no parameter {unknown!r}"
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=meant, name=name)
    missing = [p.arg for p in parameters if p.arg not in bound]
    if missing:
        label = f"{name}() is not given {', '.join(map(repr, missing))}"
        helps = [f"it is {_signature(name, spec)}"]
        if len(args) == 1 and isinstance(args[0], TupleValue) and len(args[0].items) == len(positional) > 1:
            helps.append("its arguments are given one by one, not as a tuple")
        elif missing == [p.arg for p in parameters[1:]] and parameters[0].arg == "self":
            helps.append("hand over the method of an object, which is its first argument")
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = making.new_dict(lo, list(named.items()), spec.kwarg) if rest is None else rest
    return bound
