"""What is rewritten in a derivative before Numba is given its text, in this order."""

from __future__ import annotations

from collections.abc import Callable

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
from adjoint.compiling import ALL_CHECKED, Checked
from adjoint.ir.nodes import Function, Var
from adjoint.ir.types import Storage
from adjoint.transform.definitions import everywhere
from adjoint.transform.fusion import fuse
from adjoint.transform.loops import tuned
from adjoint.transform.parts import in_parts
from adjoint.transform.tapes import as_arrays

_REWRITINGS: tuple[Callable[[Function], Function], ...] = (
    without_silencing,
    with_fractions,
    with_rows_of_one_kind,
    with_records,
    with_plain_copies,
    with_plain_clips,
    with_empty_stand_ins,
    without_overlaps,
    lambda function: everywhere(function, fuse),
    with_plain_indices,
    with_dtypes,
    with_whole_numbers_of_their_size,
    lambda function: everywhere(function, as_arrays),
)


def loops_of(function: Function) -> Function:
    """A finished function of which all that computes with arrays is loops over numbers."""
    for rewriting in _REWRITINGS:
        function = rewriting(function)
    return function


def native_form(
    function: Function,
    checked: Checked = ALL_CHECKED,
    handed: frozenset[Storage] | None = None,
    by_rows: frozenset[Var] = frozenset(),
) -> Function:
    """A finished function as Numba is to see it.

    Parameters
    ----------
    function
        The function.
    checked
        What of Python's arithmetic raises exceptions in machine code too.
    handed
        Memory that others see; None for that of the parameters.
    by_rows
        Parameters that are arrays laid out by rows.
    """
    function = with_numpys_layouts(function, by_rows)
    if checked.at_once:
        function = with_rows_checked(function)
    function = with_extents_compared(everywhere(everywhere(loops_of(function), tuned), unfolded))
    function = with_depth_checked(function)
    if checked.divisions or checked.functions:
        function = with_checks(function, checked.functions)
    function = with_calls_of_python(with_plain_masks(with_plain_functions(with_quotients(function))))
    if not checked.at_once:
        function = everywhere(function, lambda part: with_deferred_checks(part, handed))
    function = everywhere(function, lambda part: in_parts(with_vector_calls(part)))
    return with_plain_places(with_raised_numbers(function))
