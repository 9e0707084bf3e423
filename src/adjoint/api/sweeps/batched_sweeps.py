"""Compiled derivatives that take several directions at a time: what is the same in all of them is computed once."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.dispatch.options import as_strict
from adjoint.dispatch.specialize import Specialization
from adjoint.ir.checked import CHECKING
from adjoint.ir.fingerprint import Nameless
from adjoint.records import dataclass
from adjoint.runtime.arithmetic.bundles import DIRECTIONS
from adjoint.types.structure import children, is_container

_PREPARED = 16
"""Bundles of directions that are put together at a time."""


class SweepsAt:
    """Sweeps at one point.

    Parameters
    ----------
    sweeps
        What is compiled.
    gives_value
        Whether it is the derivative together with the value.
    refuse
        Called where sweeps of bundles cannot be compiled.

    Attributes
    ----------
    value
        The value of the function after the first sweep, if ``gives_value``.
    """

    def __init__(self, sweeps: Sweeps, *, gives_value: bool, refuse: Callable[[], None]) -> None:
        self.value: Any = None
        self._sweeps = sweeps
        self._gives_value = gives_value
        self._refuse = refuse
        self._kept: Sequence[Any] | None = None

    def __call__(self, inputs: Sequence[Any], further: Sequence[Sequence[Any]]) -> list[Any] | None:
        """The derivatives in the direction that is among the inputs, and in further ones.

        There are as many sweeps as it takes. The derivatives share no memory. None where there are none after all.
        """
        sweeps = self._sweeps
        is_first = self._kept is None
        if self._kept is None:
            self.value, *self._kept = (None,) if sweeps.before is None else sweeps.before(*inputs)
        directions = [[inputs[place] for place in sweeps.places], *further]
        try:
            found = (self._bundled if sweeps.is_bundled else self._in_lanes)(inputs, directions)
        except DifferentiationError:
            if not sweeps.is_bundled:
                raise
            self._refuse()
            return None
        if self._gives_value and sweeps.before is None:
            if is_first:
                self.value = found[0][0]
            found = [derivative for _, derivative in found]
        return found if sweeps.is_bundled else apart(found)

    def _in_lanes(self, inputs: Sequence[Any], directions: Sequence[Sequence[Any]]) -> list[Any]:
        """The derivatives by sweeps that take directions one after another; the last is taken again and again."""
        width = self._sweeps.width
        found: list[Any] = []
        for start in range(0, len(directions), width):
            group = directions[start : start + width]
            first, *others = [*group, *[group[-1]] * (width - len(group))]
            further = [part for direction in others for part in direction]
            found += self._swept(inputs, first, further)[: len(group)]
        return found

    def _bundled(self, inputs: Sequence[Any], directions: Sequence[Sequence[Any]]) -> list[Any]:
        """The derivatives by sweeps that take directions side by side; places without a direction are left zero."""
        found: list[Any] = []
        for start in range(0, len(directions), DIRECTIONS * _PREPARED):
            group = directions[start : start + DIRECTIONS * _PREPARED]
            for bundle in zip(*map(_side_by_side, zip(*group, strict=True)), strict=True):
                results = self._swept(inputs, bundle, ())
                *value, derivative = (results,) if self._sweeps.before else results
                parts = [derivative[..., lane] for lane in range(DIRECTIONS)]
                parts = [part.copy() if part.ndim else float(part) for part in parts]
                found += [(*value, part) for part in parts] if value else parts
            del found[start + len(group) :]
        return found

    def _swept(self, inputs: Sequence[Any], direction: Sequence[Any], further: Sequence[Any]) -> Any:
        given = list(inputs)
        for place, part in zip(self._sweeps.places, direction, strict=True):
            given[place] = part
        return self._sweeps.sweep(*given, *(self._kept or ()), *further)


def _side_by_side(parts: Sequence[Any]) -> np.ndarray:
    """Numbers or arrays of several directions as bundles, one after another."""
    count = -(-len(parts) // DIRECTIONS)
    filled = np.zeros((count * DIRECTIONS, *np.shape(parts[0])))
    filled[: len(parts)] = parts
    return np.ascontiguousarray(np.moveaxis(filled.reshape(count, DIRECTIONS, *filled.shape[1:]), 1, -1))


def sweeps_of(
    compiled: Specialization,
    root: Any,
    places: tuple[int, ...],
    width: int,
    count: int,
    *,
    of_adjoint: bool = False,
) -> SweepsAt | None:
    """A compiled derivative for several directions at one point; None where it takes but one at a time.

    Parameters
    ----------
    compiled
        A derivative.
    root
        The function that it is one of.
    places
        The parameters that are the direction.
    width
        The most directions that it is to take at a time.
    count
        How many directions there are in all.
    of_adjoint
        Whether the half that takes a direction is its adjoint. Otherwise it gives the value of the function, too.
    """
    request = Request(of_adjoint, places, width, count > (FEWEST_APART - 1) * width)
    if request not in compiled.lanes:
        compiled.lanes[request] = _kept_or_compiled(compiled, root, request)
    sweeps = compiled.lanes[request]
    refuse = functools.partial(compiled.lanes.update, {request: None})
    return sweeps and SweepsAt(sweeps, gives_value=request.gives_value, refuse=refuse)


def _kept_or_compiled(compiled: Specialization, root: Any, request: Request) -> Sweeps | None:
    further = compiled.further
    kept = None if further is None else further.find(repr(request))
    if kept is not None:
        return kept[0] and _known(kept[0], compiled, root, request)
    from adjoint.api.sweeps.sweep_forms import compiled_sweeps  # lazy

    found = compiled_sweeps(compiled, root, request)
    if further is not None:
        with contextlib.suppress(Nameless):
            further.keep(repr(request), found and _record(found))
    return found


def _record(sweeps: Sweeps) -> list[Any]:
    from adjoint.dispatch.persistent_cache import record_of  # lazy

    return [sweeps.before and record_of(sweeps.before), record_of(sweeps.sweep), sweeps.is_bundled]


def _known(kept: Sequence[Any], compiled: Specialization, root: Any, request: Request) -> Sweeps:
    """Sweeps of which only what names their machine code is known until something else is asked."""
    from adjoint.dispatch.persistent_cache import known_function  # lazy

    @functools.cache
    def made() -> Sweeps:
        from adjoint.api.sweeps.sweep_forms import compiled_sweeps  # lazy

        found = compiled_sweeps(compiled, root, request)
        assert found is not None
        return found

    if CHECKING:
        assert json.loads(json.dumps(_record(made()))) == kept, "what was kept is not what is made"
    before, sweep, is_bundled = kept
    native, target = compiled.native, compiled.target
    return Sweeps(
        before and known_function(before, root, native, target, lambda: made().before),
        known_function(sweep, root, as_strict(native) if is_bundled else native, target, lambda: made().sweep),
        request.width,
        request.places,
        is_bundled,
    )


def width_for(count: int, compiled: Specialization, places: tuple[int, ...], *, of_adjoint: bool = False) -> int:
    """How many of ``count`` directions each sweep of a derivative is to have.

    Parameters
    ----------
    count
        How many directions there are in all.
    compiled
        A derivative.
    places
        The parameters that are the direction.
    of_adjoint
        Whether the half that takes a direction is its adjoint.
    """
    key = "width", count, places, of_adjoint
    if key not in compiled.lanes:
        further = compiled.further
        kept = None if further is None else further.find(repr(key))
        if kept:
            compiled.lanes[key] = kept[0]
        else:
            from adjoint.api.sweeps.sweep_forms import best_width  # lazy

            compiled.lanes[key] = best_width(count, compiled, places, of_adjoint)
            if further is not None:
                further.keep(repr(key), compiled.lanes[key])
    width: int = compiled.lanes[key]
    return width


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


# What is asked of a derivative that takes several directions at a time, and what is made of it


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
        further one; gives the result for each. If ``is_bundled``, it takes all directions in place of the one, and
        gives results with one more axis, the last, for them.
    width
        The number of directions that it takes.
    places
        The inputs that are the direction.
    is_bundled
        Whether it has a bundle of numbers for what depends on the direction.
    """

    before: Callable[..., Any] | None
    sweep: Callable[..., Any]
    width: int
    places: tuple[int, ...]
    is_bundled: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a derivative."""

    of_adjoint: bool
    places: tuple[int, ...]
    width: int
    is_apart: bool

    @property
    def gives_value(self) -> bool:
        """Whether sweeps give the value of the function beside its derivatives."""
        return not self.of_adjoint

    def half(self, compiled: Specialization) -> ir.Function:
        """The half of a derivative that takes a direction."""
        found = compiled.exact.adjoint_function if self.of_adjoint else compiled.exact.function
        assert found is not None
        return found
