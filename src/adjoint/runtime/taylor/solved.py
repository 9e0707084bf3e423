"""Series of functions whose derivatives are known: ``y' = f'(x) x'``, solved one coefficient after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.taylor.series import SHARED, NotCovered, Series, coefficient, order_in, value_of


def solved(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: int, right: Callable[..., Any]) -> Any:
    """The series ``y`` of ``callee(*args)`` for which ``y' = right(y)``; a tuple of these where there are several.

    ``right`` is asked once there is a first coefficient. Within one call the same function of the same arguments is one
    series: so ``sin`` and ``cos`` are each other's derivatives and not a chain of new ones.
    """
    shared = SHARED.get()
    if shared is None:
        token = SHARED.set({})
        try:
            found = solved(callee, args, kwargs, results, right)
            for each in found if isinstance(found, tuple) else (found,):
                each.computed()
            return found
        finally:
            SHARED.reset(token)
    key = id(callee), tuple(arg if _is_plain_number(arg) else id(arg) for arg in args), tuple(sorted(kwargs))
    if key not in shared:
        shared[key] = (callee, args), _solved(callee, args, kwargs, results, right)
    return shared[key][1]


def _is_plain_number(value: Any) -> bool:
    return type(value) in (int, float)


def _solved(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: int, right: Callable[..., Any]) -> Any:
    order = order_in((*args, *kwargs.values()))
    first = callee(*map(value_of, args), **{name: value_of(value) for name, value in kwargs.items()})
    values = first if results > 1 else (first,)
    if any(_is_view(value, arg) for value in values for arg in args):
        raise NotCovered(f"a view that {getattr(callee, '__name__', 'a function')!r} makes")
    sides: list[Any] = []
    asked = False

    def coefficient_of(which: int, place: int) -> Any:
        nonlocal asked
        if not sides:
            if asked:
                raise NotCovered(f"{getattr(callee, '__name__', 'a function')!r}, whose derivative asks for itself,")
            asked = True
            side = right(found if results > 1 else found[0])
            sides.extend(side if results > 1 else (side,))
        part = coefficient(sides[which], place - 1)
        return shaped(part / place, values[which])

    found = tuple(
        Series(order, [value], lambda place, which=which: coefficient_of(which, place))  # type: ignore[misc]
        for which, value in enumerate(values)
    )
    return found if results > 1 else found[0]


def _is_view(value: Any, arg: Any) -> bool:
    """Whether a result shares memory with an argument: what is written to the one would have to be in the other."""
    return (
        isinstance(value, np.ndarray)
        and isinstance(arg, Series)
        and isinstance(arg.value, np.ndarray)
        and np.may_share_memory(value, arg.value)
    )


def shaped(part: Any, like: Any) -> Any:
    """A coefficient in the shape and of the kind of the value."""
    if np.iscomplexobj(part) and not np.iscomplexobj(like):
        part = part.real
    if isinstance(like, np.ndarray):
        return np.array(np.broadcast_to(part, like.shape), dtype=like.dtype)
    return part
