"""How the parameters of what is declared belong to those of the function: by their names, or by their places."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Sequence
from typing import Any

from adjoint.records import dataclass
from adjoint.rules.declarations import Declaration, Place
from adjoint.types.classes.annotations import signature

Parameter = inspect.Parameter
CHECKPOINTS, RESULT, SEED = "checkpoints", "result", "seed"
"""What an adjoint takes besides arguments."""


class Misfit(Exception):
    """Parameters that do not belong together; says why."""


def parameters_of(function: Any) -> tuple[Parameter, ...] | None:
    """The parameters of a function, where Python knows them."""
    try:
        return tuple(signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def positional(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Those that can be given by position."""
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def has_value(parameter: Parameter) -> bool:
    """Whether a parameter has a default value that is known before the call."""
    default = parameter.default
    return default is not parameter.empty and type(default).__name__ != "_HAS_DEFAULT_FACTORY_CLASS"


def most_positional(function: Any) -> float:
    """How many arguments a function takes by position."""
    parameters = parameters_of(function)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return math.inf
    return len(positional(parameters))


@dataclass(frozen=True, slots=True)
class Source:
    """What a parameter of an adjoint or of a transpose is given: an argument of the function, or what ``kind`` says."""

    kind: str
    place: Place = 0


def argument(parameters: Sequence[Parameter], place: int) -> Source:
    """An argument of a function with these parameters."""
    parameter = parameters[place]
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return Source("rest", place)
    by_name = parameter.kind is Parameter.KEYWORD_ONLY
    return Source("argument", parameter.name if by_name else place)


def sources_of_adjoint(declaration: Declaration) -> dict[str, Source]:
    """What each parameter of an adjoint is given.

    They are told by name: a parameter of the function, ``checkpoints``, ``result`` or ``seed``. Where a name is none of
    these, all are given in this order.
    """
    own = parameters_of(declaration.fn) or ()
    sources = {p.name: argument(own, place) for place, p in enumerate(own) if p.kind is not p.VAR_KEYWORD}
    adjoint = parameters_of(declaration.adjoint) or ()
    takes_checkpoints = declaration.primal is not None and len(adjoint) != len(own) + 2
    besides = (CHECKPOINTS, RESULT, SEED) if takes_checkpoints else (RESULT, SEED)
    both = [name for name in besides if name in sources]
    for name in (CHECKPOINTS, RESULT, SEED) if declaration.primal is not None else (RESULT, SEED):
        sources.setdefault(name, Source(name))
    order = [*[argument(own, place) for place in range(len(own))], *map(Source, besides)]
    found = _matched(declaration.adjoint, sources, order, both)
    if SEED not in [source.kind for source in found.values()]:
        raise Misfit("it does not take the seed: the cotangent of the value")
    return found


def sources_of_transpose(declaration: Declaration) -> dict[str, Source]:
    """What each parameter of a transpose is given: arguments by name, or all that it is not of; then the cotangent."""
    own = parameters_of(declaration.fn) or ()
    taken = parameters_of(declaration.transpose)
    wrt = declaration.wrt if declaration.wrt is not None else range(len(positional(own)))
    others = [argument(own, place) for place, p in enumerate(own) if place not in wrt and p.name not in wrt]
    if not taken:
        raise Misfit("it does not take the cotangent of the value")
    last = taken[-1].name
    sources = {p.name: argument(own, place) for place, p in enumerate(own) if p.name != last}
    return _matched(declaration.transpose, {**sources, last: Source(SEED)}, [*others, Source(SEED)], [])


def _matched(
    function: Any, sources: dict[str, Source], order: Sequence[Source], ambiguous: Sequence[str]
) -> dict[str, Source]:
    taken = parameters_of(function)
    if taken is None or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in taken):
        raise Misfit("what it takes is told by the names of its parameters, which are not known here")
    needed = [p for p in taken if p.default is p.empty or p.name in sources]
    names = [p.name for p in needed]
    unknown = [name for name in names if name not in sources]
    doubtful = [name for name in names if name in ambiguous]
    if not unknown and not doubtful:
        return {name: sources[name] for name in names}
    if len(needed) == len(order):
        moved = [
            n for n, source in zip(names, order, strict=True) if n not in ambiguous and sources.get(n, source) != source
        ]
        if not moved:
            return dict(zip(names, order, strict=True))
        unknown = unknown or moved
    known = ", ".join(sources)
    if unknown:
        raise Misfit(f"its parameter {unknown[0]!r} is none of: {known}")
    raise Misfit(f"{doubtful[0]!r} is a parameter of the function, too: give all {len(order)} in their order")


def resolved_wrt(fn: Any, wrt: Any) -> tuple[Place, ...] | None:
    """The parameters that ``wrt`` names, by position, or by name where they are given by name only."""
    if wrt is None:
        return None
    chosen = tuple(wrt) if isinstance(wrt, (tuple, list)) else (wrt,)
    if not chosen:
        raise Misfit("wrt=() names no parameter")
    own = parameters_of(fn)
    places = tuple(_resolved(own, choice) for choice in chosen)
    for place, choice in zip(places, chosen, strict=True):
        if places.count(place) > 1:
            raise Misfit(f"wrt names {choice!r} twice")
    return places


def _resolved(own: Sequence[Parameter] | None, choice: Any) -> Place:
    if isinstance(choice, bool) or not isinstance(choice, (int, str)):
        raise Misfit(f"wrt is the name or the position of a parameter, or several in a tuple; it is {choice!r}")
    if own is None:
        if isinstance(choice, str) or choice < 0:
            raise Misfit(f"Python does not know its parameters: wrt gives positions from 0 on, not {choice!r}")
        return choice
    places = positional(own)
    anything = any(p.kind is p.VAR_POSITIONAL for p in own)
    if isinstance(choice, int):
        if choice < 0 or (choice >= len(places) and not anything):
            raise Misfit(f"wrt={choice} is no parameter: it has {len(places)} that are given by position")
        return choice
    for place, parameter in enumerate(places):
        if parameter.name == choice:
            return place
    if any(p.name == choice and p.kind is p.KEYWORD_ONLY for p in own):
        return choice
    names = ", ".join(repr(p.name) for p in own)
    raise Misfit(f"wrt={choice!r} is none of its parameters: {names or 'it has none'}")


def name_of_place(fn: Any, place: Place) -> str:
    """What to call an argument in messages."""
    own = parameters_of(fn) or ()
    places = positional(own)
    if isinstance(place, str):
        return repr(place)
    return repr(places[place].name) if place < len(places) else f"argument {place}"


def function_with_defaults(fn: Any) -> Any:
    """The function object that holds the default values of what is called, and how many parameters are bound."""
    if isinstance(fn, functools.partial):
        return None
    if isinstance(fn, type):
        return inspect.getattr_static(fn, "__init__")
    return getattr(fn, "__func__", None) or (fn if hasattr(fn, "__code__") else called_by(fn))


def called_by(value: Any) -> Any:
    """The function that a call of an object calls."""
    return inspect.getattr_static(type(value), "__call__", None)
