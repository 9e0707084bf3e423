"""Loops as machine code likes them: nothing is made in them, indices are plain, order is kept only where it counts."""

from __future__ import annotations

from adjoint.ir.nodes import Function
from adjoint.transform.loops.clears import without_idle_clears
from adjoint.transform.loops.first_sums import with_first_sums_stored
from adjoint.transform.loops.hoisting import without_allocations_in_loops
from adjoint.transform.loops.in_step import with_loops_in_step
from adjoint.transform.loops.invariants import with_indices_before_loops
from adjoint.transform.loops.jamming import jammed
from adjoint.transform.loops.naturals import with_unsigned_indices
from adjoint.transform.loops.neighbours import with_neighbours_summed
from adjoint.transform.loops.order import forwards
from adjoint.transform.loops.overwritten import without_overwritten_zeros
from adjoint.transform.loops.promotion import with_places_as_variables
from adjoint.transform.passes import Pass, run
from adjoint.transform.simplify import simplify

_TUNING = (
    Pass("jamming", jammed),
    Pass("hoisting", without_allocations_in_loops),
    Pass("idle-clears", without_idle_clears),
    Pass("order", forwards),
    Pass("first-sums", with_first_sums_stored),
    Pass("overwritten-zeros", without_overwritten_zeros),
    Pass("indices-before-loops", with_indices_before_loops),
    Pass("loops-in-step", with_loops_in_step),
    Pass("neighbours", with_neighbours_summed),
    Pass("promotion", with_places_as_variables),
    Pass("simplify", simplify),
    Pass("unsigned-indices", with_unsigned_indices),
)


def tuned(function: Function) -> Function:
    """The function with its loops in the form that compiles best."""
    return run(_TUNING, function)


__all__ = ["tuned"]
