"""Keyword arguments from a dict whose keys are known at run time only: ``f(**table)``."""

from __future__ import annotations

import ast
import types

from adjoint import ir
from adjoint.frontend.data import making
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Closure, Method, Value
from adjoint.frontend.library import python_functions
from adjoint.rules import registry
from adjoint.sources.definitions import underlying
from adjoint.sources.library_folders import is_of_a_library


def from_table(
    lo: Lowerer, function: Value, count: int, kwargs: dict[str, Value], table: Value, node: ast.AST
) -> dict[str, Value] | None:
    """All keyword arguments of a call with ``count`` arguments by place; None where the function does not tell them.

    What it has a name for is taken out of a copy of the table. What is left is the dict of its ``**`` parameter, which
    has the name ``**`` here, or must be nothing.
    """
    closure, first = _closure(lo, function, node)
    if closure is None:
        return None
    spec, name = closure.source.node.args, closure.source.name
    positional = [*spec.posonlyargs, *spec.args]
    with_default = positional[len(positional) - len(closure.defaults) :]
    defaults = {each.arg: value for each, value in zip(with_default, closure.defaults, strict=True)}
    defaults.update(closure.kw_defaults)
    by_place = {each.arg for each in positional[: count + first]}
    only_by_place = {each.arg for each in spec.posonlyargs}
    named = [each.arg for each in (*positional, *spec.kwonlyargs) if each.arg not in only_by_place]
    rest = python_functions.call(lo, python_functions.entries, [table], node)
    found = {key: value for key, value in kwargs.items() if key in named}
    said = ir.Const(name)
    for key in named:
        given: list[Value] = [rest, ir.Const(key), said]
        if key in by_place or key in kwargs:
            python_functions.call(lo, python_functions.check_once, given, node)
        elif key in defaults:
            found[key] = python_functions.call(lo, python_functions.pop_or, [rest, given[1], defaults[key]], node)
        else:
            found[key] = python_functions.call(lo, python_functions.argument, given, node)
    if spec.kwarg is None:
        python_functions.call(lo, python_functions.check_no_more, [rest, said], node)
        return {**kwargs, **found}
    others = [(key, value) for key, value in kwargs.items() if key not in named]
    if others:
        whole = making.new_dict(lo, others, node)
        python_functions.call(lo, python_functions.update, [whole, rest], node)
        rest = whole
    return {**found, "**": rest}


def _closure(lo: Lowerer, function: Value, node: ast.AST) -> tuple[Closure | None, int]:
    """The function whose source says which parameters there are, and how many arguments it has already."""
    match function:
        case Closure():
            return function, 0
        case Method(function=inner):
            closure, first = _closure(lo, inner, node)
            return closure, first + 1
        case ir.Const(value=types.FunctionType() as constant):
            plain = underlying(constant)
            is_ours = registry.rule_for(constant) is not None or registry.is_defined(constant)
            if plain is None or is_ours or is_of_a_library(plain.__code__.co_filename):
                return None, 0
            return closure_of(lo, plain, node), 0
        case _:
            return None, 0
