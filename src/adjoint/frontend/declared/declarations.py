"""What is wrong with a declared derivative, as far as it can be seen when it is declared."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import types
from collections.abc import Iterator
from typing import Any

from adjoint.diagnostics import DifferentiationError, Span, error
from adjoint.frontend.declared.parameters import (
    Misfit,
    has_value,
    most_positional,
    parameters_of,
    positional,
    resolved_wrt,
    sources_of_adjoint,
    sources_of_transpose,
)
from adjoint.frontend.entry.captured import has_fields
from adjoint.frontend.entry.operator_marks import is_operator
from adjoint.rules.declarations import Declaration, Place, name_of, owner_of
from adjoint.sources import definitions
from adjoint.types.classes.annotations import annotations_of, signature

WAYS_OUT = {
    "adjoint": ("name what it takes: parameters of the function, checkpoints, result, seed; or all, in this order",),
    "transpose": ("let it take the arguments that it is not with respect to, and last the cotangent of the value",),
    "differential": (
        "return the value and a differential, which takes one tangent for each argument and returns that of the value",
    ),
}
"""What to do about what is no derivative; of a pullback the catalogue says it."""

_NUMBERS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Constant, ast.JoinedStr)
"""Expressions that are no tuple and no function."""


def target_of(fn: Any) -> Any:
    """What is called where a user means ``fn``: of a property its getter. Refuses what nobody calls."""
    if isinstance(fn, property) and fn.fget is not None:
        return fn.fget
    if isinstance(fn, functools.cached_property):
        return fn.func
    if isinstance(fn, staticmethod):
        return fn.__func__
    unfit = _unfit(fn)
    if unfit is not None:
        label, *helps = unfit
        raise error("AD0206", None, label, helps=helps or None, name=name_of(fn))
    return fn


def _unfit(fn: Any) -> tuple[str, ...] | None:
    """What is in the way of a declaration, if anything is, and ways out."""
    if isinstance(fn, property):
        return ("it is a property that cannot be read",)
    if isinstance(fn, classmethod):
        return ("it is a descriptor", "declare it for what the class gives: Cls.method")
    if isinstance(fn, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return ("it is a stored field: reading it calls nothing", "declare it for a property that reads the field")
    if is_operator(fn):
        return ("it is a derivative", "declare it for the function that is differentiated")
    if not callable(fn):
        return (f"it is an object of class {_kind(fn)}, which cannot be called",)
    if getattr(fn, "__isabstractmethod__", False):
        return ("it is an abstract method, which is never called", "declare it for each method that implements it")
    owner = owner_of(fn)
    if owner is not None and not isinstance(owner, type) and not has_fields(owner) and not _is_known(owner):
        label = f"it is the method of one object of class {_kind(owner)}, which another such object may stand for"
        return (label, f"declare it for the method of all of them: {type(owner).__qualname__}.{fn.__name__}")
    return None


def _is_known(owner: Any) -> bool:
    """Whether a derivative knows an object by its identity, though it has no fields."""
    return type(owner).__name__ == "ufunc"


def _kind(value: Any) -> str:
    return repr(type(value).__name__)


def resolved(fn: Any, wrt: Any, derivative: Any) -> tuple[Place, ...] | None:
    """The parameters that ``wrt`` names. Refuses what has nothing to differentiate with respect to, or no result."""
    name, own = name_of(fn), parameters_of(fn)
    if own is not None and not own:
        raise error("AD0206", _heading(derivative), "it has no parameters to differentiate with respect to", name=name)
    if _returns_nothing(fn):
        helps = ("let it return what it computes",)
        raise error("AD0206", _heading(derivative), "it returns nothing", helps=helps, name=name)
    try:
        places = resolved_wrt(fn, wrt)
    except Misfit as misfit:
        raise error("AD0209", _heading(derivative), str(misfit), name=name) from None
    for place in places or ():
        kind = _kind_that_cannot_vary(own or (), place)
        if kind is not None:
            label = f"the parameter {_named(own or (), place)!r} is annotated as {kind}, which cannot vary"
            raise error("AD0209", _heading(derivative), label, name=name)
    return places


def _named(own: Any, place: Place) -> str:
    return place if isinstance(place, str) else str(positional(own)[place].name)


def _kind_that_cannot_vary(own: Any, place: Place) -> str | None:
    found = [p for p in own if p.name == place] if isinstance(place, str) else positional(own)[place : place + 1]
    annotation = found[0].annotation if found else None
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name if name in ("int", "bool", "str", "bytes") else None


def _returns_nothing(fn: Any) -> bool:
    """Whether a function surely is a procedure; the body of a stub says nothing."""
    annotation = annotations_of(fn).get("return", inspect.Parameter.empty)
    if isinstance(fn, type):
        return False
    if annotation in (None, "None"):
        return True
    found = source_of(fn)
    if found is None or isinstance(found.node, ast.Lambda) or annotation is not inspect.Parameter.empty:
        return False
    body = [each for each in found.node.body if not isinstance(each, ast.Pass) and not _is_constant(each)]
    goes_on = any(isinstance(node, (ast.Raise, ast.Yield, ast.YieldFrom)) for node in ast.walk(found.node))
    return bool(body) and not goes_on and not _returned(found.node)


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def check_new(declaration: Declaration, part: str, before: Declaration | None, replace: bool) -> None:
    """Refuses what surely is no derivative of the function, and a second one."""
    derivative = getattr(declaration, part)
    if not callable(derivative):
        raise _refusal(declaration, None, f"it is an object of class {_kind(derivative)}")
    found = source_of(derivative)
    place = None if found is None else found.heading
    if part in ("pullback", "differential"):
        _check_parameters(declaration, derivative, place)
        if found is not None:
            _check_results(declaration, found, part)
    else:
        _check_names(declaration, part, place)
    if before is not None and not replace:
        _check_first(declaration, part, before, place)


def _check_names(declaration: Declaration, part: str, place: Span | None) -> None:
    if declaration.primal is not None:
        _check_parameters(declaration, declaration.primal, _heading(declaration.primal))
    try:
        sources_of_adjoint(declaration) if part == "adjoint" else sources_of_transpose(declaration)
    except Misfit as misfit:
        raise _refusal(declaration, place, str(misfit)) from None


REVERSE = ("pullback", "adjoint", "transpose")


def _check_first(declaration: Declaration, part: str, before: Declaration, place: Span | None) -> None:
    """Refuses a second derivative of the same kind, and one with respect to other parameters."""
    rivals = {"transpose": (*REVERSE, "differential"), "differential": (part, "transpose")}.get(part, REVERSE)
    earlier = next((found for rival in rivals if (found := getattr(before, rival)) is not None), None)
    if earlier is not None and not is_said_again(earlier, getattr(declaration, part)):
        others = _others(earlier)
        raise error("AD0210", place, "this is another one", others=others, name=declaration.name)
    kept = [getattr(before, each) for each in (*REVERSE, "differential") if each not in rivals]
    if declaration.wrt != before.wrt and any(kept):
        label = "this is with respect to other parameters than the one that is declared already"
        others = _others(next(filter(None, kept)))
        raise error("AD0209", place, label, others=others, name=declaration.name)


def _others(function: Any) -> tuple[tuple[Span, str], ...]:
    place = _heading(function)
    return () if place is None else ((place, "the other one is declared here"),)


def _heading(function: Any) -> Span | None:
    found = source_of(function)
    return None if found is None else found.heading


def source_of(function: Any) -> definitions.FunctionSource | None:
    """The source of a function, where it has one."""
    if not callable(function):
        return None
    try:
        return definitions.find(function)
    except DifferentiationError:
        return None


def is_said_again(before: Any, now: Any) -> bool:
    """Whether a declaration was run once more, as cells of notebooks and reloaded modules are."""
    first, second = getattr(before, "__code__", None), getattr(now, "__code__", None)
    if first is None or second is None:
        return before is now
    if (first.co_filename, first.co_firstlineno) == (second.co_filename, second.co_firstlineno):
        return True
    names = {(before.__module__, before.__qualname__), (now.__module__, now.__qualname__)}
    return len(names) == 1 and not before.__qualname__.endswith("<lambda>")


def _check_parameters(declaration: Declaration, derivative: Any, place: Span | None) -> None:
    """Refuses a derivative that does not take the arguments of the function."""
    own, other = _fixed_parameters(declaration.fn), _signature(derivative)
    if own is None or other is None:
        return
    least = sum(parameter.default is parameter.empty for parameter in own)
    default = len(list(itertools.takewhile(has_value, own[least:])))
    handed = max(least, int(min(least + default, most_positional(derivative))))
    try:
        other.bind(*[None] * handed, **_required_by_name(other))  # it need not name what has a default
    except TypeError:
        label = f"this does not take the {_plural(handed, 'argument')} of {declaration.name!r}"
        raise _refusal(declaration, place, label) from None


def _fixed_parameters(function: Any) -> list[inspect.Parameter] | None:
    """The parameters that are given by position; None where that is not known, or any number may be."""
    own = parameters_of(function)
    return None if own is None or any(p.kind is p.VAR_POSITIONAL for p in own) else positional(own)


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return signature(function)
    except (TypeError, ValueError):
        return None


def _required_by_name(signature: inspect.Signature) -> dict[str, None]:
    return {p.name: None for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _refusal(declaration: Declaration, place: Span | None, label: str) -> DifferentiationError:
    parts = (part for part in WAYS_OUT if getattr(declaration, part) is not None)
    part = next(parts, None)
    return error("AD0205", place, label, helps=WAYS_OUT[part] if part else None, name=declaration.name)


# What it returns


def _check_results(declaration: Declaration, found: definitions.FunctionSource, kind: str) -> None:
    """Refuses what is no pair of a value and a linear map, and maps from or to the wrong number of things."""
    returned = _returned(found.node)
    if not returned:
        if any(isinstance(node, (ast.Raise, ast.Yield, ast.YieldFrom)) for node in ast.walk(found.node)):
            return
        raise _refusal(declaration, found.heading, f"it returns nothing, not a pair (value, {kind})")
    for value in returned:
        if isinstance(value, _NUMBERS) or (isinstance(value, (ast.Tuple, ast.List)) and not _may_be_pair(value)):
            raise _refusal(declaration, found.span(value), f"this is not a pair (value, {kind})")
        if isinstance(value, (ast.Tuple, ast.List)):
            _check_map(declaration, found, value.elts[1], kind)


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


def _check_map(declaration: Declaration, found: definitions.FunctionSource, node: ast.expr, kind: str) -> None:
    if any(isinstance(node, each) for each in (*_NUMBERS, ast.Tuple, ast.List, ast.Dict)):
        raise _refusal(declaration, found.span(node), f"this is not a {kind}, which is a function")
    made = node if isinstance(node, ast.Lambda) else _defined(found.node, node)
    if made is None:
        return
    spec = made.args
    most = len(spec.posonlyargs) + len(spec.args)
    least = most - len(spec.defaults)
    own = _differentiated(declaration)
    wanted = (1, 1) if kind == "pullback" else own
    if wanted is not None and (least > wanted[1] or (most < wanted[0] and spec.vararg is None)):
        one = "one: the cotangent of the value" if kind == "pullback" else f"{wanted[1]}: a tangent for each argument"
        label = f"this takes {_plural(most, 'argument')}, not {one}"
        raise _refusal(declaration, found.span(made), label)
    _check_given(declaration, found, made, own if kind == "pullback" else None)


def _differentiated(declaration: Declaration) -> tuple[int, int] | None:
    """How many arguments are differentiated, at least and at most; None where that is not known."""
    if declaration.wrt is not None:
        return len(declaration.wrt), len(declaration.wrt)
    own = _fixed_parameters(declaration.fn)
    return (max(1, sum(p.default is p.empty for p in own)), len(own)) if own else None


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


def _check_given(
    declaration: Declaration,
    found: definitions.FunctionSource,
    made: ast.FunctionDef | ast.Lambda,
    count: tuple[int, int] | None,
) -> None:
    """Refuses a linear map that surely gives nothing, or another number of cotangents than there are arguments."""
    returned = _returned(made)
    of_all = f"one for each argument of {declaration.name!r}" if declaration.wrt is None else "one for each of wrt"
    wanted = "a tangent" if count is None else f"{_plural(count[1], 'cotangent')}, {of_all}"
    if not returned and not any(isinstance(node, (ast.Raise, ast.Yield)) for node in ast.walk(made)):
        raise _refusal(declaration, found.span(made), f"this returns nothing, not {wanted}")
    if count is None:
        return
    least, most = count
    for value in returned:
        if isinstance(value, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in value.elts):
            given = len(value.elts)
        elif isinstance(value, _NUMBERS) and not _is_none(value):
            given = 1
        else:
            continue
        if not (least <= given <= most) and not (isinstance(value, ast.Tuple) and least == 1):
            label = f"this returns {_plural(given, 'cotangent')}, not {wanted}"
            raise _refusal(declaration, found.span(value), label)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
