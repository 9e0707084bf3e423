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
from adjoint.operators import Pullback, checked_tangents, jvp, specialized_jvp
from adjoint.runtime.jacobians import Copies
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
        self._copies: Copies | None = None
        self._native = native

    def width(self, direction: Sequence[Any], count: int) -> int:
        """How many directions such as this each sweep is to have, if there are so many in all."""
        if not self._native or count < 2:
            return 1
        checked = checked_tangents(self._primals, direction)
        return width_of(count, specialized_jvp(self._function, self._primals, checked, self._native).function)

    def __call__(self, directions: Sequence[Sequence[Any]], width: int | None = None) -> list[Any]:
        """One derivative for each direction, by sweeps of as many directions as ``width`` says."""
        width = width or self.width(directions[0], len(directions))
        found: list[Any] = []
        for start in range(0, len(directions), width):
            group = directions[start : start + width]
            found += self._together(group, width) or [self._alone(direction) for direction in group]
        return found

    def _together(self, group: Sequence[Sequence[Any]], width: int) -> list[Any] | None:
        """The derivatives by one sweep; None where there is none for them."""
        if width == 1:
            return None
        checked = [checked_tangents(self._primals, direction) for direction in group]
        if any(keys_of(direction) != keys_of(checked[0]) for direction in checked[1:]):
            return None
        compiled = specialized_jvp(self._function, self._primals, checked[0], self._native)
        if compiled.written:  # it may be memory of one of the directions
            return None
        first = len(self._primals)
        places = tuple(first + i for i, tangent in enumerate(checked[0]) if tangent is not None)
        sweep = in_one_sweep(compiled, self._root, compiled.function, places, width)
        if sweep is None:
            return None
        further = [[direction[i - first] for i in places] for direction in checked[1:]]
        results = sweep(compiled.inputs(self._root, (*self.point(), *checked[0])), further)
        return apart([self._take(result) for result in results])

    def _alone(self, direction: Sequence[Any]) -> Any:
        return self._take(jvp(self._function, self.point(), direction, native=self._native))

    def _take(self, result: tuple[Any, Any]) -> Any:
        value, derivative = result
        if self.value is None:
            self.value = value
        return derivative

    def point(self) -> tuple[Any, ...]:
        """The arguments of one sweep."""
        if self._copies is None:
            self._copies = Copies(self._primals)
            return self._primals
        return self._copies.again()


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
    return width_of(count, function) if pullback._compiled.native and function is not None else 1


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


def width_of(count: int, function: Function) -> int:
    """How many of ``count`` directions each compiled sweep is to have, so that the last one has little less."""
    length = sum(1 for _ in statements_in(function.body))
    most = next((most for limit, most in WIDEST if length <= limit), 1)
    return -(-count // -(-count // most)) if count else 1
