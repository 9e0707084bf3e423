"""Derivatives in several directions at one point: compiled ones take a few of them in each sweep."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.backend.native import Native, resolve
from adjoint.diagnostics import error
from adjoint.frontend.inputs import differentiated
from adjoint.ir.nodes import Function
from adjoint.ir.walk import statements_in
from adjoint.keys import keys_of
from adjoint.operators import Pullback, checked_tangents, inputs_of_jvp, jvp
from adjoint.specialize import Specialization, load_for
from adjoint.transform.lanes import in_lanes
from adjoint.types.structure import children, is_container

WIDEST = ((150, 4), (600, 2))
"""How many directions a compiled sweep has at most, by its statements for one: long code takes long to compile."""


def jvps(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Sequence[Any]],
    *,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> tuple[Any, list[Any]]:
    """The value of a function and its derivatives in several directions.

    Parameters
    ----------
    f, primals
        As those of :func:`jvp`. What the function writes to its arguments is there once afterwards.
    tangents
        One direction or more: each a sequence as :func:`jvp` takes it.
    native, fastmath, boundscheck
        Whether and how Numba compiles the derivative; see :func:`grad`. Compiled sweeps take up to four directions
        (two where the code is long), and compute what does not depend on the direction once for them.

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
    native = resolve(native, f, fastmath, boundscheck)
    if not tangents:
        raise error("AD0409", None, "there is no tangent", helps=("give at least one direction",))
    forwards = Forwards(f, primals, native)
    derivatives = forwards(tangents)
    return forwards.value, derivatives


class Forwards:
    """Derivatives of a function in directions, each time at the point that was given first.

    Parameters
    ----------
    f, primals
        The function and its arguments: those of the first sweep. Further ones have copies where the function writes
        to its arguments.
    native
        Whether and how Numba compiles the sweeps.

    Attributes
    ----------
    value
        The value of the function, after the first sweep.
    """

    def __init__(self, f: Callable[..., Any], primals: Sequence[Any], native: Native) -> None:
        self.value: Any = None
        self._function = f
        self._root = differentiated(f)
        self._primals = tuple(primals)
        self._point = Copies(self._primals)
        self._native = native

    def width(self, direction: Sequence[Any], count: int) -> int:
        """How many directions such as this each sweep is to have, if there are so many in all."""
        if not self._native or count < 2:
            return 1
        compiled, _ = inputs_of_jvp(self._function, self._primals, direction, self._native)
        return _width(count, compiled, compiled.function)

    def __call__(self, directions: Sequence[Sequence[Any]], width: int | None = None) -> list[Any]:
        """One derivative for each direction, by sweeps of as many directions as ``width`` says."""
        width = width or self.width(directions[0], len(directions))
        found: list[Any] = []
        for start in range(0, len(directions), width):
            found += self._sweep(directions[start : start + width], width)
        return found

    def _sweep(self, group: Sequence[Sequence[Any]], width: int) -> list[Any]:
        first, *others = group
        point = self._point.again()
        together = self._together(point, group, width) if width > 1 else None
        if together is not None:
            return together
        return [self._alone(point, first), *[self._alone(self._point.again(), direction) for direction in others]]

    def _together(self, point: tuple[Any, ...], group: Sequence[Sequence[Any]], width: int) -> list[Any] | None:
        """The derivatives by one sweep; None where there is none for them."""
        compiled, inputs = inputs_of_jvp(self._function, point, group[0], self._native)
        if compiled.written:  # it may be memory of one of the directions
            return None
        count = len(point)
        first = inputs[count : 2 * count]
        others = [checked_tangents(point, direction) for direction in group[1:]]
        if not all(_are_alike(first, direction) for direction in others):
            return None
        places = tuple([count + place for place, tangent in enumerate(first) if tangent is not None])
        sweep = in_one_sweep(compiled, self._root, compiled.function, places, width)
        if sweep is None:
            return None
        results = sweep(inputs, [[direction[place - count] for place in places] for direction in others])
        return apart([self._take(result) for result in results])

    def _alone(self, point: tuple[Any, ...], direction: Sequence[Any]) -> Any:
        return self._take(jvp(self._function, point, direction, native=self._native))

    def _take(self, result: tuple[Any, Any]) -> Any:
        value, derivative = result
        if self.value is None:
            self.value = value
        return derivative

    def point(self) -> tuple[Any, ...]:
        """The arguments of one sweep."""
        return self._point.again()


class Copies:
    """Arguments as they are at first, for one call after another."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.args = args
        self.before: tuple[Any, ...] | None = None
        self.written: bool | None = None

    def again(self) -> tuple[Any, ...]:
        """Arguments for the next call: the very arguments; later on copies, if the first call has changed them."""
        if self.before is None:
            self.before = _copied(self.args)
            return self.args
        if self.written is None:
            self.written = not all(map(_surely_same, self.args, self.before))
        return _copied(self.before) if self.written else self.args


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    memo: dict[int, Any] = {}
    return tuple([arg if type(arg) in _NUMBERS else _copy_of(arg, memo) for arg in args])


_NUMBERS = (float, int, bool, complex, type(None), str)


def _copy_of(arg: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(arg, memo)
    except TypeError:  # a module, an open file: nothing that a derivative goes through
        return arg


def _surely_same(now: Any, before: Any) -> bool:
    if isinstance(now, np.ndarray):
        return bool(now.dtype != object) and now.tobytes() == before.tobytes()
    return now is before


def pull_each(pullback: Pullback, cotangents: Sequence[Any], width: int | None = None) -> list[Any]:
    """What a pullback gives for each cotangent."""
    width = width or pulled_width(pullback, len(cotangents))
    found: list[Any] = []
    for start in range(0, len(cotangents), width):
        group = cotangents[start : start + width]
        found += _pull_together(pullback, group, width) or [pullback(cotangent) for cotangent in group]
    return found


def pulled_width(pullback: Pullback, count: int) -> int:
    """How many cotangents each sweep is to have, if there are so many in all."""
    function = pullback._compiled.adjoint_function
    return _width(count, pullback._compiled, function) if pullback._compiled.native and function is not None else 1


def _pull_together(pullback: Pullback, group: Sequence[Any], width: int) -> list[Any] | None:
    function = pullback._compiled.adjoint_function
    if width == 1 or function is None:
        return None
    count = len(function.params)
    places = tuple(range(count - len(pullback._compiled.seeds), count))
    sweep = in_one_sweep(pullback._compiled, pullback._root, function, places, width)
    if sweep is None:
        return None
    first, *further = [pullback._seeds(cotangent) for cotangent in group]
    return apart(sweep((*pullback._residuals, *first), further))


Sweep = Callable[[Sequence[Any], Sequence[Sequence[Any]]], list[Any]]
"""Takes the inputs for one direction, and what stands for the direction in each further one; gives their results."""


def in_one_sweep(
    compiled: Specialization, root: Any, function: Function, places: tuple[int, ...], width: int
) -> Sweep | None:
    """A compiled derivative for several directions, if it can be done in one sweep.

    Parameters
    ----------
    compiled
        A derivative.
    root
        The function that it is one of.
    function
        The half of it that takes a direction.
    places
        The parameters that are the direction.
    width
        The most directions that it is to take.
    """
    key = (function.name, places, width)
    if key not in compiled.lanes:
        wide = in_lanes(function, places, width)
        compiled.lanes[key] = None if wide is None else load_for(root, wide, None, compiled.native)
    call = compiled.lanes[key]
    if call is None:
        return None

    def sweep(inputs: Sequence[Any], further: Sequence[Sequence[Any]]) -> list[Any]:
        last = further[-1] if further else [inputs[place] for place in places]
        filled = [*further, *[last] * (width - 1 - len(further))]
        results = call(*inputs, *[part for direction in filled for part in direction])
        return list(results[: 1 + len(further)])

    return sweep


def apart(results: Sequence[Any]) -> list[Any]:
    """Results that share no memory: what is the same in all directions may be there once."""
    known: set[int] = set()
    found = []
    for result in results:
        own: set[int] = set()
        _find_memory(result, own)
        found.append(result if own.isdisjoint(known) else copy.deepcopy(result))
        known |= own
    return found


def _find_memory(value: Any, found: set[int]) -> None:
    """Takes down the arrays, lists, dicts and objects that a tangent consists of."""
    if isinstance(value, np.ndarray):
        found.add(id(value))
    elif is_container(value) and id(value) not in found:
        if not isinstance(value, tuple):
            found.add(id(value))
        for _, part in children(value):
            _find_memory(part, found)


def _are_alike(first: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether one compiled derivative takes one direction as well as the other."""
    return all(map(_is_such_a_number, first, other)) or keys_of(first) == keys_of(other)


def _is_such_a_number(one: Any, other: Any) -> bool:
    """Whether None, a number or an array is as another, by what is quickly looked at."""
    if type(one) is np.ndarray and type(other) is np.ndarray:
        return one.dtype is other.dtype and one.shape == other.shape
    return type(one) is type(other) and type(one) in (float, type(None))


def _width(count: int, compiled: Specialization, function: Function) -> int:
    """As :func:`width_of`, which is asked once."""
    key = function.name, count
    if key not in compiled.lanes:
        compiled.lanes[key] = width_of(count, function)
    width: int = compiled.lanes[key]
    return width


def width_of(count: int, function: Function) -> int:
    """How many of ``count`` directions each compiled sweep is to have, so that the last one has little less."""
    length = sum(1 for _ in statements_in(function.body))
    most = next((most for limit, most in WIDEST if length <= limit), 1)
    return -(-count // -(-count // most)) if count else 1
