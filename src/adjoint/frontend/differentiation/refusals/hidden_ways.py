"""Ways from an argument back to its objects that nobody looks into: what varies in these would be a constant there.

Methods and functions that objects have as attributes are followed to what they are bound to and capture. A weak
reference, an iterator, the default value of a parameter are not.
"""

from __future__ import annotations

import ast
import functools
import gc
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from adjoint.frontend.differentiation.wrt import refusal
from adjoint.frontend.entry.captured import has_fields
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.types.classes.safe_lookups import contents_of
from adjoint.types.structure import fields_of

MOST_LOOKED_AT = 20_000
_ENDS = (type, types.ModuleType, types.CodeType, types.FrameType, types.BuiltinFunctionType, str, bytes)


def refuse_hidden_ways(lo: Lowerer, function: Value, place: int | str, node: ast.AST | None) -> None:
    """Refuses an argument of the user's that leads to an object in it in a way that is not looked into."""
    given = lo.run_data.arguments.get(place) if node is None else None
    if given is None or not (has_fields(given) or isinstance(given, (list, tuple, dict))):
        return
    inside, others = _structure(given)
    for name, value in others:
        if _leads_back(value, inside):
            where = f"argument {place!r}" if isinstance(place, str) else f"argument {place}"
            label = f"{name!r} in {where} leads back to what varies, in a way that is not looked into"
            helps = (
                "let it be a method or a function that captures the object, or read what it needs when it is called",
            )
            raise refusal(lo, "AD0301", function, node, label, place=place, helps=helps)


def _structure(given: Any) -> tuple[dict[int, Any], list[tuple[str, Any]]]:
    """The objects and containers that a value consists of, and what else lies in them, by the names it has there."""
    inside: dict[int, Any] = {}
    others: list[tuple[str, Any]] = []
    pending: list[tuple[str, Any]] = [("it", given)]
    while pending and len(inside) < MOST_LOOKED_AT:
        name, value = pending.pop()
        if id(value) in inside:
            continue
        if isinstance(value, (list, tuple)):
            items: Iterable[tuple[str, Any]] = ((name, item) for item in value)
        elif isinstance(value, dict):
            items = ((str(key), item) for key, item in value.items())
        elif has_fields(value):
            items = fields_of(value).items()
        else:
            others.append((name, value))
            continue
        inside[id(value)] = value
        pending += [item for item in items if gc.is_tracked(item[1])]  # what leads nowhere is not tracked
    return {key: value for key, value in inside.items() if has_fields(value)}, others


def _leads_back(value: Any, inside: dict[int, Any]) -> bool:
    """Whether something leads to one of some objects other than as a method of it, or by a variable it captures."""
    seen: set[tuple[int, bool]] = set()
    kept: list[Any] = []
    pending = [(value, True)]
    while pending and len(seen) < MOST_LOOKED_AT:
        value, is_followed = pending.pop()
        if (id(value), is_followed) in seen or isinstance(value, _ENDS):
            continue
        seen.add((id(value), is_followed))
        kept.append(value)  # an id is good only as long as its object lives
        if id(value) in inside:
            if not is_followed:
                return True
            continue
        pending += _next(value, is_followed)
    return False


def _next(value: Any, is_followed: bool) -> Iterator[tuple[Any, bool]]:
    """What something leads to, and whether that is looked into."""
    match value:
        case types.FunctionType():
            held = map(contents_of, value.__closure__ or ())
            yield from ((each, is_followed) for each in held if each is not None)
            yield from ((each, False) for each in (value.__defaults__, value.__kwdefaults__) if each)
        case types.MethodType():
            yield from ((value.__self__, is_followed), (value.__func__, is_followed))
        case functools.partial():
            yield from ((each, is_followed) for each in (value.func, *value.args, *value.keywords.values()))
        case tuple():
            yield from ((each, is_followed) for each in value)
        case weakref.ReferenceType():
            yield value(), False
        case dict() if "__builtins__" in value:
            return  # the names of a module
        case _:
            yield from ((each, False) for each in gc.get_referents(value))
