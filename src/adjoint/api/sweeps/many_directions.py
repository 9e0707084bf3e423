"""Derivatives in several directions at one point: compiled ones take a few of them in each sweep."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from adjoint.api.across_processes import refuse_messages
from adjoint.api.derivative import function_of
from adjoint.api.jvp_vjp import Pullback, checked_tangents, entries_of, inputs_of_jvp, jvp
from adjoint.api.sweeps.batched_sweeps import SweepsAt, sweeps_of, width_for
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.drawn_numbers import used_up
from adjoint.dispatch.keys import keys_of
from adjoint.dispatch.options import Native, resolve
from adjoint.dispatch.specialize import Specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.rules.registry import is_exchanged
from adjoint.runtime.outside import Before, as_once


@entrance
def jvps(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Sequence[Any]],
    *,
    has_aux: bool = False,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> tuple[Any, ...]:
    """The value of a function and its derivatives in several directions.

    Parameters
    ----------
    f, primals
        As those of :func:`jvp`. What the function writes to its arguments is there once afterwards.
    tangents
        One direction or more: each a sequence as :func:`jvp` takes it.
    has_aux
        The function returns ``(value, aux)``: aux counts as a constant, and is returned behind the others.
    native, fastmath, boundscheck
        Whether and how the derivative becomes machine code; see :func:`grad`. Compiled sweeps take up to four
        directions (where one does more than compute with numbers and arrays of float64, two if the code is long), and
        compute what does not depend on the direction once for them.

    Returns
    -------
    value, derivatives
        The value, and for each direction what :func:`jvp` gives.

    Raises
    ------
    DifferentiationError
        As :func:`jvp`; also if there is no direction (AD0409).

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x, y):
    ...     return x * y
    >>> ad.jvps(f, (2.0, 3.0), [(1.0, 0.0), (0.0, 1.0)])
    (6.0, [3.0, 2.0])
    """
    native = resolve(native, function_of(f, "jvps"), fastmath, boundscheck)
    point = entries_of(primals, "primals", "jvps")
    said = "the tangents are a list of directions, each a tuple with one entry per argument"
    directions = _listed(tangents, said, "write lists: ad.jvps(f, (x,), [(x_dot,)])")
    if not directions:
        raise error("AD0409", None, "there is no tangent", helps=("give at least one direction",))
    forwards = Forwards(f, point, native, has_aux)
    derivatives = forwards(directions)
    return (forwards.value, derivatives, forwards.aux) if has_aux else (forwards.value, derivatives)


def _listed(given: Any, said: str, way: str) -> list[Any]:
    """Several directions or cotangents, or a refusal of what is one itself."""
    if isinstance(given, (str, bytes, dict, np.ndarray)) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise error("AD0409", None, f"{said}, here they are of class {kind!r}", helps=(way,))
    return list(given)


class Forwards:
    """Derivatives of a function in directions, each time at the point that was given first.

    Parameters
    ----------
    f, primals
        The function and its arguments: those of the first sweep. Further ones have copies where the function writes
        to its arguments.
    native
        Whether and how the sweeps become machine code.
    has_aux
        Whether the function returns something beside its value.

    Attributes
    ----------
    value, aux
        The value of the function, and what it returns beside it, after the first sweep.
    """

    def __init__(self, f: Callable[..., Any], primals: Sequence[Any], native: Native, has_aux: bool = False) -> None:
        self.value: Any = None
        self.aux: Any = None
        self._has_aux = has_aux
        self._function = f
        self._root = differentiated(f)
        self._primals = tuple(primals)
        self._point = Copies(self._primals)
        self._native = native
        self._is_plain = all(primal is None or isinstance(primal, _PLAIN) for primal in self._primals)
        self._before: Before = {}
        self._count = 1
        self._sweeps: dict[Any, SweepsAt | None] = {}
        self._latest: tuple[Sequence[Any], Specialization] | None = None

    def width(self, direction: Sequence[Any], count: int) -> int:
        """How many directions such as this each sweep is to have, if there are so many in all."""
        self._count = max(self._count, count)
        if not self._native or count < 2 or self._has_aux:
            return 1
        compiled = self._compiled_for(self._primals, tuple(direction))
        return width_for(count, compiled, self._places(direction))

    def __call__(self, directions: Sequence[Sequence[Any]], width: int | None = None) -> list[Any]:
        """One derivative for each direction, by sweeps of as many directions as ``width`` says."""
        if directions and is_exchanged():
            first = checked_tangents(self._primals, directions[0])
            refuse_messages(self._compiled_for(self._primals, first).function, "Jacobian")
        width = width or self.width(directions[0], len(directions))
        if directions and self._is_plain and width > 1:
            together = self._together(self._primals, directions, width)
            if together is not None:
                return together
        found: list[Any] = []
        for start in range(0, len(directions), width):
            found += self._sweep(directions[start : start + width], width)
        return found

    def _sweep(self, group: Sequence[Sequence[Any]], width: int) -> list[Any]:
        point = None if self._is_plain else self._point.again()
        together = self._together(point or self._primals, group, width) if width > 1 else None
        if together is not None:
            return together
        first, *others = group
        point = self._point.again() if point is None else point
        return [self._alone(point, first), *[self._alone(self._point.again(), direction) for direction in others]]

    def _together(self, point: tuple[Any, ...], group: Sequence[Sequence[Any]], width: int) -> list[Any] | None:
        """The derivatives by sweeps of several; None where there are none for them. Nothing is written then."""
        first = group[0]
        if self._latest is None or not _are_surely_alike(self._latest[0], first):
            first = checked_tangents(point, first)
        others = []
        for direction in group[1:]:
            if not _are_surely_alike(first, direction):
                direction = checked_tangents(point, direction)
                if not _are_alike(first, direction):
                    return None
            others.append(direction)
        compiled = self._compiled_for(point, first)
        if compiled.written:  # it may be memory of one of the directions
            return None
        places = self._places(first)
        sweeps = self._sweeps_of(compiled, places, width)
        if sweeps is None:
            return None
        further = [[direction[place - len(point)] for place in places] for direction in others]
        with self.as_first():
            derivatives = sweeps(compiled.inputs(self._root, (*point, *first)), further)
        if derivatives is None:
            self._sweeps.clear()
        elif self.value is None:
            self.value = sweeps.value
        return derivatives

    def _places(self, direction: Sequence[Any]) -> tuple[int, ...]:
        """The inputs of the derivative that are the direction."""
        return tuple([place for place, tangent in enumerate(direction, len(self._primals)) if tangent is not None])

    def _compiled_for(self, point: tuple[Any, ...], direction: Sequence[Any]) -> Specialization:
        """The derivative for such a direction: the one for the direction before, if that was alike."""
        if self._latest is None or not _are_alike(self._latest[0], direction):
            compiled, _ = inputs_of_jvp(self._function, point, direction, self._native)
            self._latest = direction, compiled
        return self._latest[1]

    def _sweeps_of(self, compiled: Specialization, places: tuple[int, ...], width: int) -> SweepsAt | None:
        key = compiled, places, width
        if key not in self._sweeps:
            self._sweeps[key] = sweeps_of(compiled, self._root, places, width, self._count)
        return self._sweeps[key]

    def _alone(self, point: tuple[Any, ...], direction: Sequence[Any]) -> Any:
        with self.as_first():
            return self._take(jvp(self._function, point, direction, native=self._native, has_aux=self._has_aux))

    def _take(self, result: tuple[Any, ...]) -> Any:
        value, derivative, *aux = result
        if self.value is None:
            self.value = value
            self.aux = aux[0] if aux else None
        return derivative

    def point(self) -> tuple[Any, ...]:
        """The arguments of one sweep."""
        return self._point.again()

    def as_first(self) -> AbstractContextManager[None]:
        """In which a sweep finds variables that outlive the call as the first one found them."""
        return as_once(self._before)


class Copies:
    """Arguments as they are at first, for one call after another."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.args = args
        self.before: tuple[Any, ...] | None = None
        self.written: bool | None = None

    def again(self) -> tuple[Any, ...]:
        """Arguments for the next call: the very arguments; later on copies, if the first call has changed them."""
        if self.before is None:
            self.before = copied(self.args)
            return self.args
        if self.written is None:
            self.written = not all(map(_surely_same, self.args, self.before))
        return copied(self.before) if self.written else self.args


def copied(args: tuple[Any, ...], kept: Iterable[Any] = ()) -> tuple[Any, ...]:
    """Copies of values, with everything in them but what is ``kept`` as it is."""
    memo: dict[int, Any] = {id(each): each for each in kept}
    return tuple([arg if type(arg) in _NUMBERS else _copy_of(arg, memo) for arg in args])


_NUMBERS = (float, int, bool, complex, type(None), str)


def _copy_of(arg: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(arg, memo)
    except TypeError:  # a module, an open file: nothing that a derivative goes through
        if isinstance(arg, Generator):
            raise used_up() from None
        return arg


def _surely_same(now: Any, before: Any) -> bool:
    if isinstance(now, np.ndarray):
        return bool(now.dtype != object) and now.tobytes() == before.tobytes()
    return now is before


_PLAIN = (np.ndarray, *_NUMBERS)
"""Of arguments of these types it is known which are written."""


def pull_each(pullback: Pullback, cotangents: Sequence[Any], width: int | None = None) -> list[Any]:
    """What a pullback gives for each cotangent."""
    said = "the cotangents are a list, each of the structure of the value"
    cotangents = _listed(cotangents, said, "write a list: pullback.each([cotangent])")
    if width is not None and (type(width) is not int or width < 1):
        raise ValueError(f"width={width!r}: it is a whole number from 1")
    width = width or pulled_width(pullback, len(cotangents))
    sweeps = _pulled_together(pullback, width, len(cotangents))
    if sweeps is None:
        return [pullback(cotangent) for cotangent in cotangents]
    first, *further = [pullback._seeds(cotangent) for cotangent in cotangents]
    return sweeps((*pullback._residuals, *first), further) or []


def pulled_width(pullback: Pullback, count: int) -> int:
    """How many cotangents each sweep is to have, if there are so many in all."""
    places = _places_of_seeds(pullback)
    return width_for(count, pullback._compiled, places, of_adjoint=True) if pullback._compiled.native and places else 1


def _pulled_together(pullback: Pullback, width: int, count: int) -> SweepsAt | None:
    """What takes back several cotangents at once; None where they go one by one."""
    places = _places_of_seeds(pullback)
    if width == 1 or not places:
        return None
    return sweeps_of(pullback._compiled, pullback._root, places, width, count, of_adjoint=True)


def _places_of_seeds(pullback: Pullback) -> tuple[int, ...]:
    """The parameters of an adjoint that are the cotangent."""
    first = len(pullback._residuals)
    return tuple(range(first, first + len(pullback._compiled.seeds)))


def _are_alike(first: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether one compiled derivative takes one direction as well as the other."""
    return _are_surely_alike(first, other) or keys_of(first) == keys_of(other)


def _are_surely_alike(first: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether one is a direction if the other is, and of the same kind, by what is quickly looked at."""
    if len(first) != len(other):
        return False
    for one, two in zip(first, other, strict=True):
        if not (one is None and two is None) and not _is_such_a_number(one, two):
            return False
    return True


def _is_such_a_number(one: Any, other: Any) -> bool:
    """Whether None, a number or an array is as another, by what is quickly looked at."""
    if type(one) is np.ndarray and type(other) is np.ndarray:
        return one.dtype is other.dtype and one.shape == other.shape
    return type(one) is type(other) and type(one) in (float, type(None))


jvps.__adjoint_operator__ = "jvps"  # type: ignore[attr-defined]
