"""Arguments of a call by name or index."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MethodType
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.frontend.differentiation.wrt import parameter_names, positions, with_receiver
from adjoint.frontend.entry.inputs import entered_root
from adjoint.frontend.interpreter.interpreter import Interpreter
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Method
from adjoint.keypaths.parts import PartOf


def resolve(
    function: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
    """A function of positional arguments, these arguments, and the positions ``wrt`` means.

    What can only be given by name is bound, or comes last if ``wrt`` names it. The object of a bound method comes first
    if ``wrt`` means it.
    """
    chosen = wrt if isinstance(wrt, tuple) else (wrt,)
    if not kwargs and _are_indices(chosen, len(args)):
        return function, tuple(args), chosen
    lo = Interpreter(Settings())
    try:
        arguments = list(args)
        if isinstance(function, MethodType):
            method = Method(ir.Const(function.__func__), ir.Const(function.__self__))
            _, wrt, received = with_receiver(lo, method, wrt, [], {}, None)
            if received:
                function, arguments = function.__func__, [function.__self__, *args]
        fn = entered_root(lo, function)
        names, first = parameter_names(lo, fn, None), len(arguments)
        for name in names[first:]:
            if name not in kwargs:
                break
            arguments.append(kwargs[name])
        rest = {name: value for name, value in kwargs.items() if name not in names[first : len(arguments)]}
        values: list[Any] = [ir.Const(argument) for argument in arguments]
        meant: dict[str, Any] = {name: ir.Const(rest[name]) for name in rest if name in chosen}
        places = positions(lo, fn, wrt, values, meant, None)
    except Problem as problem:
        raise DifferentiationError(problem.diagnostic) from None
    if not meant:
        bound = functools.partial(function, **rest) if rest else function
        return bound, tuple(arguments), tuple([place for place in places if isinstance(place, int)])
    named = [*[None] * len(arguments), *rest]
    indices = [place if isinstance(place, int) else named.index(place) for place in places]
    return _by_place(function, tuple(named)), (*arguments, *rest.values()), tuple(indices)


@functools.lru_cache(maxsize=256)
def _by_place(function: Any, names: tuple[str | None, ...]) -> Any:
    """A function of positional arguments of which some are handed on by name: one for all calls."""

    def by_place(*args: Any) -> Any:
        given = [arg for arg, name in zip(args, names, strict=True) if name is None]
        named = {name: arg for arg, name in zip(args, names, strict=True) if name is not None}
        return function(*given, **named)

    return by_place


def _are_indices(chosen: Sequence[Any], count: int) -> bool:
    """Whether all are different indices of so many arguments: they mean what they say, whatever the function is."""
    return all(type(choice) is int and 0 <= choice < count for choice in chosen) and len({*chosen}) == len(chosen)


def chosen(function: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments of a call, or the parts of them, that ``wrt`` means."""
    lo = Interpreter(Settings())
    try:
        values: list[Any] = [ir.Const(argument) for argument in args]
        named = {name: ir.Const(argument) for name, argument in kwargs.items()}
        places = positions(lo, entered_root(lo, function), wrt, values, dict(named), None)
    except Problem as problem:
        raise DifferentiationError(problem.diagnostic) from None
    choices = wrt if isinstance(wrt, tuple) else (wrt,)
    found = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    return [
        choice.path.get(value) if isinstance(choice, PartOf) else value
        for choice, value in zip(choices, found, strict=True)
    ]
