"""Errors of shapes that a gradient alone would not notice: where it has another shape than its argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.keypaths.parts import PartOf
from adjoint.types.classes.annotations import signature

_NUMBERS = frozenset((float, int, bool, complex, np.float64, np.float32, type(None)))


def shapes_match(gradient: Any, value: Any) -> bool:
    """Whether the arrays in a gradient have the shapes of those in the value; what has no counterpart there, does."""
    pending = [(gradient, value)]
    seen = set()
    while pending:
        gradient, value = pending.pop()
        if type(gradient) is np.ndarray:
            if gradient.shape != (() if type(value) is float else getattr(value, "shape", gradient.shape)):
                return False
        elif isinstance(gradient, (tuple, list)):
            if isinstance(value, (tuple, list)) and not _NUMBERS.issuperset(map(type, gradient)):
                pending += [pair for pair in zip(gradient, value, strict=False) if type(pair[0]) not in _NUMBERS]
        elif isinstance(gradient, dict):
            if isinstance(value, dict):
                parts = [(key, part) for key, part in gradient.items() if type(part) not in _NUMBERS]
                pending += [(part, value.get(key)) for key, part in parts]
        elif _class_of_points(gradient) is type(value) and id(gradient) not in seen:
            seen.add(id(gradient))
            pending += [(part, getattr(value, name, None)) for name, part in gradient.__dict__.items()]
    return True


def _class_of_points(gradient: Any) -> type | None:
    """The class of what a tangent vector belongs to that was made field by field."""
    known = getattr(type(gradient), "primal_class", None)
    return None if known is None else known()


def check_shapes(
    gradient: Any, wrt: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raises what the function raises, where a gradient with respect to ``wrt`` does not fit the arguments."""
    values = tuple(_chosen(wrt, function, args, kwargs))
    if not shapes_match(gradient if isinstance(wrt, tuple) else (gradient,), values):
        raise_shape_error(function, args, kwargs)


def raise_shape_error(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises what the function raises for shapes that do not fit: the gradient did not need the value."""
    function(*args, **kwargs)
    raise error("AD0901", None, "the gradient of an array has another shape than the array")


def _chosen(wrt: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Any]:
    """What a derivative was taken with respect to; None where that is not an argument."""
    for choice in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(choice, PartOf):
            whole = [value for value in (*args, *kwargs.values()) if type(value) is choice.origin]
            yield choice.path.get(whole[0]) if len(whole) == 1 else None
        elif isinstance(choice, str) and choice in kwargs:
            yield kwargs[choice]
        else:
            place = choice if isinstance(choice, int) and -len(args) <= choice < len(args) else None
            yield _named(choice, function, args, kwargs) if place is None else args[place]


def _named(choice: int | str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    try:
        names = list(signature(function).parameters)
    except (TypeError, ValueError):
        return None
    if isinstance(choice, int):
        return kwargs.get(names[choice]) if -len(names) <= choice < len(names) else None
    place = names.index(choice) if choice in names else len(args)
    return args[place] if place < len(args) else None
