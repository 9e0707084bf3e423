"""Arguments of a call by name or index."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, error
from adjoint.frontend.differentiation.wrt import parameter_names, positions
from adjoint.frontend.entry.inputs import entered_root
from adjoint.frontend.interpreter.interpreter import Interpreter
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.keypaths.parts import PartOf


def resolve(
    function: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
    """The function with what can only be given by name bound, the other arguments, and the positions ``wrt`` means."""
    chosen = wrt if isinstance(wrt, tuple) else (wrt,)
    if not kwargs and _are_indices(chosen, len(args)):
        return function, tuple(args), chosen
    lo = Interpreter(Settings())
    try:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        arguments = list(args)
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            arguments.append(kwargs[name])
        rest = {name: value for name, value in kwargs.items() if name not in names[len(args) : len(arguments)]}
        if any(name in chosen for name in rest):
            raise error("AD0405", None, "a matrix of derivatives needs arguments that are given by position")
        values: list[Any] = [ir.Const(argument) for argument in arguments]
        places = positions(lo, fn, wrt, values, {}, None)
    except Problem as problem:
        raise DifferentiationError(problem.diagnostic) from None
    bound = functools.partial(function, **rest) if rest else function
    return bound, tuple(arguments), tuple(place for place in places if isinstance(place, int))


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
