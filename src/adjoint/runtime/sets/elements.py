"""Elements that are sets: NumPy's own functions, given arrays of these objects, tell what they make of which element.

They know addition and multiplication, and nothing else: what looks at a value raises. So a function that goes through
has done no more than to move, add and multiply, whatever the numbers are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.runtime.sets.numbers import plain, union


class _Element:
    """A set as an element of an array."""

    __slots__ = ("set", "unions")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, unions: Any, number: float) -> None:
        self.unions = unions
        self.set = number

    def _with(self, other: Any) -> _Element:
        if isinstance(other, _Element):
            return _Element(self.unions, union(self.unions, self.set, other.set))
        return self if isinstance(other, (int, float, np.integer, np.floating)) else NotImplemented

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _with

    def __neg__(self) -> _Element:
        return self

    def conjugate(self) -> _Element:
        return self

    def _looks(self, *others: Any) -> Any:
        raise TypeError("the value of a set does not count")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _looks
    __bool__ = __float__ = __int__ = __complex__ = __index__ = _looks


def traced(
    unions: Any, fn: Callable[..., Any], places: Sequence[int], args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """The sets that a function gives; None where it does more than to move, add and multiply.

    Parameters
    ----------
    fn
        The function, of real numbers.
    places
        The positional arguments that have sets; these stand among ``args``. All others are passed as they are, except
        that floats are elements without a set.
    args, named
        Its arguments.
    """
    taken = [_elements(unions, arg, place in places) for place, arg in enumerate(args)]
    given = [part[0] for part in taken if part is not None]
    if len(given) < len(taken):
        return None
    with contextlib.suppress(Exception):
        return _numbers(fn(*given, **named))
    return None


def _elements(unions: Any, arg: Any, has_sets: bool) -> tuple[Any] | None:
    """An argument for a function of elements; None where there is none."""
    if isinstance(arg, (complex, np.complexfloating)) or getattr(arg, "dtype", np.dtype(float)).kind == "c":
        return None
    if isinstance(arg, (float, np.floating)):
        return (_Element(unions, float(arg) if has_sets else 0.0),)
    if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
        out = np.empty(arg.shape, object)
        flat = plain(arg)[0].ravel().tolist() if has_sets else [0.0] * arg.size
        out.reshape(-1)[:] = [_Element(unions, each) for each in flat]
        return (out,)
    return None if has_sets else (arg,)


def _numbers(found: Any) -> Any:
    """The sets of what a function gave: numbers of its own have none."""
    if isinstance(found, _Element):
        return found.set
    if not isinstance(found, np.ndarray) or found.dtype.kind != "O":
        raise TypeError("it gave something else than elements")
    sets = [each.set if isinstance(each, _Element) else _none_of(each) for each in found.ravel()]
    return np.array(sets).reshape(found.shape)


def _none_of(each: Any) -> float:
    if isinstance(each, (int, float)):
        return 0.0
    raise TypeError("it gave something else than elements")
