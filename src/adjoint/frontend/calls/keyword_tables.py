"""Keyword arguments from a dict whose keys are known at run time only: ``f(**table)``."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping
from typing import NamedTuple

from adjoint import ir
from adjoint.frontend.data import making
from adjoint.frontend.functions.closures import closure_of, default_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Closure, Method, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.classes import has_source
from adjoint.rules import registry
from adjoint.sources.definitions import underlying
from adjoint.types.classes.dataclass_fields import dataclass_fields, is_dataclass
from adjoint.types.structure import is_namedtuple_class


def from_table(
    lo: Lowerer, function: Value, count: int, kwargs: dict[str, Value], table: Value, node: ast.AST
) -> dict[str, Value] | None:
    """All keyword arguments of a call with ``count`` arguments by place; None where the function does not tell them.

    What it has a name for is taken out of a copy of the table. What is left is the dict of its ``**`` parameter, which
    has the name ``**`` here, or must be nothing.
    """
    parameters = _parameters(lo, function, node)
    if parameters is None:
        return None
    by_place = set(parameters.positional[: count + parameters.bound])
    named = [name for name in parameters.by_name if name not in parameters.positional[: parameters.bound]]
    defaults = parameters.defaults
    rest = python_functions.call(lo, python_functions.entries, [table], node)
    found = {key: value for key, value in kwargs.items() if key in named}
    said = ir.Const(parameters.function)
    for key in named:
        given: list[Value] = [rest, ir.Const(key), said]
        if key in by_place or key in kwargs:
            python_functions.call(lo, python_functions.check_once, given, node)
        elif key in defaults:
            found[key] = python_functions.call(lo, python_functions.pop_or, [rest, given[1], defaults[key]], node)
        else:
            found[key] = python_functions.call(lo, python_functions.argument, given, node)
    if not parameters.takes_others:
        python_functions.call(lo, python_functions.check_no_more, [rest, said], node)
        return {**kwargs, **found}
    others = [(key, value) for key, value in kwargs.items() if key not in named]
    if others:
        whole = making.new_dict(lo, others, node)
        python_functions.call(lo, python_functions.update, [whole, rest], node)
        rest = whole
    return {**found, "**": rest}


class _Parameters(NamedTuple):
    """What a function can be given, and what it takes for what it is not given."""

    function: str
    positional: tuple[str, ...]
    by_name: tuple[str, ...]
    defaults: Mapping[str, Value]
    bound: int = 0
    """How many of the positional ones it has already."""
    takes_others: bool = False


def _parameters(lo: Lowerer, function: Value, node: ast.AST) -> _Parameters | None:
    """What a function, a method or a class can be given, where its source or its fields say that."""
    match function:
        case Closure():
            return _of_closure(lo, function)
        case Method(function=inner):
            found = _parameters(lo, inner, node)
            return None if found is None else found._replace(bound=found.bound + 1)
        case ir.Const(value=types.FunctionType() as constant):
            plain = underlying(constant)
            is_ours = registry.rule_for(constant) is not None or registry.is_defined(constant)
            return None if plain is None or is_ours else _of_closure(lo, closure_of(lo, plain, node))
        case ir.Const(value=type() as cls):
            return _of_class(lo, cls, node)
        case _:
            return None


def _of_closure(lo: Lowerer, closure: Closure) -> _Parameters:
    spec = closure.source.node.args
    positional = [*spec.posonlyargs, *spec.args]
    with_default = positional[len(positional) - len(closure.defaults) :]
    defaults = dict(closure.kw_defaults)
    defaults.update((each.arg, held) for each, held in zip(with_default, closure.defaults, strict=True))
    lo.run_data.defaults_taken.add((closure.function, None))
    return _Parameters(
        closure.source.name,
        tuple(each.arg for each in positional),
        tuple(each.arg for each in (*spec.args, *spec.kwonlyargs)),
        {name: default_of(lo, value) for name, value in defaults.items()},
        takes_others=spec.kwarg is not None,
    )


def _of_class(lo: Lowerer, cls: type, node: ast.AST) -> _Parameters | None:
    """What a class can be given: what its ``__init__`` can, or its fields."""
    if is_namedtuple_class(cls):
        names, plain = cls._fields, cls._field_defaults  # type: ignore[attr-defined]
        return _Parameters(cls.__name__, names, names, {name: ir.Const(value) for name, value in plain.items()})
    init = inspect.getattr_static(cls, "__init__", None)
    if is_dataclass(cls) and not has_source(init):
        from adjoint.frontend.objects.construction import default_of_field  # lazy

        fields = [spec for spec in dataclass_fields(cls) if spec.init]
        return _Parameters(
            cls.__name__,
            tuple(spec.name for spec in fields if not spec.kw_only),
            tuple(spec.name for spec in fields),
            {spec.name: value for spec in fields if (value := default_of_field(lo, cls, spec, node)) is not None},
        )
    return _parameters(lo, Method(ir.Const(init), NONE), node) if isinstance(init, types.FunctionType) else None
