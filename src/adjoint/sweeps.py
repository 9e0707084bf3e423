"""Compiled derivatives that take several directions at a time: what is the same in all of them is computed once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.ir.nodes import Function
from adjoint.ir.walk import statements_in
from adjoint.records import dataclass
from adjoint.specialize import Specialization, load_for
from adjoint.transform.beforehand import beforehand
from adjoint.transform.directed import Inseparable
from adjoint.transform.lanes import in_lanes
from adjoint.transform.skipping import with_zeros_skipped
from adjoint.types.structure import children, is_container

WIDEST = ((150, 4), (600, 2))
"""How many directions a compiled sweep has at most, by its statements for one: long code takes long to compile."""
FEWEST_APART = 3
"""Sweeps from which on what they have in common is compiled as a function of its own."""


@dataclass(frozen=True, slots=True)
class Sweeps:
    """A compiled derivative of several directions.

    Attributes
    ----------
    before
        Takes the inputs for one direction; gives the value of the function, then what ``sweep`` needs besides. None
        where sweeps do all by themselves.
    sweep
        Takes the inputs for one direction, what was computed before, and what stands for the direction in each
        further one; gives the result for each.
    width
        The number of directions that it takes.
    places
        The inputs that are the direction.
    """

    before: Callable[..., Any] | None
    sweep: Callable[..., Any]
    width: int
    places: tuple[int, ...]


class SweepsAt:
    """Sweeps at one point.

    Parameters
    ----------
    sweeps
        What is compiled.
    gives_value
        Whether it is the derivative together with the value.

    Attributes
    ----------
    value
        The value of the function after the first sweep, if ``gives_value``.
    """

    def __init__(self, sweeps: Sweeps, *, gives_value: bool) -> None:
        self.value: Any = None
        self._sweeps = sweeps
        self._gives_value = gives_value
        self._kept: Sequence[Any] | None = None

    def __call__(self, inputs: Sequence[Any], further: Sequence[Sequence[Any]]) -> list[Any]:
        """The derivatives in the direction that is among the inputs, and in further ones.

        They share no memory.
        """
        sweeps = self._sweeps
        is_first = self._kept is None
        if self._kept is None:
            self.value, *self._kept = (None,) if sweeps.before is None else sweeps.before(*inputs)
        last = further[-1] if further else [inputs[place] for place in sweeps.places]
        filled = [*further, *[last] * (sweeps.width - 1 - len(further))]
        results = sweeps.sweep(*inputs, *self._kept, *[part for direction in filled for part in direction])
        found = list(results[: 1 + len(further)])
        if self._gives_value and sweeps.before is None:
            if is_first:
                self.value = found[0][0]
            found = [derivative for _, derivative in found]
        return apart(found)


def sweeps_of(
    compiled: Specialization,
    root: Any,
    function: Function,
    places: tuple[int, ...],
    width: int,
    count: int,
    *,
    gives_value: bool,
) -> SweepsAt | None:
    """A compiled derivative for several directions at one point; None where it takes but one at a time.

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
        The most directions that it is to take at a time.
    count
        How many directions there are in all.
    gives_value
        Whether it gives the value of the function, too.
    """
    is_apart = count > (FEWEST_APART - 1) * width
    key = (function.name, places, width, is_apart)
    if key not in compiled.lanes:
        compiled.lanes[key] = _compiled(compiled, root, function, places, width, is_apart, gives_value)
    sweeps = compiled.lanes[key]
    return sweeps and SweepsAt(sweeps, gives_value=gives_value)


def _compiled(
    compiled: Specialization,
    root: Any,
    function: Function,
    places: tuple[int, ...],
    width: int,
    is_apart: bool,
    gives_value: bool,
) -> Sweeps | None:
    try:
        function = with_zeros_skipped(function, places)
        parts = beforehand(function, places, with_value=gives_value) if is_apart else None
    except Inseparable:
        return None
    wide = in_lanes(function if parts is None else parts.sweep, places, width)
    if wide is None:
        return None
    before = None if parts is None else load_for(root, parts.before, None, compiled.native)
    return Sweeps(before, load_for(root, wide, None, compiled.native), width, places)


def width_for(count: int, compiled: Specialization, function: Function) -> int:
    """How many of ``count`` directions each sweep of a derivative is to have; ``function`` takes a direction."""
    key = function.name, count
    if key not in compiled.lanes:
        compiled.lanes[key] = width_of(count, sum(1 for _ in statements_in(function.body)))
    width: int = compiled.lanes[key]
    return width


def width_of(count: int, statements: int) -> int:
    """How many of ``count`` directions a sweep of so many statements for one has, so that the last has little less."""
    most = next((most for limit, most in WIDEST if statements <= limit), 1)
    return -(-count // -(-count // most)) if count else 1


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
