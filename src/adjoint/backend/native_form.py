"""What is rewritten in a derivative before Numba is given its text, in this order."""

from __future__ import annotations

from adjoint.backend.deferred_checks import with_deferred_checks
from adjoint.backend.native_calls import with_calls_of_python
from adjoint.backend.native_checks import with_checks
from adjoint.backend.native_clips import with_plain_clips
from adjoint.backend.native_copies import with_plain_copies
from adjoint.backend.native_depth import with_depth_checked
from adjoint.backend.native_displays import with_rows_of_one_kind
from adjoint.backend.native_extents import with_extents_compared, with_rows_checked
from adjoint.backend.native_indices import with_plain_indices
from adjoint.backend.native_layouts import with_numpys_layouts
from adjoint.backend.native_masks import with_plain_masks
from adjoint.backend.native_numbers import with_dtypes
from adjoint.backend.native_places import with_plain_places
from adjoint.backend.native_plain import with_plain_functions
from adjoint.backend.native_powers import with_fractions, with_quotients, with_raised_numbers
from adjoint.backend.native_records import with_records
from adjoint.backend.native_silence import without_silencing
from adjoint.backend.native_undefined import with_empty_stand_ins
from adjoint.backend.native_whole_numbers import with_whole_numbers_of_their_size
from adjoint.backend.overlaps import without_overlaps
from adjoint.backend.unfolding import unfolded
from adjoint.backend.vector_calls import with_vector_calls
from adjoint.compiling import Checked
from adjoint.ir.nodes import Function, Var
from adjoint.ir.types import Storage
from adjoint.transform.definitions import everywhere
from adjoint.transform.fusion import fuse
from adjoint.transform.loops import tuned
from adjoint.transform.parts import in_parts
from adjoint.transform.passes import Pass, run
from adjoint.transform.tapes import as_arrays
from adjoint.transform.target import MACHINE, Target

_LOOPS = (
    Pass("silence", without_silencing),
    Pass("fractions", with_fractions),
    Pass("rows-of-one-kind", with_rows_of_one_kind),
    Pass("records", with_records),
    Pass("plain-copies", with_plain_copies),
    Pass("plain-clips", with_plain_clips),
    Pass("empty-stand-ins", with_empty_stand_ins),
    Pass("overlaps", without_overlaps),
    Pass("fuse", lambda function: everywhere(function, fuse)),
    Pass("plain-indices", with_plain_indices),
    Pass("dtypes", with_dtypes),
    Pass("whole-numbers-of-their-size", with_whole_numbers_of_their_size),
    Pass("tapes", lambda function: everywhere(function, as_arrays)),
)


def loops_of(function: Function) -> Function:
    """A finished function of which all that computes with arrays is loops over numbers."""
    return run(_LOOPS, function)


def native_form(
    function: Function,
    target: Target = MACHINE,
    handed: frozenset[Storage] | None = None,
    by_rows: frozenset[Var] = frozenset(),
) -> Function:
    """A finished function as Numba is to see it.

    Parameters
    ----------
    function
        The function.
    target
        What it was made for.
    handed
        Memory that others see; None for that of the parameters.
    by_rows
        Parameters that are arrays laid out by rows.
    """
    return run(_pipeline(target.checked, handed, by_rows), function)


def _pipeline(checked: Checked, handed: frozenset[Storage] | None, by_rows: frozenset[Var]) -> tuple[Pass, ...]:
    """All passes from a finished function to the one that is printed for Numba."""
    steps = [Pass("layouts", lambda function: with_numpys_layouts(function, by_rows))]
    if checked.at_once:
        steps.append(Pass("rows-checked", with_rows_checked))
    steps += [
        *_LOOPS,
        Pass("tuned", lambda function: everywhere(function, tuned)),
        Pass("unfolded", lambda function: everywhere(function, unfolded)),
        Pass("extents-compared", with_extents_compared),
        Pass("depth-checked", with_depth_checked),
    ]
    if checked.divisions or checked.functions:
        steps.append(Pass("checks", lambda function: with_checks(function, checked.functions)))
    steps += [
        Pass("quotients", with_quotients),
        Pass("plain-functions", with_plain_functions),
        Pass("plain-masks", with_plain_masks),
        Pass("calls-of-python", with_calls_of_python),
    ]
    if not checked.at_once:
        deferred = lambda part: with_deferred_checks(part, handed)
        steps.append(Pass("deferred-checks", lambda function: everywhere(function, deferred)))
    return (
        *steps,
        Pass("vector-calls", lambda function: everywhere(function, with_vector_calls)),
        Pass("parts", lambda function: everywhere(function, in_parts)),
        Pass("raised-numbers", with_raised_numbers),
        Pass("plain-places", with_plain_places),
    )
