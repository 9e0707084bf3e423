"""Compiled derivatives that take several directions at a time: what is the same in all of them is computed once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.invariant_code import beforehand
from adjoint.dispatch.compiling import load_for
from adjoint.dispatch.options import as_strict
from adjoint.dispatch.specialize import Specialization
from adjoint.ir.checked import checked
from adjoint.ir.walk import statements_in
from adjoint.passes import Context
from adjoint.pipeline import BATCH_DIRECTIONS, SEVERAL_DIRECTIONS, VECTOR_DIRECTIONS, run
from adjoint.records import dataclass
from adjoint.runtime.arithmetic.bundles import DIRECTIONS
from adjoint.target import Target
from adjoint.types.structure import children, is_container

WIDEST = ((150, 4), (600, 2))
"""How many directions a compiled sweep has at most, by its statements for one: long code takes long to compile."""
FEWEST_APART = 3
"""Sweeps from which on what they have in common is compiled as a function of its own."""
FEWEST_BUNDLED = 3
"""Directions from which on they are bundled."""
_PREPARED = 16
"""Bundles of directions that are put together at a time."""


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
    function: ir.Function,
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
    request = _Request(function, places, width, count > (FEWEST_APART - 1) * width, gives_value)
    if request not in compiled.lanes:
        compiled.lanes[request] = _compiled(compiled, root, request)
    sweeps = compiled.lanes[request]
    return sweeps and SweepsAt(sweeps, gives_value=gives_value, refuse=lambda: compiled.lanes.update({request: None}))


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of a derivative."""

    function: ir.Function
    places: tuple[int, ...]
    width: int
    is_apart: bool
    gives_value: bool


def _compiled(compiled: Specialization, root: Any, request: _Request) -> Sweeps | None:
    forms = _forms(compiled, request)
    if forms is None:
        return None
    before = None if forms.before is None else load_for(root, forms.before, None, compiled.native)
    if forms.bundled is not None:
        sweep = load_for(root, forms.bundled, None, as_strict(compiled.native))
        return Sweeps(before, sweep, request.width, request.places, is_bundled=True)
    context = Context(compiled.target, directions=request.places, count=request.width)
    try:
        wide = run(BATCH_DIRECTIONS, forms.sweep, context)
    except Inseparable:
        return None
    return Sweeps(before, load_for(root, wide, None, compiled.native), request.width, request.places)


@dataclass(frozen=True, slots=True)
class _Forms:
    """What is made of a derivative: what is computed before sweeps, a sweep of one direction, one of a bundle."""

    before: ir.Function | None
    sweep: ir.Function
    bundled: ir.Function | None


def _forms(compiled: Specialization, request: _Request) -> _Forms | None:
    key = "forms", request
    if key not in compiled.lanes:
        compiled.lanes[key] = _formed(request, compiled.target)
    forms: _Forms | None = compiled.lanes[key]
    return forms


def _formed(request: _Request, target: Target) -> _Forms | None:
    places, gives_value = request.places, request.gives_value
    try:
        function = run(SEVERAL_DIRECTIONS, request.function, Context(target, directions=places))
        parts = beforehand(function, places, with_value=gives_value) if request.is_apart else None
    except Inseparable:
        return None
    before, sweep = (None, function)
    if parts is not None:
        before, sweep = checked(parts.before, "before sweeps"), checked(parts.sweep, "sweep")
    bundled = None
    if target.threads == 1 and gives_value and request.width == DIRECTIONS:
        bundled = _bundled(sweep, Context(target, directions=places, with_value=before is None))
    return _Forms(before, sweep, bundled)


def _bundled(sweep: ir.Function, context: Context) -> ir.Function | None:
    """A sweep of a bundle of directions; None where there is none: what compiles the other sweep tells why."""
    from adjoint.native.compile.messages.not_native import NotNative, faults_as_reasons  # lazy

    try:
        with faults_as_reasons(Inseparable):
            return run(VECTOR_DIRECTIONS, sweep, context)
    except (NotNative, Inseparable):
        return None


def width_for(
    count: int, compiled: Specialization, function: ir.Function, places: tuple[int, ...] | None = None
) -> int:
    """How many of ``count`` directions each sweep of a derivative is to have; ``function`` takes a direction.

    At the ``places`` of its parameters that are the direction, where it gives a value, too.
    """
    key = function.name, count, places
    if key not in compiled.lanes:
        compiled.lanes[key] = width_of(count, sum(1 for _ in statements_in(function.body)))
        if places is not None and count >= FEWEST_BUNDLED:
            forms = _forms(
                compiled, _Request(function, places, DIRECTIONS, count > (FEWEST_APART - 1) * DIRECTIONS, True)
            )
            if forms is not None and forms.bundled is not None:
                compiled.lanes[key] = DIRECTIONS
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
