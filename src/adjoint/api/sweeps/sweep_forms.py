"""The code of sweeps of several directions: what is the same in all of them is computed once."""

from __future__ import annotations

from typing import Any

from adjoint import ir
from adjoint.api.sweeps.batched_sweeps import FEWEST_APART, Request, Sweeps
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.invariant_code import beforehand
from adjoint.dispatch.compiling import load_for
from adjoint.dispatch.options import as_strict
from adjoint.dispatch.specialize import Specialization
from adjoint.ir.checked import checked
from adjoint.ir.walk import statements_in
from adjoint.native.compile.not_native import NotNative, faults_as_reasons
from adjoint.passes import Context
from adjoint.pipeline import BATCH_DIRECTIONS, SEVERAL_DIRECTIONS, VECTOR_DIRECTIONS, run
from adjoint.records import dataclass
from adjoint.runtime.arithmetic.bundles import DIRECTIONS
from adjoint.target import Target

WIDEST = ((150, 4), (600, 2))
"""How many directions a compiled sweep has at most, by its statements for one: long code takes long to compile."""
FEWEST_BUNDLED = 3
"""Directions from which on they are bundled."""


def compiled_sweeps(compiled: Specialization, root: Any, request: Request) -> Sweeps | None:
    """Machine code for several directions at a time; None where there is none.

    Parameters
    ----------
    compiled
        A derivative.
    root
        The function that it is one of.
    request
        What is asked for.
    """
    forms = _forms(compiled, request)
    if forms is None or compiled.exact.in_place_of is not None:  # which takes other inputs
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


def _forms(compiled: Specialization, request: Request) -> _Forms | None:
    key = "forms", request
    if key not in compiled.lanes:
        compiled.lanes[key] = _formed(request, request.half(compiled), compiled.target)
    forms: _Forms | None = compiled.lanes[key]
    return forms


def _formed(request: Request, half: ir.Function, target: Target) -> _Forms | None:
    places, gives_value = request.places, request.gives_value
    try:
        function = run(SEVERAL_DIRECTIONS, half, Context(target, directions=places))
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
    try:
        with faults_as_reasons(Inseparable):
            return run(VECTOR_DIRECTIONS, sweep, context)
    except (NotNative, Inseparable):
        return None


def best_width(count: int, compiled: Specialization, places: tuple[int, ...], of_adjoint: bool) -> int:
    """How many of ``count`` directions each sweep of a derivative is to have: see :func:`batched_sweeps.width_for`."""
    request = Request(of_adjoint, places, DIRECTIONS, count > (FEWEST_APART - 1) * DIRECTIONS)
    if not of_adjoint and count >= FEWEST_BUNDLED:
        forms = _forms(compiled, request)
        if forms is not None and forms.bundled is not None:
            return DIRECTIONS
    return width_of(count, sum(1 for _ in statements_in(request.half(compiled).body)))


def width_of(count: int, statements: int) -> int:
    """How many of ``count`` directions a sweep of so many statements for one has, so that the last has little less."""
    most = next((most for limit, most in WIDEST if statements <= limit), 1)
    return -(-count // -(-count // most)) if count else 1
