"""Derivatives that were declared with autograd: `defvjp` and `defjvp` of functions that `primitive` wrapped.

A declaration is made for each choice of arguments that may vary: autograd asks what is declared of these only.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from types import CellType, FunctionType
from typing import Any, get_args, get_origin, get_type_hints

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.external.autograd import definitions
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Closure, Method, Operator, Partial, Value
from adjoint.rules import declarations, registry
from adjoint.rules.declarations import Declaration
from adjoint.types.classes.annotations import field_types

PRIMITIVE = "primitive.<locals>.f_wrapped"
"""What `primitive` makes of a function."""

Fn = Callable[..., Any]


def declaration_of(lo: Lowerer, function: Any, args: list[Value]) -> Declaration | None:
    """What is declared of a primitive, as far as its arguments may vary; None where the function inside tells."""
    core = sys.modules["autograd.core"]
    places = tuple([place for place, value in enumerate(args) if may_carry(lo, value) and not _is_function(value)])
    reverse, forward = core.primitive_vjps.get(function), core.primitive_jvps.get(function)
    if not places or not _counts(function, args, reverse, forward):
        return None
    for table, found in ((core.primitive_vjps, reverse), (core.primitive_jvps, forward)):
        path = ("entry", table, function)
        if not any(guard.path == path for guard in lo.run_data.guards):
            lo.run_data.guards.append(Guard(path, reader(path), found))
    return _declaration(function, reverse, forward, places)


def _counts(function: Any, args: list[Value], *declared: Any) -> bool:
    """Whether what is declared counts: all but what autograd says itself of functions that are known here.

    Those of its own that are handed functions are read, too: what is declared of them looks into what these capture.
    """
    if not any(declared):
        return False
    if any(_is_of_a_user(each) for each in declared if each is not None):
        return True
    inside = function.fun
    is_known = registry.rule_for(inside) is not None or registry.is_defined(inside)
    home = (getattr(inside, "__module__", None) or "").partition(".")[0]
    return not is_known and home == "autograd" and not any(map(_is_function, args))


def _is_function(value: Value) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, FunctionType)
    return isinstance(value, (Closure, Partial, Method, Operator))


def _is_of_a_user(declared: Any) -> bool:
    """Whether any function by which a derivative is declared is defined outside of autograd."""
    if isinstance(declared, partial):
        return _is_of_a_user(declared.func)
    if not (declared.__module__ or "").startswith("autograd."):
        return True
    return any(_is_of_a_user(each) for each in _makers(declared).values()) if _is_made_by_core(declared) else False


def _is_made_by_core(declared: Any) -> bool:
    return isinstance(declared, FunctionType) and declared.__module__ == "autograd.core"


def cells_of(function: Any) -> dict[str, CellType]:
    """The variables that a function captured, by name; none of what is no function."""
    if not isinstance(function, FunctionType):
        return {}
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def captured_in(function: Any) -> dict[str, Any]:
    """What a function captured, by name."""
    return {name: cell.cell_contents for name, cell in cells_of(function).items()}


def _makers(declared: Any) -> dict[int | None, Any]:
    """What a declaration consists of, by the argument: functions that `defvjp` and its kin were given."""
    captured = captured_in(declared)
    for name in ("vjps_dict", "jvps_dict"):
        if name in captured:
            return dict(captured[name])
    for name in ("vjpmaker", "jvpmaker"):
        if name in captured:
            return {None: captured[name]}
    return {}


@lru_cache(maxsize=512)
def _declaration(function: Any, reverse: Any, forward: Any, places: tuple[int, ...]) -> Declaration:
    """The declaration for these arguments; those of which nothing is said may not vary."""
    original = definitions.original_of(function.fun)
    original.__name__ = original.__qualname__ = function.__name__
    original.__annotations__ = {"return": _returned(function.fun)}
    cotangents = _told(reverse, places, definitions.for_place)
    tangents = _told(forward, places, definitions.tangent_for_place)
    told = tuple(cotangents) or tuple(tangents)
    pullback = differential = None
    if reverse is not None and not _is_by_argument(reverse):
        pullback, told = definitions.pullback_of_all(original, reverse, places), places
    elif cotangents:
        pullback = definitions.pullback_of(original, tuple(map(_nothing_or, cotangents.values())))
    if told and tangents.keys() >= set(told):
        parts = [_of_tangent(original, tangents[place], place) for place in told]
        differential = definitions.differential_of(original, tuple(parts))
    declaration = Declaration(original, told, pullback=pullback, differential=differential)
    declarations.add(declaration)
    return declaration


_UNKNOWN = inspect.Parameter.empty
"""What stands for a number or an array of any rank: programs of autograd say of numbers, too, that they are arrays."""


def _returned(function: Any) -> Any:
    """The annotation of what a function returns, as far as it tells the parts of a structure."""
    try:
        found = get_type_hints(function).get("return", Any)
    except Exception:  # it has none, or names what only a type checker knows
        return _UNKNOWN
    rule = registry.rule_for(function)
    if rule is not None and rule.results > 1:
        return tuple[(_UNKNOWN,) * rule.results]  # type: ignore[misc]
    if get_origin(found) is tuple and Ellipsis not in get_args(found):
        return tuple[tuple(_UNKNOWN for _ in get_args(found))]  # type: ignore[misc]
    return found if isinstance(found, type) and bool(field_types(found)) else _UNKNOWN


def _is_by_argument(declared: Any) -> bool:
    return _is_made_by_core(declared) and bool(_makers(declared))


def _told(declared: Any, places: tuple[int, ...], for_place: Fn) -> dict[int, Any]:
    """What is declared of each argument."""
    if declared is None or not _is_by_argument(declared):
        return {}
    makers = _makers(declared)
    if None in makers:
        return {place: for_place(makers[None], place) for place in places}
    return {place: makers[place] for place in places if place in makers}


def _nothing_or(maker: Any) -> Any:
    """A function that is declared of one argument; None stands for one that gives zero."""
    return definitions.nothing if getattr(maker, "__qualname__", "") == "translate_vjp.<locals>.<lambda>" else maker


def _of_tangent(function: Any, maker: Any, place: int) -> Any:
    """The part of a differential that belongs to one argument: None for zero, and ``"same"`` are functions by now."""
    if getattr(maker, "__qualname__", "") != "translate_jvp.<locals>.<lambda>":
        return maker
    return definitions.in_its_place(function, place) if "fun" in captured_in(maker) else definitions.no_part
