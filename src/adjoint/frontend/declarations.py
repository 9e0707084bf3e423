"""What is wrong with a declared derivative, as far as it can be seen when it is declared."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

from adjoint.diagnostics import DifferentiationError, Span, diagnostic, error
from adjoint.diagnostics.errors import warn
from adjoint.frontend import source
from adjoint.frontend.inputs import has_fields, is_constant
from adjoint.frontend.parameters import is_operator
from adjoint.rules.registry import Declaration

_NUMBERS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Constant, ast.JoinedStr)
"""Expressions that are no tuple and no function."""


def check_target(fn: Any) -> None:
    """Refuses what a declaration would not be found for when it is called."""
    kind = _unfit(fn)
    if kind is not None:
        name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or type(fn).__name__
        raise error("AD0206", None, f"it is {kind}", name=str(name))


def _unfit(fn: Any) -> str | None:
    """What is in the way of a declaration, if anything is."""
    if isinstance(fn, types.MethodType):
        owner = fn.__self__
        return "a classmethod" if isinstance(owner, type) else f"the method of one object of class {_kind(owner)}"
    if isinstance(fn, functools.partial):
        return "a functools.partial"
    if isinstance(fn, type):
        return "a class"
    if isinstance(fn, property):
        return "a property"
    if isinstance(fn, (staticmethod, classmethod)):
        return "a descriptor: declare it for what the class gives, Cls.method"
    if is_operator(fn):
        return "a derivative: declare it for the function that is differentiated"
    if not callable(fn):
        return f"an object of class {_kind(fn)}, which cannot be called"
    owner = getattr(fn, "__self__", None)
    if isinstance(fn, types.BuiltinFunctionType) and owner is not None and not isinstance(owner, types.ModuleType):
        return f"the method of one object of class {_kind(owner)}"
    if not is_constant(fn) and has_fields(fn):
        return f"an object of class {_kind(fn)}"
    return None


def _kind(value: Any) -> str:
    return repr(type(value).__name__)


def check_declaration(declaration: Declaration, before: Declaration | None) -> None:
    """Refuses what surely is no derivative of the function; warns where there was another one before."""
    derivative = declaration.derivative
    if not callable(derivative):
        raise error("AD0205", None, f"it is an object of class {_kind(derivative)}", name=declaration.name)
    found = _source_of(derivative)
    place = None if found is None else found.heading
    _check_parameters(declaration, place)
    if found is not None:
        _check_results(declaration, found)
    if before is not None and not _is_said_again(before.derivative, derivative):
        warn(diagnostic("AD0505", place, "the later one counts", name=declaration.name))


def _source_of(function: Any) -> source.FunctionSource | None:
    try:
        return source.find(function)
    except DifferentiationError:
        return None


def _is_said_again(before: Any, now: Any) -> bool:
    """Whether a declaration was run once more, as cells of notebooks and reloaded modules are."""
    first, second = getattr(before, "__code__", None), getattr(now, "__code__", None)
    if first is None or second is None:
        return before is now
    if (first.co_filename, first.co_firstlineno) == (second.co_filename, second.co_firstlineno):
        return True
    names = {(before.__module__, before.__qualname__), (now.__module__, now.__qualname__)}
    return len(names) == 1 and not before.__qualname__.endswith("<lambda>")


def _check_parameters(declaration: Declaration, place: Span | None) -> None:
    """Refuses a derivative that does not take the arguments of the function."""
    own, other = positional_parameters(declaration.fn), _signature(declaration.derivative)
    if own is None or other is None:
        return
    least = sum(parameter.default is parameter.empty for parameter in own)
    try:
        other.bind(*[None] * least, **_required_by_name(other))  # it need not name what has a default
    except TypeError:
        label = f"this does not take the {_plural(least, 'argument')} of {declaration.name!r}"
        raise _refusal(declaration, place, label) from None


def positional_parameters(function: Any) -> tuple[inspect.Parameter, ...] | None:
    """The parameters of a function that are given by position; None where that is not known, or any number may be."""
    signature = _signature(function)
    if signature is None or any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p for p in signature.parameters.values() if p.kind in kinds)


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _required_by_name(signature: inspect.Signature) -> dict[str, None]:
    return {p.name: None for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _refusal(declaration: Declaration, place: Span | None, label: str) -> DifferentiationError:
    return error("AD0205", place, label, name=declaration.name)


# What it returns


def _check_results(declaration: Declaration, found: source.FunctionSource) -> None:
    """Refuses what is no pair of a value and a pullback, and pullbacks of the wrong number of cotangents."""
    returned = _returned(found.node)
    if not returned:
        if any(isinstance(node, (ast.Raise, ast.Yield, ast.YieldFrom)) for node in ast.walk(found.node)):
            return
        raise _refusal(declaration, found.heading, "it returns nothing, not a pair (value, pullback)")
    for value in returned:
        if isinstance(value, _NUMBERS) or (isinstance(value, (ast.Tuple, ast.List)) and not _may_be_pair(value)):
            raise _refusal(declaration, found.span(value), "this is not a pair (value, pullback)")
        if isinstance(value, (ast.Tuple, ast.List)):
            _check_pullback(declaration, found, value.elts[1])


def _may_be_pair(node: ast.Tuple | ast.List) -> bool:
    return len(node.elts) == 2 or any(isinstance(item, ast.Starred) for item in node.elts)


def _returned(node: ast.AST) -> list[ast.expr]:
    """The expressions that a function returns."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    return [each.value for each in _own_nodes(node) if isinstance(each, ast.Return) and each.value is not None]


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function that do not belong to functions and classes inside of it; these themselves are given."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_nodes(child)


def _check_pullback(declaration: Declaration, found: source.FunctionSource, node: ast.expr) -> None:
    if any(isinstance(node, kind) for kind in (*_NUMBERS, ast.Tuple, ast.List, ast.Dict)):
        raise _refusal(declaration, found.span(node), "this is not a pullback, which is a function")
    pullback = node if isinstance(node, ast.Lambda) else _defined(found.node, node)
    if pullback is None:
        return
    spec = pullback.args
    most = len(spec.posonlyargs) + len(spec.args)
    least = most - len(spec.defaults)
    if least > 1 or (most == 0 and spec.vararg is None):
        label = f"this takes {_plural(most, 'argument')}, not one: the cotangent of the value"
        raise _refusal(declaration, found.span(pullback), label)
    _check_cotangents(declaration, found, pullback)


def _defined(function: ast.AST, node: ast.expr) -> ast.FunctionDef | None:
    """The function inside of another that a name surely means."""
    if not isinstance(node, ast.Name):
        return None
    nodes = list(_own_nodes(function))
    bound = [
        each for each in nodes if isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store)
    ]
    made = [each for each in nodes if isinstance(each, ast.FunctionDef) and each.name == node.id]
    return made[0] if len(made) == 1 and not bound and not made[0].decorator_list else None


def _check_cotangents(
    declaration: Declaration, found: source.FunctionSource, pullback: ast.FunctionDef | ast.Lambda
) -> None:
    """Refuses a pullback that surely gives another number of cotangents than there are arguments."""
    own = positional_parameters(declaration.fn)
    if not own:
        return
    least, most = max(1, sum(p.default is p.empty for p in own)), len(own)
    wanted = f"{_plural(most, 'cotangent')}, one for each argument of {declaration.name!r}"
    returned = _returned(pullback)
    if not returned and not any(isinstance(node, (ast.Raise, ast.Yield)) for node in ast.walk(pullback)):
        raise _refusal(declaration, found.span(pullback), f"this returns nothing, not {wanted}")
    for value in returned:
        if isinstance(value, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in value.elts):
            count = len(value.elts)
        elif isinstance(value, _NUMBERS):
            count = 1
        else:
            continue
        if not (least <= count <= most) and not (isinstance(value, ast.Tuple) and least == 1):
            given = _plural(count, "cotangent")
            raise _refusal(declaration, found.span(value), f"this returns {given}, not {wanted}")
